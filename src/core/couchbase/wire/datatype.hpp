#pragma once
#include "core/couchbase/wire/features.hpp"

#include <cstdint>

namespace holdfast::core::couchbase {

/// What a value is, as bits of one byte: JSON that was compressed by snappy has two of them.
enum class kv_datatype : std::uint8_t {
    raw = 0x00,
    json = 0x01,
    snappy = 0x02,
    xattr = 0x04,
};

constexpr kv_datatype operator|(kv_datatype a, kv_datatype b) noexcept
{
    return static_cast<kv_datatype>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

constexpr bool has(kv_datatype bits, kv_datatype bit) noexcept
{
    return (static_cast<unsigned>(bits) & static_cast<unsigned>(bit)) != 0;
}

constexpr kv_datatype without(kv_datatype bits, kv_datatype bit) noexcept
{
    return static_cast<kv_datatype>(static_cast<unsigned>(bits) & ~static_cast<unsigned>(bit));
}

/// False if a bit is set that the two sides have not agreed on, or one that means nothing.
constexpr bool is_negotiated(kv_datatype bits, feature_set agreed) noexcept
{
    constexpr kv_datatype known = kv_datatype::json | kv_datatype::snappy | kv_datatype::xattr;
    const bool compresses = agreed.has(kv_feature::snappy) ||
                            agreed.has(kv_feature::snappy_everywhere);
    return without(bits, known) == kv_datatype::raw &&
           (!has(bits, kv_datatype::json) || agreed.has(kv_feature::json)) &&
           (!has(bits, kv_datatype::snappy) || compresses) &&
           (!has(bits, kv_datatype::xattr) || agreed.has(kv_feature::xattr));
}

}  // namespace holdfast::core::couchbase
