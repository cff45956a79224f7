#include "holdfast/mongo/results.hpp"

#include <gtest/gtest.h>

namespace holdfast::mongo::results_test {
namespace {

using bson::doc;

TEST(id_list, ids_of_any_type_keep_their_order)
{
    id_list ids;
    EXPECT_EQ(ids.size(), 0u);
    const bson::document given = doc("_id", 7, "b", "text", "c", bson::null{}, "d", doc("x", 1));
    for (const bson::element& one : given)
        ids.add(one);
    ASSERT_EQ(ids.size(), 4u);
    EXPECT_EQ(ids[0].get<int>().value(), 7);
    EXPECT_EQ(ids[1].get<std::string>().value(), "text");
    EXPECT_TRUE(ids[2].is_null());
    EXPECT_EQ(ids[3].as_document(), doc("x", 1).view());
    EXPECT_EQ(ids[1].key(), "_id");
}

TEST(id_list, missing_id_keeps_its_index)
{
    id_list ids;
    ids.add(bson::element{});
    const bson::document one = doc("_id", 1);
    ids.add(one.find("_id"));
    ASSERT_EQ(ids.size(), 2u);
    EXPECT_FALSE(ids[0]);
    EXPECT_EQ(ids[1].get<int>().value(), 1);
}

TEST(id_value, value_outlives_its_source_document)
{
    const bson::document from = doc("other", "text");
    const id_value id{from.find("other")};
    EXPECT_EQ(id.get<std::string>().value(), "text");
    EXPECT_FALSE(id.empty());
    EXPECT_TRUE(id_value{}.empty());
}

}  // namespace
}  // namespace holdfast::mongo::results_test
