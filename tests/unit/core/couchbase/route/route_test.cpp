#include "core/couchbase/route/route.hpp"

#include "core/couchbase/route/vbucket.hpp"
#include "support/config_text.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::couchbase::route_test {
namespace {

/// Four vbuckets on nodes 0 to 2 with one replica; the last has no node, and the third no replica.
vbucket_map small_map()
{
    return {.size = 4, .replicas = 1, .nodes = {0, 1, 1, 2, 2, no_node, no_node, no_node}};
}

TEST(node_of, copy_of_a_vbucket_is_on_the_node_of_the_map_or_on_none)
{
    const auto map = small_map();
    EXPECT_EQ(node_of(map, 0), 0U);
    EXPECT_EQ(node_of(map, 1, 1), 2U);
    EXPECT_EQ(node_of(map, 2, 1), std::nullopt);
    EXPECT_EQ(node_of(map, 3), std::nullopt);
}

TEST(node_of, vbucket_or_copy_out_of_range_has_no_node)
{
    const auto map = small_map();
    EXPECT_EQ(node_of(map, 4), std::nullopt);
    EXPECT_EQ(node_of(map, 65'535), std::nullopt);
    EXPECT_EQ(node_of(map, 0, 2), std::nullopt);
    EXPECT_EQ(node_of(vbucket_map{}, 0), std::nullopt);
    EXPECT_EQ(forward_node_of(map, 0), std::nullopt) << "there is no forward map";
}

TEST(node_after_refusal, active_node_is_chosen_if_the_map_has_changed)
{
    auto map = small_map();
    EXPECT_EQ(node_after_refusal(map, 0, 2), 0U);
    EXPECT_EQ(node_after_refusal(map, 0, 0), std::nullopt) << "a newer configuration is needed";
}

TEST(node_after_refusal, forward_map_decides_while_the_map_is_the_same)
{
    auto map = small_map();
    map.forward = {2, 0, 1, 2, 2, 0, 1, no_node};
    EXPECT_EQ(node_after_refusal(map, 0, 0), 2U);
    EXPECT_EQ(node_after_refusal(map, 1, 1), std::nullopt) << "the vbucket stays where it is";
    EXPECT_EQ(node_after_refusal(map, 3, 0), 1U) << "no node has it now";
    EXPECT_EQ(forward_node_of(map, 0, 1), 0U);
    EXPECT_EQ(forward_node_of(map, 3, 1), std::nullopt);
}

std::vector<readable_copy> listed(const readable_copies& copies)
{
    return {copies.all().begin(), copies.all().end()};
}

TEST(copies_to_read, server_group_filters_the_copies)
{
    using enum read_preference;
    // Groups: east, west, east, west. The copies of vbucket 0 are on nodes 0, 1 and 2.
    const auto config = proof::sample_config(4, 2);
    const std::vector<readable_copy> all{{0, 0}, {1, 1}, {2, 2}};
    const std::vector<readable_copy> east{{0, 0}, {2, 2}};
    EXPECT_EQ(listed(copies_to_read(config, 0, none, "east")), all);
    EXPECT_EQ(listed(copies_to_read(config, 0, selected_server_group, "east")), east);
    EXPECT_EQ(listed(copies_to_read(config, 0, selected_server_group, "north")),
              std::vector<readable_copy>{});
    EXPECT_EQ(listed(copies_to_read(config, 0, selected_server_group_or_all, "east")), east);
    EXPECT_EQ(listed(copies_to_read(config, 0, selected_server_group_or_all, "north")), all);
}

TEST(copies_to_read, copies_without_a_node_are_left_out)
{
    auto config = proof::sample_config(2, 3);
    EXPECT_EQ(copies_to_read(config, 0, read_preference::none, "").all().size(), 2U);
    config.bucket->map.nodes.assign(config.bucket->map.nodes.size(), no_node);
    EXPECT_TRUE(copies_to_read(config, 0, read_preference::none, "").empty());
    config.bucket.reset();
    EXPECT_TRUE(copies_to_read(config, 0, read_preference::none, "").empty());
}

}  // namespace
}  // namespace holdfast::core::couchbase::route_test
