#pragma once
#include "core/couchbase/wire/frame.hpp"
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/error.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace holdfast::core::couchbase {

/// Shorter values are not worth compressing, and neither are those that hardly shrink.
inline constexpr std::size_t min_compressed_size = 32;
inline constexpr std::size_t max_compressed_percent = 83;

/// Writes the value at the end of `out`, compressed by snappy if that pays; true if it was. There
/// is no copy of it between where it lies and `out`.
bool append_compressed(bson::byte_buffer& out, std::span<const std::uint8_t> value);

/// Writes what snappy made of a value at the end of `out`, and gives it as it lies there. The size
/// that it claims is held against the limit, and against what so many bytes can hold at most,
/// before memory is taken. Fails with errc::decoding_failure.
result<std::span<const std::uint8_t>> decompress_value(std::span<const std::uint8_t> compressed,
                                                       bson::byte_buffer& out,
                                                       std::size_t limit = max_body_size);

}  // namespace holdfast::core::couchbase
