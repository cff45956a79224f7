// tidy: table of expressions and what the manual says of them
#include "lab/mongo/expression/expression_rows.hpp"

namespace holdfast::lab::expression_test {
namespace {

TEST(lab_expression, paths_variables_and_literals)
{
    const computed_row rows[] = {
        {R"("$a")", R"({"a": 1})", "1"},
        {R"("$a.b")", R"({"a": {"b": "x"}})", R"("x")"},
        {R"("$a.b")", R"({"a": [{"b": 1}, {"c": 2}, 5, {"b": 3}]})", "[1, 3]"},
        {R"("$a.0")", R"({"a": [7, 8]})", "[]"},
        {R"("$x")", R"({"a": 1})", ""},
        {R"("$a.b")", R"({"a": 5})", ""},
        {R"("$$ROOT")", R"({"a": 1})", R"({"a": 1})"},
        {R"("$$ROOT.a")", R"({"a": 1})", "1"},
        {R"("$$CURRENT.a")", R"({"a": 1})", "1"},
        {R"("$$limit")", "{}", "5"},
        {R"("$$user.name")", "{}", R"("Ada")"},
        {R"("$$NOW")", "{}", R"({"$date": {"$numberLong": "1000"}})"},
        {R"("$$CLUSTER_TIME")", "{}", R"({"$timestamp": {"t": 7, "i": 1}})"},
        {R"("$$REMOVE")", "{}", ""},
        {R"("plain")", "{}", R"("plain")"},
        {R"({"$literal": "$a"})", R"({"a": 1})", R"("$a")"},
        {R"({"$literal": {"$add": [1, 2]}})", "{}", R"({"$add": [1, 2]})"},
        {R"({"x": "$a", "y": {"z": "$b"}, "no": "$c"})", R"({"a": 1, "b": 2})",
         R"({"x": 1, "y": {"z": 2}})"},
        {R"(["$a", "$nope", 3])", R"({"a": 1})", "[1, null, 3]"},
        {R"({"$let": {"vars": {"x": 2, "y": "$a"}, "in": {"$add": ["$$x", "$$y"]}}})",
         R"({"a": 3})", "5"},
        {R"({"$let": {"vars": {"x": 1}, "in":
             {"$let": {"vars": {"x": {"$add": ["$$x", 1]}}, "in": "$$x"}}}})",
         "{}", "2"},
        {R"({"$let": {"vars": {"CURRENT": "$a"}, "in": "$b"}})", R"({"a": {"b": 9}})", "9"},
        {R"({"$rand": {}})", "{}", "0.25"},
    };
    for (const auto& row : rows)
        check(row);
}

TEST(lab_expression, comparison_and_logic)
{
    const computed_row rows[] = {
        {R"({"$eq": ["$a", 1]})", R"({"a": 1.0})", "true"},
        {R"({"$eq": ["$a", 1]})", R"({"a": {"$numberDecimal": "1"}})", "true"},
        {R"({"$eq": ["$a", null]})", "{}", "false"},
        {R"({"$ne": [1, 2]})", "{}", "true"},
        {R"({"$gt": ["b", "a"]})", "{}", "true"},
        {R"({"$gt": ["a", 1000]})", "{}", "true"},
        {R"({"$gte": [2, 2]})", "{}", "true"},
        {R"({"$lt": [null, 0]})", "{}", "true"},
        {R"({"$lt": ["$nope", null]})", "{}", "true"},
        {R"({"$lte": [3, 2]})", "{}", "false"},
        {R"({"$cmp": [1, 2]})", "{}", "-1"},
        {R"({"$cmp": [{"a": 2}, {"a": 1}]})", "{}", "1"},
        {R"({"$and": []})", "{}", "true"},
        {R"({"$and": [1, "x", {}]})", "{}", "true"},
        {R"({"$and": [false, {"$divide": [1, 0]}]})", "{}", "false"},
        {R"({"$or": []})", "{}", "false"},
        {R"({"$or": [0, null, "$nope"]})", "{}", "false"},
        {R"({"$not": [0]})", "{}", "true"},
        {R"({"$not": [[]]})", "{}", "false"},
        {R"({"$cond": [{"$gte": ["$q", 250]}, 30, 20]})", R"({"q": 300})", "30"},
        {R"({"$cond": {"if": "$q", "then": 1, "else": {"$divide": [1, 0]}}})", R"({"q": true})",
         "1"},
        {R"({"$ifNull": ["$a", "$b", "none"]})", R"({"a": null})", R"("none")"},
        {R"({"$ifNull": ["$a", "none"]})", R"({"a": 0})", "0"},
        {R"({"$switch": {"branches": [{"case": {"$eq": ["$a", 1]}, "then": "one"},
             {"case": true, "then": "other"}]}})",
         R"({"a": 2})", R"("other")"},
        {R"({"$switch": {"branches": [{"case": false, "then": 1}], "default": 9}})", "{}", "9"},
    };
    for (const auto& row : rows)
        check(row);
}

