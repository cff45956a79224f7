#include "lab/couchbase/fts/search_query.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::lab::couchbase {

namespace json = boost::json;

error refused_search(std::string reason)
{
    using boost::system::errc::invalid_argument;
    return error{make_error_code(invalid_argument), std::move(reason)};
}

namespace {

constexpr std::size_t most_ids = 10'000;

std::string text_in(const json::value& from)
{
    const json::string* const text = from.if_string();
    return text ? std::string{text->data(), text->size()} : std::string{};
}

std::vector<std::string> token_texts(std::string_view text)
{
    std::vector<std::string> made;
    for (text_token& one : tokens_of(text))
        made.push_back(std::move(one.text));
    return made;
}

bool flag(const json::object& in, std::string_view name, bool usual)
{
    const json::value* const found = in.if_contains({name.data(), name.size()});
    return found && found->is_bool() ? found->get_bool() : usual;
}

/// One query with all below it; counts clauses.
class query_reader {
public:
    result<search_query> read(const json::value& from);

private:
    using read_member = result<void> (query_reader::*)(const json::object& in,
                                                       const json::value& member, search_query& to);
    struct kind_row {
        std::string_view member;
        read_member read;
    };
    static const kind_row kinds[];

    result<void> read_all(const json::object& in, const json::value& member, search_query& to);
    result<void> read_none(const json::object& in, const json::value& member, search_query& to);
    result<void> read_ids(const json::object& in, const json::value& member, search_query& to);
    result<void> read_term(const json::object& in, const json::value& member, search_query& to);
    result<void> read_terms(const json::object& in, const json::value& member, search_query& to);
    result<void> read_match(const json::object& in, const json::value& member, search_query& to);
    result<void> read_phrase(const json::object& in, const json::value& member, search_query& to);
    result<void> read_prefix(const json::object& in, const json::value& member, search_query& to);
    result<void> read_wildcard(const json::object& in, const json::value& member, search_query& to);
    result<void> read_bool(const json::object& in, const json::value& member, search_query& to);
    result<void> read_range(const json::object& in, const json::value& member, search_query& to);
    result<void> read_dates(const json::object& in, const json::value& member, search_query& to);
    result<void> read_text(const json::object& in, const json::value& member, search_query& to);
    result<void> read_conjuncts(const json::object& in, const json::value& member,
                                search_query& to);
    result<void> read_disjuncts(const json::object& in, const json::value& member,
                                search_query& to);
    result<void> read_boolean(const json::object& in, const json::value& member, search_query& to);

    result<std::vector<search_query>> read_list(const json::value& from);
    /// The list below a member of "boolean", {"conjuncts": [...]} for example.
    result<std::vector<search_query>> read_part(const json::object& in, std::string_view name,
                                                std::string_view list);

