// Clusters whose nodes fail, leave and join while a client works.
#include "client/couchbase/kv_scene.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/verifies.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <chrono>

namespace holdfast::couchbase_movement_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;
using core::couchbase::kv_status;
using couchbase::errc;
using proof::kv_scene;
using proof::use_awaitable;

/// Writes and reads for ever, until it is stopped, and keeps what went wrong.
struct workload {
    bool stopped = false;
    int running = 0;
    int written = 0;
    std::vector<std::string> errors = {};
    duration slowest{};
};

runtime::awaitable<void> work(kv_scene* scene, int id, workload* of)
{
    const auto documents = scene->documents();
    ++of->running;
    for (int n = 0; !of->stopped; ++n) {
        const std::string key = "w" + std::to_string(id) + "_" + std::to_string(n % 50);
        const couchbase::raw_json content{std::to_string(n)};
        const time_point began = scene->simulation.now();
        const auto stored = co_await documents.upsert(key, content, {.timeout = 5s}, use_awaitable);
        const auto found = co_await documents.get(key, {.timeout = 5s}, use_awaitable);
        of->slowest = std::max(of->slowest, scene->simulation.now() - began);
        if (!stored)
            of->errors.push_back(stored.error().explain());
        else if (!found)
            of->errors.push_back(found.error().explain());
        else if (found->content.text() != content.text())
            of->errors.push_back(key + " has " + std::string{found->content.text()});
        ++of->written;
    }
    --of->running;
}

void start(kv_scene& scene, workload& of, int workers)
{
    for (int n = 0; n != workers; ++n)
        boost::asio::co_spawn(scene.app.world().executor(), work(&scene, n, &of),
                              boost::asio::detached);
}

void stop(kv_scene& scene, workload& of)
{
    of.stopped = true;
    ASSERT_TRUE(scene.finish([&] { return of.running == 0; }));
}

runtime::awaitable<void> rebalance(kv_scene* scene, std::vector<std::size_t> out,
                                   std::optional<result<void>>* done)
{
    auto moved = co_await scene->cluster->rebalance(std::move(out));
    done->emplace(std::move(moved));
}

std::set<std::string> connected_nodes(const kv_scene& scene)
{
    std::set<std::string> all;
    for (const auto& one : scene.client->diagnostics().key_value) {
        if (one.bucket == "travel" && one.state == couchbase::endpoint_state::connected)
            all.insert(one.server.value());
    }
    return all;
}

TEST(couchbase_movement, rebalance_under_load_loses_no_operation_and_drops_the_node_that_left)
{
    kv_scene scene{{.nodes = 3, .replicas = 1}};
    scene.connect();
    scene.warm_up();
    workload all;
    start(scene, all, 8);
    scene.simulation.run_for(100ms);
    std::optional<result<void>> done;
    scene.host_of(0).start(rebalance(&scene, {2}, &done));
    ASSERT_TRUE(scene.finish([&] { return done.has_value(); }));
    ASSERT_TRUE(*done) << done->error().explain();
    scene.simulation.run_for(500ms);
    stop(scene, all);
    EXPECT_TRUE(all.errors.empty())
        << all.errors.size() << " of " << all.written << ": " << all.errors.front();
    EXPECT_LT(all.slowest, 1500ms);
    scene.simulation.run_for(5s);
    EXPECT_EQ(connected_nodes(scene), (std::set<std::string>{"n0:11210", "n1:11210"}));
}

TEST(couchbase_movement, node_that_joins_is_used_after_the_rebalance)
{
    kv_scene scene{{.nodes = 2, .replicas = 1}};
    scene.connect();
    scene.warm_up();
    workload all;
    start(scene, all, 8);
    sim::host& fresh = scene.simulation.add_host("n9");
    ASSERT_TRUE(scene.cluster->add_node({&fresh.world(), "n9", "n9", 11210}));
    std::optional<result<void>> done;
    scene.host_of(0).start(rebalance(&scene, {}, &done));
    ASSERT_TRUE(scene.finish([&] { return done.has_value(); }));
    scene.simulation.run_for(500ms);
    stop(scene, all);
    EXPECT_TRUE(all.errors.empty()) << all.errors.front();
    EXPECT_TRUE(connected_nodes(scene).contains("n9:11210"));
    fresh.crash();
}

TEST(couchbase_movement, hard_failover_is_survived_within_a_second_and_a_half)
{
    VERIFIES_BY_TRAFFIC("CR-049");
    kv_scene scene{{.nodes = 3, .replicas = 1}};
    scene.connect();
    scene.warm_up();
    workload all;
    start(scene, all, 8);
    scene.simulation.run_for(100ms);
    scene.host_of(2).crash();
    scene.cluster->lost(2);
    scene.simulation.run_for(100ms);
    ASSERT_TRUE(scene.cluster->fail_over(2));
    scene.simulation.run_for(1500ms);
    const int before = all.written;
    const std::size_t errors_before = all.errors.size();
    scene.simulation.run_for(1s);
    EXPECT_GT(all.written, before + 500) << "it works again";
    EXPECT_EQ(all.errors.size(), errors_before);
    for (const std::string& one : all.errors)
        EXPECT_NE(one.find("may_have_been_applied: true"), std::string::npos) << one;
    stop(scene, all);
}

TEST(couchbase_movement, stale_and_foreign_configurations_are_dropped)
{
    kv_scene scene{{.nodes = 2, .replicas = 1}};
    scene.connect();
    scene.warm_up();
    workload all;
    start(scene, all, 4);
    scene.cluster->begin_epoch();
    scene.simulation.run_for(200ms);
    for (int n = 0; n != 5; ++n)
        scene.cluster->publish();
    scene.simulation.run_for(200ms);
    stop(scene, all);
    EXPECT_TRUE(all.errors.empty()) << all.errors.front();
}

TEST(couchbase_movement, login_that_expires_is_renewed_without_an_error)
{
    VERIFIES_BY_TRAFFIC("CR-046");
    kv_scene scene{{.nodes = 2}};
    scene.connect();
    scene.warm_up();
    workload all;
    start(scene, all, 4);
    scene.simulation.run_for(50ms);
    scene.cluster->expire_logins("ada");
    scene.simulation.run_for(2s);
    stop(scene, all);
    EXPECT_TRUE(all.errors.empty()) << all.errors.front();
}

TEST(couchbase_movement, node_behind_with_its_manifest_is_no_reason_to_fail)
{
    VERIFIES_BY_TRAFFIC("CR-082");
    kv_scene scene{{.nodes = 2}};
    scene.connect();
    scene.warm_up();
    scene.cluster->hold_manifest(1, true);
    scene.cluster->create_collection("travel", "_default", "late");
    const auto late = (*scene.client)["travel"].collection("late");
    const couchbase::raw_json empty{"{}"};
    const couchbase::retry_strategy_ptr patient =
        std::make_shared<couchbase::best_effort_retry_strategy>();
    std::vector<proof::kv_run<couchbase::mutation_result>> all;
    for (int n = 0; n != 20; ++n)
        all.push_back(scene.start(late.upsert("k" + std::to_string(n), empty,
                                              {.timeout = 5s, .strategy = &patient},
                                              use_awaitable)));
    scene.simulation.run_for(100ms);
    scene.cluster->hold_manifest(1, false);
    ASSERT_TRUE(scene.finish(
        [&] { return std::ranges::all_of(all, [](const auto& one) { return one->done(); }); }));
    for (const auto& one : all)
        EXPECT_TRUE(one->good()) << one->explain();
}

}  // namespace
}  // namespace holdfast::couchbase_movement_test
