#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::bson {

/// Reads an integer that is nothing but an optional minus and decimal digits.
std::optional<std::int64_t> parse_integer(std::string_view text) noexcept;

/// Reads a finite double: "-1.5", "12", ".5", "1E+18". A number too large for a double is none; one
/// too small is zero with its sign. Both as libbson does it, since the specification is silent.
std::optional<double> parse_double(std::string_view text) noexcept;

/// Room that print_double() needs: sign, 17 digits, point, and an exponent or leading zeros.
inline constexpr std::size_t max_double_text = 32;

/// Writes the shortest text that reads back as the same value, and that no reader takes for an
/// integer: "1.0", "-0.0", "0.001", "1.2345678921232E+18", "Infinity", "NaN". Gives its end.
char* print_double(double value, char* out) noexcept;

}  // namespace holdfast::bson
