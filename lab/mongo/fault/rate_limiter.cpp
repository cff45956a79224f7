#include "lab/mongo/fault/rate_limiter.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace holdfast::lab {

void rate_limiter::set_rate(double per_second, double burst_seconds, time_point now) noexcept
{
    constexpr double unlimited = std::numeric_limits<double>::infinity();
    rate_ = std::isnan(per_second) ? unlimited : std::max(per_second, 0.0);
    const double burst = std::isnan(burst_seconds) ? unlimited : std::max(burst_seconds, 0.0);
    // Nothing times infinity is no number; no rate at all means no limit here.
    capacity_ = std::isinf(rate_) ? unlimited : rate_ == 0 ? 0 : rate_ * burst;
    tokens_ = capacity_;
    refilled_ = now;
}

bool rate_limiter::admit(time_point now) noexcept
{
    if (!enabled_ || std::isinf(rate_)) {
        ++admitted_;
        return true;
    }
    if (now > refilled_) {
        const std::chrono::duration<double> passed = now - refilled_;
        tokens_ = std::min(capacity_, tokens_ + passed.count() * rate_);
        refilled_ = now;
    }
    if (tokens_ < 1) {
        ++refused_;
        return false;
    }
    --tokens_;
    ++admitted_;
    return true;
}

}  // namespace holdfast::lab
