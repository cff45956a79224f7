#pragma once
#include <cstdint>
#include <string_view>

namespace holdfast::core::couchbase {

/// CRC-32 as zlib computes it.
std::uint32_t crc32(std::string_view bytes) noexcept;

/// The vbucket of a document's key, without the prefix that names its collection. `count` is a
/// power of two.
std::uint16_t vbucket_of(std::string_view key, std::uint32_t count) noexcept;

}  // namespace holdfast::core::couchbase