TEST(lab_expression, constant_calls_are_computed_when_they_are_compiled)
{
    const expression_context context = row_context();
    const auto compiled = [&](const char* text) {
        const auto spec = json(std::string{"{\"e\": "} + text + "}");
        return expression::compile(spec["e"], {}, context);
    };
    EXPECT_FALSE(compiled(R"({"$divide": [1, 0]})"));
    EXPECT_FALSE(compiled(R"({"$add": ["$a", {"$divide": [1, {"$subtract": [2, 2]}]}]})"));
    EXPECT_FALSE(compiled(R"({"x": {"$trim": {"input": 5}}})"));
    EXPECT_TRUE(compiled(R"({"$divide": [1, "$a"]})"));
    EXPECT_TRUE(compiled(R"({"$cond": ["$a", {"$divide": [1, 0]}, 2]})")) << "it may be left out";
    EXPECT_TRUE(compiled(R"({"$rand": {}})"));
}

TEST(lab_expression, arithmetic_keeps_the_wider_type)
{
    const computed_row rows[] = {
        {R"({"$add": []})", "{}", "0"},
        {R"({"$add": [1, 2]})", "{}", "3"},
        {R"({"$add": [1, {"$numberLong": "2"}]})", "{}", R"({"$numberLong": "3"})"},
        {R"({"$add": [1, 2.5]})", "{}", "3.5"},
        {R"({"$add": [2147483647, 1]})", "{}", R"({"$numberLong": "2147483648"})"},
        {R"({"$add": [{"$numberLong": "9223372036854775807"}, 1]})", "{}",
         R"({"$numberDouble": "9.2233720368547758E+18"})"},
        {R"({"$add": [1, null]})", "{}", "null"},
        {R"({"$add": [{"$date": {"$numberLong": "1000"}}, 500]})", "{}",
         R"({"$date": {"$numberLong": "1500"}})"},
        {R"({"$subtract": [{"$date": {"$numberLong": "1000"}}, {"$date": {"$numberLong": "1"}}]})",
         "{}", R"({"$numberLong": "999"})"},
        {R"({"$subtract": [{"$date": {"$numberLong": "1000"}}, 1]})", "{}",
         R"({"$date": {"$numberLong": "999"}})"},
        {R"({"$subtract": [5, 7]})", "{}", "-2"},
        {R"({"$subtract": [-2147483648, 1]})", "{}", R"({"$numberLong": "-2147483649"})"},
        {R"({"$multiply": [3, 4]})", "{}", "12"},
        {R"({"$multiply": [2147483647, 2]})", "{}", R"({"$numberLong": "4294967294"})"},
        {R"({"$multiply": [3, "$nope"]})", "{}", "null"},
        {R"({"$divide": [10, 4]})", "{}", "2.5"},
        {R"({"$divide": [10, 5]})", "{}", "2.0"},
        {R"({"$mod": [10, 3]})", "{}", "1"},
        {R"({"$mod": [-10, 3]})", "{}", "-1"},
        {R"({"$mod": [10.5, 3]})", "{}", "1.5"},
        {R"({"$mod": [{"$numberLong": "-9223372036854775808"}, -1]})", "{}",
         R"({"$numberLong": "0"})"},
        {R"({"$abs": -5})", "{}", "5"},
        {R"({"$abs": -2147483648})", "{}", R"({"$numberLong": "2147483648"})"},
        {R"({"$ceil": 7.2})", "{}", "8.0"},
        {R"({"$ceil": -2})", "{}", "-2"},
        {R"({"$floor": -2.8})", "{}", "-3.0"},
        {R"({"$round": [2.5]})", "{}", "2.0"},
        {R"({"$round": [10.5]})", "{}", "10.0"},
        {R"({"$round": [11.5, 0]})", "{}", "12.0"},
        {R"({"$round": [1234.5678, 2]})", "{}", "1234.57"},
        {R"({"$round": [1234, -2]})", "{}", "1200"},
        {R"({"$trunc": [7.85, 1]})", "{}", "7.8"},
        {R"({"$trunc": [-2.3]})", "{}", "-2.0"},
        {R"({"$trunc": [1299, -2]})", "{}", "1200"},
        {R"({"$sqrt": 25})", "{}", "5.0"},
        {R"({"$pow": [5, 2]})", "{}", "25"},
        {R"({"$pow": [2, 40]})", "{}", R"({"$numberLong": "1099511627776"})"},
        {R"({"$pow": [5, 0.5]})", "{}", "2.23606797749979"},
        {R"({"$pow": [5, -2]})", "{}", "0.04"},
        {R"({"$exp": 0})", "{}", "1.0"},
        {R"({"$ln": 1})", "{}", "0.0"},
        {R"({"$log10": 100})", "{}", "2.0"},
        {R"({"$log": [8, 2]})", "{}", "3.0"},
        {R"({"$sqrt": null})", "{}", "null"},
        {R"({"$sum": [1, 2, "x", 3]})", "{}", "6"},
        {R"({"$sum": "$a"})", R"({"a": [1, 2.5]})", "3.5"},
        {R"({"$sum": "$nope"})", "{}", "0"},
        {R"({"$avg": [1, 2]})", "{}", "1.5"},
        {R"({"$avg": "$a"})", R"({"a": ["x"]})", "null"},
        {R"({"$min": [3, 1, null]})", "{}", "1"},
        {R"({"$max": "$a"})", R"({"a": [3, 9, 4]})", "9"},
    };
    for (const auto& row : rows)
        check(row);
}

