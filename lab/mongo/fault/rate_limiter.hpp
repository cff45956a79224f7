#pragma once
#include "holdfast/error.hpp"

#include <cstdint>
#include <limits>

namespace holdfast::lab {

/// A token bucket, as the ingress rate limiters of a MongoDB server are: so many a second, and
/// `burst_seconds` worth of them at once. A value; time comes in.
class rate_limiter {
public:
    void enable(bool on) noexcept { enabled_ = on; }
    void set_rate(double per_second, double burst_seconds, time_point now) noexcept;

    /// Takes one token. False: the limit is reached.
    bool admit(time_point now) noexcept;

    bool enabled() const noexcept { return enabled_; }
    std::uint64_t admitted() const noexcept { return admitted_; }
    std::uint64_t refused() const noexcept { return refused_; }
    double available() const noexcept { return tokens_; }

private:
    bool enabled_ = false;
    double rate_ = std::numeric_limits<double>::infinity();
    double capacity_ = std::numeric_limits<double>::infinity();
    double tokens_ = std::numeric_limits<double>::infinity();
    time_point refilled_{};
    std::uint64_t admitted_ = 0;
    std::uint64_t refused_ = 0;
};

}  // namespace holdfast::lab
