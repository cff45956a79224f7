#pragma once
#include <chrono>
#include <cstdint>

namespace holdfast::core::couchbase {

/// Servers say in 16 bits how long they took, finer for short times than for long ones: the number
/// to the power of 1.74, halved, in microseconds. 120 seconds is the longest.
std::chrono::microseconds decode_server_duration(std::uint16_t encoded);

/// The nearest number; the smallest or the largest for what is out of range.
std::uint16_t encode_server_duration(std::chrono::microseconds took);

}  // namespace holdfast::core::couchbase
