#include "lab/couchbase/fts/search_run.hpp"

#include <boost/json/array.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace holdfast::lab::couchbase {

namespace json = boost::json;

namespace {

/// What a document has in the field of a facet.
struct facet_values {
    std::set<std::string> tokens = {};
    std::vector<double> numbers = {};
    std::vector<std::string> texts = {};
    bool any = false;
};

facet_values values_of(const searched_document& of, const std::string& field)
{
    facet_values made;
    for (const field_leaf& one : of.leaves()) {
        if (one.field != field || one.value->is_null())
            continue;
        made.any = true;
        for (const text_token& token : one.tokens)
            made.tokens.insert(token.text);
        if (one.value->is_number())
            made.numbers.push_back(one.value->to_number<double>());
        if (const json::string* const text = one.value->if_string())
            made.texts.emplace_back(text->data(), text->size());
    }
    return made;
}

/// The most frequent tokens first.
json::array top_terms(const std::map<std::string, std::size_t>& counts, std::size_t most,
                      std::size_t& other)
{
    std::vector<std::pair<std::string, std::size_t>> order{counts.begin(), counts.end()};
    std::ranges::stable_sort(order, std::ranges::greater{},
                             &std::pair<std::string, std::size_t>::second);
    json::array made;
    for (const auto& [term, count] : order) {
        if (made.size() < most)
            made.push_back(
                json::object{{"term", json::string{term.data(), term.size()}}, {"count", count}});
        else
            other += count;
    }
    return made;
}

json::array number_ranges(const search_facet& of, const std::vector<facet_values>& among,
                          std::size_t& total)
{
    json::array made;
    for (const search_facet::number_range& range : of.numbers) {
        std::size_t count = 0;
        for (const facet_values& one : among) {
            count += static_cast<std::size_t>(std::ranges::count_if(one.numbers, [&](double n) {
                return (!range.min || n >= *range.min) && (!range.max || n < *range.max);
            }));
        }
        total += count;
        json::object row{{"name", json::string{range.name.data(), range.name.size()}}};
        if (range.min)
            row["min"] = *range.min;
        if (range.max)
            row["max"] = *range.max;
        row["count"] = count;
        made.push_back(std::move(row));
    }
    return made;
}

json::array date_ranges(const search_facet& of, const std::vector<facet_values>& among,
                        std::size_t& total)
{
    const auto text_of = [](const std::string& text) {
        return json::string{text.data(), text.size()};
    };
    json::array made;
    for (const search_facet::date_range& range : of.dates) {
        std::size_t count = 0;
        for (const facet_values& one : among) {
            count += static_cast<std::size_t>(
                std::ranges::count_if(one.texts, [&](const std::string& date) {
                    return (!range.start || date >= *range.start) &&
                           (!range.end || date < *range.end);
                }));
        }
        total += count;
        json::object row{{"name", text_of(range.name)}};
        if (range.start)
            row["start"] = text_of(*range.start);
        if (range.end)
            row["end"] = text_of(*range.end);
        row["count"] = count;
        made.push_back(std::move(row));
    }
    return made;
}

json::object facet_object(const search_facet& of,
                          const std::vector<const searched_document*>& among)
{
    std::vector<facet_values> values;
    std::map<std::string, std::size_t> counts;
    std::size_t total = 0;
    std::size_t missing = 0;
    std::size_t other = 0;
    for (const searched_document* const one : among) {
        const facet_values& found = values.emplace_back(values_of(*one, of.field));
        missing += found.any ? 0 : 1;
        for (const std::string& token : found.tokens)
            ++counts[token];
    }
    json::object made{{"field", json::string{of.field.data(), of.field.size()}}};
    if (!of.numbers.empty()) {
        made["numeric_ranges"] = number_ranges(of, values, total);
    } else if (!of.dates.empty()) {
        made["date_ranges"] = date_ranges(of, values, total);
    } else {
        for (const auto& [token, count] : counts)
            total += count;
        made["terms"] = top_terms(counts, of.size, other);
    }
    made["total"] = total;
    made["missing"] = missing;
    made["other"] = other;
    return made;
}

}  // namespace

json::object facets_of(const std::vector<search_facet>& wanted,
                       const std::vector<const searched_document*>& among)
{
    json::object made;
    for (const search_facet& one : wanted)
        made[one.name] = facet_object(one, among);
    return made;
}

}  // namespace holdfast::lab::couchbase