    std::size_t clauses_ = 0;
};

// The first member that is there decides.
const query_reader::kind_row query_reader::kinds[] = {
    {"match_all", &query_reader::read_all},
    {"match_none", &query_reader::read_none},
    {"ids", &query_reader::read_ids},
    {"term", &query_reader::read_term},
    {"terms", &query_reader::read_terms},
    {"match", &query_reader::read_match},
    {"match_phrase", &query_reader::read_phrase},
    {"prefix", &query_reader::read_prefix},
    {"wildcard", &query_reader::read_wildcard},
    {"bool", &query_reader::read_bool},
    {"conjuncts", &query_reader::read_conjuncts},
    {"disjuncts", &query_reader::read_disjuncts},
    {"must", &query_reader::read_boolean},
    {"should", &query_reader::read_boolean},
    {"must_not", &query_reader::read_boolean},
    {"start", &query_reader::read_dates},
    {"end", &query_reader::read_dates},
    {"min", &query_reader::read_range},
    {"max", &query_reader::read_range},
    {"query", &query_reader::read_text},
};

result<search_query> query_reader::read(const json::value& from)
{
    const json::object* const object = from.if_object();
    if (!object)
        return refused_search("a query is an object");
    if (++clauses_ > most_search_clauses)
        return refused_search("a query has 200 clauses at most");
    search_query made;
    if (const json::value* const field = object->if_contains("field"))
        made.field = text_in(*field);
    if (const json::value* const boost = object->if_contains("boost"); boost && boost->is_number())
        made.boost = boost->to_number<double>();
    for (const kind_row& one : kinds) {
        const json::value* const member = object->if_contains(
            {one.member.data(), one.member.size()});
        if (!member)
            continue;
        if (auto done = (this->*one.read)(*object, *member, made); !done)
            return std::move(done).error();
        return made;
    }
    return refused_search("unknown query type");
}

result<void> query_reader::read_all(const json::object&, const json::value&, search_query&)
{
    return {};
}

result<void> query_reader::read_none(const json::object&, const json::value&, search_query& to)
{
    to.what = match_none{};
    return {};
}

result<void> query_reader::read_ids(const json::object&, const json::value& member,
                                    search_query& to)
{
    const json::array* const list = member.if_array();
    if (!list || list->size() > most_ids)
        return refused_search("'ids' is a list of 10000 ids at most");
    match_ids made;
    for (const json::value& one : *list)
        made.ids.insert(text_in(one));
    to.what = std::move(made);
    return {};
}

result<void> query_reader::read_term(const json::object&, const json::value& member,
                                     search_query& to)
{
    if (!member.is_string())
        return refused_search("'term' is a string");
    to.what = match_tokens{match_tokens::kind::all, {text_in(member)}, true};
    return {};
}

result<void> query_reader::read_terms(const json::object&, const json::value& member,
                                      search_query& to)
{
    const json::array* const list = member.if_array();
    if (!list || list->size() > most_search_clauses)
        return refused_search("'terms' is a list of 200 strings at most");
    match_tokens made{match_tokens::kind::phrase, {}, false};
    for (const json::value& one : *list)
        made.tokens.push_back(text_in(one));
    to.what = std::move(made);
    return {};
}

result<void> query_reader::read_match(const json::object& in, const json::value& member,
                                      search_query& to)
{
    if (!member.is_string())
        return refused_search("'match' is a string");
    const json::value* const wanted = in.if_contains("operator");
    const bool all = wanted && text_in(*wanted) == "and";
    to.what = match_tokens{all ? match_tokens::kind::all : match_tokens::kind::any,
                           token_texts(text_in(member)), false};
    return {};
}

result<void> query_reader::read_phrase(const json::object&, const json::value& member,
                                       search_query& to)
{
    if (!member.is_string())
        return refused_search("'match_phrase' is a string");
    to.what = match_tokens{match_tokens::kind::phrase, token_texts(text_in(member)), false};
    return {};
}

result<void> query_reader::read_prefix(const json::object&, const json::value& member,
                                       search_query& to)
{
    if (!member.is_string())
        return refused_search("'prefix' is a string");
    to.what = match_tokens{match_tokens::kind::prefix, {text_in(member)}, false};
    return {};
}

result<void> query_reader::read_wildcard(const json::object&, const json::value& member,
                                         search_query& to)
{
    if (!member.is_string())
        return refused_search("'wildcard' is a string");
    to.what = match_tokens{match_tokens::kind::wildcard, {text_in(member)}, false};
    return {};
}

result<void> query_reader::read_bool(const json::object&, const json::value& member,
                                     search_query& to)
{
    if (!member.is_bool())
        return refused_search("'bool' is true or false");
    to.what = match_bool{member.get_bool()};
    return {};
}

/// Of numbers, or of strings.
result<void> query_reader::read_range(const json::object& in, const json::value&, search_query& to)
{
    match_number numbers;
    match_text_range texts;
    numbers.inclusive_min = texts.inclusive_min = flag(in, "inclusive_min", true);
    numbers.inclusive_max = texts.inclusive_max = flag(in, "inclusive_max", false);
    const auto read_end = [&](const char* name, std::optional<double>& number,
                              std::optional<std::string>& text) {
        const json::value* const end = in.if_contains(name);
        if (end && end->is_number())
            number = end->to_number<double>();
        else if (end && end->is_string())
            text = text_in(*end);
    };
    read_end("min", numbers.min, texts.min);
    read_end("max", numbers.max, texts.max);
    const bool of_texts = texts.min || texts.max;
    if (of_texts == (numbers.min || numbers.max))
        return refused_search("a range is of numbers or of strings");
    if (of_texts)
        to.what = std::move(texts);
    else
        to.what = numbers;
    return {};
}

result<void> query_reader::read_dates(const json::object& in, const json::value&, search_query& to)
{
    match_text_range dates;
    dates.inclusive_min = flag(in, "inclusive_start", true);
    dates.inclusive_max = flag(in, "inclusive_end", false);
    if (const json::value* const start = in.if_contains("start"); start && start->is_string())
        dates.min = text_in(*start);
    if (const json::value* const end = in.if_contains("end"); end && end->is_string())
        dates.max = text_in(*end);
    if (!dates.min && !dates.max)
        return refused_search("a range of dates has a start or an end");
    to.what = std::move(dates);
    return {};
}

result<void> query_reader::read_text(const json::object&, const json::value& member,
                                     search_query& to)
{
    if (!member.is_string())
        return refused_search("'query' is a string");
    auto made = read_query_string(text_in(member));
    if (!made)
        return std::move(made).error();
    made->boost = to.boost;
    to = *std::move(made);
    return {};
}

result<void> query_reader::read_conjuncts(const json::object&, const json::value& member,
                                          search_query& to)
{
    auto list = read_list(member);
    if (!list)
        return std::move(list).error();
    match_group made;
    made.must = *std::move(list);
    to.what = std::move(made);
    return {};
}

result<void> query_reader::read_disjuncts(const json::object& in, const json::value& member,
                                          search_query& to)
{
    auto list = read_list(member);
    if (!list)
        return std::move(list).error();
    match_group made;
    made.should = *std::move(list);
    made.least = 1;
    if (const json::value* const least = in.if_contains("min"); least && least->is_number())
        made.least = static_cast<std::size_t>(std::clamp(least->to_number<double>(), 0.0, 200.0));
    to.what = std::move(made);
    return {};
}

result<void> query_reader::read_boolean(const json::object& in, const json::value&,
                                        search_query& to)
{
    auto must = read_part(in, "must", "conjuncts");
    auto should = read_part(in, "should", "disjuncts");
    auto must_not = read_part(in, "must_not", "disjuncts");
    if (!must || !should || !must_not)
        return refused_search("'must' has conjuncts, 'should' and 'must_not' have disjuncts");
    match_group made{*std::move(must), *std::move(should), *std::move(must_not), 0};
    if (!made.should.empty()) {
        made.least = made.must.empty() ? 1 : 0;
        const json::value* const least = in.at("should").as_object().if_contains("min");
        if (least && least->is_number())
            made.least = static_cast<std::size_t>(
                std::clamp(least->to_number<double>(), 0.0, 200.0));
    }
    to.what = std::move(made);
    return {};
}

result<std::vector<search_query>> query_reader::read_list(const json::value& from)
{
    const json::array* const list = from.if_array();
    if (!list)
        return refused_search("'conjuncts' and 'disjuncts' are lists");
    std::vector<search_query> made;
    for (const json::value& one : *list) {
        auto read_one = read(one);
        if (!read_one)
            return std::move(read_one).error();
        made.push_back(*std::move(read_one));
    }
    return made;
}

result<std::vector<search_query>> query_reader::read_part(const json::object& in,
                                                          std::string_view name,
                                                          std::string_view list)
{
    const json::value* const part = in.if_contains({name.data(), name.size()});
    if (!part)
        return std::vector<search_query>{};
    const json::object* const object = part->if_object();
    const json::value* const inside = object ? object->if_contains({list.data(), list.size()})
                                             : nullptr;
    if (!inside)
        return refused_search("it has no list");
    return read_list(*inside);
}

}  // namespace

result<search_query> read_search_query(const json::value& from)
{
    return query_reader{}.read(from);
}

}  // namespace holdfast::lab::couchbase
