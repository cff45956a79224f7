#pragma once
#include "runtime/alarm.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace holdfast::runtime {

/// The alarms of one clock, the earliest first; of equal ones the one that was set first, so that
/// nothing depends on addresses. A plain structure: its owner locks, and knows what time it is.
class alarm_heap {
public:
    /// `which` may be in here already. True if it is now the earliest of all.
    bool set(alarm& which, time_point when);
    void clear(alarm& which) noexcept;

    /// When the next alarm rings; `never` if there is none.
    time_point next() const noexcept { return heap_.empty() ? never : heap_.front().when; }

    /// Rings all that are due; gives their number.
    std::size_t ring_until(time_point now) noexcept;

    /// Rings the earliest one, whatever the time. There must be one.
    void ring_first() noexcept;

    bool empty() const noexcept { return heap_.empty(); }
    std::size_t size() const noexcept { return heap_.size(); }

private:
    struct entry {
        time_point when;
        std::uint64_t order;
        alarm* which;
        bool operator<(const entry& other) const noexcept
        {
            return when != other.when ? when < other.when : order < other.order;
        }
    };
    void place(std::size_t position, const entry& what) noexcept;
    void sift_up(std::size_t position, const entry& what) noexcept;
    void sift_down(std::size_t position, const entry& what) noexcept;
    void remove(std::size_t position) noexcept;

    std::vector<entry> heap_;
    std::uint64_t orders_ = 0;
};

}  // namespace holdfast::runtime
