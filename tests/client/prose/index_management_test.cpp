#include "client/prose/lab_scene.hpp"

#include <algorithm>

/// The prose tests of the specification "Index Management", for each kind of deployment.
namespace holdfast::proof::index_management_test {
namespace {

using namespace std::chrono_literals;

const lab_options deployments[] = {
    {.standalone = true},
    {.members = 3},
    {.routers = 1},
};

/// A collection with an index of one field, one of two, and a unique one.
void prepare(lab_scene& s)
{
    s.connect();
    const bson::document one = bson::doc("a", 1, "b", 2, "c", 3);
    ASSERT_TRUE(s.get(s.test_collection().insert_one(one.view(), {.write_concern = mongo::majority},
                                                     use_awaitable)));
    const bson::document single = bson::doc("a", 1);
    const bson::document compound = bson::doc("a", 1, "b", -1);
    const bson::document third = bson::doc("c", 1);
    const bson::document unique = bson::doc("unique", true);
    const auto first = s.get(
        s.test_collection().create_index(single.view(), {}, {}, use_awaitable));
    ASSERT_TRUE(first) << first.error().explain();
    EXPECT_EQ(*first, "a_1");
    const auto second = s.get(
        s.test_collection().create_index(compound.view(), {}, {}, use_awaitable));
    ASSERT_TRUE(second) << second.error().explain();
    EXPECT_EQ(*second, "a_1_b_-1");
    const auto last = s.get(
        s.test_collection().create_index(third.view(), unique.view(), {}, use_awaitable));
    ASSERT_TRUE(last) << last.error().explain();
    EXPECT_EQ(*last, "c_1");
    s.simulation.run_for(1s);
}

std::vector<bson::document> indexes(lab_scene& s, const mongo::collection& of)
{
    auto listed = of.list_indexes();
    auto all = s.get(listed.all(use_awaitable));
    EXPECT_TRUE(all) << all.error().explain();
    return all ? *std::move(all) : std::vector<bson::document>{};
}

std::vector<std::string> sorted_names(const std::vector<bson::document>& of)
{
    std::vector<std::string> names;
    for (const bson::document& one : of)
        names.push_back(one.get<std::string>("name").value_or("?"));
    std::ranges::sort(names);
    return names;
}

const std::vector<std::string> expected{"_id_", "a_1", "a_1_b_-1", "c_1"};

TEST(prose_index_management, 1_list_indexes_returns_every_name_once)
{
    for (const lab_options& kind : deployments) {
        lab_scene s{kind};
        prepare(s);
        EXPECT_EQ(sorted_names(indexes(s, s.test_collection())), expected);
        s.close();
    }
}

TEST(prose_index_management, 2_list_indexes_describes_every_index)
{
    for (const lab_options& kind : deployments) {
        lab_scene s{kind};
        prepare(s);
        for (const bson::document& one : indexes(s, s.test_collection())) {
            const std::string name = one.get<std::string>("name").value_or("?");
            EXPECT_EQ(one.get<bool>("unique").value_or(false), name == "c_1") << name;
            EXPECT_TRUE(one["key"]) << name;
        }
        s.close();
        if (kind.members < 2)
            continue;
        // A secondary gives the same answer.
        s.connect_to("mongodb://" + s.address((s.primary() + 1) % 3) + "/?directConnection=true");
        EXPECT_EQ(sorted_names(indexes(s, s.test_collection())), expected);
        s.close();
    }
}

TEST(prose_index_management, 2_list_indexes_of_a_missing_collection_is_empty)
{
    lab_scene s;
    s.connect();
    EXPECT_TRUE(indexes(s, s.test_collection()).empty());
    s.close();
}

}  // namespace
}  // namespace holdfast::proof::index_management_test
