#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace holdfast::core::couchbase {

/// Where the characters are that the structure of a JSON text hangs on, a bit for each byte of a
/// block.
struct text_marks {
    std::uint64_t quotes = 0;
    std::uint64_t backslashes = 0;
    std::uint64_t brackets = 0;  // of all four kinds

    friend bool operator==(const text_marks&, const text_marks&) = default;
};

inline constexpr std::size_t marks_block = 64;

/// Of up to a block, byte for byte.
inline text_marks marks_one_by_one(const char* p, std::size_t size) noexcept
{
    text_marks found;
    for (std::size_t i = 0; i < size; ++i) {
        const std::uint64_t bit = std::uint64_t{1} << i;
        found.quotes |= p[i] == '"' ? bit : 0;
        found.backslashes |= p[i] == '\\' ? bit : 0;
        found.brackets |= p[i] == '{' || p[i] == '}' || p[i] == '[' || p[i] == ']' ? bit : 0;
    }
    return found;
}

#ifdef __SSE2__

struct sixteen_marks { std::uint32_t quotes, backslashes, brackets; };

inline sixteen_marks marks_of_sixteen(const char* p) noexcept
{
    const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    // One bit makes a brace of a bracket, and nothing else.
    const __m128i braces = _mm_or_si128(text, _mm_set1_epi8('{' ^ '['));
    const __m128i opening = _mm_cmpeq_epi8(braces, _mm_set1_epi8('{'));
    const __m128i closing = _mm_cmpeq_epi8(braces, _mm_set1_epi8('}'));
    const auto bits = [](__m128i of) { return static_cast<std::uint32_t>(_mm_movemask_epi8(of)); };
    return {bits(_mm_cmpeq_epi8(text, _mm_set1_epi8('"'))),
            bits(_mm_cmpeq_epi8(text, _mm_set1_epi8('\\'))), bits(_mm_or_si128(opening, closing))};
}

/// Of a whole block.
inline text_marks marks_of(const char* p) noexcept
{
    const sixteen_marks a = marks_of_sixteen(p), b = marks_of_sixteen(p + 16),
                        c = marks_of_sixteen(p + 32), d = marks_of_sixteen(p + 48);
    const auto join = [](std::uint32_t w, std::uint32_t x, std::uint32_t y, std::uint32_t z) {
        return std::uint64_t{w | x << 16} | std::uint64_t{y | z << 16} << 32;
    };
    return {join(a.quotes, b.quotes, c.quotes, d.quotes),
            join(a.backslashes, b.backslashes, c.backslashes, d.backslashes),
            join(a.brackets, b.brackets, c.brackets, d.brackets)};
}

#else

inline text_marks marks_of(const char* p) noexcept
{
    return marks_one_by_one(p, marks_block);
}

#endif

/// Of less than a block.
inline text_marks marks_of_part(const char* p, std::size_t size) noexcept
{
    char whole[marks_block] = {};
    std::memcpy(whole, p, size);
    return marks_of(whole);
}

}  // namespace holdfast::core::couchbase
