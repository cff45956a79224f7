// Nodes that neither answer nor close their connections. As soon as another node has their part,
// nothing waits for them any more.
#include "api/couchbase/cluster_impl.hpp"
#include "client/couchbase/kv_scene.hpp"
#include "core/couchbase/route/vbucket.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "holdfast/couchbase/sync/cluster.hpp"
#include "holdfast/lab/couchbase.hpp"

#include <atomic>
#include <chrono>
#include <thread>

namespace holdfast::couchbase_hanging_node_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;
using couchbase::errc;
using proof::kv_scene;
using proof::use_awaitable;
namespace cb = couchbase;

/// From the decision that another node takes over to the end of what has waited for the first.
constexpr duration recovery = 1500ms;

constexpr const char* unpushed = "?enable_clustermap_notification=false&config_poll_interval=60s";

proof::kv_run<cb::document<cb::raw_json>> start_get(kv_scene& scene, const std::string& key)
{
    return scene.start(scene.documents().get(key, {.timeout = 30s}, use_awaitable));
}

TEST(couchbase_hanging_node, its_failover_is_noticed_without_announcements)
{
    kv_scene scene{{.nodes = 3, .replicas = 1}};
    scene.connect({}, unpushed);
    scene.warm_up();
    scene.cluster->freeze(2, true);
    const auto waits = start_get(scene, scene.key_on(2));
    scene.simulation.run_for(1s);
    ASSERT_TRUE(scene.cluster->fail_over(2));
    const time_point decided = scene.simulation.now();
    ASSERT_TRUE(scene.finish([&] { return waits->done(); }));
    EXPECT_EQ(waits->code(), errc::document_not_found) << waits->explain();
    EXPECT_LE(waits->ended - decided, recovery);
}

TEST(couchbase_hanging_node, crash_and_failover_are_noticed_without_announcements)
{
    kv_scene scene{{.nodes = 3, .replicas = 1}};
    scene.connect({}, unpushed);
    scene.warm_up();
    const std::string key = scene.key_on(2);
    scene.host_of(2).crash();
    scene.cluster->lost(2);
    const auto waits = start_get(scene, key);
    scene.simulation.run_for(1s);
    ASSERT_TRUE(scene.cluster->fail_over(2));
    const time_point decided = scene.simulation.now();
    ASSERT_TRUE(scene.finish([&] { return waits->done(); }));
    EXPECT_EQ(waits->code(), errc::document_not_found) << waits->explain();
    EXPECT_LE(waits->ended - decided, recovery);
}

TEST(couchbase_hanging_node, news_are_asked_for_at_another_node_if_it_does_not_answer)
{
    // Which node is asked depends on how many were asked before.
    for (int asked = 0; asked != 3; ++asked) {
        kv_scene scene{{.nodes = 3, .replicas = 1}};
        scene.connect();
        scene.warm_up();
        for (int n = 0; n != asked; ++n) {
            scene.cluster->publish();
            scene.simulation.run_for(200ms);
        }
        scene.cluster->freeze(2, true);
        const auto waits = start_get(scene, scene.key_on(2));
        // A lost connection is a reason to ask.
        scene.simulation.reset_connections(scene.app, scene.host_of(0));
        scene.simulation.run_for(10ms);
        ASSERT_TRUE(scene.cluster->fail_over(2));
        const time_point decided = scene.simulation.now();
        ASSERT_TRUE(scene.finish([&] { return waits->done(); }));
        EXPECT_EQ(waits->code(), errc::document_not_found) << waits->explain();
        EXPECT_LE(waits->ended - decided, recovery) << asked;
    }
}

TEST(couchbase_hanging_node, slow_network_is_waited_for_when_configurations_are_asked_for)
{
    kv_scene scene{{.nodes = 2, .replicas = 1}};
    scene.connect({}, "?enable_clustermap_notification=false&config_poll_interval=1s");
    scene.warm_up();
    sim::link slow;
    slow.latency_min = slow.latency_max = 700ms;
    scene.simulation.set_all_links(slow);
    scene.cluster->publish();
    const auto revision = [&] {
        const auto& nodes = couchbase::access::impl_of(*scene.client)->nodes();
        for (const auto& bucket : nodes.buckets()) {
            if (bucket->name() == "travel")
                return bucket->config()->revision.rev;
        }
        return std::int64_t{0};
    };
    const std::int64_t before = revision();
    EXPECT_TRUE(scene.finish([&] { return revision() > before; }));
}

runtime::awaitable<void> rebalance(kv_scene* scene, std::optional<result<void>>* done)
{
    auto moved = co_await scene->cluster->rebalance();
    done->emplace(std::move(moved));
}

