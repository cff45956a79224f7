#include "holdfast/mongo/update.hpp"

#include "holdfast/bson/containers.hpp"
#include "holdfast/bson/json.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::update_test {
namespace {

using namespace mongo;
using bson::arr;
using bson::doc;

TEST(update, every_operator_builds_its_update_document)
{
    struct row {
        bson::document made;
        const char* expected;
    };
    const row table[] = {
        {set("a", 1, "b", "x"), R"({"$set": {"a": 1, "b": "x"}})"},
        {set_on_insert("a", 1), R"({"$setOnInsert": {"a": 1}})"},
        {unset("a", "b"), R"({"$unset": {"a": "", "b": ""}})"},
        {rename_field("a", "b", "c", "d"), R"({"$rename": {"a": "b", "c": "d"}})"},
        {current_date("a", "b"), R"({"$currentDate": {"a": true, "b": true}})"},
        {inc("a", 1, "b", -2), R"({"$inc": {"a": 1, "b": -2}})"},
        {mul("a", 2), R"({"$mul": {"a": 2}})"},
        {at_most("a", 10), R"({"$min": {"a": 10}})"},
        {at_least("a", 10), R"({"$max": {"a": 10}})"},
        {push("a", 1), R"({"$push": {"a": 1}})"},
        {push("a", arr(1, 2)), R"({"$push": {"a": [1, 2]}})"},
        {push_each("a", 1, 2), R"({"$push": {"a": {"$each": [1, 2]}}})"},
        {push_each("a", std::vector<std::int32_t>{1, 2}), R"({"$push": {"a": {"$each": [1, 2]}}})"},
        {add_to_set("a", "x"), R"({"$addToSet": {"a": "x"}})"},
        {add_each_to_set("a", "x", "y"), R"({"$addToSet": {"a": {"$each": ["x", "y"]}}})"},
        {pull("a", 1), R"({"$pull": {"a": 1}})"},
        {pull("a", gt("b", 1)), R"({"$pull": {"a": {"b": {"$gt": 1}}}})"},
        {pull_each("a", 1, 2), R"({"$pullAll": {"a": [1, 2]}})"},
        {pull_each("a", arr(1, 2)), R"({"$pullAll": {"a": [1, 2]}})"},
        {pop_first("a"), R"({"$pop": {"a": -1}})"},
        {pop_last("a"), R"({"$pop": {"a": 1}})"},
    };
    for (const row& one : table)
        EXPECT_EQ(one.made, bson::from_json(one.expected).value()) << one.expected;
}

TEST(update, combine_merges_fields_of_the_same_operator)
{
    EXPECT_EQ(combine(set("a", 1), inc("n", 1), set("b", 2)),
              doc("$set", doc("a", 1, "b", 2), "$inc", doc("n", 1)));
    EXPECT_EQ(combine(set("a", 1)), set("a", 1));
    EXPECT_EQ(combine(combine(unset("a"), set("b", 1)), unset("c")),
              doc("$unset", doc("a", "", "c", ""), "$set", doc("b", 1)));
}

TEST(update, combine_throws_if_an_operator_is_not_a_document)
{
    EXPECT_THROW(combine(set("a", 1), doc("$set", 5)), failure);
}

}  // namespace
}  // namespace holdfast::update_test
