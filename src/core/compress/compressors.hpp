#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace holdfast::core {

enum class compressor : std::uint8_t { snappy, zlib, zstd };

/// 0 to 9, or zlib's own default.
inline constexpr int default_zlib_level = -1;

/// The most bytes that compressing `size` bytes can give.
std::size_t compressed_bound(compressor with, std::size_t size) noexcept;

/// Fills the start of `to`, which has compressed_bound() bytes. Gives how many, or nothing
/// on failure.
std::optional<std::size_t> compress_into(compressor with, std::span<const std::uint8_t> from,
                                         std::span<std::uint8_t> to,
                                         int zlib_level = default_zlib_level) noexcept;

/// How many bytes snappy's own header claims; nothing if it is no such header.
std::optional<std::size_t> snappy_size(std::span<const std::uint8_t> from) noexcept;

/// True if `from`, all of it, decompresses to exactly as many bytes as `to` has, which is not
/// empty.
bool decompress_into(compressor with, std::span<const std::uint8_t> from,
                     std::span<std::uint8_t> to) noexcept;

}  // namespace holdfast::core
