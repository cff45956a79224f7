#include "lab/couchbase/data/subdoc_path.hpp"

#include "lab/couchbase/data/json_check.hpp"

#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

/// Takes "`...`" off the front; a doubled back-tick stands for one.
std::optional<std::string> take_quoted_name(std::string_view& rest)
{
    std::string name;
    for (std::size_t at = 1; at < rest.size(); ++at) {
        if (rest[at] != '`') {
            name += rest[at];
            continue;
        }
        if (at + 1 < rest.size() && rest[at + 1] == '`') {
            name += '`';
            ++at;
            continue;
        }
        rest.remove_prefix(at + 1);
        return name;
    }
    return std::nullopt;
}

std::optional<std::string> take_name(std::string_view& rest)
{
    if (rest.starts_with('`'))
        return take_quoted_name(rest);
    const std::size_t end = std::min(rest.find_first_of(".[]`"), rest.size());
    std::string name{rest.substr(0, end)};
    rest.remove_prefix(end);
    if (name.empty())
        return std::nullopt;
    return name;
}

/// Takes "[n]" off the front.
std::optional<std::int64_t> take_index(std::string_view& rest)
{
    const std::size_t close = rest.find(']');
    if (close == rest.npos)
        return std::nullopt;
    const std::string_view digits = rest.substr(1, close - 1);
    rest.remove_prefix(close + 1);
    std::int64_t index = 0;
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(),
                                                index);
    if (problem != std::errc{} || end != digits.data() + digits.size() || index < -1)
        return std::nullopt;
    return index;
}

}  // namespace

const std::int64_t* subdoc_path::last_index() const
{
    return steps.empty() ? nullptr : std::get_if<std::int64_t>(&steps.back());
}

const std::string* subdoc_path::last_name() const
{
    return steps.empty() ? nullptr : std::get_if<std::string>(&steps.back());
}

parsed_path parse_path(std::string_view text)
{
    if (text.size() > max_path_bytes)
        return {kv_status::subdoc_path_too_big, {}};
    const parsed_path invalid{kv_status::subdoc_path_invalid, {}};
    parsed_path read;
    std::string_view rest = text;
    while (!rest.empty()) {
        const bool first = read.path.empty();
        if (rest.front() == '[') {
            const auto index = take_index(rest);
            if (!index)
                return invalid;
            read.path.steps.emplace_back(*index);
        } else {
            if (!first) {
                if (rest.front() != '.')
                    return invalid;
                rest.remove_prefix(1);
            }
            auto name = take_name(rest);
            if (!name)
                return invalid;
            read.path.steps.emplace_back(*std::move(name));
        }
        if (read.path.steps.size() > max_subdoc_depth)
            return {kv_status::subdoc_path_too_big, {}};
    }
    return read;
}

}  // namespace holdfast::lab::couchbase
