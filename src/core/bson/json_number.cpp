#include "core/bson/json_number.hpp"

#include "core/bson/characters.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

namespace holdfast::bson {

namespace {

constexpr std::size_t surely_fit = 19;  // so many digits never exceed 64 bits without a sign

/// With any number of leading zeros.
std::optional<std::int64_t> parse_long_integer(std::string_view text) noexcept
{
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    if (read.ec != std::errc{} || read.ptr != end)
        return std::nullopt;
    return value;
}

/// Whether a number that fits no double is too small rather than too large. Counts the places
/// between the decimal point and the first digit that is not zero, and adds the exponent.
bool is_tiny(std::string_view number) noexcept
{
    const std::size_t mark = std::min(number.find_first_of("eE"), number.size());
    const std::string_view digits = number.substr(0, mark);
    const std::size_t point = std::min(digits.find('.'), digits.size());
    const std::size_t first = std::min(digits.find_first_of("123456789"), digits.size());
    const auto places = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);

    std::string_view exponent = number.substr(std::min(mark + 1, number.size()));
    const bool negative = exponent.starts_with('-');
    constexpr std::int64_t beyond_any_text = 1'000'000'000'000;
    std::int64_t size = 0;
    for (const char c : exponent) {
        if (is_digit(c) && size < beyond_any_text)
            size = size * 10 + (c - '0');
    }
    return places + (negative ? -size : size) < 0;
}

/// Moves the point of "d.ddd" behind the place that the exponent says, which lies among the digits
/// or before them.
char* print_without_exponent(std::string_view scientific, int exponent, char* out) noexcept
{
    const std::string_view first = scientific.substr(0, 1);
    const std::string_view rest = scientific.size() > 2 ? scientific.substr(2) : "";
    if (exponent < 0) {
        out = append(out, "0.");
        for (int zeros = -exponent - 1; zeros > 0; --zeros)
            *out++ = '0';
        return append(append(out, first), rest);
    }
    const auto before = static_cast<std::size_t>(exponent);
    out = append(append(out, first), rest.substr(0, before));
    *out++ = '.';
    return append(out, rest.substr(before));
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) noexcept
{
    const bool negative = text.starts_with('-');
    const std::string_view digits = text.substr(negative ? 1 : 0);
    if (digits.empty() || digits.size() > surely_fit)
        return parse_long_integer(text);
    std::uint64_t size = 0;
    for (const char c : digits) {
        if (!is_digit(c))
            return std::nullopt;
        size = size * 10 + static_cast<std::uint64_t>(c - '0');
    }
    constexpr std::uint64_t lowest = std::uint64_t{1} << 63;  // without its sign
    if (size > (negative ? lowest : lowest - 1))
        return std::nullopt;
    return static_cast<std::int64_t>(negative ? 0 - size : size);
}

std::optional<double> parse_double(std::string_view text) noexcept
{
    // from_chars also knows "inf" and "nan", which are no numbers here.
    const bool negative = text.starts_with('-');
    const std::string_view size = text.substr(negative ? 1 : 0);
    if (size.empty() || !(is_digit(size.front()) || size.front() == '.'))
        return std::nullopt;
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    if (read.ptr != end || read.ec == std::errc::invalid_argument)
        return std::nullopt;
    if (read.ec == std::errc{} && std::isfinite(value))
        return value;
    if (is_tiny(size))
        return negative ? -0.0 : 0.0;
    return std::nullopt;
}

char* print_double(double value, char* out) noexcept
{
    if (std::isnan(value))
        return append(out, "NaN");
    if (std::signbit(value)) {
        *out++ = '-';
        value = -value;
    }
    if (std::isinf(value))
        return append(out, "Infinity");

    // Python's limits, which the examples of the specification respect: 16 digits before the point,
    // four zeros behind it.
    constexpr double needs_exponent = 1e16;
    constexpr int lowest_exponent = -4;
    if (value < needs_exponent) {
        const auto whole = static_cast<std::int64_t>(value);
        if (static_cast<double>(whole) == value)
            return append(std::to_chars(out, out + max_double_text, whole).ptr, ".0");
    }
    char text[max_double_text];
    char* const end =
        std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
    char* const mark = std::find(text, end, 'e');
    int exponent = 0;
    std::from_chars(mark[1] == '+' ? mark + 2 : mark + 1, end, exponent);
    if (exponent >= lowest_exponent && value < needs_exponent)
        return print_without_exponent({text, mark}, exponent, out);
    *mark = 'E';
    return append(out, {text, end});
}

}  // namespace holdfast::bson
