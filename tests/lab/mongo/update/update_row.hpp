#pragma once
#include "holdfast/bson/json.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/query/matcher.hpp"
#include "lab/mongo/update/update.hpp"
#include "support/json.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

namespace holdfast::lab {

/// An update in JSON, and what MongoDB's manual says it does: the document afterwards (a row that
/// begins with "{"), or a code with the message.
struct update_row {
    const char* document;
    const char* change;    // {...} or [...]
    const char* expected;  // "{...}", or "40: Updating the path ..."
    const char* query = "{}";
    const char* filters = "[]";
};

/// The value as the field "u" of a document, as a command would have it.
inline bson::document wrapped(std::string_view value)
{
    return json("{\"u\":" + std::string{value} + "}");
}

inline std::string canonical(bson::view document)
{
    return bson::to_json(document, bson::json_mode::canonical).value_or("no JSON");
}

inline std::string received(const error& why)
{
    return std::to_string(why.code().value()) + ": " + why.message();
}

/// What became of it, in the words of a row; the document in canonical form.
inline std::string outcome(const update_row& row, bool* changed = nullptr)
{
    const auto change = wrapped(row.change);
    const auto filters = wrapped(row.filters);
    const auto made = update::compile({change["u"], filters["u"].as_array()});
    if (!made)
        return received(made.error());
    const auto document = json(row.document);
    const auto query = matcher::compile(json(row.query));
    match_details where;
    if (!query || !query->matches(document, &where).value_or(false))
        return "the query does not match";
    const auto done = made->apply(document, where);
    if (!done)
        return received(done.error());
    EXPECT_EQ(done->changed, done->document.view() != document.view());
    if (changed)
        *changed = done->changed;
    return canonical(done->document);
}

inline void expect_rows(std::initializer_list<update_row> rows)
{
    for (const update_row& row : rows) {
        const std::string expected = row.expected[0] == '{' ? canonical(json(row.expected))
                                                            : row.expected;
        EXPECT_EQ(outcome(row), expected) << row.document << " <- " << row.change;
    }
}

/// The same for upserts: `row.query` is the filter.
inline std::string upsert_outcome(const update_row& row)
{
    const auto change = wrapped(row.change);
    const auto filters = wrapped(row.filters);
    const auto made = update::compile(
        {.change = change["u"], .array_filters = filters["u"].as_array(), .upsert = true});
    if (!made)
        return received(made.error());
    const auto query = matcher::compile(json(row.query));
    if (!query)
        return received(query.error());
    const auto done = made->upserted(*query);
    return done ? canonical(*done) : received(done.error());
}

}  // namespace holdfast::lab
