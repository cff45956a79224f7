#include "lab/couchbase/fts/search_run.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace holdfast::lab::couchbase {

namespace json = boost::json;

namespace {

json::string text_of(std::string_view text)
{
    return json::string{text.data(), text.size()};
}

/// Larger is nearer; nothing if there is no such vector. It falls with the distance.
std::optional<double> nearness(const searched_document& of, const vector_search& to)
{
    const json::value* const field = of.find(to.field);
    const json::array* const list = field ? field->if_array() : nullptr;
    if (!list || list->size() != to.vector.size())
        return std::nullopt;
    double square = 0;
    for (std::size_t n = 0; n != to.vector.size(); ++n) {
        if (!(*list)[n].is_number())
            return std::nullopt;
        const double difference = (*list)[n].to_number<double>() - to.vector[n];
        square += difference * difference;
    }
    return 1 / (1 + std::sqrt(square));
}

/// The first value of a field that is a number or a string; null if there is none.
const json::value* sort_value(const searched_document& of, const std::string& field)
{
    for (const field_leaf& one : of.leaves()) {
        if (one.field == field && (one.value->is_number() || one.value->is_string()))
            return one.value;
    }
    return nullptr;
}

/// Numbers come before strings.
int compare_values(const json::value& a, const json::value& b)
{
    if (a.is_number() != b.is_number())
        return a.is_number() ? -1 : 1;
    if (a.is_number()) {
        const double x = a.to_number<double>();
        const double y = b.to_number<double>();
        return x < y ? -1 : x > y ? 1 : 0;
    }
    return a.get_string().compare(b.get_string());
}

/// Values of fields by their names; several of one are a list.
json::object fields_of(const searched_document& of, const std::vector<std::string>& wanted)
{
    const bool all = std::ranges::find(wanted, "*") != wanted.end();
    json::object made;
    for (const field_leaf& one : of.leaves()) {
        if ((!all && std::ranges::find(wanted, one.field) == wanted.end()) || one.value->is_null())
            continue;
        json::value* const before = made.if_contains(one.field);
        if (!before)
            made[one.field] = *one.value;
        else if (before->is_array())
            before->get_array().push_back(*one.value);
        else
            *before = json::array{*before, *one.value};
    }
    return made;
}

json::object locations_of(const match_outcome& of)
{
    json::object made;
    for (const token_hit& one : of.tokens) {
        json::value& field = made[one.leaf->field];
        if (!field.is_object())
            field.emplace_object();
        json::value& term = field.get_object()[one.token->text];
        if (!term.is_array())
            term.emplace_array();
        json::value positions;
        for (const std::size_t place : one.leaf->array_positions) {
            if (!positions.is_array())
                positions.emplace_array();
            positions.get_array().push_back(place);
        }
        term.get_array().push_back(json::object{{"pos", one.token->position},
                                                {"start", one.token->begin},
                                                {"end", one.token->end},
                                                {"array_positions", std::move(positions)}});
    }
    return made;
}

/// Each value in which something was found, with marks around that.
json::object fragments_of(const match_outcome& of, const search_highlight& style)
{
    const std::string_view begin = style.ansi ? "\x1b[43m" : "<mark>";
    const std::string_view end = style.ansi ? "\x1b[0m" : "</mark>";
    std::vector<std::pair<const field_leaf*, std::vector<const text_token*>>> found;
    for (const token_hit& one : of.tokens) {  // those of a leaf mostly come together
        if (found.empty() || found.back().first != one.leaf)
            found.emplace_back(one.leaf, std::vector<const text_token*>{});
        found.back().second.push_back(one.token);
    }
    json::object made;
    for (auto& [leaf, tokens] : found) {
        if (!style.fields.empty() &&
            std::ranges::find(style.fields, leaf->field) == style.fields.end())
            continue;
        std::ranges::sort(tokens, {}, &text_token::begin);
        const json::string& text = leaf->value->get_string();
        std::string marked;
        std::size_t at = 0;
        for (const text_token* const token : tokens) {
            if (token->begin < at)
                continue;  // found twice
            marked.append(text.data() + at, token->begin - at).append(begin);
            marked.append(text.data() + token->begin, token->end - token->begin).append(end);
            at = token->end;
        }
        marked.append(text.data() + at, text.size() - at);
        json::value& field = made[leaf->field];
        if (!field.is_array())
            field.emplace_array();
        field.get_array().push_back(text_of(marked));
    }
    return made;
}

}  // namespace

search_run::search_run(const search_request& what, std::string partition)
    : what_{what}, partition_{std::move(partition)}
{
}

