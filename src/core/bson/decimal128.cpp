#include "holdfast/bson/decimal128.hpp"

#include "core/bson/characters.hpp"
#include "core/bson/quote.hpp"
#include "holdfast/bson/errc.hpp"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <optional>

namespace holdfast::bson {

namespace {

__extension__ typedef unsigned __int128 uint128;

constexpr int max_digits = 34;
constexpr int min_exponent = -6176;  // stored as zero
constexpr int max_exponent = 6111;
constexpr std::uint64_t exponent_mask = 0x3FFF;
constexpr std::uint64_t ten_to_17 = 100'000'000'000'000'000;
constexpr uint128 coefficient_limit = uint128{ten_to_17} * ten_to_17;  // 34 digits stay below it

// ---- From text ----

/// A number as it was written: coefficient times a power of ten, not yet known to fit.
struct written_number {
    uint128 coefficient = 0;
    int digits = 0;  // of the coefficient; leading zeros do not count
    std::int64_t exponent = 0;
    bool exact = true;  // until a digit other than zero finds no room

    void append(unsigned digit)
    {
        if (digits == max_digits) {
            ++exponent;
            exact = exact && digit == 0;
        } else if (digits != 0 || digit != 0) {
            coefficient = coefficient * 10 + digit;
            ++digits;
        }
    }
};

/// Takes an optional sign off the front of `text`; true for a minus.
bool take_minus(std::string_view& text)
{
    const bool minus = text.starts_with('-');
    if (minus || text.starts_with('+'))
        text.remove_prefix(1);
    return minus;
}

/// Takes all digits off the front of `text` and gives how many there were.
std::int64_t take_digits(std::string_view& text, written_number& number)
{
    const auto end = std::ranges::find_if_not(text, is_digit);
    const auto count = end - text.begin();
    for (const char c : text.substr(0, static_cast<std::size_t>(count)))
        number.append(static_cast<unsigned>(c - '0'));
    text.remove_prefix(static_cast<std::size_t>(count));
    return count;
}

/// The text after the E, to the end.
std::optional<std::int64_t> read_exponent(std::string_view text)
{
    const bool minus = take_minus(text);
    if (text.empty() || !std::ranges::all_of(text, is_digit))
        return std::nullopt;
    // Far beyond what the longest text of zeros could bring back into range, and short of overflow.
    constexpr std::int64_t enough = 100'000'000'000'000'000;
    std::int64_t value = 0;
    for (const char c : text)
        value = std::min(value * 10 + (c - '0'), enough);
    return minus ? -value : value;
}

/// Digits with an optional point and an optional exponent, or nothing if it is not that.
std::optional<written_number> read_number(std::string_view text)
{
    written_number number;
    std::int64_t digits = take_digits(text, number);
    if (text.starts_with('.')) {
        text.remove_prefix(1);
        const std::int64_t decimals = take_digits(text, number);
        number.exponent -= decimals;
        digits += decimals;
    }
    if (digits == 0)
        return std::nullopt;
    if (text.empty())
        return number;
    if (text.front() != 'e' && text.front() != 'E')
        return std::nullopt;
    const auto exponent = read_exponent(text.substr(1));
    if (!exponent)
        return std::nullopt;
    number.exponent += *exponent;
    return number;
}

/// Moves zeros between coefficient and exponent until the exponent is in range; false if the value
/// would have to change for that.
bool clamp_exponent(written_number& number)
{
    if (number.coefficient == 0) {
        number.exponent = std::clamp<std::int64_t>(number.exponent, min_exponent, max_exponent);
        return true;
    }
    if (number.exponent - max_exponent > max_digits - number.digits)
        return false;
    for (; number.exponent > max_exponent; --number.exponent)
        number.coefficient *= 10;
    for (; number.exponent < min_exponent; ++number.exponent) {
        if (number.coefficient % 10 != 0)
            return false;
        number.coefficient /= 10;
    }
    return true;
}

decimal128 encode(bool negative, const written_number& number)
{
    assert(number.coefficient < coefficient_limit);
    assert(number.exponent >= min_exponent && number.exponent <= max_exponent);
    const auto exponent = static_cast<std::uint64_t>(number.exponent - min_exponent);
    return {static_cast<std::uint64_t>(number.coefficient),
            (negative ? decimal128::sign_bit : 0) | exponent << 49 |
                static_cast<std::uint64_t>(number.coefficient >> 64)};
}

/// Whether `text` is `word`, which is lower case, in any mixture of cases.
bool equals_ignoring_case(std::string_view text, std::string_view chunk)
{
    return std::ranges::equal(text, chunk, [](char c, char lower) {
        return (c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) == lower;
    });
}

// ---- To text ----

struct finite_number {
    uint128 coefficient;
    int exponent;
};

/// Takes a value apart that is neither NaN nor infinite. Coefficients of more than 34 digits can be
/// stored but count as zero, and so do all that the second form of the encoding can hold.
finite_number decode(const decimal128& value)
{
    constexpr std::uint64_t second_form = 0x6000000000000000;
    const bool large = (value.high & second_form) == second_form;
    const std::uint64_t biased = (value.high >> (large ? 47 : 49)) & exponent_mask;
    const int exponent = static_cast<int>(biased) + min_exponent;
    const std::uint64_t top = value.high & 0x0001FFFFFFFFFFFF;
    const uint128 coefficient = uint128{top} << 64 | value.low;
    if (large || coefficient >= coefficient_limit)
        return {0, exponent};
    return {coefficient, exponent};
}

/// Writes the decimal digits of a coefficient and gives their end. Cutting it once into two halves
/// of 17 digits leaves the rest to 64 bit arithmetic, which is several times faster.
char* print_coefficient(uint128 coefficient, char* out) noexcept
{
    if (coefficient < ten_to_17)
        return std::to_chars(out, out + 17, static_cast<std::uint64_t>(coefficient)).ptr;
    const auto high = static_cast<std::uint64_t>(coefficient / ten_to_17);
    const auto low = static_cast<std::uint64_t>(coefficient - uint128{high} * ten_to_17);
    out = std::to_chars(out, out + 17, high).ptr;
    char half[18];
    std::to_chars(half, half + 18, ten_to_17 + low);  // the 1 in front keeps the zeros after it
    return std::copy(half + 1, half + 18, out);
}

char* print_scientific(char* out, std::string_view digits, int exponent) noexcept
{
    *out++ = digits.front();
    if (digits.size() > 1) {
        *out++ = '.';
        out = append(out, digits.substr(1));
    }
    *out++ = 'E';
    if (exponent >= 0)
        *out++ = '+';
    return std::to_chars(out, out + 5, exponent).ptr;
}

/// `decimals` of the digits, and zeros if there are fewer, go behind the point.
char* print_plain(char* out, std::string_view digits, int decimals) noexcept
{
    if (decimals == 0)
        return append(out, digits);
    const int whole = static_cast<int>(digits.size()) - decimals;
    if (whole > 0) {
        out = append(out, digits.substr(0, static_cast<std::size_t>(whole)));
        *out++ = '.';
        return append(out, digits.substr(static_cast<std::size_t>(whole)));
    }
    out = append(out, "0.");
    out = std::fill_n(out, -whole, '0');
    return append(out, digits);
}

}  // namespace

result<decimal128> decimal128::parse(std::string_view text)
{
    std::string_view rest = text;
    const bool negative = take_minus(rest);
    if (equals_ignoring_case(rest, "infinity") || equals_ignoring_case(rest, "inf"))
        return negative ? negative_infinity() : infinity();
    if (equals_ignoring_case(rest, "nan"))
        return nan();  // the sign of a NaN means nothing, and is not printed either

    std::optional<written_number> number = read_number(rest);
    if (!number)
        return error{errc::invalid_value,
                     "a Decimal128 is a decimal number with an optional exponent, Infinity or NaN, "
                     "found " +
                         quote(text)};
    if (!number->exact)
        return error{errc::out_of_range,
                     "a Decimal128 has at most 34 significant digits and is never rounded, found " +
                         quote(text)};
    if (!clamp_exponent(*number))
        return error{errc::out_of_range,
                     "the exponent of a Decimal128 is -6176 to 6111 and its digits are never "
                     "rounded away, found " +
                         quote(text)};
    return encode(negative, *number);
}

std::string decimal128::to_string() const
{
    char text[max_text];
    return {text, print(text)};
}

char* decimal128::print(char* out) const noexcept
{
    if (is_nan())
        return append(out, "NaN");
    if (is_negative())
        *out++ = '-';
    if (is_infinite())
        return append(out, "Infinity");

    const finite_number number = decode(*this);
    char buffer[max_digits];
    const std::string_view digits{buffer, print_coefficient(number.coefficient, buffer)};
    const int adjusted = number.exponent + static_cast<int>(digits.size()) - 1;
    if (number.exponent > 0 || adjusted < -6)
        return print_scientific(out, digits, adjusted);
    return print_plain(out, digits, -number.exponent);
}

}  // namespace holdfast::bson
