#pragma once
#include "holdfast/error.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace holdfast::core {

/// Waits for what the cluster mends by itself (a vbucket that moved): by the number of attempts
/// already made.
constexpr duration controlled_backoff(std::uint32_t attempts_made) noexcept
{
    using std::chrono::milliseconds;
    constexpr milliseconds steps[] = {milliseconds{1},   milliseconds{10},  milliseconds{50},
                                      milliseconds{100}, milliseconds{500}, milliseconds{1000}};
    return steps[std::min<std::size_t>(attempts_made, std::size(steps) - 1)];
}

/// base * 2^doublings, at most `cap`, without overflow however large `doublings` is.
constexpr duration doubled(duration base, std::uint32_t doublings, duration cap) noexcept
{
    assert(base > duration::zero() && cap > duration::zero());
    duration wait = std::min(base, cap);
    for (; doublings > 0 && wait < cap; --doublings)
        wait = wait > cap / 2 ? cap : wait * 2;
    return wait;
}

/// Plain exponential backoff: lowest, twice that, and so on up to highest.
struct exponential_backoff {
    duration lowest = std::chrono::milliseconds{1};
    duration highest = std::chrono::milliseconds{500};

    constexpr duration operator()(std::uint32_t attempts_made) const noexcept
    {
        return doubled(lowest, attempts_made, highest);
    }
};

/// Full jitter: anything between nothing and the exponential wait, so that clients which failed
/// together do not come back together. `chance` in [0, 1) comes from outside: the same inputs give
/// the same wait, in a test and in the simulator alike.
constexpr duration full_jitter(duration base, std::uint32_t doublings, duration cap,
                               double chance) noexcept
{
    assert(chance >= 0 && chance < 1);
    const auto longest = static_cast<double>(doubled(base, doublings, cap).count());
    return duration{static_cast<duration::rep>(longest * chance)};
}

/// Equal jitter: at least half of the exponential wait, so that the number of waits within some
/// time has a limit.
constexpr duration equal_jitter(duration base, std::uint32_t doublings, duration cap,
                                double chance) noexcept
{
    assert(chance >= 0 && chance < 1);
    const duration half = doubled(base, doublings, cap) / 2;
    return half + duration{static_cast<duration::rep>(static_cast<double>(half.count()) * chance)};
}

}  // namespace holdfast::core
