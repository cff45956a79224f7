#include "core/uri/option_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

namespace holdfast::core::uri {

result<std::vector<raw_option>> split_options(std::string_view text, error_code malformed)
{
    std::vector<raw_option> options;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::size_t end = std::min(text.find('&'), text.size());
        const std::string_view pair = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::size_t equals = pair.find('=');
        if (pair.empty())
            continue;  // "a=1&" and "a=1&&b=2" are harmless
        if (equals == pair.npos || equals == 0)
            return error{malformed, "connection string: option number " + std::to_string(number) +
                                        " is not of the form name=value"};
        options.push_back({std::string{pair.substr(0, equals)}, pair.substr(equals + 1)});
    }
    return options;
}

std::vector<std::string_view> split_list(std::string_view text)
{
    std::vector<std::string_view> pieces;
    for (;;) {
        const std::size_t comma = text.find(',');
        pieces.push_back(text.substr(0, comma));
        if (comma == text.npos)
            return pieces;
        text.remove_prefix(comma + 1);
    }
}

std::optional<name_and_value> split_pair(std::string_view text)
{
    const std::size_t colon = text.find(':');
    if (colon == text.npos || colon == 0)
        return std::nullopt;
    return name_and_value{std::string{text.substr(0, colon)}, std::string{text.substr(colon + 1)}};
}

std::optional<std::int64_t> parse_number(std::string_view text) noexcept
{
    std::int64_t number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failed != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return number;
}

namespace {

using nanoseconds = std::chrono::duration<std::int64_t, std::nano>;

struct duration_unit {
    std::string_view name;
    nanoseconds length;
};

/// A name that begins like another comes first.
constexpr std::array<duration_unit, 7> duration_units{{
    {"ns", nanoseconds{1}},
    {"us", std::chrono::microseconds{1}},
    {"\u00b5s", std::chrono::microseconds{1}},
    {"ms", std::chrono::milliseconds{1}},
    {"m", std::chrono::minutes{1}},
    {"s", std::chrono::seconds{1}},
    {"h", std::chrono::hours{1}},
}};
constexpr nanoseconds longest_duration = std::chrono::hours{24 * 365 * 100};

constexpr bool is_digit(char c) noexcept
{
    return c >= '0' && c <= '9';
}

std::string_view take_digits(std::string_view& text) noexcept
{
    const auto end = std::ranges::find_if_not(text, is_digit);
    const auto digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    text.remove_prefix(digits.size());
    return digits;
}

/// One number with its unit at the front of the text, which it is taken from.
std::optional<nanoseconds> take_duration_part(std::string_view& text) noexcept
{
    const std::string_view whole = take_digits(text);
    std::string_view fraction;
    if (text.starts_with('.')) {
        text.remove_prefix(1);
        fraction = take_digits(text);
    }
    const auto unit = std::ranges::find_if(
        duration_units, [&](const duration_unit& u) { return text.starts_with(u.name); });
    if (whole.size() + fraction.size() == 0 || unit == duration_units.end())
        return std::nullopt;
    text.remove_prefix(unit->name.size());
    const auto number = parse_number(whole.empty() ? "0" : whole);
    if (!number || *number > longest_duration / unit->length)
        return std::nullopt;
    nanoseconds sum = unit->length * *number;
    nanoseconds place = unit->length;
    for (const char digit : fraction.substr(0, 9)) {
        place /= 10;
        sum += place * (digit - '0');
    }
    return sum;
}

}  // namespace

std::optional<nanoseconds> parse_exact_duration(std::string_view text) noexcept
{
    nanoseconds sum{0};
    do {
        const auto part = take_duration_part(text);
        if (!part)
            return std::nullopt;
        sum += *part;
        if (sum > longest_duration)
            return std::nullopt;
    } while (!text.empty());
    return sum;
}

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) noexcept
{
    using std::chrono::milliseconds;
    if (!text.empty() && std::ranges::all_of(text, is_digit)) {
        const auto number = parse_number(text);
        return number ? std::optional{milliseconds{*number}} : std::nullopt;
    }
    const auto exact = parse_exact_duration(text);
    return exact ? std::optional{std::chrono::ceil<milliseconds>(*exact)} : std::nullopt;
}

bool same_name(std::string_view a, std::string_view b) noexcept
{
    constexpr auto lower = [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    };
    return std::ranges::equal(a, b, {}, lower, lower);
}

}  // namespace holdfast::core::uri
