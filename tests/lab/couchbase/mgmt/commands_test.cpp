#include "lab/couchbase/mgmt/commands.hpp"

#include "lab/couchbase/cluster/cluster_in_sim.hpp"
#include "lab/couchbase/mgmt/fault_json.hpp"

#include <gtest/gtest.h>

namespace holdfast::lab::couchbase::commands_test {
namespace {

using request = cluster_in_sim;
using namespace std::chrono_literals;

class lab_couchbase_commands : public testing::Test {
protected:
    using answer = result<std::vector<std::string>>;

    static runtime::awaitable<result<void>> keep(cluster& on, std::string line,
                                                 std::shared_ptr<std::optional<answer>> into)
    {
        auto got = co_await carry_out(on, std::move(line));
        into->emplace(std::move(got));
        co_return result<void>{};
    }
    answer command(std::string line)
    {
        auto got = std::make_shared<std::optional<answer>>();
        (void)lab.run(keep(*lab.made, std::move(line), got));
        return got->value();
    }
    /// The first line of the answer, "ok" if there is none, or "error".
    std::string say(std::string line)
    {
        const answer got = command(std::move(line));
        if (!got)
            return "error";
        return got->empty() ? "ok" : got->front();
    }

    std::string state_of(std::size_t node)
    {
        const std::string line = command("status").value().at(node);
        return line.substr(line.rfind(' ') + 1);
    }

