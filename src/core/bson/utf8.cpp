#include "core/bson/utf8_sequence.hpp"
#include "holdfast/bson/validate.hpp"

#include <cstdint>
#include <cstring>

namespace holdfast::bson {

namespace {

constexpr std::uint64_t high_bits = 0x8080808080808080;

std::uint64_t load_chunk(const char* from) noexcept
{
    std::uint64_t chunk;
    std::memcpy(&chunk, from, sizeof chunk);
    return chunk;
}

bool is_ascii(char c) noexcept
{
    return static_cast<unsigned char>(c) < 0x80;
}

}  // namespace

bool is_utf8(std::string_view text) noexcept
{
    const char* p = text.data();
    const char* const end = p + text.size();
    while (p != end) {
        // Most text is ASCII: sixteen bytes at a time as long as no high bit is set.
        while (end - p >= 16 && ((load_chunk(p) | load_chunk(p + 8)) & high_bits) == 0)
            p += 16;
        if (end - p >= 8 && (load_chunk(p) & high_bits) == 0)
            p += 8;
        while (p != end && is_ascii(*p))
            ++p;
        while (p != end && !is_ascii(*p)) {
            const std::size_t length = utf8_sequence(p, end);
            if (length == 0)
                return false;
            p += length;
        }
    }
    return true;
}

}  // namespace holdfast::bson
