#pragma once
#include "holdfast/error.hpp"

#include <algorithm>
#include <chrono>

namespace holdfast::core::mongo {

/// How often a monitor may go on at once, with the next streamed reply or with a new connection. A
/// server that streams without end would otherwise keep the application's executor busy. A burst,
/// as elections and reconfigurations make them, passes without delay.
class reply_pace {
public:
    static constexpr int burst = 20;
    static constexpr duration interval = std::chrono::milliseconds{50};

    /// The monitor goes on: how long it rests before that.
    duration next(time_point now) noexcept
    {
        due_ = std::max(due_, now) + interval;
        return std::max(due_ - now - burst * interval, duration::zero());
    }

private:
    time_point due_ = time_point::min();  // when as many intervals as replies have passed
};

}  // namespace holdfast::core::mongo
