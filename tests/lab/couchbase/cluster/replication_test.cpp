#include "lab/couchbase/cluster/cluster_in_sim.hpp"

#include <gtest/gtest.h>

namespace holdfast::lab::couchbase::replication_test {
namespace {

using sim_cluster = cluster_in_sim;

TEST(lab_couchbase_replication, changes_arrive_at_all_copies_with_their_metadata)
{
    cluster_in_sim lab{3, 2};
    lab.settle();
    sim_link& to = lab.link(lab.owner(7));
    const auto stored = to.ask(sim_cluster::set(7, "k", R"({"a":1})"));
    ASSERT_EQ(stored.status, kv_status::success);
    EXPECT_EQ(to.ask(sim_cluster::set(7, "gone", "x")).status, kv_status::success);
    EXPECT_EQ(to.ask(sim_cluster::get(7, "gone", kv_opcode::remove)).status, kv_status::success);
    lab.settle();
    for (const std::size_t n : {1u, 2u}) {
        sim_link& copy = lab.link(lab.replica(7, n));
        const auto read = copy.ask(sim_cluster::get(7, "k", kv_opcode::get_replica));
        EXPECT_EQ(read.status, kv_status::success);
        EXPECT_EQ(read.value, R"({"a":1})");
        EXPECT_EQ(read.cas, stored.cas);
        EXPECT_EQ(read.datatype, kv_datatype::json);
        EXPECT_EQ(copy.ask(sim_cluster::get(7, "gone", kv_opcode::get_replica)).status,
                  kv_status::not_found);
        EXPECT_EQ(copy.ask(sim_cluster::get(7, "k")).status, kv_status::not_my_vbucket);
    }
}

TEST(lab_couchbase_replication, replica_reads_are_refused_where_there_is_no_copy)
{
    cluster_in_sim lab{3, 1};
    lab.settle();
    lab.link(lab.owner(7)).ask(sim_cluster::set(7, "k", R"({"a":[1,2]})"));
    lab.settle();
    sent_request lookup{.opcode = kv_opcode::subdoc_multi_lookup,
                        .key = "k",
                        .value = std::string("\xc5\x00\x00\x01", 4) + "a",
                        .extras = "\x20",
                        .vbucket = 7,
                        .collection = 0};
    for (std::size_t n = 0; n != 3; ++n) {
        const bool has_copy = n == lab.replica(7);
        sim_link& at = lab.link(n);
        EXPECT_EQ(at.ask(sim_cluster::get(7, "k", kv_opcode::get_replica)).status,
                  has_copy ? kv_status::success : kv_status::not_my_vbucket)
            << n;
        const auto found = at.ask(lookup);
        EXPECT_EQ(found.status, has_copy ? kv_status::success : kv_status::not_my_vbucket) << n;
        if (has_copy) {
            EXPECT_EQ(found.value, std::string("\0\0\0\0\0\x05[1,2]", 11));
        }
    }
}

TEST(lab_couchbase_replication, copy_catches_up_after_a_partition)
{
    cluster_in_sim lab{2, 1};
    lab.settle();
    const std::size_t owner = lab.owner(7);
    lab.net.partition(*lab.hosts[0], *lab.hosts[1]);
    for (int n = 0; n != 20; ++n)
        lab.link(owner).ask(sim_cluster::set(7, "k" + std::to_string(n % 7), std::to_string(n)));
    lab.net.run_for(seconds{20});
    EXPECT_FALSE(lab.made->in_sync());
    EXPECT_EQ(lab.link(1 - owner).ask(sim_cluster::get(7, "k0", kv_opcode::get_replica)).status,
              kv_status::not_found);
    lab.net.heal_all();
    lab.settle();
    EXPECT_EQ(lab.link(1 - owner).ask(sim_cluster::get(7, "k5", kv_opcode::get_replica)).value,
              "19");
}

TEST(lab_couchbase_replication, connection_without_the_cluster_key_is_no_peer)
{
    cluster_in_sim lab{1, 0};
    sim_link stranger{lab.net, lab.client, "n0"};
    EXPECT_EQ(stranger.ask({.opcode = kv_opcode::hello, .key = "lab-peer 1 guess"}).status,
              kv_status::success);
    EXPECT_EQ(stranger.ask({.opcode = kv_opcode{0x53}}).status, kv_status::unknown_command);
}

TEST(lab_couchbase_replication, same_seed_gives_the_same_history)
{
    const auto run = [](std::uint64_t seed) {
        cluster_in_sim lab{3, 1, seed};
        lab.settle();
        for (std::uint16_t n = 0; n != 30; ++n)
            lab.link(lab.owner(n)).ask(sim_cluster::set(n, "k", "v"));
        EXPECT_TRUE(lab.made->fail_over(1));
        lab.settle();
        return lab.net.trace_hash();
    };
    EXPECT_EQ(run(3), run(3));
    EXPECT_NE(run(3), run(4));
}

}  // namespace
}  // namespace holdfast::lab::couchbase::replication_test
