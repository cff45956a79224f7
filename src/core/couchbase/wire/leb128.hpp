#pragma once
#include <array>
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

/// An id as it stands before a key, on the stack.
class collection_prefix {
public:
    constexpr explicit collection_prefix(collection_id id) noexcept
    {
        do {
            const auto low = static_cast<std::uint8_t>(id & 0x7f);
            id >>= 7;
            bytes_[size_++] = id == 0 ? low : static_cast<std::uint8_t>(low | 0x80);
        } while (id != 0);
    }

    constexpr std::span<const std::uint8_t> bytes() const noexcept
    {
        return {bytes_.data(), size_};
    }

private:
    std::array<std::uint8_t, max_collection_prefix> bytes_{};
    std::size_t size_ = 0;
};

struct collection_key {
    collection_id collection = default_collection;
    std::span<const std::uint8_t> key = {};
};

/// Takes the prefix off. Nothing if it does not end, if it is larger than 32 bits, or if it is
/// longer than it need be: a server takes none of these.
std::optional<collection_key> split_collection_key(std::span<const std::uint8_t> key) noexcept;

}  // namespace holdfast::core::couchbase
