#include "lab/couchbase/views/view_query.hpp"

#include "lab/couchbase/views/view_map.hpp"

#include <boost/json/parse.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace holdfast::lab::couchbase {

namespace json = boost::json;

namespace {

constexpr std::size_t most_keys = 10'000;
constexpr std::size_t largest_count = 1'000'000'000;

error wrong_parameter(std::string_view name, const std::string& value)
{
    return refused_view("Invalid value '" + value + "' for parameter '" + std::string{name} + "'");
}

bool take_flag(const std::string& text, bool& into)
{
    into = text == "true";
    return into || text == "false";
}

bool take_count(const std::string& text, std::size_t& into)
{
    const char* const end = text.data() + text.size();
    const auto [last, why] = std::from_chars(text.data(), end, into);
    return why == std::errc{} && last == end && into <= largest_count;
}

bool take_json(const std::string& text, std::optional<json::value>& into)
{
    boost::system::error_code wrong;
    into = json::parse(text, wrong);
    return !wrong;
}

bool take_keys(const json::value& from, view_query& to)
{
    const json::array* const list = from.if_array();
    if (!list || list->size() > most_keys)
        return false;
    to.keys.emplace(list->begin(), list->end());
    return true;
}

struct parameter_row {
    std::string_view name;
    bool (*read)(const std::string& text, view_query& to);
};

bool read_end(const std::string& text, view_query& to)
{
    return take_json(text, to.end);
}
bool read_start(const std::string& text, view_query& to)
{
    return take_json(text, to.start);
}
bool read_start_id(const std::string& text, view_query& to)
{
    to.start_id = text;
    return true;
}
bool read_end_id(const std::string& text, view_query& to)
{
    to.end_id = text;
    return true;
}
bool read_key(const std::string& text, view_query& to)
{
    std::optional<json::value> one;
    if (!take_json(text, one))
        return false;
    to.keys = std::vector<json::value>{*std::move(one)};
    return true;
}
bool read_keys(const std::string& text, view_query& to)
{
    std::optional<json::value> list;
    return take_json(text, list) && take_keys(*list, to);
}
bool read_limit(const std::string& text, view_query& to)
{
    to.has_limit = true;
    return take_count(text, to.limit);
}
bool read_group_level(const std::string& text, view_query& to)
{
    const bool fine = take_count(text, to.group_level);
    to.group = to.group || to.group_level != 0;
    return fine;
}
bool read_stale(const std::string& text, view_query& to)
{
    to.waits = text == "false";
    return to.waits || text == "ok" || text == "update_after";
}
bool read_on_error(const std::string& text, view_query& to)
{
    to.stops_on_error = text == "stop";
    return to.stops_on_error || text == "continue";
}

// Couchbase knows several names for some.
constexpr parameter_row parameters[] = {
    {"skip", [](const std::string& text, view_query& to) { return take_count(text, to.skip); }},
    {"limit", read_limit},
    {"descending",
     [](const std::string& text, view_query& to) { return take_flag(text, to.descending); }},
    {"inclusive_end",
     [](const std::string& text, view_query& to) { return take_flag(text, to.inclusive_end); }},
    {"reduce", [](const std::string& text, view_query& to) { return take_flag(text, to.reduce); }},
    {"group", [](const std::string& text, view_query& to) { return take_flag(text, to.group); }},
    {"group_level", read_group_level},
    {"stale", read_stale},
    {"on_error", read_on_error},
    {"key", read_key},
    {"keys", read_keys},
    {"startkey", read_start},
    {"start_key", read_start},
    {"endkey", read_end},
    {"end_key", read_end},
    {"startkey_docid", read_start_id},
    {"start_key_doc_id", read_start_id},
    {"endkey_docid", read_end_id},
    {"end_key_doc_id", read_end_id},
};

bool is_before(const view_row& a, const view_row& b)
{
    const auto order = compare_keys(a.key, b.key);
    return order == 0 ? a.id < b.id : order < 0;
}

/// Whether a row lies after the end of the query in its direction, or before its begin.
bool is_outside(const view_row& row, const view_query& what)
{
    const bool down = what.descending;
    if (what.start) {
        const auto order = compare_keys(row.key, *what.start);
        if (down ? order > 0 : order < 0)
            return true;
        if (order == 0 && !what.start_id.empty() &&
            (down ? row.id > what.start_id : row.id < what.start_id))
            return true;
    }
    if (!what.end)
        return false;
    const auto order = compare_keys(row.key, *what.end);
    if (order != 0)
        return down ? order < 0 : order > 0;
    if (what.end_id.empty())
        return !what.inclusive_end;
    const int ids = row.id.compare(what.end_id);
    return ids == 0 ? !what.inclusive_end : down ? ids < 0 : ids > 0;
}

/// In the order of the reply. With keys: one after the other, as they were asked for.
std::vector<view_row> selected(const view_query& what, std::vector<view_row> rows)
{
    std::ranges::sort(rows, is_before);
    if (what.keys) {
        std::vector<view_row> made;
        for (const json::value& key : *what.keys) {
            const auto [first, last] = std::ranges::equal_range(
                rows, key,
                [](const json::value& a, const json::value& b) { return compare_keys(a, b) < 0; },
                &view_row::key);
            made.insert(made.end(), first, last);
        }
        return made;
    }
    if (what.descending)
        std::ranges::reverse(rows);
    std::erase_if(rows, [&](const view_row& one) { return is_outside(one, what); });
    return rows;
}

json::value reduced(view_reduce by, const std::vector<const view_row*>& rows)
{
    if (by == view_reduce::count)
        return rows.size();
    double sum = 0;
    double least = 0;
    double most = 0;
    double squares = 0;
    std::size_t count = 0;
    for (const view_row* const one : rows) {
        if (!one->value.is_number())
            continue;
        const double value = one->value.to_number<double>();
        least = count == 0 ? value : std::min(least, value);
        most = count == 0 ? value : std::max(most, value);
        sum += value;
        squares += value * value;
        ++count;
    }
    if (by == view_reduce::sum)
        return sum;
    return json::object{
        {"sum", sum}, {"count", count}, {"min", least}, {"max", most}, {"sumsqr", squares}};
}

/// Of a list the first parts; all of it with level 0.
json::value group_key(const json::value& key, std::size_t level)
{
    const json::array* const list = key.if_array();
    if (!list || level == 0 || list->size() <= level)
        return key;
    json::array begin;
    for (std::size_t n = 0; n != level; ++n)
        begin.push_back((*list)[n]);
    return begin;
}

json::array reduced_rows(const view_query& what, view_reduce by, const std::vector<view_row>& rows)
{
    json::array made;
    std::vector<const view_row*> together;
    json::value key;
    const auto end_group = [&] {
        if (!together.empty())
            made.push_back(json::object{{"key", key}, {"value", reduced(by, together)}});
        together.clear();
    };
    for (const view_row& one : rows) {
        json::value next = what.group ? group_key(one.key, what.group_level) : json::value{};
        if (together.empty() || compare_keys(next, key) != 0) {
            end_group();
            key = std::move(next);
        }
        together.push_back(&one);
    }
    end_group();
    return made;
}

}  // namespace

