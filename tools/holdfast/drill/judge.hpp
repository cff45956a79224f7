#pragma once
#include "tools/holdfast/drill/history.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace holdfast::drill {

/// What there is to say about the operations of one scene, or of all.
struct tally {
    std::uint64_t operations = 0;
    std::uint64_t acknowledged = 0;
    std::uint64_t failed = 0;
    std::uint64_t unclear = 0;
    std::uint64_t lost = 0;  // effects of acknowledged writes that are not there
    std::uint64_t doubled = 0;  // effects that are there more often than they were asked for
    std::uint64_t untrue = 0;  // effects that are there although the client was told they are not
    std::uint64_t late = 0;  // operations past their deadline
    std::uint64_t unfinished = 0;  // operations that did not come back, or completed more than once
    duration longest_pause{};  // without any acknowledgement, to the end of the last operation
    std::map<std::string, std::uint64_t, std::less<>> reasons = {};  // of failed and unclear ones
};

struct verdict {
    std::vector<tally> scenes = {};  // by the number that operations have
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

/// Says of each effect whether it is there as often as what the client was told allows:
///   acknowledged  once
///   failed        never
///   unclear       once or never
/// of the counters whether they have counted what has signed there, and of the answers whether they
/// are true: a write was told the count that it made, and a deletion has found what was there.
verdict judge(std::span<const operation> history, const found_state& found, std::size_t scenes = 1);

}  // namespace holdfast::drill
