#include "core/couchbase/retry/text_match.hpp"

#include <algorithm>

namespace holdfast::core::couchbase {

namespace {

using tokens = std::span<const std::string_view>;

std::string_view without_white_space(std::string_view text)
{
    constexpr std::string_view spaces = " \t\r\n";
    constexpr std::string_view escaped = "trn";
    for (;;) {
        if (!text.empty() && spaces.find(text[0]) != spaces.npos)
            text.remove_prefix(1);
        else if (text.size() >= 2 && text[0] == '\\' && escaped.find(text[1]) != escaped.npos)
            text.remove_prefix(2);
        else
            return text;
    }
}

bool starts_with_tokens(std::string_view text, tokens wanted)
{
    for (const std::string_view token : wanted) {
        text = without_white_space(text);
        if (!text.starts_with(token))
            return false;
        text.remove_prefix(token.size());
    }
    return true;
}

constexpr char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

constexpr std::string_view missing[] = {"\"reason\"", ":", "\"missing\""};
constexpr std::string_view missing_named_view[] = {"{", "not_found", ",", "missing_named_view",
                                                   "}"};

}  // namespace

bool contains_tokens(std::string_view text, tokens wanted)
{
    if (wanted.empty())
        return true;
    for (std::size_t at = text.find(wanted[0]); at != text.npos; at = text.find(wanted[0], at + 1))
        if (starts_with_tokens(text.substr(at), wanted))
            return true;
    return false;
}

bool contains_ignoring_case(std::string_view text, std::string_view lower_case_text)
{
    const auto same = [](char a, char b) { return lower(a) == b; };
    return std::ranges::search(text, lower_case_text, same).begin() != text.end() ||
           lower_case_text.empty();
}

bool says_missing(std::string_view body)
{
    return contains_tokens(body, missing);
}

bool says_hopeless(std::string_view body)
{
    return body.find("error") != body.npos &&
           (contains_tokens(body, missing_named_view) || body.find("\"badarg\"") != body.npos);
}

}  // namespace holdfast::core::couchbase
