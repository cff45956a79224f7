#pragma once
#include "sim/simulation.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <vector>

/// What makes a fault a fault: one that was ordered and changes nothing does not count.
namespace holdfast::truth {

/// A time in which servers refuse. Of two at once each would count what both have refused, and the
/// first to end would end the other.
class refusing_time {
public:
    /// False: one is under way already. `refused` is what was refused till now, and forgets what
    /// servers have refused that are gone.
    bool begin(std::uint64_t refused)
    {
        if (before_)
            return false;
        before_ = refused;
        return true;
    }
    /// How many were refused in it.
    std::uint64_t end(std::uint64_t refused)
    {
        const std::uint64_t before = before_.value_or(refused);
        before_.reset();
        return refused - std::min(refused, before);
    }

private:
    std::optional<std::uint64_t> before_ = {};
};

/// Hosts that have a process, be it a frozen one: on the others no process reads a clock.
inline std::vector<sim::host*> running(const std::vector<sim::host*>& among)
{
    std::vector<sim::host*> made;
    std::ranges::copy_if(among, std::back_inserter(made), &sim::host::running);
    return made;
}

}  // namespace holdfast::truth
