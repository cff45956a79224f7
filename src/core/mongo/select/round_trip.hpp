#pragma once
#include "holdfast/error.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

namespace holdfast::core::mongo {

/// How long a server takes to answer: an average that forgets slowly, and the best of the last ten.
class round_trip_tracker {
public:
    /// A negative one comes from a clock that was set back, and says nothing.
    constexpr void record(duration sample) noexcept
    {
        if (sample < duration::zero())
            return;
        average_ = average_ ? next_average(*average_, sample) : sample;
        recent_[count_++ % recent_.size()] = sample;
    }

    /// After a failed check nothing of this counts any more.
    constexpr void reset() noexcept { *this = {}; }

    constexpr std::optional<duration> average() const noexcept { return average_; }

    /// Nothing until there are two samples: one alone may have been the first of a slow start.
    constexpr std::optional<duration> minimum() const noexcept
    {
        if (count_ < 2)
            return std::nullopt;
        const auto end = recent_.begin() + std::min(count_, recent_.size());
        return *std::min_element(recent_.begin(), end);
    }

    /// The exponentially weighted moving average of the specification: a fifth of the new sample.
    static constexpr duration next_average(duration old, duration sample) noexcept
    {
        return old + (sample - old) / 5;
    }

private:
    std::optional<duration> average_;
    std::array<duration, 10> recent_{};
    std::size_t count_ = 0;
};

}  // namespace holdfast::core::mongo
