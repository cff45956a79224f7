#include "lab/couchbase/data/json_scan.hpp"

#include "lab/couchbase/data/json_check.hpp"

#include <algorithm>

namespace holdfast::lab::couchbase {

namespace {

constexpr std::string_view json_space = " \t\r\n";
constexpr std::string_view after_scalar = " \t\r\n,]}";

std::size_t skip_space(std::string_view text, std::size_t at)
{
    return std::min(text.find_first_not_of(json_space, at), text.size());
}

/// `at` is the opening quote; gives the place after the closing one.
std::size_t skip_string(std::string_view text, std::size_t at)
{
    for (++at; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] == '\\')
            ++at;
    }
    return std::min(at + 1, text.size());
}

/// `at` is a bracket; brackets in strings do not count.
std::size_t skip_container(std::string_view text, std::size_t at)
{
    std::size_t depth = 0;
    while (at < text.size()) {
        const char c = text[at];
        if (c == '"') {
            at = skip_string(text, at);
            continue;
        }
        ++at;
        if (c == '{' || c == '[')
            ++depth;
        else if ((c == '}' || c == ']') && --depth == 0)
            break;
    }
    return at;
}

text_range value_at(std::string_view text, std::size_t at)
{
    if (at >= text.size())
        return {text.size(), text.size()};
    if (text[at] == '"')
        return {at, skip_string(text, at)};
    if (text[at] == '{' || text[at] == '[')
        return {at, skip_container(text, at)};
    return {at, std::min(text.find_first_of(after_scalar, at), text.size())};
}

}  // namespace

json_kind kind_of(std::string_view text, const text_range& value)
{
    switch (value.size() == 0 ? 'n' : text[value.begin]) {
    case '{':
        return json_kind::object;
    case '[':
        return json_kind::array;
    case '"':
        return json_kind::string;
    case 't':
    case 'f':
        return json_kind::boolean;
    case 'n':
        return json_kind::null;
    default:
        return json_kind::number;
    }
}

text_range root_of(std::string_view text)
{
    return value_at(text, skip_space(text, 0));
}

json_entries::json_entries(std::string_view text, const text_range& container)
    : text_{text.substr(0, container.end)},
      at_{container.begin + 1},
      object_{text[container.begin] == '{'}
{
}

std::optional<json_entry> json_entries::next()
{
    at_ = skip_space(text_, at_);
    if (at_ < text_.size() && text_[at_] == ',')
        at_ = skip_space(text_, at_ + 1);
    if (at_ + 1 >= text_.size())  // the closing bracket
        return std::nullopt;
    json_entry found;
    if (object_) {
        found.key = value_at(text_, at_);
        at_ = skip_space(text_, found.key.end);
        at_ = skip_space(text_, at_ + 1);  // the colon
    }
    found.value = value_at(text_, at_);
    at_ = found.value.end;
    return found;
}

std::optional<json_entry> find_member(std::string_view text, const text_range& object,
                                      std::string_view name)
{
    json_entries all{text, object};
    while (const auto one = all.next()) {
        if (unquoted(one->key.of(text)) == name)
            return one;
    }
    return std::nullopt;
}

std::optional<json_entry> find_element(std::string_view text, const text_range& array,
                                       std::int64_t index)
{
    json_entries all{text, array};
    std::optional<json_entry> last;
    for (std::int64_t n = 0;; ++n) {
        const auto one = all.next();
        if (!one)
            return index == -1 ? last : std::nullopt;
        if (n == index)
            return one;
        last = one;
    }
}

std::size_t count_entries(std::string_view text, const text_range& container)
{
    json_entries all{text, container};
    std::size_t count = 0;
    while (all.next())
        ++count;
    return count;
}

std::size_t depth_of(std::string_view value)
{
    std::size_t depth = 0;
    std::size_t deepest = 0;
    for (std::size_t at = 0; at < value.size();) {
        const char c = value[at];
        if (c == '"') {
            at = skip_string(value, at);
            continue;
        }
        if (c == '{' || c == '[')
            deepest = std::max(deepest, ++depth);
        else if ((c == '}' || c == ']') && depth != 0)
            --depth;
        ++at;
    }
    return deepest;
}

}  // namespace holdfast::lab::couchbase
