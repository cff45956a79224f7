#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace holdfast::json {

/// The beginning of a text up to the first byte that JSON cannot have, or not as it is, in a
/// string: a quote, a backslash, a control character.
struct text_run {
    std::size_t size = 0;
    /// May be true without need, for the bytes that follow; never false if there are some.
    bool has_high_bits = false;
};

constexpr bool is_special(char c) noexcept
{
    return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20;
}

/// Eight bytes at a time.
inline text_run scan_text(std::string_view text) noexcept
{
    static_assert(std::endian::native == std::endian::little);
    constexpr std::uint64_t ones = 0x0101010101010101;
    constexpr std::uint64_t high = 0x8080808080808080;
    const char* const begin = text.data();
    std::size_t at = 0;
    std::uint64_t seen = 0;
    for (; at + 8 <= text.size(); at += 8) {
        std::uint64_t bytes;
        std::memcpy(&bytes, begin + at, 8);
        const std::uint64_t quote = bytes ^ (ones * '"');
        const std::uint64_t slash = bytes ^ (ones * '\\');
        // The lowest set bit is exact: a subtraction borrows only from bytes above.
        const std::uint64_t found = (((quote - ones) & ~quote) | ((slash - ones) & ~slash) |
                                     ((bytes - ones * 0x20) & ~bytes)) &
                                    high;
        seen |= bytes & high;
        if (found != 0)
            return {at + static_cast<std::size_t>(std::countr_zero(found)) / 8, seen != 0};
    }
    for (; at < text.size() && !is_special(begin[at]); ++at)
        seen |= static_cast<unsigned char>(begin[at]) & 0x80u;
    return {at, seen != 0};
}

}  // namespace holdfast::json
