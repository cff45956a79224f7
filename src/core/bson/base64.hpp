#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace holdfast::bson {

/// Base64 as RFC 4648 has it, with padding.
constexpr std::size_t base64_size(std::size_t bytes) noexcept
{
    return (bytes + 2) / 3 * 4;
}

/// Writes base64_size(bytes.size()) characters and gives the end of what was written.
char* encode_base64(std::span<const std::uint8_t> bytes, char* out) noexcept;

/// The most bytes that a text of this size can stand for.
constexpr std::size_t max_decoded_base64(std::size_t characters) noexcept
{
    return characters / 4 * 3;
}

/// Writes the bytes that `text` stands for and gives their number, or nothing if it is no base64.
/// Strict: whole groups of four, no blanks, and no bits that a decoder would have to drop, so that
/// every sequence of bytes has one text only.
std::optional<std::size_t> decode_base64(std::string_view text, std::uint8_t* out) noexcept;

}  // namespace holdfast::bson
