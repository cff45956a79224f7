#include "core/uri/option_text.hpp"

#include <algorithm>
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
        options.push_back(
            {std::string{pair.substr(0, equals)}, std::string{pair.substr(equals + 1)}});
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

bool same_name(std::string_view a, std::string_view b) noexcept
{
    constexpr auto lower = [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    };
    return std::ranges::equal(a, b, {}, lower, lower);
}

}  // namespace holdfast::core::uri