    cluster_in_sim lab{2, 1, 1, [this](cluster_options& options) {
                           options.next_place = [this](std::size_t) { return lab.next_place(); };
                       }};
};

TEST_F(lab_couchbase_commands, lines_that_make_no_sense_are_refused)
{
    for (const char* const line : {"",
                                   "dance",
                                   "bucket",
                                   "bucket a 1 2",
                                   "bucket a x",
                                   "crash 2",
                                   "crash 0 found",
                                   "freeze",
                                   "freeze 2",
                                   "freeze -1",
                                   "stall-disk 0 maybe",
                                   "push 0 loudly",
                                   "push none off",
                                   "refusals 0 none",
                                   "damage 0 much",
                                   "hosts 0 here",
                                   "fault f {",
                                   "fault f {\"colour\":1}",
                                   "fault f {\"times\":\"x\"}",
                                   "fault f",
                                   "clear f",
                                   "scope none s",
                                   "external 5 a",
                                   "config-lag 0 soon",
                                   "service 9 kv 1",
                                   "drop-bucket b"})
        EXPECT_EQ(say(line), "error") << line;
    EXPECT_EQ(command("bucket").error().message(), "usage: bucket B [REPLICAS]");
}

TEST_F(lab_couchbase_commands, buckets_scopes_collections_and_users_change)
{
    EXPECT_EQ(say("bucket b 1"), "ok");
    EXPECT_EQ(lab.made->layout("b")->replicas, 1u);
    EXPECT_EQ(say("scope b s"), "ok");
    EXPECT_EQ(say("collection b s c"), "ok");
    EXPECT_EQ(say("collection b s c"), "error");
    EXPECT_EQ(say("drop-collection b s c"), "ok");
    EXPECT_EQ(say("drop-scope b s"), "ok");
    EXPECT_EQ(say("flush b"), "ok");
    EXPECT_EQ(say("drop-bucket b"), "ok");
    EXPECT_FALSE(lab.made->has_bucket("b"));
    EXPECT_EQ(say("user eve secret other"), "ok");
    auto link = sim_link{lab.net, lab.client, "n0"};
    link.bootstrap("travel", "eve", "secret");
    EXPECT_EQ(link.login_status, kv_status::success);
    EXPECT_EQ(link.select_status, kv_status::no_access);
    EXPECT_EQ(say("expire-logins eve"), "ok");
    EXPECT_EQ(link.ask({.opcode = kv_opcode::get_cluster_config}).status, kv_status::auth_stale);
    EXPECT_EQ(say("drop-user eve"), "ok");
    EXPECT_FALSE(lab.made->at(1).users.contains("eve"));
}

TEST_F(lab_couchbase_commands, nodes_come_move_fail_and_leave)
{
    EXPECT_EQ(say("add-node"), "2 n2:11210");
    EXPECT_EQ(say("rebalance"), "ok");
    EXPECT_TRUE(lab.made->active_node("travel", 0) < 3);
    EXPECT_EQ(say("graceful-failover 1"), "ok");
    EXPECT_FALSE(lab.made->is_member(1));
    EXPECT_EQ(say("rebalance 0"), "ok");
    EXPECT_FALSE(lab.made->is_running(0));
    EXPECT_EQ(state_of(2), "member");
    EXPECT_EQ(state_of(1), "gone");
    EXPECT_EQ(say("failover 2"), "error");  // the last one
}

TEST_F(lab_couchbase_commands, processes_stop_and_go_on)
{
    lab.settle();
    EXPECT_EQ(say("freeze 1"), "ok");
    EXPECT_EQ(state_of(1), "frozen");
    EXPECT_EQ(say("thaw 1"), "ok");
    EXPECT_EQ(say("auto-failover 500"), "ok");
    EXPECT_EQ(say("crash 1"), "ok");
    EXPECT_TRUE(lab.pass_until([&] { return !lab.made->is_member(1); }, 2s));
    EXPECT_EQ(say("auto-failover 0"), "ok");
    EXPECT_EQ(say("restart 1"), "ok");
    EXPECT_EQ(say("close-port 0"), "ok");
    EXPECT_TRUE(sim_link(lab.net, lab.client, "n0").over());
    EXPECT_EQ(say("open-port 0"), "ok");
    EXPECT_EQ(say("hold-replication 0 on"), "ok");
    EXPECT_FALSE(lab.made->at(0).replicates);
    EXPECT_EQ(say("stall-disk 0 on"), "ok");
    EXPECT_TRUE(lab.made->at(0).disk_stalled);
}

TEST_F(lab_couchbase_commands, configurations_and_policies_change)
{
    const auto rev = lab.made->view().revision;
    EXPECT_EQ(say("hold-config 1 on"), "ok");
    EXPECT_EQ(say("publish"), "ok");
    EXPECT_EQ(lab.made->at(1).members.revision, rev);
    EXPECT_EQ(say("hold-config 1 off"), "ok");
    EXPECT_EQ(say("epoch"), "ok");
    EXPECT_EQ(lab.made->view().revision.epoch, rev.epoch + 1);
    EXPECT_EQ(say("push all brief"), "ok");
    EXPECT_TRUE(lab.made->at(1).push.brief);
    EXPECT_EQ(say("refusals 0 stale"), "ok");
    EXPECT_EQ(lab.made->at(0).refusals, refusal_body::stale);
    EXPECT_EQ(say("damage 1 not_json"), "ok");
    EXPECT_EQ(lab.made->at(1).damage, config_damage::not_json);
    EXPECT_EQ(say("hosts all dialled"), "ok");
    EXPECT_EQ(lab.made->at(0).options.hosts, host_style::dialled);
    EXPECT_EQ(say("error-map 0 {\"version\": 1}"), "ok");
    EXPECT_EQ(lab.made->at(0).error_map, "{\"version\": 1}");
    EXPECT_EQ(say("error-map 0 default"), "ok");
    EXPECT_FALSE(lab.made->at(0).error_map);
    EXPECT_EQ(say("external 0 db.example.com"), "ok");
    EXPECT_EQ(lab.made->view().nodes[0].external->hostname, "db.example.com");
    EXPECT_EQ(say("external 0 off"), "ok");
    EXPECT_EQ(say("service 0 n1ql 8093"), "ok");
    EXPECT_EQ(lab.made->view().nodes[0].services.at("n1ql"), 8093);
    EXPECT_EQ(say("hold-manifest 0 on"), "ok");
    EXPECT_EQ(say("config-lag 0 50"), "ok");
    EXPECT_EQ(say("manifest-lag 0 50"), "ok");
}

TEST_F(lab_couchbase_commands, fault_is_read_set_counted_and_cleared)
{
    EXPECT_EQ(say(R"(fault f {"operations": ["noop"], "status": 133, "times": 1})"), "ok");
    EXPECT_EQ(lab.link(0).ask({.opcode = kv_opcode::noop}).status, kv_status::busy);
    EXPECT_EQ(lab.link(0).ask({.opcode = kv_opcode::noop}).status, kv_status::success);
    EXPECT_EQ(say("hits f"), "1");
    EXPECT_EQ(say("clear f"), "ok");
    EXPECT_EQ(say("clear"), "ok");
    EXPECT_EQ(say("hits f"), "0");
}

TEST(lab_couchbase_fault_json, all_members_are_read)
{
    const auto read = read_fault(
        R"({"name":"n","nodes":[1,2],"operations":["get"],"bucket":"b","key_prefix":"k",)"
        R"("connection":3,"path_prefix":"/p","method":"GET","skip":4,"times":5,"probability":0.5,)"
        R"("status":134,"body":"x","close_connection":true,"cut_reply_at":6,"silent":true,)"
        R"("replies":2,"delay":7,"delay_up_to":8,"reply_delay":9,"overtaken_by":1,)"
        R"("foreign_opaque":true,"value":"v","damage":"huge_body","stop_reading":true})");
    ASSERT_TRUE(read) << read.error().message();
    const couchbase_fault& f = read->what;
    EXPECT_EQ(read->name, "n");
    EXPECT_EQ(f.nodes, (std::vector<std::size_t>{1, 2}));
    EXPECT_EQ(f.operations, std::vector<std::string>{"get"});
    EXPECT_EQ(f.bucket + f.key_prefix + f.path_prefix + f.method + f.body + f.damage,
              "bk/pGETxhuge_body");
    EXPECT_EQ(f.connection, 3u);
    EXPECT_EQ(f.skip, 4);
    EXPECT_EQ(f.times, 5);
    EXPECT_EQ(f.probability, 0.5);
    EXPECT_EQ(f.status, 134);
    EXPECT_EQ(f.cut_reply_at, 6u);
    EXPECT_TRUE(f.close_connection && f.silent && f.foreign_opaque && f.stop_reading);
    EXPECT_EQ(f.delay + f.delay_up_to + f.reply_delay, 24ms);
    EXPECT_EQ(f.value, "v");
    EXPECT_FALSE(read_fault("[]"));
    EXPECT_FALSE(read_fault(R"({"status":65536})"));
    EXPECT_FALSE(read_fault(R"({"nodes":[-1]})"));
}

TEST(lab_couchbase_command_help, every_command_has_a_line)
{
    const std::string help = command_help();
    for (const char* const name : {"bucket", "rebalance", "fault", "status"})
        EXPECT_NE(help.find("  " + std::string{name}), help.npos);
    EXPECT_TRUE(is_long_command("rebalance 1"));
    EXPECT_TRUE(is_long_command("crash 0"));
    EXPECT_FALSE(is_long_command("status"));
    EXPECT_FALSE(is_long_command("unknown"));
}

}  // namespace
}  // namespace holdfast::lab::couchbase::commands_test
