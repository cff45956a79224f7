#pragma once
#include <cstdint>
#include <span>

namespace holdfast::core::mongo {

/// The checksum of OP_MSG: CRC-32C (Castagnoli), as in RFC 3720.
std::uint32_t crc32c(std::span<const std::uint8_t> bytes) noexcept;

}  // namespace holdfast::core::mongo
