#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace holdfast::bson {

inline constexpr std::string_view hex_digits = "0123456789abcdef";

/// Each character's value as a hexadecimal digit of either case, or -1.
inline constexpr auto hex_values = [] {
    std::array<std::int8_t, 256> values{};
    values.fill(-1);
    for (std::size_t i = 0; i < hex_digits.size(); ++i) {
        const auto digit = static_cast<unsigned char>(hex_digits[i]);
        values[digit] = static_cast<std::int8_t>(i);
        if (i >= 10)
            values[digit - 'a' + 'A'] = static_cast<std::int8_t>(i);
    }
    return values;
}();

/// The value of one digit, or -1 for any other character.
constexpr int hex_value(char digit) noexcept
{
    return hex_values[static_cast<unsigned char>(digit)];
}

/// Writes two lower case digits for each byte and gives the end of what was written.
constexpr char* encode_hex(std::span<const std::uint8_t> bytes, char* out) noexcept
{
    for (const std::uint8_t byte : bytes) {
        *out++ = hex_digits[byte >> 4];
        *out++ = hex_digits[byte & 0x0F];
    }
    return out;
}

/// Fills `bytes` from twice as many digits; false if one of these is none.
constexpr bool decode_hex(const char* digits, std::span<std::uint8_t> bytes) noexcept
{
    for (std::uint8_t& byte : bytes) {
        const int high = hex_value(*digits++);
        const int low = hex_value(*digits++);
        if (high < 0 || low < 0)
            return false;
        byte = static_cast<std::uint8_t>(high << 4 | low);
    }
    return true;
}

}  // namespace holdfast::bson
