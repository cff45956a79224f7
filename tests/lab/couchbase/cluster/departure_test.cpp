// What configurations show of a node that has no vbucket any more.
#include "lab/couchbase/cluster/cluster_in_sim.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace holdfast::lab::couchbase::departure_test {
namespace {

void depart_slowly(cluster_options& options)
{
    options.departure = milliseconds{100};
}

bool shows(cluster_in_sim& lab, std::size_t number)
{
    return std::ranges::any_of(lab.made->view().nodes, [&](const node_entry& one) {
        return one.id == static_cast<int>(number);
    });
}

bool has_vbuckets(cluster_in_sim& lab, std::size_t number)
{
    return std::ranges::any_of(lab.made->layout("travel")->map.rows, [&](const auto& row) {
        return std::ranges::find(row, static_cast<int>(number)) != row.end();
    });
}

TEST(lab_couchbase_departure, node_that_was_failed_over_is_shown_until_its_clients_know_the_map)
{
    cluster_in_sim lab{3, 1, 1, depart_slowly};
    lab.settle();
    const auto before = lab.made->view().revision.rev;
    ASSERT_TRUE(lab.made->fail_over(1));
    EXPECT_FALSE(lab.made->is_member(1));
    EXPECT_FALSE(has_vbuckets(lab, 1));
    EXPECT_TRUE(shows(lab, 1));
    EXPECT_EQ(lab.made->view().revision.rev, before + 1);
    lab.net.run_for(milliseconds{150});
    EXPECT_FALSE(shows(lab, 1));
    EXPECT_EQ(lab.made->view().revision.rev, before + 2);
}

TEST(lab_couchbase_departure, node_that_leaves_is_shown_for_a_while_without_vbuckets)
{
    cluster_in_sim lab{3, 1, 1, depart_slowly};
    lab.settle();
    const auto seen = std::make_shared<bool>(false);
    const auto look = std::make_shared<std::function<void()>>();
    *look = [&lab, seen, look] {
        *seen = *seen || (shows(lab, 1) && !has_vbuckets(lab, 1));
        if (shows(lab, 1))
            lab.net.at_time(lab.net.now() + milliseconds{5}, *look);
        else
            *look = [] {};
    };
    lab.net.at_time(lab.net.now() + milliseconds{5}, *look);
    ASSERT_TRUE(lab.run(lab.made->rebalance({1})));
    EXPECT_TRUE(*seen);
    EXPECT_FALSE(shows(lab, 1));
    EXPECT_FALSE(lab.made->is_running(1));
}

TEST(lab_couchbase_departure, node_that_departs_gets_nothing_from_a_rebalance_or_a_new_bucket)
{
    cluster_in_sim lab{3, 1, 1, depart_slowly};
    lab.settle();
    ASSERT_TRUE(lab.made->fail_over(1));
    ASSERT_TRUE(lab.made->create_bucket("other", 1));
    for (const auto& row : lab.made->layout("other")->map.rows)
        ASSERT_EQ(std::ranges::find(row, 1), row.end());
    ASSERT_TRUE(lab.run(lab.made->rebalance()));
    EXPECT_FALSE(has_vbuckets(lab, 1));
    EXPECT_FALSE(shows(lab, 1));
    EXPECT_TRUE(lab.made->fail_over(0));
    EXPECT_FALSE(lab.made->fail_over(2)) << "it is the last one";
}

TEST(lab_couchbase_departure, silent_node_is_not_shown_any_more_once_it_is_failed_over)
{
    cluster_in_sim lab{3, 1, 1, depart_slowly};
    lab.settle();
    lab.made->auto_failover(milliseconds{1000});
    lab.made->freeze(1, true);
    ASSERT_TRUE(lab.pass_until([&] { return !lab.made->is_member(1); }));
    EXPECT_FALSE(shows(lab, 1));
}

}  // namespace
}  // namespace holdfast::lab::couchbase::departure_test