void search_run::add(searched_document one)
{
    hit made{std::move(one), std::nullopt, {}};
    made.outcome = match_document(what_.query, made.document);
    bool kept = made.outcome.has_value();
    for (const vector_search& vector : what_.vectors) {
        made.near.push_back(nearness(made.document, vector));
        kept = kept || made.near.back();
    }
    if (made.outcome)
        made.score = made.outcome->score;
    if (kept)
        hits_.push_back(std::move(made));
}

void search_run::choose_nearest()
{
    for (std::size_t n = 0; n != what_.vectors.size(); ++n) {
        const vector_search& vector = what_.vectors[n];
        std::vector<hit*> nearest;
        for (hit& one : hits_) {
            if (one.near[n])
                nearest.push_back(&one);
        }
        std::ranges::sort(nearest, [n](const hit* a, const hit* b) {
            return *a->near[n] != *b->near[n] ? *a->near[n] > *b->near[n]
                                              : a->document.id() < b->document.id();
        });
        nearest.resize(std::min(nearest.size(), vector.count));
        for (hit* const one : nearest) {
            one->is_near = true;
            one->score += vector.boost * *one->near[n];
        }
    }
    std::erase_if(hits_, [this](const hit& one) {
        const bool both = what_.must_have_both && !what_.vectors.empty();
        return both ? !(one.outcome && one.is_near) : !(one.outcome || one.is_near);
    });
}

void search_run::sort_hits()
{
    const auto compare = [this](const hit& a, const hit& b) {
        for (const search_sort& by : what_.sort) {
            int order = 0;
            if (by.by == search_sort::key::score) {
                order = a.score < b.score ? -1 : a.score > b.score ? 1 : 0;
            } else if (by.by == search_sort::key::id) {
                order = a.document.id().compare(b.document.id());
            } else {
                const json::value* const x = sort_value(a.document, by.field);
                const json::value* const y = sort_value(b.document, by.field);
                if (!x || !y) {  // what is missing comes last, in both directions
                    if (static_cast<bool>(x) != static_cast<bool>(y))
                        return x != nullptr;
                    continue;
                }
                order = compare_values(*x, *y);
            }
            if (order != 0)
                return by.descending ? order > 0 : order < 0;
        }
        return a.document.id() < b.document.id();
    };
    std::ranges::sort(hits_, compare);
}

json::array search_run::sort_texts(const hit& of) const
{
    json::array made;
    for (const search_sort& by : what_.sort) {
        const json::value* const value = by.by == search_sort::key::field
                                             ? sort_value(of.document, by.field)
                                             : nullptr;
        if (by.by == search_sort::key::score)
            made.push_back("_score");
        else if (by.by == search_sort::key::id)
            made.push_back(text_of(of.document.id()));
        else if (value && value->is_string())
            made.push_back(*value);
        else
            made.push_back(text_of(value ? json::serialize(*value) : ""));
    }
    return made;
}

json::object search_run::hit_object(const hit& of) const
{
    json::object made{{"index", text_of(partition_)},
                      {"id", text_of(of.document.id())},
                      {"score", of.score},
                      {"sort", sort_texts(of)}};
    if (what_.explained)
        made["explanation"] = json::object{{"value", of.score}, {"message", "sum of its clauses"}};
    if (of.outcome && (what_.with_locations || what_.highlight) && !of.outcome->tokens.empty())
        made["locations"] = locations_of(*of.outcome);
    if (of.outcome && what_.highlight) {
        json::object fragments = fragments_of(*of.outcome, *what_.highlight);
        if (!fragments.empty())
            made["fragments"] = std::move(fragments);
    }
    if (!what_.fields.empty())
        made["fields"] = fields_of(of.document, what_.fields);
    return made;
}

json::object search_run::finish()
{
    choose_nearest();
    if (!what_.scored) {
        for (hit& one : hits_)
            one.score = 0;
    }
    sort_hits();
    double best = 0;
    std::vector<const searched_document*> among;
    for (const hit& one : hits_) {
        best = std::max(best, one.score);
        among.push_back(&one.document);
    }
    json::array shown;
    for (std::size_t n = what_.from; n < hits_.size() && shown.size() != what_.size; ++n)
        shown.push_back(hit_object(hits_[n]));
    json::object made{
        {"hits", std::move(shown)}, {"total_hits", hits_.size()}, {"max_score", best}};
    made["facets"] = what_.facets.empty() ? json::value{} : facets_of(what_.facets, among);
    return made;
}

}  // namespace holdfast::lab::couchbase
