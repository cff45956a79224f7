#pragma once
#include "core/couchbase/wire/kv_protocol.hpp"
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/error.hpp"

#include <cstdint>
#include <span>

namespace holdfast::core::couchbase {

/// The features that both sides of a connection have agreed on. A number beyond those that this
/// library could have asked for is not kept.
class feature_set {
public:
    constexpr feature_set() = default;

    constexpr void add(kv_feature feature) noexcept { bits_ |= bit_of(feature); }
    constexpr void remove(kv_feature feature) noexcept { bits_ &= ~bit_of(feature); }
    constexpr bool has(kv_feature feature) const noexcept { return (bits_ & bit_of(feature)) != 0; }
    constexpr bool empty() const noexcept { return bits_ == 0; }

    /// Those of `this` that `other` has, too.
    constexpr feature_set in_common_with(feature_set other) const noexcept
    {
        feature_set common;
        common.bits_ = bits_ & other.bits_;
        return common;
    }

    friend constexpr bool operator==(feature_set, feature_set) = default;

private:
    static constexpr std::uint64_t bit_of(kv_feature feature) noexcept
    {
        const auto number = static_cast<unsigned>(feature);
        return number < 64 ? std::uint64_t{1} << number : 0;
    }

    std::uint64_t bits_ = 0;
};

/// The value of a HELLO, request or reply: one 16-bit number after another, in any order. Fails
/// with errc::decoding_failure if half a number is left over.
result<feature_set> parse_features(std::span<const std::uint8_t> value);

/// The same at the end of `out`.
void write_features(bson::byte_buffer& out, std::span<const kv_feature> features);

}  // namespace holdfast::core::couchbase
