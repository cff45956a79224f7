#include "core/couchbase/operation/projection.hpp"

#include "holdfast/couchbase/errc.hpp"

#include <boost/json/serialize.hpp>

#include <charconv>
#include <optional>
#include <utility>

namespace holdfast::core::couchbase {

namespace {

error invalid_path(std::string_view path)
{
    return error{holdfast::couchbase::errc::path_invalid,
                 "\"" + std::string{path} + "\" is no path"};
}

/// A name up to the next dot or bracket, or one in backticks.
std::optional<std::string> take_name(std::string_view& rest)
{
    std::string name;
    if (!rest.starts_with('`')) {
        const std::size_t size = std::min(rest.find_first_of(".[]`"), rest.size());
        name = rest.substr(0, size);
        rest.remove_prefix(size);
        return name.empty() ? std::nullopt : std::optional{std::move(name)};
    }
    rest.remove_prefix(1);
    while (!rest.empty()) {
        const char c = rest.front();
        rest.remove_prefix(1);
        if (c != '`')
            name += c;
        else if (rest.starts_with('`'))
            name += c, rest.remove_prefix(1);
        else
            return name;
    }
    return std::nullopt;
}

/// "[12]" or "[-1]".
std::optional<std::int64_t> take_index(std::string_view& rest)
{
    std::int64_t index = 0;
    const char* const end = rest.data() + rest.size();
    const auto [stop, problem] = std::from_chars(rest.data() + 1, end, index);
    if (problem != std::errc{} || stop == end || *stop != ']' || index < -1)
        return std::nullopt;
    rest.remove_prefix(static_cast<std::size_t>(stop + 1 - rest.data()));
    return index;
}

/// The member that a step leads to; made if it is missing, null if something else is in its place.
boost::json::value* make_member(boost::json::value& at, const std::string& name)
{
    if (at.is_null())
        at.emplace_object();
    boost::json::object* const object = at.if_object();
    return object ? &(*object)[name] : nullptr;
}

}  // namespace

result<std::vector<path_step>> parse_path(std::string_view path)
{
    std::vector<path_step> steps;
    std::string_view rest = path;
    while (!rest.empty() && steps.size() < max_path_steps) {
        if (rest.starts_with('[')) {
            const auto index = take_index(rest);
            if (!index)
                return invalid_path(path);
            steps.emplace_back(*index);
        } else {
            auto name = take_name(rest);
            if (!name)
                return invalid_path(path);
            steps.emplace_back(*std::move(name));
        }
        if (rest.starts_with('.')) {
            rest.remove_prefix(1);
            if (rest.empty() || rest.starts_with('['))
                return invalid_path(path);
        } else if (!rest.empty() && !rest.starts_with('[')) {
            return invalid_path(path);
        }
    }
    if (steps.empty() || !rest.empty())
        return invalid_path(path);
    return steps;
}

const boost::json::value* find_path(const boost::json::value& in, std::span<const path_step> path)
{
    const boost::json::value* at = &in;
    for (const path_step& step : path) {
        if (const std::string* const name = std::get_if<std::string>(&step)) {
            const boost::json::object* const object = at->if_object();
            at = object ? object->if_contains(*name) : nullptr;
        } else {
            const boost::json::array* const array = at->if_array();
            const std::int64_t index = std::get<std::int64_t>(step);
            if (!array || array->empty())
                return nullptr;
            at = array->if_contains(index < 0 ? array->size() - 1
                                              : static_cast<std::size_t>(index));
        }
        if (!at)
            return nullptr;
    }
    return at;
}

void projection::add(std::span<const path_step> path, boost::json::value value)
{
    boost::json::value* at = &root_;
    std::string place;  // differs for different paths: names end with a zero byte
    for (const path_step& step : path) {
        if (const std::string* const name = std::get_if<std::string>(&step)) {
            place.append(*name) += '\0';
            at = make_member(*at, *name);
        } else {
            if (at->is_null())
                at->emplace_array();
            boost::json::array* const array = at->if_array();
            place.append("[").append(std::to_string(std::get<std::int64_t>(step))).append("]");
            if (!array)
                return;
            const auto [known, is_new] = places_.try_emplace(place, array->size());
            if (is_new)
                array->emplace_back(nullptr);
            at = array->if_contains(known->second);
        }
        if (!at)
            return;
    }
    *at = std::move(value);
}

std::string projection::text() const
{
    return boost::json::serialize(root_);
}

}  // namespace holdfast::core::couchbase
