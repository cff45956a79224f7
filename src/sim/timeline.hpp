#pragma once
#include "holdfast/error.hpp"
#include "runtime/alarm.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace holdfast::sim {

struct connection;

enum class occurrence_kind : std::uint8_t {
    script,    // what a test wanted to be done
    segment,   // the next segment of a flow arrives
    reset,     // one end learns that the connection is gone
    window,    // a writer learns how far it may write
    recovery,  // what was swallowed is sent again
};

/// Something that will happen. `side` is the end of the connection that caused it.
struct occurrence {
    occurrence_kind kind = occurrence_kind::script;
    std::uint8_t side = 0;
    std::uint64_t number = 0;
    std::shared_ptr<connection> about = nullptr;
    std::function<void()> script = nullptr;
};

/// The virtual clock, and all that will happen in the network and by scripts: by time, and at one
/// time in the order in which it was planned.
class timeline {
public:
    /// Far enough from zero that a duration can be subtracted without harm.
    static constexpr time_point start{std::chrono::hours{24 * 365}};

    time_point now() const noexcept { return now_; }
    void advance_to(time_point when) noexcept { now_ = std::max(now_, when); }

    void plan(time_point when, occurrence what)
    {
        std::uint32_t slot = 0;
        if (free_.empty()) {
            slot = static_cast<std::uint32_t>(slots_.size());
            slots_.push_back(std::move(what));
        } else {
            slot = free_.back();
            free_.pop_back();
            slots_[slot] = std::move(what);
        }
        heap_.push_back({when, planned_++, slot});
        std::push_heap(heap_.begin(), heap_.end());
    }

    /// When the next thing happens; `never` if there is none.
    time_point next() const noexcept { return heap_.empty() ? runtime::never : heap_.front().when; }

    occurrence take_next()
    {
        assert(!heap_.empty());
        std::pop_heap(heap_.begin(), heap_.end());
        const std::uint32_t slot = heap_.back().slot;
        heap_.pop_back();
        free_.push_back(slot);
        return std::exchange(slots_[slot], {});
    }

private:
    struct entry {
        time_point when;
        std::uint64_t order;
        std::uint32_t slot;
        bool operator<(
            const entry& other) const noexcept  // the standard's heaps put the last first
        {
            return when != other.when ? when > other.when : order > other.order;
        }
    };

    time_point now_ = start;
    std::vector<entry> heap_;
    std::vector<occurrence> slots_;
    std::vector<std::uint32_t> free_;
    std::uint64_t planned_ = 0;
};

}  // namespace holdfast::sim
