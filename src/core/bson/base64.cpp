#include "core/bson/base64.hpp"

#include <array>

namespace holdfast::bson {

namespace {

constexpr std::string_view digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint32_t no_digit = 0x80'00'00'00;

constexpr auto digit_values = [] {
    std::array<std::uint32_t, 256> values{};
    values.fill(no_digit);
    for (std::uint32_t i = 0; i < digits.size(); ++i)
        values[static_cast<unsigned char>(digits[i])] = i;
    return values;
}();

std::uint32_t value_of(char digit) noexcept
{
    return digit_values[static_cast<unsigned char>(digit)];
}

char digit_of(std::uint32_t bits) noexcept
{
    return digits[bits & 0x3F];
}

std::uint8_t low_byte(std::uint32_t bits) noexcept
{
    return static_cast<std::uint8_t>(bits & 0xFF);
}

/// The last group, of two or three digits: one or two bytes.
std::optional<std::size_t> decode_rest(std::string_view rest, std::uint8_t* out) noexcept
{
    const std::uint32_t third = rest.size() == 3 ? value_of(rest[2]) : 0;
    const std::uint32_t bits = value_of(rest[0]) << 18 | value_of(rest[1]) << 12 | third << 6;
    const bool clean = ((value_of(rest[0]) | value_of(rest[1]) | third) & no_digit) == 0;
    const std::size_t count = rest.size() - 1;
    const std::uint32_t dropped = count == 1 ? 0xFFFF : 0xFF;
    if (!clean || (bits & dropped) != 0)
        return std::nullopt;
    out[0] = low_byte(bits >> 16);
    if (count == 2)
        out[1] = low_byte(bits >> 8);
    return count;
}

}  // namespace

char* encode_base64(std::span<const std::uint8_t> bytes, char* out) noexcept
{
    const std::uint8_t* p = bytes.data();
    std::size_t left = bytes.size();
    for (; left >= 3; left -= 3, p += 3, out += 4) {
        const std::uint32_t bits = std::uint32_t{p[0]} << 16 | std::uint32_t{p[1]} << 8 | p[2];
        out[0] = digit_of(bits >> 18);
        out[1] = digit_of(bits >> 12);
        out[2] = digit_of(bits >> 6);
        out[3] = digit_of(bits);
    }
    if (left == 0)
        return out;
    const std::uint32_t second = left == 2 ? p[1] : 0;
    const std::uint32_t bits = std::uint32_t{p[0]} << 16 | second << 8;
    out[0] = digit_of(bits >> 18);
    out[1] = digit_of(bits >> 12);
    out[2] = left == 2 ? digit_of(bits >> 6) : '=';
    out[3] = '=';
    return out + 4;
}

std::optional<std::size_t> decode_base64(std::string_view text, std::uint8_t* out) noexcept
{
    if (text.size() % 4 != 0)
        return std::nullopt;
    std::uint8_t* const first = out;
    if (text.ends_with('='))
        text.remove_suffix(text.ends_with("==") ? 2 : 1);
    std::uint32_t all = 0;  // checked once at the end: was any character no digit?
    for (; text.size() >= 4; text.remove_prefix(4), out += 3) {
        const std::uint32_t a = value_of(text[0]);
        const std::uint32_t b = value_of(text[1]);
        const std::uint32_t c = value_of(text[2]);
        const std::uint32_t d = value_of(text[3]);
        all |= a | b | c | d;
        const std::uint32_t bits = a << 18 | b << 12 | c << 6 | d;
        out[0] = low_byte(bits >> 16);
        out[1] = low_byte(bits >> 8);
        out[2] = low_byte(bits);
    }
    if ((all & no_digit) != 0)
        return std::nullopt;
    const auto whole = static_cast<std::size_t>(out - first);
    if (text.empty())
        return whole;
    const auto rest = decode_rest(text, out);
    return rest ? std::optional{whole + *rest} : std::nullopt;
}

}  // namespace holdfast::bson
