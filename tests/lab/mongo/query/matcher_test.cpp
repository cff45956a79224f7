#include "lab/mongo/query/matcher.hpp"

#include "holdfast/bson/json.hpp"
#include "lab/mongo/document/server_code.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace holdfast::lab::matcher_test {
namespace {

bson::document doc(std::string_view json)
{
    auto made = bson::from_json(json);
    EXPECT_TRUE(made) << json;
    return made ? *made : bson::document{};
}

struct refusal {
    const char* filter;
    int code;
    const char* says;  // the beginning
};

void check_refusals(std::span<const refusal> rows)
{
    for (const refusal& r : rows) {
        SCOPED_TRACE(r.filter);
        const auto made = matcher::compile(doc(r.filter));
        ASSERT_FALSE(made);
        EXPECT_EQ(made.error().code().value(), r.code) << made.error().message();
        EXPECT_EQ(made.error().message().substr(0, std::strlen(r.says)), r.says);
        EXPECT_EQ(&made.error().code().category(), &server_category());
    }
}

TEST(matcher, invalid_filter_fails_with_the_servers_message)
{
    const refusal rows[] = {
        {R"({"$or":true})", 2, "$or must be an array"},
        {R"({"$and":1})", 2, "$and must be an array"},
        {R"({"$nor":{}})", 2, "$nor must be an array"},
        {R"({"$or":[]})", 2, "$and/$or/$nor must be a nonempty array"},
        {R"({"$or":[1]})", 2, "$or/$and/$nor entries need to be full objects"},
        {R"({"$unsupported":1})", 2,
         "unknown top level operator: $unsupported. If you have a field name that starts with a "
         "'$' symbol, consider using $getField or $setField."},
        {R"({"$gt":1})", 2, "unknown top level operator: $gt."},
        {R"({"a":{"$unsupported":1}})", 2, "unknown operator: $unsupported"},
        {R"({"a":{"$gt":1,"b":2}})", 2, "unknown operator: b"},
        {R"({"a":{"$in":1}})", 2, "$in needs an array"},
        {R"({"a":{"$nin":1}})", 2, "$nin needs an array"},
        {R"({"a":{"$in":[{"$gt":1}]}})", 2, "cannot nest $ under $in"},
        {R"({"a":{"$all":1}})", 2, "$all needs an array"},
        {R"({"a":{"$all":[{"$gt":1}]}})", 2, "no $ expressions in $all"},
        {R"({"a":{"$all":[{"$elemMatch":{}},1]}})", 2, "$all/$elemMatch has to be consistent"},
        {R"({"a":{"$elemMatch":1}})", 2, "$elemMatch needs an Object"},
        {R"({"a":{"$not":1}})", 2, "$not needs a regex or a document"},
        {R"({"a":{"$not":{}}})", 2, "$not cannot be empty"},
        {R"({"a":{"$not":{"b":1}}})", 2, "unknown operator: b"},
        {R"({"a":{"$size":-1}})", 2,
         "Failed to parse $size. Expected a non-negative number in: $size: -1"},
        {R"({"a":{"$size":1.5}})", 2, "Failed to parse $size. Expected an integer: $size: 1.5"},
        {R"({"a":{"$size":"x"}})", 2, "Failed to parse $size. Expected a number in: $size: \"x\""},
        {R"({"a":{"$mod":1}})", 2, "malformed mod, needs to be an array"},
        {R"({"a":{"$mod":[1]}})", 2, "malformed mod, not enough elements"},
        {R"({"a":{"$mod":[1,2,3]}})", 2, "malformed mod, too many elements"},
        {R"({"a":{"$mod":["x",2]}})", 2, "malformed mod, divisor not a number"},
        {R"({"a":{"$mod":[2,"x"]}})", 2, "malformed mod, remainder not a number"},
        {R"({"a":{"$mod":[0,1]}})", 2, "divisor cannot be 0"},
    };
    check_refusals(rows);
}

TEST(matcher, refuses_wrong_operands)
{
    const refusal rows[] = {
        {R"({"a":{"$type":"cat"}})", 2, "Unknown type name alias: cat"},
        {R"({"a":{"$type":42}})", 2, "Invalid numerical type code: 42"},
        {R"({"a":{"$type":true}})", 14, "type must be represented as a number or a string"},
        {R"({"a":{"$type":[]}})", 9, "$type must match at least one type"},
        {R"({"a":{"$regex":1}})", 2, "$regex has to be a string"},
        {R"({"a":{"$regex":"(","$exists":1}})", 51091, "Regular expression is invalid: "},
        {R"({"a":{"$regularExpression":{"pattern":"[","options":""}}})", 51091,
         "Regular expression is invalid: "},
        {R"({"a":{"$regex":"a","$options":"q"}, "b": 1})", 51108,
         "invalid flag in regex options: q"},
        {R"({"a":{"$options":"i"}})", 2, "$options needs a $regex"},
        {R"({"a":{"$ne":{"$regularExpression":{"pattern":"a","options":""}}}})", 2,
         "Can't have regex as arg to $ne."},
        {R"({"a":{"$gt":{"$regularExpression":{"pattern":"a","options":""}}}})", 2,
         "Can't have RegEx as arg to predicate over field 'a'."},
        {R"({"a":{"$undefined":true}})", 2, "cannot compare to undefined"},
        {R"({"a":{"$bitsAllSet":-1}})", 9, "Expected a non-negative number in: $bitsAllSet: -1"},
        {R"({"a":{"$bitsAnyClear":"x"}})", 2,
         "$bitsAnyClear takes an Array, a number, or a BinData"},
        {R"({"a":{"$bitsAllSet":[-1]}})", 2, "bit positions must be >= 0 but got: -1"},
        {R"({"$where":"this.a == 1"})", 2, "$where runs no JavaScript"},
        {R"({"a":{"$elemMatch":{"$expr":true}}})", 2,
         "$expr can only be applied to the top-level document"},
        {R"({"a":{"$elemMatch":{"b":1,"$or":[{"$where":"x"}]}}})", 2,
         "$where can only be applied to the top-level document"},
        {R"({"$jsonSchema":{"type":"integer"}})", 9, "$jsonSchema type 'integer'"},
        {R"({"$where":1})", 2, "$where got bad type"},
        {R"({"$text":{"$search":"x"}})", 27, "text index required for $text query"},
        {R"({"a":{"$near":[0,0]}})", 238, "geographic queries are not supported"},
        {R"({"$jsonSchema":1})", 14, "$jsonSchema must be an object"},
        {R"({"$jsonSchema":{"cats":1}})", 9, "Unknown $jsonSchema keyword: cats"},
        {R"({"$jsonSchema":{"required":1}})", 14, "$jsonSchema keyword 'required'"},
    };
    check_refusals(rows);
}

TEST(matcher, knows_its_equalities)
{
    const struct {
        const char* filter;
        const char* equalities;
    } rows[] = {
        {R"({})", R"({})"},
        {R"({"_id":1,"a.b":"x"})", R"({"_id":1,"a.b":"x"})"},
        {R"({"a":null,"b":[1]})", R"({"a":null,"b":[1]})"},
        {R"({"a":{"$eq":1},"b":{"$gt":1}})", R"({"a":1})"},
        {R"({"a":{"$gt":1,"$eq":2}})", R"({"a":2})"},
        {R"({"$and":[{"a":1},{"b":{"$eq":2}}]})", R"({"a":1,"b":2})"},
        {R"({"$or":[{"a":1}]})", R"({"a":1})"},
        {R"({"$or":[{"a":1},{"b":1}]})", R"({})"},
        {R"({"a":{"$in":[1]}})", R"({"a":1})"},
        {R"({"a":{"$in":[1,2]}})", R"({})"},
        {R"({"a":{"$ne":1},"$nor":[{"b":1}]})", R"({})"},
        {R"({"a":{"$not":{"$eq":1}}})", R"({})"},
        {R"({"a":{"$all":[1]}})", R"({"a":1})"},
        {R"({"a":{"$regularExpression":{"pattern":"x","options":""}},"b":1})", R"({"b":1})"},
        {R"({"a":{"b":1}})", R"({"a":{"b":1}})"},
    };
    for (const auto& r : rows) {
        const auto made = matcher::compile(doc(r.filter));
        ASSERT_TRUE(made) << r.filter;
        EXPECT_EQ(bson::to_json(made->equalities()).value(), r.equalities) << r.filter;
    }
}

TEST(matcher, equality_reports_top_level_conditions_for_an_index)
{
    const auto made = matcher::compile(
        doc(R"({"_id":7,"n":null,"l":[1],"s":"x","g":{"$gt":1},"$and":[{"x":true}]})"));
    ASSERT_TRUE(made);
    EXPECT_EQ(made->equality("_id").as_int32(), 7);
    EXPECT_TRUE(made->equality("x").as_bool());
    EXPECT_EQ(made->equality("s").as_string(), "x");
    for (const char* none : {"n", "l", "g", "missing"})
        EXPECT_FALSE(made->equality(none)) << none;

    const auto by_language = matcher::compile(doc(R"({"_id":7,"s":"x","d":{"s":"x"}})"),
                                              collation{.strength = 2});
    ASSERT_TRUE(by_language);
    EXPECT_TRUE(by_language->equality("_id"));
    EXPECT_FALSE(by_language->equality("s"));
    EXPECT_FALSE(by_language->equality("d"));
}

TEST(matcher, match_details_report_the_array_position)
{
    const struct {
        const char* filter;
        const char* document;
        const char* index;  // null: none
    } rows[] = {
        {R"({"a":2})", R"({"a":[1,2,2]})", "1"},
        {R"({"a":2})", R"({"a":2})", nullptr},
        {R"({"a":[1,2]})", R"({"a":[1,2]})", nullptr},
        {R"({"a.b":2})", R"({"a":[{"b":1},{"b":3},{"b":2}]})", "2"},
        {R"({"a.b":2})", R"({"a":[{"b":1},{"b":[3,2]}]})", "1"},
        {R"({"a.b":2})", R"({"a":{"b":[0,0,2]}})", "2"},
        {R"({"a.b.c":2})", R"({"a":[{"b":[{"c":1}]},{"b":[{"c":0},{"c":0},{"c":2}]}]})", "1"},
        {R"({"$nor":[{"a":5,"b":9}]})", R"({"a":[1,5]})", nullptr},
        {R"({"a":{"$elemMatch":{"b":2,"c":1}}})", R"({"a":[{"b":2},{"b":2,"c":1}]})", "1"},
        {R"({"a":{"$elemMatch":{"$gte":2}}})", R"({"a":[1,2]})", "1"},
        {R"({"a":{"$gt":1},"x":1})", R"({"a":[1,5],"x":1})", "1"},
        {R"({"$or":[{"a":9},{"a":5}]})", R"({"a":[1,5]})", "1"},
        {R"({"a.1":5})", R"({"a":[1,5]})", "1"},
        {R"({"a":{"$ne":9}})", R"({"a":[1,5]})", nullptr},
        {R"({"a":{"$in":[5]}})", R"({"a":[1,5]})", "1"},
        {R"({"a":{"$exists":true}})", R"({"a":[]})", nullptr},
    };
    for (const auto& r : rows) {
        SCOPED_TRACE(std::string{r.filter} + " on " + r.document);
        const auto made = matcher::compile(doc(r.filter));
        ASSERT_TRUE(made);
        match_details details;
        ASSERT_TRUE(made->matches(doc(r.document), &details).value());
        EXPECT_EQ(details.array_index.value_or("none"), r.index == nullptr ? "none" : r.index);
    }
}

TEST(matcher, understands_one_piece_of_javascript)
{
    EXPECT_EQ(matcher::compile(doc(R"({"$where":"sleep(2000) || true"})"))->sleeps_ms(), 2000U);
    EXPECT_EQ(matcher::compile(doc(R"({"$where":{"$code":"sleep(5)||true"}})"))->sleeps_ms(), 5U);
    EXPECT_EQ(matcher::compile(doc(R"({"a":1})"))->sleeps_ms(), 0U);
    for (const char* bad : {"sleep(2000) || false", "sleep()|| true", "sleep(-1) || true", "sleep",
                            "sleep(3600001) || true", "sleep(99999999999999999999) || true",
                            "sleep(1) || true; drop()", ""}) {
        const auto filter = bson::doc("$where", bad);
        EXPECT_FALSE(matcher::compile(filter)) << bad;
    }
}

TEST(matcher, evaluates_expressions)
{
    const auto made = matcher::compile(doc(R"({"$expr":{"$gt":["$a","$b"]},"c":1})"));
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_TRUE(made->matches(doc(R"({"a":2,"b":1,"c":1})")).value());
    EXPECT_FALSE(made->matches(doc(R"({"a":1,"b":2,"c":1})")).value());
    EXPECT_FALSE(made->matches(doc(R"({"a":2,"b":1,"c":2})")).value());
    const expression_context with_let{.variables = doc(R"({"x":5})")};
    const auto asked = matcher::compile(doc(R"({"$expr":{"$eq":["$a","$$x"]}})"), {}, with_let);
    ASSERT_TRUE(asked);
    EXPECT_TRUE(asked->matches(doc(R"({"a":5})")).value());
    EXPECT_FALSE(asked->matches(doc(R"({"a":6})")).value());
    const auto undefined = matcher::compile(doc(R"({"$expr":{"$eq":["$a","$$y"]}})"));
    ASSERT_FALSE(undefined);
    EXPECT_EQ(undefined.error().code().value(), 17276);
}

TEST(matcher, computes_constants_first_and_expressions_last)
{
    const auto wrong = matcher::compile(doc(R"({"a":1,"$expr":{"$divide":[1,0]}})"));
    ASSERT_FALSE(wrong) << "it fails although no document is looked at";
    EXPECT_EQ(wrong.error().message(), "can't $divide by zero");
    for (const char* const filter : {R"({"$expr":{"$divide":[1,"$x"]},"a":1})",
                                     R"({"$and":[{"$expr":{"$divide":[1,"$x"]}},{"a":1}]})"}) {
        SCOPED_TRACE(filter);
        const auto made = matcher::compile(doc(filter));
        ASSERT_TRUE(made) << made.error().message();
        const auto other = made->matches(doc(R"({"a":2,"x":0})"));
        ASSERT_TRUE(other) << other.error().message();
        EXPECT_FALSE(*other);
        EXPECT_FALSE(made->matches(doc(R"({"a":1,"x":0})"))) << "now it is divided";
    }
}

std::string nested(std::string_view open, std::string_view inside, std::string_view close,
                   int times)
{
    std::string made{inside};
    for (int i = 0; i < times; ++i)
        made = std::string{open}.append(made).append(close);
    return made;
}

TEST(matcher, refuses_what_is_nested_too_deeply)
{
    const auto filter = [](int depth) {
        bson::document made = bson::doc("a", 1);
        for (int i = 0; i < depth; ++i)
            made = bson::doc("$and", bson::arr(made));
        return made;
    };
    EXPECT_TRUE(matcher::compile(filter(40)));
    const auto refused = matcher::compile(filter(5000));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code().value(), 15);

    const auto inside = [](int depth) {
        bson::document made = bson::doc("$gt", 1);
        for (int i = 0; i < depth; ++i)
            made = bson::doc("$not", made);
        return bson::doc("a", made);
    };
    EXPECT_TRUE(matcher::compile(inside(40)));
    EXPECT_FALSE(matcher::compile(inside(5000)));
}

TEST(matcher, nested_filters_are_matched_in_bounded_time)
{
    // Each array can be entered by its number, or its documents by their field of that name.
    const std::string many_ways = nested(R"({"0":[)", "1", "]}", 45);
    std::string path = "0";
    for (int i = 0; i < 70; ++i)
        path += ".0";
    const auto made = matcher::compile(bson::doc(path, "never"));
    ASSERT_TRUE(made);
    (void)made->matches(doc(many_ways));

    const auto slow = matcher::compile(doc(R"({"a":{"$regex":"(a+)+$","$exists":true}})"));
    const auto found = slow->matches(bson::doc("a", std::string(60, 'a') + "b"));
    EXPECT_FALSE(found);
    EXPECT_EQ(found.error().code().value(), 51156);

    const auto quick = matcher::compile(doc(R"({"a":{"$regex":"[xy]z","$exists":true}})"));
    EXPECT_FALSE(quick->matches(bson::doc("a", std::string(4'000'000, 'x'))).value());
}

TEST(matcher, survives_bytes_that_are_no_bson)
{
    const auto good = doc(R"({"a":{"$gt":1,"$in":[1,"x"]},"$or":[{"b":{"$elemMatch":{"c":1}}}],
                               "d":{"$regex":"x","$size":1},"$jsonSchema":{"required":["a"]}})");
    const auto target = doc(R"({"a":[1,{"b":2}],"b":[{"c":1}],"d":["x"]})");
    const auto all = matcher::compile(good);
    ASSERT_TRUE(all) << all.error().message();
    for (std::size_t at = 4; at + 1 < good.size(); ++at) {
        for (const int byte : {0x00, 0x01, 0x03, 0x04, 0x7F, 0xFF}) {
            std::vector<std::uint8_t> bytes{good.bytes().begin(), good.bytes().end()};
            bytes[at] = static_cast<std::uint8_t>(byte);
            const auto broken = bson::view::parse(bytes);
            if (const auto made = matcher::compile(broken.value()))
                (void)made->matches(target);
        }
    }
    for (std::size_t at = 4; at + 1 < target.size(); ++at) {
        std::vector<std::uint8_t> bytes{target.bytes().begin(), target.bytes().end()};
        bytes[at] = 0xFF;
        (void)all->matches(bson::view::parse(bytes).value());
    }
}

}  // namespace
}  // namespace holdfast::lab::matcher_test
