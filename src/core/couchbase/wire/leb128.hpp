#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace holdfast::core::couchbase {

/// Once collections are agreed on, every document key begins with the id of its collection as an
/// unsigned LEB128: 0x555 is d5 0a, and the default collection is a zero byte.
using collection_id = std::uint32_t;
inline constexpr collection_id default_collection = 0;
inline constexpr std::size_t max_collection_prefix = 5;

/// How many bytes the id takes before a key.
constexpr std::size_t prefix_size_of(collection_id id) noexcept
{
    return static_cast<std::size_t>(std::bit_width(id | 1) + 6) / 7;
}

/// Writes it, and gives the place behind it.
constexpr std::uint8_t* store_prefix(std::uint8_t* to, collection_id id) noexcept
{
    for (; id >= 0x80; id >>= 7)
        *to++ = static_cast<std::uint8_t>(id | 0x80);
    *to++ = static_cast<std::uint8_t>(id);
    return to;
}

/// An id as it stands before a key, on the stack.
class collection_prefix {
public:
    constexpr explicit collection_prefix(collection_id id) noexcept : size_{prefix_size_of(id)}
    {
        store_prefix(bytes_.data(), id);
    }

    constexpr std::span<const std::uint8_t> bytes() const noexcept
    {
        return {bytes_.data(), size_};
    }

private:
    std::array<std::uint8_t, max_collection_prefix> bytes_{};
    std::size_t size_;
};

struct collection_key {
    collection_id collection = default_collection;
    std::span<const std::uint8_t> key = {};
};

/// Takes the prefix off. Nothing if it does not end, if it is larger than 32 bits, or if it is
/// longer than it need be: a server takes none of these.
std::optional<collection_key> split_collection_key(std::span<const std::uint8_t> key) noexcept;

}  // namespace holdfast::core::couchbase
