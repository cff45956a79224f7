#include "lab/couchbase/cluster/cluster_in_sim.hpp"

#include <gtest/gtest.h>

namespace holdfast::lab::couchbase::durability_test {
namespace {

using request = cluster_in_sim;

TEST(lab_couchbase_durability, write_is_answered_when_a_majority_has_it)
{
    for (const auto level : {kv_durability::majority, kv_durability::majority_and_persist_to_active,
                             kv_durability::persist_to_majority}) {
        cluster_in_sim lab{3, 2};
        lab.settle();
        sim_link& to = lab.link(lab.owner(7));
        const auto stored = to.ask(request::durable(7, "k", "v", level));
        EXPECT_EQ(stored.status, kv_status::success);
        EXPECT_EQ(stored.extras.size(), 16u);
        int copies = 0;
        for (const std::size_t n : {1u, 2u}) {
            bucket& in = lab.made->at(lab.replica(7, n)).buckets.at("travel");
            const vbucket& copy = *in.find(7);
            copies += copy.find({0, "k"}) || copy.find_prepared({0, "k"}) ? 1 : 0;
        }
        EXPECT_GE(copies, 1);
        EXPECT_EQ(to.ask(request::get(7, "k")).cas, stored.cas);
    }
}

TEST(lab_couchbase_durability, too_few_copies_make_it_impossible)
{
    cluster_in_sim lab{2, 1};
    lab.settle();
    const std::size_t owner = lab.owner(7);
    ASSERT_TRUE(lab.made->fail_over(1 - owner));
    EXPECT_EQ(lab.link(owner).ask(request::durable(7, "k", "v")).status,
              kv_status::durability_impossible);
    EXPECT_EQ(lab.link(owner).ask(request::set(7, "k", "v")).status, kv_status::success);
}

TEST(lab_couchbase_durability, prepared_write_is_not_seen_and_blocks_others_until_it_is_ambiguous)
{
    cluster_in_sim lab{2, 1};
    lab.settle();
    const std::size_t owner = lab.owner(7);
    sim_link& to = lab.link(owner);
    to.ask(request::set(7, "k", "old"));
    lab.settle();
    lab.net.partition(*lab.hosts[0], *lab.hosts[1]);
    const time_point began = lab.net.now();
    const auto waiting = to.send(request::durable(7, "k", "new", kv_durability::majority, 1000));
    EXPECT_EQ(to.ask(request::get(7, "k")).value, "old");
    EXPECT_EQ(to.ask(request::set(7, "k", "other")).status, kv_status::sync_write_in_progress);
    EXPECT_EQ(to.ask(request::set(7, "l", "other")).status, kv_status::success);
    EXPECT_FALSE(to.reply(waiting));
    EXPECT_TRUE(lab.pass_until([&] { return to.reply(waiting).has_value(); }));
    EXPECT_EQ(to.reply(waiting)->status, kv_status::sync_write_ambiguous);
    EXPECT_NEAR(std::chrono::duration<double>(lab.net.now() - began).count(), 1.0, 0.05);
    EXPECT_EQ(to.ask(request::get(7, "k")).value, "old");
    EXPECT_EQ(to.ask(request::set(7, "k", "other")).status, kv_status::success);
    lab.net.heal_all();
    lab.settle();
    EXPECT_EQ(lab.link(1 - owner).ask(request::get(7, "k", kv_opcode::get_replica)).value, "other");
    EXPECT_TRUE(lab.made->at(1 - owner).buckets.at("travel").find(7)->prepared().empty());
}

TEST(lab_couchbase_durability, stalled_disk_of_the_replica_delays_persist_to_majority_only)
{
    cluster_in_sim lab{2, 1};
    lab.settle();
    const std::size_t owner = lab.owner(7);
    sim_link& to = lab.link(owner);
    lab.made->stall_disk(1 - owner, true);
    EXPECT_EQ(to.ask(request::durable(7, "a", "v")).status, kv_status::success);
    EXPECT_EQ(
        to.ask(request::durable(7, "b", "v", kv_durability::majority_and_persist_to_active)).status,
        kv_status::success);
    const auto waits = to.send(
        request::durable(7, "c", "v", kv_durability::persist_to_majority, 60'000));
    lab.net.run_for(seconds{2});
    EXPECT_FALSE(to.reply(waits));
    lab.made->stall_disk(1 - owner, false);
    EXPECT_TRUE(lab.pass_until([&] { return to.reply(waits).has_value(); }));
    EXPECT_EQ(to.reply(waits)->status, kv_status::success);
}

TEST(lab_couchbase_durability, new_active_node_commits_what_it_finds_prepared)
{
    cluster_in_sim lab{3, 2};
    lab.settle();
    const std::size_t owner = lab.owner(7);
    const std::size_t first = lab.replica(7, 1);
    const std::size_t second = lab.replica(7, 2);
    // The prepare arrives, and no acknowledgement comes back.
    lab.net.partition_one_way(*lab.hosts[first], *lab.hosts[owner]);
    lab.net.partition_one_way(*lab.hosts[second], *lab.hosts[owner]);
    lab.link(owner).send(request::durable(7, "k", "v"));
    lab.net.run_for(milliseconds{50});
    lab.net.partition(*lab.hosts[first], *lab.hosts[second]);
    ASSERT_TRUE(lab.made->fail_over(owner));
    const std::size_t now = lab.owner(7);
    EXPECT_NE(now, owner);
    EXPECT_EQ(lab.link(now).ask(request::set(7, "k", "w")).status,
              kv_status::sync_write_re_commit_in_progress);
    EXPECT_EQ(lab.link(now).ask(request::get(7, "k")).status,
              kv_status::sync_write_re_commit_in_progress);
    lab.net.heal_all();
    lab.settle();
    EXPECT_EQ(lab.link(now).ask(request::get(7, "k")).value, "v");
    EXPECT_EQ(lab.link(now).ask(request::set(7, "k", "w")).status, kv_status::success);
}

TEST(lab_couchbase_durability, connection_without_unordered_execution_waits_for_the_durable_write)
{
    cluster_in_sim lab{2, 1};
    lab.settle();
    sim_link to{lab.net, lab.client, lab.hosts[lab.owner(7)]->name()};
    to.bootstrap("travel", "ada", "lovelace", {0x04, 0x07, 0x10, 0x11, 0x12});
    lab.net.partition(*lab.hosts[0], *lab.hosts[1]);
    const auto first = to.send(request::durable(7, "k", "v", kv_durability::majority, 500));
    const auto second = to.send(request::get(7, "k"));
    lab.net.run_for(milliseconds{200});
    EXPECT_FALSE(to.reply(second));
    EXPECT_TRUE(lab.pass_until([&] { return to.reply(second).has_value(); }));
    EXPECT_EQ(to.order().back(), second);
    EXPECT_EQ(to.reply(first)->status, kv_status::sync_write_ambiguous);
}

}  // namespace
}  // namespace holdfast::lab::couchbase::durability_test
