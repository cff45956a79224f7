#pragma once
#include "holdfast/error.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace holdfast::core {

/// The connections of a pool that are being opened, and when one more may be.
///
/// A server that has just failed gets one connection, to see whether it is back; then one at a
/// time, then two, then four, up to maxConnecting: it must not be overrun by all waiting callers.
/// That limits how fast connections are begun, not how many can be lost: while the newest one is
/// overdue, one more may begin beside it, so that an attempt that hangs does not stop the pool.
class opening_connections {
public:
    explicit opening_connections(std::uint32_t max_connecting) noexcept : max_{max_connecting} {}

    std::size_t count() const noexcept { return count_; }

    bool may_begin(time_point now) const noexcept
    {
        if (count_ < (pace_ ? std::clamp(*pace_, std::uint32_t{1}, max_) : max_))
            return true;
        return is_overdue(now);
    }
    /// When the newest one will be overdue; none if that would allow no other to begin.
    std::optional<time_point> overdue_at() const noexcept
    {
        if (!pace_ || count_ == 0 || count_ >= max_)
            return std::nullopt;
        return begun_ + usual_time();
    }
    /// Whether the newest one should have been there by now, and one more may begin.
    bool is_overdue(time_point now) const noexcept
    {
        const auto at = overdue_at();
        return at && now >= *at;
    }

    /// When to look whether it is; none if that is known already, or would not help.
    std::optional<time_point> set_wake_up() noexcept
    {
        const auto at = overdue_at();
        return at && !std::exchange(wake_up_set_, true) ? at : std::nullopt;
    }
    void woke() noexcept { wake_up_set_ = false; }

    void begin(time_point now) noexcept
    {
        ++count_;
        begun_ = now;
    }
    void end() noexcept { --count_; }
    void succeeded(duration took) noexcept
    {
        last_took_ = took;
        if (!pace_)
            return;
        *pace_ = *pace_ == 0 ? 1 : *pace_ * 2;
        if (*pace_ > max_)
            pace_.reset();
    }
    void failed() noexcept { pace_ = 0; }

private:
    /// Twice what the last one took, which is a few round trips; a second if none has been opened.
    duration usual_time() const noexcept
    {
        constexpr duration shortest = std::chrono::milliseconds{10};
        constexpr duration longest = std::chrono::seconds{1};
        return last_took_ ? std::clamp(2 * *last_took_, shortest, longest) : longest;
    }

    std::uint32_t max_;
    std::size_t count_ = 0;
    time_point begun_{};  // the newest
    std::optional<duration> last_took_;
    std::optional<std::uint32_t> pace_;  // since a failure
    bool wake_up_set_ = false;
};

}  // namespace holdfast::core
