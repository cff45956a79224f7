#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace holdfast::bson {

/// Most of a JSON text is plain: printable ASCII other than quote and backslash, which a string
/// holds as it is. Reader and printer pass over it in blocks and look closely at the rest only.
inline constexpr std::size_t plain_block = 16;

inline constexpr auto plain_characters = [] {
    std::array<bool, 256> plain{};
    for (std::size_t c = 0x20; c < 0x80; ++c)
        plain[c] = c != '"' && c != '\\';
    return plain;
}();

constexpr bool is_plain(char c) noexcept
{
    return plain_characters[static_cast<unsigned char>(c)];
}

#ifdef __SSE2__

/// The number of plain characters at `p`, up to the first that is not and at most `plain_block`.
inline std::size_t plain_prefix(const char* p) noexcept
{
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    // The comparison is signed: bytes beyond ASCII are negative, so they too are below the blank.
    const __m128i low = _mm_cmplt_epi8(block, _mm_set1_epi8(' '));
    const __m128i quote = _mm_cmpeq_epi8(block, _mm_set1_epi8('"'));
    const __m128i backslash = _mm_cmpeq_epi8(block, _mm_set1_epi8('\\'));
    const int odd = _mm_movemask_epi8(_mm_or_si128(low, _mm_or_si128(quote, backslash)));
    return static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(odd) | 1U << 16));
}

#else

/// The same for eight characters. A borrow can mark a character falsely only after one that is
/// rightly marked, and the first one is all that counts.
inline std::size_t plain_prefix_of_chunk(const char* p) noexcept
{
    static_assert(std::endian::native == std::endian::little, "the first character is the lowest");
    constexpr std::uint64_t ones = 0x0101010101010101;
    constexpr std::uint64_t high_bits = ones * 0x80;
    std::uint64_t chunk;
    std::memcpy(&chunk, p, sizeof chunk);
    const auto zero_bytes = [](std::uint64_t w) { return (w - ones) & ~w; };
    const std::uint64_t odd = (chunk | ((chunk - ones * ' ') & ~chunk) |
                               zero_bytes(chunk ^ ones * '"') | zero_bytes(chunk ^ ones * '\\')) &
                              high_bits;
    return static_cast<std::size_t>(std::countr_zero(odd)) / 8;
}

inline std::size_t plain_prefix(const char* p) noexcept
{
    const std::size_t first = plain_prefix_of_chunk(p);
    return first < 8 ? first : 8 + plain_prefix_of_chunk(p + 8);
}

#endif

/// The first character in [p, end) that is not plain, or `end`.
inline const char* skip_plain(const char* p, const char* end) noexcept
{
    while (static_cast<std::size_t>(end - p) >= plain_block) {
        const std::size_t plain = plain_prefix(p);
        p += plain;
        if (plain != plain_block)
            return p;
    }
    while (p != end && is_plain(*p))
        ++p;
    return p;
}

}  // namespace holdfast::bson
