#pragma once
#include "lab/fault/activation.hpp"
#include "lab/fault/fault.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::lab {

/// The faults that a server is to inject, by name: which requests each chooses, when it hits them,
/// and what happens then. `Target` describes a request of the protocol; `Fault` is the protocol's
/// kind of fault, see fault.hpp. A value; chance comes in.
template <class Target, class Fault = fault>
class fault_plan {
public:
    struct entry {
        Fault effect = {};
        std::function<bool(const Target&)> chooses = {};  // empty: all
        activation when = {};
        std::int64_t entered = 0;  // how often it has hit
    };

    /// Puts an entry in the place of the one of that name. Gives how often that one was entered;
    /// the count goes on.
    std::int64_t set(std::string name, entry made)
    {
        entry& at = entries_[std::move(name)];
        made.entered = at.entered;
        at = std::move(made);
        count_active();
        return at.entered;
    }

    void remove(std::string_view name)
    {
        if (const auto found = entries_.find(name); found != entries_.end())
            entries_.erase(found);
        count_active();
    }

    /// The fault that the entry of that name has for a request; counts it if so.
    std::optional<Fault> on(std::string_view name, const Target& target, double chance)
    {
        if (active_ == 0)
            return std::nullopt;
        const auto found = entries_.find(name);
        if (found == entries_.end() || !found->second.when.active())
            return std::nullopt;
        return enter(found->second, target, chance);
    }

    /// The fault of the first entry, by name, that hits the request.
    std::optional<Fault> on_any(const Target& target, double chance)
    {
        for (auto& [name, one] : entries_) {
            if (auto hit = enter(one, target, chance))
                return hit;
        }
        return std::nullopt;
    }

    /// Costs one test while no entry is active.
    bool any() const noexcept { return active_ != 0; }

    void clear() noexcept
    {
        entries_.clear();
        active_ = 0;
    }

private:
    std::optional<Fault> enter(entry& one, const Target& target, double chance)
    {
        if (one.chooses && !one.chooses(target))
            return std::nullopt;
        if (!one.when.hits(chance))
            return std::nullopt;
        ++one.entered;
        if (!one.when.active())
            count_active();
        return one.effect;
    }

    void count_active()
    {
        active_ = static_cast<std::size_t>(std::ranges::count_if(
            entries_, [](const auto& named) { return named.second.when.active(); }));
    }

    std::map<std::string, entry, std::less<>> entries_;
    std::size_t active_ = 0;
};

}  // namespace holdfast::lab
