#include "holdfast/mongo/filter.hpp"

#include "holdfast/bson/containers.hpp"
#include "holdfast/bson/mapping.hpp"

#include <boost/describe.hpp>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::filter_test {
namespace {

using namespace mongo;
using bson::arr;
using bson::doc;

struct address {
    std::string city;
};
BOOST_DESCRIBE_STRUCT(address, (), (city))

TEST(filter, every_operator_builds_its_query_document)
{
    struct row {
        bson::document made;
        const char* expected;
    };
    const row table[] = {
        {filter(), "{}"},
        {filter("owner", "ada", "open", true), R"({"owner": "ada", "open": true})"},
        {eq("a", 1), R"({"a": {"$eq": 1}})"},
        {ne("a", "x"), R"({"a": {"$ne": "x"}})"},
        {gt("a", 1.5), R"({"a": {"$gt": 1.5}})"},
        {gte("a", 1), R"({"a": {"$gte": 1}})"},
        {lt("a", 1), R"({"a": {"$lt": 1}})"},
        {lte("a.b", 1), R"({"a.b": {"$lte": 1}})"},
        {in("a", 1, "two", 3.5), R"({"a": {"$in": [1, "two", 3.5]}})"},
        {in("a"), R"({"a": {"$in": []}})"},
        {in("a", "one"), R"({"a": {"$in": ["one"]}})"},
        {nin("a", 1, 2), R"({"a": {"$nin": [1, 2]}})"},
        {exists("a"), R"({"a": {"$exists": true}})"},
        {exists("a", false), R"({"a": {"$exists": false}})"},
        {matches("a", "^b", "i"),
         R"({"a": {"$regularExpression": {"pattern": "^b", "options": "i"}}})"},
        {has_type("a", "number"), R"({"a": {"$type": "number"}})"},
        {has_type("a", bson::type::string), R"({"a": {"$type": 2}})"},
        {has_type("a", bson::type::min_key), R"({"a": {"$type": -1}})"},
        {has_type("a", bson::type::max_key), R"({"a": {"$type": 127}})"},
        {has_all("a", 1, 2), R"({"a": {"$all": [1, 2]}})"},
        {elem_match("a", gt("b", 1)), R"({"a": {"$elemMatch": {"b": {"$gt": 1}}}})"},
        {has_size("a", 3), R"({"a": {"$size": {"$numberLong": "3"}}})"},
        {expr(doc("$gt", arr("$a", "$b"))), R"({"$expr": {"$gt": ["$a", "$b"]}})"},
    };
    for (const row& one : table)
        EXPECT_EQ(one.made, bson::from_json(one.expected).value()) << one.expected;
}

TEST(filter, all_of_any_of_none_of_build_and_or_nor)
{
    EXPECT_EQ(all_of(eq("a", 1), filter("b", 2)),
              doc("$and", arr(doc("a", doc("$eq", 1)), doc("b", 2))));
    EXPECT_EQ(any_of(eq("a", 1)), doc("$or", arr(doc("a", doc("$eq", 1)))));
    EXPECT_EQ(none_of(filter("a", 1), filter("b", 2)), doc("$nor", arr(doc("a", 1), doc("b", 2))));
    EXPECT_EQ(negate(filter("a", 1, "b", 2)), doc("$nor", arr(doc("a", 1, "b", 2))));
    EXPECT_EQ(negate(any_of(gt("a", 1), lt("a", 0))).find_path("$nor.0.$or.1.a.$lt").type(),
              bson::type::int32);
}

TEST(filter, in_takes_a_list_as_elements_and_bytes_as_one_value)
{
    const auto expected = doc("a", doc("$in", arr(1, 2)));
    EXPECT_EQ(in("a", std::vector<std::int32_t>{1, 2}), expected);
    EXPECT_EQ(in("a", arr(1, 2)), expected);
    EXPECT_EQ(in("a", arr(1, 2).view()), expected);
    EXPECT_EQ(in("a", std::vector<std::string>{"x"}), doc("a", doc("$in", arr("x"))));
    EXPECT_EQ(in("a", std::string{"xyz"}), doc("a", doc("$in", arr("xyz"))));
    EXPECT_EQ(in("a", doc("b", 1)), doc("a", doc("$in", arr(doc("b", 1)))));

    const std::vector<std::uint8_t> bytes{1, 2};
    EXPECT_EQ(in("a", bytes), doc("a", doc("$in", arr(bytes))));
    EXPECT_EQ(in("a", arr(1), arr(2)), doc("a", doc("$in", arr(arr(1), arr(2)))));
}

TEST(filter, operands_may_be_mapped_structs)
{
    EXPECT_EQ(eq("home", address{"Paris"}), doc("home", doc("$eq", doc("city", "Paris"))));
    EXPECT_EQ(in("home", address{"Paris"}, address{"Rome"}),
              doc("home", doc("$in", arr(doc("city", "Paris"), doc("city", "Rome")))));
}

TEST(filter, sort_by_keeps_the_order_of_its_keys)
{
    EXPECT_EQ(ascending("b", "a"), doc("b", 1, "a", 1));
    EXPECT_EQ(descending("b"), doc("b", -1));
    EXPECT_EQ(sort_by(descending("b"), ascending("a", "c")), doc("b", -1, "a", 1, "c", 1));
}

TEST(filter, json_is_parsed_or_throws_failure)
{
    EXPECT_EQ(json(R"({"a": {"$gt": 1}})"), gt("a", 1));
    EXPECT_THROW(json("{a:"), failure);
}

TEST(filter, field_name_with_a_zero_byte_throws_failure)
{
    EXPECT_THROW(eq(std::string_view{"a\0b", 3}, 1), failure);
    EXPECT_THROW(ascending(std::string_view{"a\0b", 3}), failure);
}

}  // namespace
}  // namespace holdfast::filter_test