TEST(lab_expression, refusals_have_the_servers_codes)
{
    const refused_row rows[] = {
        {R"({"$nope": 1})", "{}", 168},
        {R"("$$nope")", "{}", 17276},
        {R"("$")", "{}", 16872},
        {R"("$a.")", "{}", 40353},
        {R"("$a..b")", "{}", 15998},
        {R"({"a": 1, "$add": [1]})", "{}", 16410},
        {R"({"$add": [1], "a": 1})", "{}", 15983},
        {R"({"a.b": 1})", "{}", 16412},
        {R"({"$eq": [1]})", "{}", 16020},
        {R"({"$not": [1, 2]})", "{}", 16020},
        {R"({"$slice": [[1]]})", "{}", 28667},
        {R"({"$ifNull": [1]})", "{}", 1257300},
        {R"({"$cond": [1, 2]})", "{}", 16020},
        {R"({"$cond": {"then": 1, "else": 2}})", "{}", 17080},
        {R"({"$cond": {"if": 1, "then": 1, "other": 2}})", "{}", 17083},
        {R"({"$switch": {"branches": []}})", "{}", 40068},
        {R"({"$switch": {"branches": [{"case": false, "then": 1}]}})", "{}", 40066},
        {R"({"$let": {"vars": {"Upper": 1}, "in": 1}})", "{}", 9},
        {R"({"$let": {"in": 1}})", "{}", 16876},
        {R"({"$add": ["a", 1]})", "{}", 14},
        {R"({"$add": [{"$date": {"$numberLong": "1"}}, {"$date": {"$numberLong": "1"}}]})", "{}",
         16612},
        {R"({"$subtract": ["a", 1]})", "{}", 14},
        {R"({"$divide": [1, 0]})", "{}", 2},
        {R"({"$mod": [1, 0]})", "{}", 16610},
        {R"({"$abs": "x"})", "{}", 28765},
        {R"({"$sqrt": -1})", "{}", 28714},
        {R"({"$pow": [0, -1]})", "{}", 28764},
        {R"({"$ln": 0})", "{}", 28766},
        {R"({"$log": [10, 1]})", "{}", 28759},
        {R"({"$round": [1, 101]})", "{}", 51083},
        {R"({"$size": "$a"})", R"({"a": 5})", 17124},
        {R"({"$arrayElemAt": ["$a", 0]})", R"({"a": 5})", 28689},
        {R"({"$in": [1, "$a"]})", "{}", 40081},
        {R"({"$concatArrays": [[1], 2]})", "{}", 28664},
        {R"({"$map": {"input": 5, "in": 1}})", "{}", 16883},
        {R"({"$filter": {"input": 5, "cond": true}})", "{}", 28651},
        {R"({"$reduce": {"input": 5, "initialValue": 0, "in": 1}})", "{}", 40080},
        {R"({"$range": [0, 5, 0]})", "{}", 34449},
        {R"({"$mergeObjects": [5]})", "{}", 40400},
        {R"({"$objectToArray": [5]})", "{}", 40390},
        {R"({"$concat": ["a", 5]})", "{}", 16702},
        {R"({"$strLenCP": null})", "{}", 34471},
        {R"({"$split": ["a", ""]})", "{}", 40087},
        {R"({"$trim": {"input": 5}})", "{}", 50699},
        {R"({"$substrCP": ["abc", -1, 1]})", "{}", 34455},
        {R"({"$toInt": "abc"})", "{}", 241},
        {R"({"$toInt": 2147483648.0})", "{}", 241},
        {R"({"$toObjectId": "12"})", "{}", 241},
        {R"({"$convert": {"input": 1, "to": "nothing"}})", "{}", 2},
        {R"({"$year": "x"})", "{}", 16006},
        {R"({"$regexMatch": {"input": "a", "regex": "("}})", "{}", 51111},
        {R"({"$regexMatch": {"input": 5, "regex": "a"}})", "{}", 51104},
        {R"({"$setField": {"field": "$a", "input": {}, "value": 1}})", "{}", 4161106},
        {R"({"$sum": [{"$numberDecimal": "1"}]})", "{}", 115},
    };
    for (const auto& row : rows)
        check(row);
}

TEST(lab_expression, messages_that_people_know)
{
    EXPECT_EQ(compute(R"({"$nope": 1})", "{}").error().message(),
              "Unrecognized expression '$nope'");
    EXPECT_EQ(compute(R"("$$x")", "{}").error().message(), "Use of undefined variable: x");
    EXPECT_EQ(compute(R"({"$eq": [1]})", "{}").error().message(),
              "Expression $eq takes exactly 2 arguments. 1 were passed in.");
}

TEST(lab_expression, nesting_and_work_have_limits)
{
    std::string deep = "1";
    for (int i = 0; i < 90; ++i)
        deep = "[" + deep + "]";
    EXPECT_TRUE(compute(deep.c_str(), "{}"));

    // Deeper than JSON's reader goes, so in BSON.
    bson::document nested = bson::doc("$not", 1);
    for (int i = 0; i < 300; ++i)
        nested = bson::doc("$not", nested);
    const auto refused = expression::compile(bson::doc("e", nested)["e"]);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code().value(), 15);

    // Ten billion steps, and an array that wraps itself.
    EXPECT_EQ(compute(R"({"$map": {"input": {"$range": [0, 100000]}, "in": {"$size":
                        {"$map": {"input": {"$range": [0, 100000]}, "in": 1}}}}})",
                      "{}")
                  .error()
                  .code()
                  .value(),
              262);
    EXPECT_EQ(compute(R"({"$reduce": {"input": {"$range": [0, 5000]}, "initialValue": [],
                        "in": ["$$value"]}})",
                      "{}")
                  .error()
                  .code()
                  .value(),
              15);
    EXPECT_EQ(compute(R"({"$range": [0, 2000000000]})", "{}").error().code().value(), 10334);
    // A pattern that backtracks forever.
    EXPECT_FALSE(compute(R"({"$regexMatch": {"input": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
                           "regex": "^(a+)+$"}})",
                         "{}"));
}

