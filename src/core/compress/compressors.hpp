#pragma once
#include "core/mongo/wire/compression.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace holdfast::core::mongo {

/// The most bytes that compressing `size` bytes can give.
std::size_t compressed_bound(wire_compressor with, std::size_t size) noexcept;

/// Fills the start of `to`, which has compressed_bound() bytes. Gives how many, or nothing
/// on failure.
std::optional<std::size_t> deflate_into(compression compressor, std::span<const std::uint8_t> from,
                                        std::span<std::uint8_t> to) noexcept;

/// True if `from`, all of it, decompresses to exactly as many bytes as `to` has, which is not
/// empty.
bool inflate_into(wire_compressor with, std::span<const std::uint8_t> from,
                  std::span<std::uint8_t> to) noexcept;

}  // namespace holdfast::core::mongo
