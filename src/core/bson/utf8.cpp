#include "holdfast/bson/validate.hpp"

#include <cstdint>
#include <cstring>

namespace holdfast::bson {

namespace {

constexpr std::uint64_t high_bits = 0x8080808080808080;

std::uint64_t load_word(const unsigned char* from) noexcept
{
    std::uint64_t word;
    std::memcpy(&word, from, sizeof word);
    return word;
}

bool continues(unsigned char c) noexcept
{
    return (c & 0xC0) == 0x80;
}

/// The length of the well-formed sequence of two to four bytes at `p`, or zero. The second byte's
/// range excludes overlong forms (E0, F0), surrogates (ED) and what lies past U+10FFFF (F4).
std::size_t sequence(const unsigned char* p, std::size_t room) noexcept
{
    const unsigned char lead = *p;
    if (lead < 0xC2 || lead > 0xF4)
        return 0;
    const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (room < length)
        return 0;
    const unsigned char lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const unsigned char highest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (p[1] < lowest || p[1] > highest)
        return 0;
    for (std::size_t i = 2; i < length; ++i) {
        if (!continues(p[i]))
            return 0;
    }
    return length;
}

}  // namespace

bool is_utf8(std::string_view text) noexcept
{
    const auto* p = reinterpret_cast<const unsigned char*>(text.data());
    const unsigned char* const end = p + text.size();
    while (p != end) {
        // Most text is ASCII: sixteen bytes at a time as long as no high bit is set.
        while (end - p >= 16 && ((load_word(p) | load_word(p + 8)) & high_bits) == 0)
            p += 16;
        if (end - p >= 8 && (load_word(p) & high_bits) == 0)
            p += 8;
        while (p != end && *p < 0x80)
            ++p;
        while (p != end && *p >= 0x80) {
            const std::size_t length = sequence(p, static_cast<std::size_t>(end - p));
            if (length == 0)
                return false;
            p += length;
        }
    }
    return true;
}

}  // namespace holdfast::bson