TEST(couchbase_hanging_node, requests_follow_their_vbuckets_to_another_node)
{
    kv_scene scene{{.nodes = 2, .replicas = 1, .vbuckets = 64}};
    scene.connect();
    scene.warm_up();
    scene.count_requests(kv_opcode::increment);
    struct request {
        std::uint16_t vbucket;
        proof::kv_run<cb::document<cb::raw_json>> read;
        proof::kv_run<cb::counter_result> write;
    };
    scene.simulation.partition(scene.app, scene.host_of(1));
    std::vector<request> all;
    for (int n = 0; n != 40; ++n) {
        const std::string key = "k" + std::to_string(n);
        const std::uint16_t vbucket = core::couchbase::vbucket_of(key, 64);
        if (scene.cluster->active_node("travel", vbucket) != 1)
            continue;
        all.push_back({vbucket, start_get(scene, key),
                       scene.start(scene.documents().increment(key, {.timeout = 30s, .initial = 1},
                                                               use_awaitable))});
    }
    scene.simulation.run_for(100ms);
    sim::host& fresh = scene.simulation.add_host("n9");
    ASSERT_TRUE(scene.cluster->add_node({&fresh.world(), "n9", "n9", 11210}));
    std::optional<result<void>> done;
    scene.host_of(0).start(rebalance(&scene, &done));
    ASSERT_TRUE(scene.finish([&] { return done.has_value(); }));
    scene.simulation.run_for(recovery);
    std::size_t moved = 0;
    for (const request& one : all) {
        const bool stays = scene.cluster->active_node("travel", one.vbucket) == 1;
        moved += stays ? 0 : 1;
        EXPECT_EQ(one.read->done(), !stays);
        EXPECT_EQ(one.write->done(), !stays);
        if (stays || !one.write->done())
            continue;
        EXPECT_EQ(one.read->code(), errc::document_not_found) << one.read->explain();
        EXPECT_EQ(one.write->code(), errc::request_canceled) << one.write->explain();
        EXPECT_EQ(one.write->error().context("may_have_been_applied"), "true");
    }
    EXPECT_GT(moved, 3u);
    EXPECT_LT(moved, all.size());
    EXPECT_EQ(scene.counted(kv_opcode::increment), 0) << "none is sent a second time";
    fresh.crash();
}

class couchbase_hanging_node_on_sockets : public ::testing::Test {
protected:
    static lab::couchbase_options two_nodes()
    {
        lab::couchbase_options options;
        options.nodes = 2;
        options.replicas = 1;
        options.buckets = {"travel"};
        return options;
    }
    static cb::cluster_options login()
    {
        cb::cluster_options options;
        options.authenticator = cb::password{"Administrator", secret{"password"}};
        return options;
    }
    void silence(const std::vector<std::size_t>& nodes, std::int64_t times)
    {
        lab::couchbase_fault fault;
        fault.nodes = nodes;
        fault.operations = {"get"};
        fault.times = times;
        fault.silent = true;
        ASSERT_TRUE(lab.set_fault("silent", fault));
    }

    lab::couchbase_cluster lab = lab::couchbase_cluster::start(two_nodes()).value();
    cb::sync::cluster db{lab.uri(), login()};
    cb::sync::collection all = db["travel"].default_collection();
};

TEST_F(couchbase_hanging_node_on_sockets, thread_that_waits_goes_on_when_it_is_failed_over)
{
    all.upsert("warm", cb::raw_json{"1"});
    silence({0}, 1);
    std::atomic<int> failed{0};
    std::jthread waits{[&] {
        for (int n = 0; n != 32; ++n) {
            const auto got = all.try_get_if("k" + std::to_string(n), {.timeout = 10min});
            failed += got ? 0 : 1;
        }
    }};
    while (lab.fault_hits("silent") == 0)
        std::this_thread::yield();
    ASSERT_TRUE(lab.fail_over(0));
    waits.join();
    EXPECT_EQ(failed, 0);
}

TEST_F(couchbase_hanging_node_on_sockets, threads_that_wait_go_on_when_their_vbuckets_have_moved)
{
    constexpr int threads = 12;
    for (int n = 0; n != threads; ++n)
        all.upsert("k" + std::to_string(n), cb::raw_json{"1"});
    silence({}, threads);
    std::atomic<int> found{0};
    std::vector<std::jthread> waiting;
    for (int n = 0; n != threads; ++n)
        waiting.emplace_back([&, n] {
            found += all.try_get("k" + std::to_string(n), {.timeout = 10min}).has_value() ? 1 : 0;
        });
    while (lab.fault_hits("silent") != threads)
        std::this_thread::yield();
    ASSERT_TRUE(lab.add_node());
    ASSERT_TRUE(lab.rebalance());
    while (found == 0)
        std::this_thread::yield();
    db.close();
    waiting.clear();
    EXPECT_LT(found, threads) << "what has not moved is waited for";
}

}  // namespace
}  // namespace holdfast::couchbase_hanging_node_test
