#pragma once
#include "holdfast/error.hpp"

#include <chrono>
#include <cstdint>

namespace holdfast::core {

struct circuit_breaker_settings {
    std::uint32_t volume = 20;           // fewer requests in a window say nothing
    std::uint32_t error_percentage = 50;
    duration sleep_window = std::chrono::seconds{5};
    duration rolling_window = std::chrono::minutes{1};
};

/// Keeps requests away from an endpoint that fails most of them. Closed: all pass, and are counted
/// in a window. Open: none pass until the sleep window is over. Half open: one request is let
/// through to try the endpoint; its outcome closes the breaker or opens it again, and late answers
/// to requests that were sent before it do neither. A trial that never reports is given up after
/// another sleep window, so that no breaker stays shut for ever.
class circuit_breaker {
public:
    enum class state : std::uint8_t { closed, open, half_open };

    constexpr explicit circuit_breaker(circuit_breaker_settings settings = {}) noexcept
        : settings_{settings}
    {
    }

    constexpr state current() const noexcept { return state_; }

    /// Whether a request may be sent now. Says nothing about who sends it: call sent() if you do.
    constexpr bool allows(time_point now) const noexcept
    {
        switch (state_) {
        case state::closed:
            return true;
        case state::open:
        case state::half_open:
            return now - shut_since_ >= settings_.sleep_window;
        }
        return false;
    }

    /// A request is on its way that allows() has let through.
    constexpr void sent(time_point now) noexcept
    {
        if (state_ == state::closed || !allows(now))
            return;
        state_ = state::half_open;
        shut_since_ = now;
    }

    /// The outcome of a request that was sent then.
    constexpr void succeeded(time_point now, time_point sent_at) noexcept
    {
        if (is_trial(sent_at))
            return close(now);
        if (state_ == state::closed)
            count(now);
    }

    constexpr void failed(time_point now, time_point sent_at) noexcept
    {
        if (is_trial(sent_at))
            return open(now);
        if (state_ != state::closed)
            return;  // a late answer of the time before it opened
        count(now);
        ++failures_;
        if (requests_ >= settings_.volume &&
            std::uint64_t{failures_} * 100 >= std::uint64_t{requests_} * settings_.error_percentage)
            open(now);
    }

private:
    /// What was sent before the breaker opened is older by a sleep window, and trials that were
    /// given up are, too.
    constexpr bool is_trial(time_point sent_at) const noexcept
    {
        return state_ == state::half_open && sent_at >= shut_since_;
    }
    constexpr void count(time_point now) noexcept
    {
        if (requests_ == 0 || now - window_began_ >= settings_.rolling_window) {
            window_began_ = now;
            requests_ = failures_ = 0;
        }
        ++requests_;
    }
    constexpr void open(time_point now) noexcept
    {
        state_ = state::open;
        shut_since_ = now;
    }
    constexpr void close(time_point now) noexcept
    {
        state_ = state::closed;
        window_began_ = now;
        requests_ = failures_ = 0;
    }

    circuit_breaker_settings settings_;
    state state_ = state::closed;
    std::uint32_t requests_ = 0;
    std::uint32_t failures_ = 0;
    time_point window_began_{};
    time_point shut_since_{};  // when it opened, or when the trial was sent
};

}  // namespace holdfast::core
