#pragma once
#include "holdfast/error.hpp"

#include <algorithm>
#include <chrono>
#include <compare>
#include <optional>

namespace holdfast::core {

/// The point in time by which an operation must be over, or none. Handed down through selection,
/// checkout, I/O and backoff, so that every wait ends with the operation.
class deadline {
public:
    constexpr deadline() = default;  // never
    constexpr explicit deadline(time_point when) noexcept : when_{when} {}

    /// `timeout` from now; without one, or with one that no clock lives to see, never.
    static constexpr deadline after(time_point now, std::optional<duration> timeout) noexcept
    {
        if (!timeout || *timeout >= time_point::max() - now)
            return {};
        return deadline{now + *timeout};
    }

    static constexpr deadline sooner(deadline a, deadline b) noexcept
    {
        return deadline{std::min(a.when_, b.when_)};
    }

    constexpr bool is_set() const noexcept { return when_ != time_point::max(); }
    constexpr time_point when() const noexcept { return when_; }
    constexpr bool expired(time_point now) const noexcept { return now >= when_; }

    /// Never negative; duration::max() if there is no deadline.
    constexpr duration left(time_point now) const noexcept
    {
        if (!is_set())
            return duration::max();
        return std::max(duration::zero(), when_ - now);
    }

    friend constexpr auto operator<=>(deadline, deadline) = default;

private:
    time_point when_ = time_point::max();
};

}  // namespace holdfast::core
