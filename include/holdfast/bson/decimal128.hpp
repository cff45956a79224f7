#pragma once
#include "holdfast/error.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::bson {

/// An IEEE 754-2008 decimal with 34 digits, in the binary integer encoding. Kept as its bits: two
/// values are equal if their bits are, so 1.0 and 1.00 differ, as they do in a database.
struct decimal128 {
    std::uint64_t low = 0;
    std::uint64_t high = 0x3040000000000000;  // zero with exponent zero

    /// The longest text of a value: sign, 34 digits, point, E, sign, four digits.
    static constexpr std::size_t max_text = 42;

    /// Exact: a text that would need rounding, or an exponent out of range, is an error. Accepts
    /// what the Decimal128 specification does: "1.5", "-1E+3", ".5", "Infinity", "inf", "NaN".
    static result<decimal128> parse(std::string_view text);

    std::string to_string() const;

    /// Writes the canonical text to `out`, which has room for max_text; gives the end of the text.
    char* print(char* out) const noexcept;

    constexpr bool is_nan() const noexcept { return (high & nan_bits) == nan_bits; }
    constexpr bool is_infinite() const noexcept { return (high & nan_bits) == infinity_bits; }
    constexpr bool is_negative() const noexcept { return (high & sign_bit) != 0; }

    static constexpr decimal128 infinity() noexcept { return {0, infinity_bits}; }
    static constexpr decimal128 negative_infinity() noexcept
    {
        return {0, infinity_bits | sign_bit};
    }
    static constexpr decimal128 nan() noexcept { return {0, nan_bits}; }

    friend constexpr bool operator==(const decimal128&, const decimal128&) = default;

    static constexpr std::uint64_t sign_bit = 0x8000000000000000;
    static constexpr std::uint64_t infinity_bits = 0x7800000000000000;
    static constexpr std::uint64_t nan_bits = 0x7C00000000000000;
};

}  // namespace holdfast::bson
