#include "lab/couchbase/cluster/cluster_in_sim.hpp"

#include <gtest/gtest.h>

namespace holdfast::lab::couchbase::processes_test {
namespace {

using request = cluster_in_sim;

TEST(lab_couchbase_processes, restarted_node_has_its_data_after_a_warm_up)
{
    cluster_in_sim lab{2, 1, 1, [](cluster_options& o) { o.warm_up = milliseconds{500}; }};
    lab.settle();
    const std::size_t owner = lab.owner(7);
    lab.link(owner).ask(request::set(7, "k", "v"));
    lab.made->hold_replication(owner, true);
    lab.link(owner).ask(request::set(7, "alone", "v"));
    const std::uint64_t uuid = lab.made->at(owner).buckets.at("travel").find(7)->uuid();
    lab.crash(owner);
    EXPECT_FALSE(lab.made->is_running(owner));
    lab.net.run_for(milliseconds{100});
    EXPECT_EQ(lab.link(owner).login_status, kv_status::internal);
    lab.restart(owner);
    EXPECT_EQ(lab.link(owner).ask(request::get(7, "k")).status, kv_status::temporary_failure);
    lab.net.run_for(milliseconds{500});
    EXPECT_EQ(lab.link(owner).ask(request::get(7, "k")).value, "v");
    EXPECT_EQ(lab.link(owner).ask(request::get(7, "alone")).value, "v");
    EXPECT_NE(lab.made->at(owner).buckets.at("travel").find(7)->uuid(), uuid);
    lab.settle();
    EXPECT_EQ(lab.link(1 - owner).ask(request::get(7, "alone", kv_opcode::get_replica)).value, "v");
}

TEST(lab_couchbase_processes, node_that_lost_its_memory_comes_back_behind_its_replicas)
{
    cluster_in_sim lab{3, 1};
    lab.settle();
    const std::size_t owner = lab.owner(7);
    const std::size_t other = lab.replica(7);
    EXPECT_EQ(lab.link(owner).ask(request::durable(7, "k", "v")).status, kv_status::success);
    lab.crash(owner, node_memory::lost);
    lab.restart(owner);
    EXPECT_EQ(lab.owner(7), other);
    EXPECT_EQ(lab.replica(7), owner);
    lab.settle();
    EXPECT_EQ(lab.link(other).ask(request::get(7, "k")).value, "v");
    EXPECT_EQ(lab.link(owner).ask(request::get(7, "k", kv_opcode::get_replica)).value, "v");
}

TEST(lab_couchbase_processes, unreplicated_writes_of_a_failed_node_are_gone_after_recovery)
{
    cluster_in_sim lab{2, 1};
    lab.settle();
    const std::size_t owner = lab.owner(7);
    lab.made->hold_replication(owner, true);
    lab.link(owner).ask(request::set(7, "alone", "v"));
    lab.crash(owner);
    ASSERT_TRUE(lab.made->fail_over(owner));
    lab.net.run_for(milliseconds{20});
    lab.restart(owner);
    EXPECT_EQ(lab.link(owner).ask(request::get(7, "alone")).status, kv_status::not_my_vbucket);
    EXPECT_EQ(lab.link(1 - owner).ask(request::get(7, "alone")).status, kv_status::not_found);
    const auto done = lab.run(lab.made->rebalance());
    ASSERT_TRUE(done) << done.error().message();
    EXPECT_FALSE(lab.made->is_running(owner));
}

TEST(lab_couchbase_processes, frozen_node_takes_requests_and_answers_when_it_thaws)
{
    cluster_in_sim lab{1, 0};
    sim_link& to = lab.link(0);
    lab.made->freeze(0, true);
    const auto waits = to.send(request::set(7, "k", "v"));
    lab.net.run_for(seconds{3});
    EXPECT_FALSE(to.reply(waits));
    lab.made->freeze(0, false);
    EXPECT_TRUE(lab.pass_until([&] { return to.reply(waits).has_value(); }));
    EXPECT_EQ(to.reply(waits)->status, kv_status::success);
}

TEST(lab_couchbase_processes, crash_and_restart_in_one_world_work_without_a_host_that_dies)
{
    cluster_in_sim lab{2, 1};
    lab.settle();
    const std::size_t owner = lab.owner(7);
    lab.link(owner).ask(request::set(7, "k", "v"));
    lab.settle();
    const auto crashed = std::make_shared<bool>(false);
    const auto crash = [](cluster& of, std::size_t n,
                          std::shared_ptr<bool> done) -> runtime::awaitable<void> {
        co_await of.crash(n);
        *done = true;
    };
    lab.hosts[owner]->start(crash(*lab.made, owner, crashed));
    EXPECT_TRUE(lab.pass_until([&] { return *crashed; }));
    EXPECT_TRUE(lab.link(owner).over());
    ASSERT_TRUE(lab.made->restart(owner));
    EXPECT_EQ(lab.link(owner).ask(request::get(7, "k")).value, "v");
    lab.settle();
}

TEST(lab_couchbase_processes, closed_port_refuses_and_opens_again)
{
    cluster_in_sim lab{1, 0};
    (void)lab.link(0);
    ASSERT_TRUE(lab.made->close_port(0));
    lab.net.run_for(milliseconds{50});
    EXPECT_TRUE(sim_link(lab.net, lab.client, "n0").over());
    ASSERT_TRUE(lab.made->open_port_again(0));
    EXPECT_EQ(lab.link(0).select_status, kv_status::success);
}

}  // namespace
}  // namespace holdfast::lab::couchbase::processes_test
