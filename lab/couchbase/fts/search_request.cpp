#include "lab/couchbase/fts/search_request.hpp"

#include "lab/sasl/scram.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <utility>

namespace holdfast::lab::couchbase {

namespace json = boost::json;

namespace {

constexpr std::size_t widest_window = 10'000;  // of hits, as real servers have it
constexpr std::size_t longest_list = 1'000;
constexpr std::size_t longest_vector = 4'096;
constexpr std::size_t most_vbuckets = 1'024;

std::string text_in(const json::value* from)
{
    const json::string* const text = from ? from->if_string() : nullptr;
    return text ? std::string{text->data(), text->size()} : std::string{};
}

std::optional<double> number_in(const json::value* from)
{
    return from && from->is_number() ? std::optional{from->to_number<double>()} : std::nullopt;
}

/// A member that counts; nothing there leaves `into` as it is.
bool take_count(const json::object& in, std::string_view name, std::size_t most, std::size_t& into)
{
    const json::value* const found = in.if_contains({name.data(), name.size()});
    if (!found || found->is_null())
        return true;
    boost::system::error_code why;
    const auto value = found->to_number<std::uint64_t>(why);
    into = static_cast<std::size_t>(value);
    return !why && value <= most;
}

bool take_texts(const json::value* from, std::vector<std::string>& into)
{
    if (!from || from->is_null())
        return true;
    const json::array* const list = from->if_array();
    if (!list || list->size() > longest_list)
        return false;
    for (const json::value& one : *list) {
        if (!one.is_string())
            return false;
        into.push_back(text_in(&one));
    }
    return true;
}

search_sort sort_named(std::string name)
{
    search_sort made;
    made.descending = name.starts_with('-');
    if (made.descending || name.starts_with('+'))
        name.erase(0, 1);
    made.by = name == "_score" || name == "score" ? search_sort::key::score
              : name == "_id" || name == "id"     ? search_sort::key::id
                                                  : search_sort::key::field;
    made.field = std::move(name);
    return made;
}

result<void> read_sort(const json::value& from, search_request& to)
{
    const json::array* const list = from.if_array();
    if (!list || list->size() > longest_list)
        return refused_search("'sort' is a list");
    if (!list->empty())
        to.sort.clear();
    for (const json::value& one : *list) {
        const json::object* const object = one.if_object();
        if (!object) {
            to.sort.push_back(sort_named(text_in(&one)));
            continue;
        }
        const std::string by = text_in(object->if_contains("by"));
        search_sort made = sort_named(by == "field" ? text_in(object->if_contains("field")) : by);
        if (by != "field" && made.by == search_sort::key::field)
            return refused_search("a sort is by 'score', 'id' or 'field', not '" + by + "'");
        if (const json::value* const desc = object->if_contains("desc"); desc && desc->is_bool())
            made.descending = desc->get_bool();
        to.sort.push_back(std::move(made));
    }
    return {};
}

result<void> read_facets(const json::value& from, search_request& to)
{
    const json::object* const facets = from.if_object();
    if (!facets || facets->size() > longest_list)
        return refused_search("'facets' is an object");
    for (const auto& [name, value] : *facets) {
        const json::object* const object = value.if_object();
        search_facet made;
        made.name = std::string{name.data(), name.size()};
        if (!object || !take_count(*object, "size", widest_window, made.size))
            return refused_search("facet '" + made.name + "' is an object with a size");
        made.field = text_in(object->if_contains("field"));
        const json::value* const numbers = object->if_contains("numeric_ranges");
        const json::value* const dates = object->if_contains("date_ranges");
        for (const json::value& one :
             numbers && numbers->is_array() ? numbers->get_array() : json::array{}) {
            const json::object range = one.is_object() ? one.get_object() : json::object{};
            made.numbers.push_back({text_in(range.if_contains("name")),
                                    number_in(range.if_contains("min")),
                                    number_in(range.if_contains("max"))});
        }
        for (const json::value& one :
             dates && dates->is_array() ? dates->get_array() : json::array{}) {
            const json::object range = one.is_object() ? one.get_object() : json::object{};
            search_facet::date_range& at = made.dates.emplace_back();
            at.name = text_in(range.if_contains("name"));
            if (range.contains("start"))
                at.start = text_in(range.if_contains("start"));
            if (range.contains("end"))
                at.end = text_in(range.if_contains("end"));
        }
        to.facets.push_back(std::move(made));
    }
    return {};
}

/// Numbers of 4 bytes, as they lie in memory.
bool take_packed(std::string_view text, std::vector<double>& into)
{
    const auto bytes = bytes_of_base64(text);
    if (!bytes || bytes->size() % 4 != 0)
        return false;
    for (std::size_t at = 0; at != bytes->size(); at += 4) {
        std::uint32_t bits = 0;
        for (std::size_t n = 4; n-- != 0;)
            bits = bits << 8U | (*bytes)[at + n];
        into.push_back(std::bit_cast<float>(bits));
    }
    return true;
}

result<void> read_vectors(const json::value& from, search_request& to)
{
    const json::array* const list = from.if_array();
    if (!list || list->size() > longest_list)
        return refused_search("'knn' is a list");
    for (const json::value& one : *list) {
        const json::object* const object = one.if_object();
        vector_search made;
        if (!object || !take_count(*object, "k", widest_window, made.count) || made.count == 0)
            return refused_search("knn: 'k' is a number from 1 to 10000");
        made.field = text_in(object->if_contains("field"));
        made.boost = number_in(object->if_contains("boost")).value_or(1);
        const json::value* const vector = object->if_contains("vector");
        const json::value* const packed = object->if_contains("vector_base64");
        bool fine = vector && vector->is_array();
        if (packed)
            fine = take_packed(text_in(packed), made.vector);
        for (const json::value& number : !packed && fine ? vector->get_array() : json::array{}) {
            fine = fine && number.is_number();
            made.vector.push_back(number_in(&number).value_or(0));
        }
        if (!fine || made.vector.empty() || made.vector.size() > longest_vector)
            return refused_search("knn: 'vector' is a list of 1 to 4096 numbers");
        to.vectors.push_back(std::move(made));
    }
    return {};
}

/// "12/345": vbucket and uuid.
bool take_position(std::string_view name, const json::value& seqno, wanted_position& into)
{
    const std::size_t slash = std::min(name.find('/'), name.size());
    const auto [end, why] = std::from_chars(name.data(), name.data() + slash, into.vbucket);
    const char* const last = name.data() + name.size();
    boost::system::error_code wrong;
    into.seqno = seqno.to_number<std::uint64_t>(wrong);
    if (why != std::errc{} || end != name.data() + slash || into.vbucket >= most_vbuckets || wrong)
        return false;
    if (slash == name.size())
        return true;
    const auto [stop, other] = std::from_chars(name.data() + slash + 1, last, into.uuid);
    return other == std::errc{} && stop == last;
}

result<void> read_consistency(const json::object& from, search_request& to)
{
    const std::string level = text_in(from.if_contains("level"));
    const json::value* const vectors = from.if_contains("vectors");
    if (level.empty() || level == "not_bounded")
        return {};
    if (level != "at_plus")
        return refused_search("unknown consistency level '" + level + "'");
    const json::object indexes = vectors && vectors->is_object() ? vectors->get_object()
                                                                 : json::object{};
    for (const auto& [index, positions] : indexes) {
        auto& into = to.consistency[std::string{index.data(), index.size()}];
        const json::object* const object = positions.if_object();
        if (!object || object->size() > most_vbuckets)
            return refused_search("consistency: a vector is an object with 1024 members at most");
        for (const auto& [name, seqno] : *object) {
            if (!take_position({name.data(), name.size()}, seqno, into.emplace_back()))
                return refused_search("consistency: 'VBUCKET/UUID' is wrong");
        }
    }
    return {};
}

result<void> read_control(const json::value& from, search_request& to)
{
    const json::object* const control = from.if_object();
    if (!control)
        return refused_search("'ctl' is an object");
    std::size_t timeout = static_cast<std::size_t>(to.timeout.count());
    if (!take_count(*control, "timeout", 3'600'000, timeout))
        return refused_search("'timeout' is a number of milliseconds");
    if (timeout != 0)
        to.timeout = std::chrono::milliseconds{timeout};
    const json::value* const consistency = control->if_contains("consistency");
    if (!consistency || !consistency->is_object())
        return {};
    return read_consistency(consistency->get_object(), to);
}

result<void> read_highlight(const json::value& from, search_request& to)
{
    const json::object* const object = from.if_object();
    if (!object)
        return {};
    search_highlight made;
    made.ansi = text_in(object->if_contains("style")) == "ansi";
    if (!take_texts(object->if_contains("fields"), made.fields))
        return refused_search("highlight: 'fields' is a list of strings");
    to.highlight = std::move(made);
    return {};
}

void read_flags(const json::object& from, search_request& to)
{
    const auto flag = [&](const char* name, bool usual) {
        const json::value* const found = from.if_contains(name);
        return found && found->is_bool() ? found->get_bool() : usual;
    };
    to.explained = flag("explain", false);
    to.with_locations = flag("includeLocations", false);
    to.shows_request = flag("showrequest", true);
    to.scored = text_in(from.if_contains("score")) != "none";
    to.must_have_both = text_in(from.if_contains("knn_operator")) == "and";
}

struct member_row {
    const char* name;
    result<void> (*read)(const json::value& from, search_request& to);
};
constexpr member_row member_rows[] = {
    {"sort", read_sort},   {"facets", read_facets},       {"knn", read_vectors},
    {"ctl", read_control}, {"highlight", read_highlight},
};

}  // namespace

result<search_request> read_search_request(const json::value& body)
{
    const json::object* const object = body.if_object();
    if (!object)
        return refused_search("a search is an object");
    search_request made;
    const json::value* const query = object->if_contains("query");
    if (!query && !object->contains("knn"))
        return refused_search("a search has a query");
    if (query) {
        auto read = read_search_query(*query);
        if (!read)
            return std::move(read).error();
        made.query = *std::move(read);
    } else {
        made.query.what = match_none{};
    }
    for (const member_row& one : member_rows) {
        const json::value* const member = object->if_contains(one.name);
        if (!member || member->is_null())
            continue;
        if (auto done = one.read(*member, made); !done)
            return std::move(done).error();
    }
    read_flags(*object, made);
    if (!take_texts(object->if_contains("fields"), made.fields) ||
        !take_texts(object->if_contains("collections"), made.collections))
        return refused_search("'fields' and 'collections' are lists of strings");
    const bool fits = take_count(*object, "size", widest_window, made.size) &&
                      take_count(*object, "limit", widest_window, made.size) &&
                      take_count(*object, "from", widest_window, made.from) &&
                      take_count(*object, "offset", widest_window, made.from);
    if (!fits || made.size + made.from > widest_window)
        return refused_search("'size' and 'from' together are 10000 at most");
    return made;
}

}  // namespace holdfast::lab::couchbase
