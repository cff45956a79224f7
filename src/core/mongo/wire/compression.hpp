#pragma once
#include "core/mongo/wire/message_header.hpp"
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/error.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace holdfast::core::mongo {

/// Named by the number it has in an OP_COMPRESSED.
enum class wire_compressor : std::uint8_t { noop = 0, snappy = 1, zlib = 2, zstd = 3 };

/// The name in connection strings and in the handshake.
std::string_view name_of(wire_compressor which) noexcept;

/// `noop` is not found: it is for tests, and never negotiated.
std::optional<wire_compressor> compressor_named(std::string_view name) noexcept;

/// The first of ours that the server has too; none if there is no such.
std::optional<wire_compressor> choose_compressor(std::span<const wire_compressor> ours,
                                                 std::span<const wire_compressor> theirs) noexcept;

/// False for commands that carry secrets: the size of a compressed message depends on its content
/// (the CRIME attack).
bool may_compress(std::string_view command_name) noexcept;

struct compression {
    wire_compressor with = wire_compressor::noop;
    int zlib_level = -1;  // 0 to 9, or -1 for zlib's default
};

/// Writes `message`, which must be whole and lie elsewhere, as an OP_COMPRESSED at the end of
/// `out`. The limit is for what comes out.
result<std::span<const std::uint8_t>> compress_message(std::span<const std::uint8_t> message,
                                                       compression compressor,
                                                       bson::byte_buffer& out,
                                                       std::size_t limit = max_message_size);

/// An error if an OP_COMPRESSED is compressed by anything but `negotiated`: no decompressor is to
/// see bytes that it was not chosen for. `noop` needs none.
result<void> check_compressor(std::span<const std::uint8_t> message, wire_compressor negotiated,
                              std::size_t limit = max_message_size);

/// Writes the message that an OP_COMPRESSED holds at the end of `out`, header and all; it must lie
/// elsewhere. The size that it claims is held against the limit before memory is taken, and against
/// the true size after.
result<std::span<const std::uint8_t>> decompress_message(std::span<const std::uint8_t> message,
                                                         bson::byte_buffer& out,
                                                         std::size_t limit = max_message_size);

}  // namespace holdfast::core::mongo
