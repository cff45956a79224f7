#include "lab/couchbase/map/vbucket_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace holdfast::lab::couchbase::vbucket_map_test {
namespace {

std::map<int, std::size_t> column(const vbucket_map& of, std::size_t number)
{
    std::map<int, std::size_t> counts;
    for (const auto& row : of.rows)
        ++counts[row[number]];
    return counts;
}

void expect_even(const vbucket_map& map, std::size_t columns, std::size_t nodes)
{
    ASSERT_EQ(map.rows.size(), 1024u);
    for (std::size_t n = 0; n != columns; ++n) {
        const auto counts = column(map, n);
        EXPECT_EQ(counts.size(), nodes);
        for (const auto& [node, count] : counts)
            EXPECT_NEAR(double(count), 1024.0 / double(nodes), n == 0 ? 1 : 3) << n << ' ' << node;
    }
    for (const auto& row : map.rows) {
        EXPECT_EQ(row.size(), columns);
        EXPECT_EQ(std::set<int>(row.begin(), row.end()).size(), columns);
    }
}

TEST(lab_couchbase_map, balanced_map_is_even_in_all_columns_and_repeats_no_node)
{
    for (int nodes = 1; nodes != 8; ++nodes) {
        std::vector<int> all;
        for (int n = 0; n != nodes; ++n)
            all.push_back(n * 10);
        for (std::size_t replicas = 0; replicas <= max_replicas && int(replicas) < nodes;
             ++replicas) {
            SCOPED_TRACE(testing::Message() << nodes << " nodes, " << replicas << " replicas");
            expect_even(balance(all, {.replicas = replicas}), replicas + 1, all.size());
        }
    }
}

TEST(lab_couchbase_map, replicas_beyond_the_nodes_are_missing)
{
    const std::vector<int> two{0, 1};
    const auto map = balance(two, {.replicas = 2});
    for (const auto& row : map.rows) {
        EXPECT_NE(row[0], row[1]);
        EXPECT_EQ(row[2], no_node);
    }
}

TEST(lab_couchbase_map, added_node_gets_its_share_and_the_others_keep_the_rest)
{
    const std::vector<int> two{0, 1};
    const std::vector<int> three{0, 1, 2};
    const auto before = balance(two, {.replicas = 0});
    const auto target = balance(three, {.replicas = 0}, before);
    expect_even(target, 1, 3);
    const auto steps = moves_between(before, target);
    EXPECT_EQ(steps.size(), 341u);
    for (const auto& one : steps)
        EXPECT_EQ(one.to.front(), 2);
}

TEST(lab_couchbase_map, moves_lead_from_one_map_to_the_other_one_vbucket_at_a_time)
{
    const std::vector<int> three{0, 1, 2};
    const std::vector<int> others{1, 2, 3};
    auto map = balance(three, {.replicas = 1});
    const auto target = balance(others, {.replicas = 1}, map);
    expect_even(target, 2, 3);
    for (const auto& step : moves_between(map, target)) {
        const auto next = after(map, step);
        std::size_t changed = 0;
        for (std::size_t n = 0; n != 1024; ++n)
            changed += next.rows[n] != map.rows[n] ? 1 : 0;
        ASSERT_EQ(changed, 1u);
        map = next;
    }
    EXPECT_EQ(map, target);
}

TEST(lab_couchbase_map, failover_promotes_replicas_and_leaves_no_trace_of_the_node)
{
    const std::vector<int> three{0, 1, 2};
    const auto before = balance(three, {.replicas = 1});
    const auto map = after_failover(before, 1);
    for (std::size_t n = 0; n != 1024; ++n) {
        const auto& was = before.rows[n];
        EXPECT_EQ(map.active(n), was[0] == 1 ? was[1] : was[0]);
        EXPECT_EQ(map.rows[n].size(), 2u);
        EXPECT_FALSE(map.is_replica(n, 1));
        EXPECT_EQ(map.is_replica(n, was[1]), was[0] != 1 && was[1] != 1);
    }
    const auto lost = after_failover(balance(three, {.replicas = 0}), 1);
    EXPECT_NEAR(double(column(lost, 0).at(no_node)), 341, 1);
}

TEST(lab_couchbase_map, keys_have_the_vbuckets_that_all_clients_compute)
{
    // As zlib's crc32 gives them.
    EXPECT_EQ(vbucket_of_key("hello", 1024), 528);
    EXPECT_EQ(vbucket_of_key("foo", 1024), 115);
    EXPECT_EQ(vbucket_of_key("", 1024), 0);
    EXPECT_EQ(vbucket_of_key("hello", 64), 528 % 64);
}

}  // namespace
}  // namespace holdfast::lab::couchbase::vbucket_map_test
