#pragma once
#include "holdfast/bson/element.hpp"
#include "holdfast/error.hpp"
#include "lab/mongo/document/value.hpp"

#include <cstdint>
#include <optional>

namespace holdfast::lab::computing {

/// A number with the type that it came with: results have the wider type of the operands.
struct number {
    enum class kind : std::uint8_t { int32, int64, real, decimal };

    kind is = kind::int32;
    std::int64_t whole = 0;  // of the integers
    double real = 0;         // of all; of a decimal the nearest
    bson::decimal128 decimal = {};

    static number of(std::int64_t v, kind k) { return {k, v, static_cast<double>(v), {}}; }
    static number of(double v) { return {kind::real, 0, v, {}}; }

    bool integral() const noexcept { return is == kind::int32 || is == kind::int64; }

    /// An int64 stays one; what was made of int32s is one if it still fits.
    value to_value() const;
};

std::optional<number> read_number(const bson::element& from) noexcept;

/// Every number that is whole and fits, of any type.
std::optional<std::int32_t> as_int32(const bson::element& from) noexcept;
std::optional<std::int64_t> as_int64(const bson::element& from) noexcept;

/// Integers overflow to double, as MongoDB's $add and $multiply do.
number add(const number& a, const number& b);
number multiply(const number& a, const number& b);

/// Decimals travel, compare and convert, but nothing is computed with them.
error no_decimal(std::string_view operation);

}  // namespace holdfast::lab::computing
