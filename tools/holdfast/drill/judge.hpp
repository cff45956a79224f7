#pragma once
#include "tools/holdfast/drill/history.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace holdfast::drill {

/// What there is to say about the operations of one scenario, or of all.
struct tally {
    std::uint64_t operations = 0;
    std::uint64_t acknowledged = 0;
    std::uint64_t failed = 0;
    std::uint64_t unclear = 0;
    std::uint64_t lost = 0;  // effects of acknowledged writes that are not there
    std::uint64_t forgotten = 0;  // the same of writes that asked for no durability, by a failover
    std::uint64_t doubled = 0;  // effects that are there more often than they were asked for
    std::uint64_t untrue = 0;  // effects that are there although reported as not applied
    std::uint64_t late = 0;  // operations past their deadline
    std::uint64_t unfinished = 0;  // operations that did not come back, or completed more than once
    duration longest_pause{};  // without any acknowledgement, to the end of the last operation
    std::map<std::string, std::uint64_t, std::less<>> reasons = {};  // of failed and unclear ones
};

struct verdict {
    std::vector<tally> scenarios = {};  // by the number that operations have
    tally total = {};
    /// One line for each fault that was found, the first hundred of them.
    std::vector<std::string> complaints = {};

    /// Every acknowledged write is there once, and none twice.
    bool holds() const noexcept
    {
        return total.lost == 0 && total.doubled == 0 && total.untrue == 0;
    }
    bool in_time() const noexcept { return total.late == 0 && total.unfinished == 0; }
};

/// Checks for each effect that it is there as often as what was reported to the client allows:
///   acknowledged  once
///   failed        never
///   unclear       once or never
/// for each counter that it has counted what has signed there, and for each reply that it is true:
/// a write was answered with the count that it made, a deletion has found what was there, and a
/// read what was stored last. What is unclear may be carried out late, after what followed it.
verdict judge(std::span<const operation> history, const found_state& found,
              std::size_t scenarios = 1);

}  // namespace holdfast::drill
