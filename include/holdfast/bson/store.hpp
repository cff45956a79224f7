#pragma once
#include "holdfast/bson/element.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace holdfast::bson {

/// Stores values as bytes, at any alignment; the caller has made room.
namespace layout {

template <class T>
std::uint8_t* store(std::uint8_t* to, T value) noexcept
{
    std::memcpy(to, &value, sizeof value);
    return to + sizeof value;
}
inline std::uint8_t* store_bytes(std::uint8_t* to, const void* from, std::size_t size) noexcept
{
    if (size != 0)  // an empty view may point nowhere
        std::memcpy(to, from, size);
    return to + size;
}

/// Whether one of the eight bytes is zero.
constexpr bool has_zero(std::uint64_t chunk) noexcept
{
    return ((chunk - 0x0101010101010101) & ~chunk & 0x8080808080808080) != 0;
}

/// Copies a key; false if it holds a zero byte. Nearly all keys are short: two words that may
/// overlap cost less than the calls of memchr and memcpy.
inline bool store_key(std::uint8_t* to, const char* key, std::size_t size) noexcept
{
    const auto* from = reinterpret_cast<const std::uint8_t*>(key);
    if (size >= 8 && size <= 16) {
        const auto head = load<std::uint64_t>(from);
        const auto tail = load<std::uint64_t>(from + size - 8);
        store(to, head);
        store(to + size - 8, tail);
        return !has_zero(head) && !has_zero(tail);
    }
    if (size >= 4 && size < 8) {
        const auto head = load<std::uint32_t>(from);
        const auto tail = load<std::uint32_t>(from + size - 4);
        store(to, head);
        store(to + size - 4, tail);
        return !has_zero(std::uint64_t{head} << 32 | tail);
    }
    if (size < 4) {
        bool good = true;
        for (std::size_t i = 0; i < size; ++i)
            good &= (to[i] = from[i]) != 0;
        return good;
    }
    std::memcpy(to, from, size);
    return std::memchr(from, 0, size) == nullptr;
}

/// Regex options are written in alphabetical order. There are no letters beyond ASCII among them,
/// and if there were, sorting their bytes would tear them apart.
inline void sort_options(std::span<std::uint8_t> options) noexcept
{
    if (std::ranges::all_of(options, [](std::uint8_t c) { return c < 0x80; }))
        std::ranges::sort(options);
}

}  // namespace layout

}  // namespace holdfast::bson
