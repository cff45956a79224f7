#include "core/couchbase/wire/server_duration.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace holdfast::core::couchbase {

namespace {

constexpr double exponent = 1.74;

}  // namespace

std::chrono::microseconds decode_server_duration(std::uint16_t encoded)
{
    return std::chrono::microseconds{std::llround(std::pow(encoded, exponent) / 2)};
}

std::uint16_t encode_server_duration(std::chrono::microseconds took)
{
    constexpr double largest = std::numeric_limits<std::uint16_t>::max();
    const double twice = 2 * std::max(0.0, static_cast<double>(took.count()));
    return static_cast<std::uint16_t>(
        std::lround(std::min(std::pow(twice, 1 / exponent), largest)));
}

}  // namespace holdfast::core::couchbase
