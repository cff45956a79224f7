#pragma once
#include "holdfast/bson/json.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/expression/expression.hpp"
#include "support/json.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::lab {

/// An expression, the document it meets, and what MongoDB's manual says comes out. An empty result
/// is "missing". Numbers: plain ones are int32, those with a point double; {"$numberLong": "1"}.
struct computed_row {
    const char* expression;
    const char* document;
    const char* expected;
};

/// An expression that is refused, when it is compiled or evaluated, with this code.
struct refused_row {
    const char* expression;
    const char* document;
    int code;
};

inline expression_context row_context()
{
    expression_context context;
    context.variables = json(R"({"limit": 5, "user": {"name": "Ada"}})");
    context.now = bson::datetime{std::chrono::milliseconds{1'000}};
    context.cluster_time = {7, 1};
    context.chance = [] { return 0.25; };
    return context;
}

inline result<value> compute(const char* expression_text, const char* document)
{
    static const expression_context context = row_context();
    const auto spec = json(std::string{"{\"e\": "} + expression_text + "}");
    auto compiled = expression::compile(spec["e"], {}, context);
    if (!compiled)
        return std::move(compiled).error();
    return compiled->evaluate(json(document));
}

inline std::string canonical(const value& v)
{
    return v.missing() ? "" : *bson::to_json(bson::doc("v", v.get()), bson::json_mode::canonical);
}

inline void check(const computed_row& row)
{
    SCOPED_TRACE(std::string{row.expression} + " of " + row.document);
    const auto made = compute(row.expression, row.document);
    ASSERT_TRUE(made) << made.error().message();
    const std::string expected = row.expected;
    if (expected.empty())
        EXPECT_TRUE(made->missing()) << canonical(*made);
    else
        EXPECT_EQ(canonical(*made), canonical(value{json("{\"v\": " + expected + "}")["v"]}));
}

inline void check(const refused_row& row)
{
    SCOPED_TRACE(std::string{row.expression} + " of " + row.document);
    const auto made = compute(row.expression, row.document);
    ASSERT_FALSE(made) << canonical(*made);
    EXPECT_EQ(made.error().code().value(), row.code) << made.error().message();
}

}  // namespace holdfast::lab
