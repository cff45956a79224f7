#pragma once
#include "truth/storm.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace holdfast::truth {

/// Sums of many storms; plain numbers, so that a process can hand them to another.
struct totals {
    std::uint64_t storms = 0;
    std::uint64_t broken = 0;  // storms with complaints
    std::uint64_t operations = 0;
    std::uint64_t acknowledged = 0;
    std::uint64_t failed = 0;
    std::uint64_t unclear = 0;
    std::uint64_t retries = 0;
    std::uint64_t lost = 0;
    std::uint64_t forgotten = 0;  // without durability, by failovers
    std::uint64_t doubled = 0;
    std::uint64_t untrue = 0;
    std::uint64_t named = 0;  // storms that have reported the planted defect as what it is
    std::uint64_t fewest = UINT64_MAX;  // acknowledged writes of a storm
    fault_counts faults = {};

    void add(const totals& other)
    {
        storms += other.storms;
        broken += other.broken;
        operations += other.operations;
        acknowledged += other.acknowledged;
        failed += other.failed;
        unclear += other.unclear;
        retries += other.retries;
        lost += other.lost;
        forgotten += other.forgotten;
        doubled += other.doubled;
        untrue += other.untrue;
        named += other.named;
        fewest = std::min(fewest, other.fewest);
        for (std::size_t n = 0; n < faults.size(); ++n)
            faults[n] += other.faults[n];
    }
};

/// Below that, chance may leave out a kind of fault, and moves all other sums.
inline constexpr std::uint64_t storms_that_show_all = 50;
/// In real storms it is 3. By the retries of those without overload it would be about 14 if broken
/// connections and lost primaries did not make a client repeat its writes.
inline constexpr std::uint64_t most_unacknowledged_of_1000 = 10;

/// Why so many storms, with nothing wrong in any of them, have still not shown what they should: a
/// client that never retries, and reports its writes as unclear, breaks no promise. Empty: none.
inline std::string shortcomings(const totals& sum, protocol of = protocol::mongo)
{
    if (sum.storms < storms_that_show_all)
        return {};
    const std::span kinds{sum.faults.data(), fault_names(of).size()};
    if (std::ranges::find(kinds, 0U) != kinds.end())
        return "a kind of fault has never happened";
    // There are dozens in a storm with overload, and some in most of the others.
    if (sum.retries < sum.storms)
        return "only " + std::to_string(sum.retries) + " retries in " + std::to_string(sum.storms) +
               " storms";
    // Most writes of Couchbase may not be repeated, whatever has become of them.
    if (of == protocol::couchbase)
        return {};
    const std::uint64_t others = sum.failed + sum.unclear;
    if (others * 1000 > sum.operations * most_unacknowledged_of_1000)
        return std::to_string(others) + " of " + std::to_string(sum.operations) +
               " writes were not acknowledged: retries should have saved most of them";
    return {};
}

}  // namespace holdfast::truth
