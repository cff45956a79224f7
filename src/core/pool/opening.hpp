#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace holdfast::core {

/// The connections of a pool that are being opened, and how many may be at a time.
///
/// A server that has just failed gets one connection, to see whether it is back; then one at a
/// time, then two, then four, up to maxConnecting: it must not be overrun by all waiting callers.
class opening_connections {
public:
    explicit opening_connections(std::uint32_t max_connecting) noexcept : max_{max_connecting} {}

    std::size_t count() const noexcept { return count_; }
    /// Without those that are stale already: a caller will get each of these.
    std::size_t usable() const noexcept { return usable_; }

    bool may_begin() const noexcept
    {
        return count_ < (pace_ ? std::clamp(*pace_, std::uint32_t{1}, max_) : max_);
    }
    void begin() noexcept
    {
        ++count_;
        ++usable_;
    }
    void end(bool stale) noexcept
    {
        --count_;
        if (!stale)
            --usable_;
    }
    void succeeded() noexcept
    {
        if (!pace_)
            return;
        *pace_ = *pace_ == 0 ? 1 : *pace_ * 2;
        if (*pace_ > max_)
            pace_.reset();
    }
    void failed() noexcept { pace_ = 0; }
    /// The server failed, and all that are being opened are stale.
    void all_stale() noexcept
    {
        usable_ = 0;
        failed();
    }

private:
    std::uint32_t max_;
    std::size_t count_ = 0;
    std::size_t usable_ = 0;
    std::optional<std::uint32_t> pace_;  // since a failure
};

}  // namespace holdfast::core
