#include "lab/couchbase/cluster/cluster_in_sim.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace holdfast::lab::couchbase::movement_test {
namespace {

using request = cluster_in_sim;

std::size_t active_count(cluster_in_sim& lab, std::size_t n)
{
    std::size_t count = 0;
    for (const auto& [id, copy] : lab.made->at(n).buckets.at("travel").vbuckets)
        count += copy.current_state() == vbucket::state::active ? 1 : 0;
    return count;
}

TEST(lab_couchbase_movement, failover_makes_replicas_active_under_a_new_history)
{
    cluster_in_sim lab{3, 1};
    lab.settle();
    const std::size_t owner = lab.owner(7);
    const std::size_t next = lab.replica(7);
    sim_link& old = lab.link(owner);
    old.ask(request::set(7, "kept", "v"));
    lab.settle();
    lab.made->hold_replication(owner, true);
    EXPECT_EQ(old.ask(request::set(7, "lost", "v")).status, kv_status::success);
    const auto before = lab.made->view().revision;
    const std::uint64_t uuid = lab.made->at(owner).buckets.at("travel").find(7)->uuid();
    ASSERT_TRUE(lab.made->fail_over(owner));
    EXPECT_EQ(lab.made->view().revision.rev, before.rev + 1);
    EXPECT_EQ(lab.owner(7), next);
    EXPECT_FALSE(lab.made->is_member(owner));
    EXPECT_EQ(lab.made->view().nodes.size(), 2u);
    const vbucket& now = *lab.made->at(next).buckets.at("travel").find_active(7);
    EXPECT_NE(now.uuid(), uuid);
    EXPECT_EQ(now.failover_log().at(1).uuid, uuid);
    EXPECT_EQ(lab.link(next).ask(request::get(7, "kept")).value, "v");
    EXPECT_EQ(lab.link(next).ask(request::get(7, "lost")).status, kv_status::not_found);
    EXPECT_EQ(old.ask(request::get(7, "kept")).status, kv_status::not_my_vbucket);
    EXPECT_FALSE(lab.made->fail_over(owner));
}

TEST(lab_couchbase_movement, held_node_goes_on_alone_and_its_durable_writes_do_not)
{
    cluster_in_sim lab{3, 1};
    lab.settle();
    const std::size_t owner = lab.owner(7);
    lab.made->hold_configuration(owner, true);
    ASSERT_TRUE(lab.made->fail_over(owner));
    sim_link& old = lab.link(owner);
    EXPECT_EQ(old.ask(request::set(7, "k", "v")).status, kv_status::success);
    EXPECT_EQ(old.ask(request::durable(7, "d", "v", kv_durability::majority, 500)).status,
              kv_status::sync_write_ambiguous);
    EXPECT_EQ(lab.link(lab.owner(7)).ask(request::get(7, "k")).status, kv_status::not_found);
    lab.made->hold_configuration(owner, false);
    EXPECT_EQ(old.ask(request::get(7, "k")).status, kv_status::not_my_vbucket);
}

TEST(lab_couchbase_movement, rebalance_to_a_new_node_keeps_all_data_and_announces_batches)
{
    cluster_in_sim lab{2, 1};
    lab.settle();
    for (std::uint16_t id = 0; id < 1024; id = static_cast<std::uint16_t>(id + 31))
        lab.link(lab.owner(id)).ask(request::set(id, "k", std::to_string(id)));
    const auto added = lab.made->add_node(lab.next_place());
    ASSERT_TRUE(added);
    EXPECT_EQ(*added, 2u);
    EXPECT_EQ(active_count(lab, 2), 0u);
    const auto before = lab.made->view().revision.rev;
    const auto moved = lab.run(lab.made->rebalance());
    ASSERT_TRUE(moved) << moved.error().message();
    EXPECT_NEAR(static_cast<double>(active_count(lab, 2)), 341, 1);
    const auto revisions = lab.made->view().revision.rev - before;
    EXPECT_GT(revisions, 341 / 16);
    EXPECT_LT(revisions, 1024 / 16 + 5);
    EXPECT_FALSE(lab.made->layout("travel")->forward);
    lab.settle();
    for (std::uint16_t id = 0; id < 1024; id = static_cast<std::uint16_t>(id + 31)) {
        ASSERT_EQ(lab.link(lab.owner(id)).ask(request::get(id, "k")).value, std::to_string(id));
        ASSERT_EQ(
            lab.link(lab.replica(id)).ask(request::get(id, "k", kv_opcode::get_replica)).value,
            std::to_string(id));
    }
}

TEST(lab_couchbase_movement, running_rebalance_shows_where_it_goes)
{
    cluster_in_sim lab{2, 0};
    ASSERT_TRUE(lab.made->add_node(lab.next_place()));
    const auto seen = std::make_shared<bool>(false);
    lab.net.at_time(lab.net.now() + milliseconds{20}, [&lab, seen] {
        const auto text = lab.made->at(0).configuration(lab.made->at(0).buckets.at("travel"));
        *seen = text.find("vBucketMapForward") != text.npos && lab.made->rebalancing();
    });
    EXPECT_TRUE(lab.run(lab.made->rebalance()));
    EXPECT_TRUE(*seen);
}

TEST(lab_couchbase_movement, removed_node_leaves_with_nothing_lost_and_closes_its_port)
{
    cluster_in_sim lab{3, 1};
    lab.settle();
    for (std::uint16_t id = 0; id < 1024; id = static_cast<std::uint16_t>(id + 53))
        lab.link(lab.owner(id)).ask(request::set(id, "k", std::to_string(id)));
    sim_link& old = lab.link(2);
    const auto removed = lab.run(lab.made->remove_node(2));
    ASSERT_TRUE(removed) << removed.error().message();
    lab.net.run_for(milliseconds{50});
    EXPECT_TRUE(old.over());
    EXPECT_FALSE(lab.made->is_running(2));
    EXPECT_EQ(lab.made->view().nodes.size(), 2u);
    for (std::uint16_t id = 0; id < 1024; id = static_cast<std::uint16_t>(id + 53)) {
        ASSERT_NE(lab.owner(id), 2u);
        ASSERT_EQ(lab.link(lab.owner(id)).ask(request::get(id, "k")).value, std::to_string(id));
    }
}

TEST(lab_couchbase_movement, graceful_failover_loses_nothing_although_replicas_lag)
{
    cluster_in_sim lab{3, 1};
    lab.settle();
    sim::link slow;
    slow.latency_min = slow.latency_max = milliseconds{5};
    lab.net.set_link(*lab.hosts[lab.owner(7)], *lab.hosts[lab.replica(7)], slow);
    const std::size_t owner = lab.owner(7);
    lab.link(owner).ask(request::set(7, "k", "v"));
    const std::uint64_t uuid = lab.made->at(owner).buckets.at("travel").find(7)->uuid();
    const auto done = lab.run(lab.made->fail_over_gracefully(owner));
    ASSERT_TRUE(done) << done.error().message();
    EXPECT_FALSE(lab.made->is_member(owner));
    EXPECT_EQ(lab.link(lab.owner(7)).ask(request::get(7, "k")).value, "v");
    EXPECT_EQ(lab.made->at(lab.owner(7)).buckets.at("travel").find(7)->uuid(), uuid);
}

TEST(lab_couchbase_movement, graceful_failover_is_refused_if_it_would_lose_a_vbucket)
{
    cluster_in_sim lab{2, 0};
    EXPECT_FALSE(lab.run(lab.made->fail_over_gracefully(1)));
    EXPECT_TRUE(lab.made->is_member(1));
    EXPECT_TRUE(lab.made->fail_over(1));
}

TEST(lab_couchbase_movement, failover_breaks_off_a_rebalance)
{
    cluster_in_sim lab{3, 1};
    lab.settle();
    ASSERT_TRUE(lab.made->add_node(lab.next_place()));
    lab.net.at_time(lab.net.now() + milliseconds{30},
                    [&lab] { EXPECT_TRUE(lab.made->fail_over(1)); });
    EXPECT_FALSE(lab.run(lab.made->rebalance()));
    EXPECT_FALSE(lab.made->rebalancing());
    const auto again = lab.run(lab.made->rebalance());
    ASSERT_TRUE(again) << again.error().message();
    lab.settle();
    EXPECT_EQ(active_count(lab, 0) + active_count(lab, 2) + active_count(lab, 3), 1024u);
}

TEST(lab_couchbase_movement, silent_node_is_failed_over_by_itself)
{
    cluster_in_sim lab{3, 1};
    lab.settle();
    lab.made->auto_failover(milliseconds{1000});
    lab.net.run_for(seconds{5});
    EXPECT_EQ(lab.made->view().nodes.size(), 3u);
    lab.made->freeze(1, true);
    lab.net.run_for(milliseconds{700});
    EXPECT_TRUE(lab.made->is_member(1));
    lab.net.run_for(milliseconds{1500});
    EXPECT_FALSE(lab.made->is_member(1));
    EXPECT_EQ(lab.made->view().nodes.size(), 2u);
    // The next one is not: its vbuckets would be nowhere.
    lab.net.partition(lab.manager, *lab.hosts[2]);
    lab.net.run_for(seconds{5});
    EXPECT_TRUE(lab.made->is_member(2));
}

/// Durable writes on all vbuckets while one node is failed over, for each seed another one at
/// another time: what was acknowledged is there.
TEST(lab_couchbase_movement, durable_writes_survive_every_single_failover)
{
    for (std::uint64_t seed = 1; seed != 13; ++seed) {
        cluster_in_sim lab{3, seed % 2 == 0 ? 2u : 1u, seed};
        lab.settle();
        const std::size_t victim = seed % 3;
        lab.net.at_time(lab.net.now() + milliseconds{3 + 2 * seed},
                        [&lab, victim] { EXPECT_TRUE(lab.made->fail_over(victim)); });
        struct sent {
            std::size_t node;
            std::uint16_t vbucket;
            std::uint32_t opaque;
        };
        std::vector<sent> all;
        for (std::size_t n = 0; n != 3; ++n)
            lab.link(n);
        for (std::uint16_t n = 0; n != 300; ++n) {
            const auto id = static_cast<std::uint16_t>(n * 7 % 1024);
            const std::size_t owner = lab.owner(id);
            all.push_back(
                {owner, id,
                 lab.link(owner).send(request::durable(id, "k" + std::to_string(n), "v"))});
            if (n % 10 == 0)
                lab.net.run_for(milliseconds{1});
        }
        lab.net.run_for(seconds{4});
        int acknowledged = 0;
        for (std::uint16_t n = 0; n != 300; ++n) {
            const auto reply = lab.link(all[n].node).reply(all[n].opaque);
            ASSERT_TRUE(reply) << n;
            if (reply->status != kv_status::success)
                continue;
            ++acknowledged;
            const std::uint16_t id = all[n].vbucket;
            const auto read =
                lab.link(lab.owner(id)).ask(request::get(id, "k" + std::to_string(n)));
            ASSERT_EQ(read.value, "v") << "seed " << seed << ", write " << n;
        }
        EXPECT_GT(acknowledged, 50) << seed;
    }
}

}  // namespace
}  // namespace holdfast::lab::couchbase::movement_test
