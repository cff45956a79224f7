#pragma once
#include "holdfast/bson/decimal128.hpp"
#include "holdfast/bson/element.hpp"
#include "lab/mongo/update/writer.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::lab::updating {

/// A number of one of BSON's four types, which decide what type a result has.
struct number {
    bson::type type = bson::type::int32;
    std::int64_t whole = 0;  // int32, int64
    double real = 0;
    bson::decimal128 decimal = {};

    /// Nothing if the element is no number.
    static std::optional<number> of(const bson::element& e);
    bool is_whole() const noexcept
    {
        return type == bson::type::int32 || type == bson::type::int64;
    }
    /// The zero of the same type.
    number zero() const;
    void write(writer& out, std::string_view key) const;
    std::string text() const;  // (NumberLong)5
};

/// Two int32 whose result does not fit give an int64; nothing if an int64 does not suffice.
std::optional<number> add(const number& a, const number& b);
std::optional<number> multiply(const number& a, const number& b);

}  // namespace holdfast::lab::updating