result<view_query> read_view_query(const form_fields& query, std::string_view body)
{
    view_query made;
    for (const parameter_row& one : parameters) {
        const auto found = query.find(one.name);
        if (found != query.end() && !one.read(found->second, made))
            return wrong_parameter(one.name, found->second);
    }
    if (body.empty())
        return made;
    boost::system::error_code wrong;
    const json::value sent = json::parse({body.data(), body.size()}, wrong);
    const json::object* const object = wrong ? nullptr : sent.if_object();
    if (!object)
        return refused_view("the body is no JSON object");
    const json::value* const keys = object->if_contains("keys");
    if (keys && !take_keys(*keys, made))
        return refused_view("'keys' is a list of 10000 keys at most");
    return made;
}

std::optional<view_reduce> view_reduce_named(std::string_view name)
{
    if (name.empty())
        return view_reduce::none;
    if (name == "_count")
        return view_reduce::count;
    if (name == "_sum")
        return view_reduce::sum;
    return name == "_stats" ? std::optional{view_reduce::stats} : std::nullopt;
}

json::object view_reply(const view_query& what, view_reduce reduce, std::vector<view_row> rows)
{
    json::object made;
    const bool reduces = what.reduce && reduce != view_reduce::none;
    if (!reduces)
        made["total_rows"] = rows.size();
    const std::vector<view_row> chosen = selected(what, std::move(rows));
    json::array all;
    if (reduces) {
        all = reduced_rows(what, reduce, chosen);
    } else {
        for (const view_row& one : chosen)
            all.push_back(json::object{{"id", json::string{one.id.data(), one.id.size()}},
                                       {"key", one.key},
                                       {"value", one.value}});
    }
    const std::size_t skipped = std::min(what.skip, all.size());
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(skipped));
    if (what.has_limit && all.size() > what.limit)
        all.resize(what.limit);
    made["rows"] = std::move(all);
    return made;
}

}  // namespace holdfast::lab::couchbase
