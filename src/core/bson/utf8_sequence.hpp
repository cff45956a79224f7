#pragma once
#include <cstddef>

namespace holdfast::bson {

/// The length of the well-formed UTF-8 sequence of two to four bytes at `p`, or zero. The second
/// byte's range excludes overlong forms (E0, F0), surrogates (ED) and what lies past U+10FFFF (F4).
inline std::size_t utf8_sequence(const char* p, const char* end) noexcept
{
    const auto byte = [p](std::size_t i) { return static_cast<unsigned char>(p[i]); };
    const unsigned char lead = byte(0);
    if (lead < 0xC2 || lead > 0xF4)
        return 0;
    const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (static_cast<std::size_t>(end - p) < length)
        return 0;
    const unsigned char lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const unsigned char highest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (byte(1) < lowest || byte(1) > highest)
        return 0;
    for (std::size_t i = 2; i < length; ++i) {
        if ((byte(i) & 0xC0) != 0x80)
            return 0;
    }
    return length;
}

}  // namespace holdfast::bson
