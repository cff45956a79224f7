#include "lab/couchbase/http/message.hpp"

#include "lab/sasl/scram.hpp"

#include <algorithm>
#include <cstdint>

namespace holdfast::lab::couchbase {

namespace {

constexpr std::size_t most_form_fields = 200;
constexpr std::size_t most_path_parts = 32;

int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

std::optional<std::string> unescape(std::string_view text, bool plus_is_space)
{
    std::string plain;
    for (std::size_t n = 0; n < text.size(); ++n) {
        if (text[n] == '+' && plus_is_space) {
            plain += ' ';
            continue;
        }
        if (text[n] != '%') {
            plain += text[n];
            continue;
        }
        if (n + 2 >= text.size() || digit_of(text[n + 1]) < 0 || digit_of(text[n + 2]) < 0)
            return std::nullopt;
        plain += static_cast<char>(digit_of(text[n + 1]) * 16 + digit_of(text[n + 2]));
        n += 2;
    }
    return plain;
}

std::vector<std::string_view> split(std::string_view text, char at)
{
    std::vector<std::string_view> parts;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(at), text.size());
        parts.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return parts;
}

}  // namespace

std::optional<form_fields> read_form(std::string_view text)
{
    form_fields fields;
    for (const std::string_view one : split(text, '&')) {
        const std::size_t equals = std::min(one.find('='), one.size());
        const auto name = unescape(one.substr(0, equals), true);
        const auto value = unescape(one.substr(std::min(equals + 1, one.size())), true);
        if (!name || !value || fields.size() == most_form_fields)
            return std::nullopt;
        fields[*name] = *value;
    }
    return fields;
}

std::optional<std::vector<std::string>> split_path(std::string_view path)
{
    std::vector<std::string> parts;
    for (const std::string_view one : split(path, '/')) {
        if (one.empty())
            continue;
        auto plain = unescape(one, false);
        if (!plain || parts.size() == most_path_parts)
            return std::nullopt;
        parts.push_back(*std::move(plain));
    }
    return parts;
}

std::optional<std::vector<std::string>> match_path(std::string_view pattern,
                                                   const std::vector<std::string>& parts)
{
    const auto wanted = split_path(pattern);
    if (!wanted || wanted->size() != parts.size())
        return std::nullopt;
    std::vector<std::string> names;
    for (std::size_t n = 0; n != parts.size(); ++n) {
        if ((*wanted)[n] == "*")
            names.push_back(parts[n]);
        else if ((*wanted)[n] != parts[n])
            return std::nullopt;
    }
    return names;
}

std::optional<basic_login> read_basic_login(std::string_view authorization)
{
    constexpr std::string_view scheme = "Basic ";
    if (!authorization.starts_with(scheme))
        return std::nullopt;
    const auto bytes = bytes_of_base64(authorization.substr(scheme.size()));
    if (!bytes)
        return std::nullopt;
    const std::string text{bytes->begin(), bytes->end()};
    const std::size_t colon = text.find(':');
    if (colon == text.npos)
        return std::nullopt;
    return basic_login{text.substr(0, colon), text.substr(colon + 1)};
}

}  // namespace holdfast::lab::couchbase
