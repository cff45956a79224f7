#pragma once
#include "holdfast/bson/element.hpp"
#include "holdfast/bson/errc.hpp"
#include "holdfast/bson/validate.hpp"
#include "holdfast/error.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::bson {

/// Makes a builder refuse text that is not UTF-8.
struct check_utf8_t {};
inline constexpr check_utf8_t check_utf8{};

/// The error of a builder that was given something that no document can hold.
error build_error(errc what, std::string_view key);
/// The same for text that is not UTF-8, or for such a key: it names the field and the byte.
error text_error(const std::string& path, std::string_view text, bool is_key);

/// The key of a nested document or array that has just been begun, read back from the elements
/// before it, since builders do not remember it.
std::string_view last_key(std::string_view elements) noexcept;

namespace layout {

/// Whether no byte has its high bit set. Nearly all text is: this is seen without a call, eight
/// bytes at a time; the last eight may overlap those before.
inline bool is_ascii(std::string_view text) noexcept
{
    constexpr std::uint64_t high_bits = 0x8080808080808080;
    const auto* const from = reinterpret_cast<const std::uint8_t*>(text.data());
    const std::size_t size = text.size();
    if (size >= 8) {
        std::uint64_t seen = load<std::uint64_t>(from + size - 8);
        for (std::size_t at = 0; at + 8 < size; at += 8)
            seen |= load<std::uint64_t>(from + at);
        return (seen & high_bits) == 0;
    }
    if (size >= 4)
        return ((load<std::uint32_t>(from) | load<std::uint32_t>(from + size - 4)) &
                static_cast<std::uint32_t>(high_bits)) == 0;
    std::uint8_t seen = 0;
    for (std::size_t i = 0; i < size; ++i)
        seen |= from[i];
    return seen < 0x80;
}

}  // namespace layout

inline bool is_text(std::string_view text) noexcept
{
    return layout::is_ascii(text) || is_utf8(text);
}

}  // namespace holdfast::bson