TEST(lab_expression, text_is_compared_by_the_collation)
{
    const auto spec = json(R"({"e": {"$eq": ["$a", "ADA"]}})");
    const auto compiled = expression::compile(spec["e"], collation{.strength = 2});
    ASSERT_TRUE(compiled);
    EXPECT_EQ(canonical(*compiled->evaluate(json(R"({"a": "ada"})"))), canonical(value::of(true)));
}

TEST(lab_expression, truth)
{
    for (const char* no : {"false", "null", "0", "0.0", R"({"$numberLong": "0"})",
                           R"({"$numberDecimal": "0.00"})", R"({"$undefined": true})"})
        EXPECT_FALSE(is_true(json(std::string{"{\"v\": "} + no + "}")["v"])) << no;
    for (const char* yes : {"true", "1", "-0.5", R"("")", "[]", "{}",
                            R"({"$numberDecimal": "0.1"})", R"({"$numberDecimal": "NaN"})"})
        EXPECT_TRUE(is_true(json(std::string{"{\"v\": "} + yes + "}")["v"])) << yes;
    EXPECT_FALSE(is_true({}));
}

TEST(lab_expression, let_of_a_command)
{
    expression_context context;
    context.now = bson::datetime{std::chrono::milliseconds{5}};
    const auto made = evaluate_let(json(R"({"a": 1, "b": {"$add": [1, 2]}, "c": "$$NOW"})"),
                                   context);
    ASSERT_TRUE(made);
    EXPECT_EQ(*made, json(R"({"a": 1, "b": 3, "c": {"$date": {"$numberLong": "5"}}})"));
    EXPECT_EQ(evaluate_let(json(R"({"a": {"$nope": 1}})"), context).error().code().value(), 168);
    EXPECT_EQ(evaluate_let(json(R"({"A": 1})"), context).error().code().value(), 9);
}

}  // namespace
}  // namespace holdfast::lab::expression_test
