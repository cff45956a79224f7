// What keeps a request from being sent: no node, no service, no connection, no space on it. Each
// has its reason, and whatever the request is, it waits and goes on when the obstacle is gone.
#include "client/couchbase/kv_scene.hpp"
#include "client/couchbase/retry_support.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/verifies.hpp"

#include <chrono>

namespace holdfast::couchbase_obstacles_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;
using couchbase::errc;
using couchbase::retry_reason;
using lab::activation;
using proof::kv_scene;
using proof::labels_of;
using proof::observing_strategy;
using proof::use_awaitable;

using change_run = proof::kv_run<couchbase::mutation_result>;

/// A change whose attempts all have met that obstacle, until its deadline.
void expect_only(const change_run& one, const std::string& reason, duration timeout)
{
    EXPECT_EQ(one->code(), errc::unambiguous_timeout) << one->explain();
    EXPECT_EQ(one->took(), timeout);
    EXPECT_EQ(one->error().context("may_have_been_applied"), "false");
    ASSERT_FALSE(one->error().history().empty());
    for (const std::string& label : labels_of(one->error()))
        EXPECT_EQ(label, reason);
    for (const attempt& each : one->error().history())
        EXPECT_EQ(each.phase, dispatch_phase::not_sent);
}

runtime::awaitable<void> rebalance(kv_scene* scene, std::optional<result<void>>* done)
{
    auto moved = co_await scene->cluster->rebalance();
    done->emplace(std::move(moved));
}

TEST(couchbase_obstacles, node_that_is_gone_gives_node_not_available_until_another_has_its_part)
{
    VERIFIES_BY_TRAFFIC("CR-009");
    VERIFIES_BY_TRAFFIC("CR-051");
    kv_scene scene{{.nodes = 2}};
    scene.connect();
    scene.warm_up();
    const std::string key = scene.key_on(1);
    // There are no replicas: its vbuckets are nowhere now.
    ASSERT_TRUE(scene.cluster->fail_over(1));
    scene.simulation.run_for(100ms);
    scene.count_requests(kv_opcode::upsert);
    const auto late = scene.upsert(key, "{}", {.timeout = 1s});
    expect_only(late, "NODE_NOT_AVAILABLE", 1s);
    EXPECT_EQ(scene.counted(kv_opcode::upsert), 0);
    EXPECT_TRUE(scene.upsert(scene.key_on(0), "{}")->good()) << "others are served";

    const couchbase::raw_json content{"{}"};
    const auto waits = scene.start(
        scene.documents().upsert(key, content, {.timeout = 10s}, use_awaitable));
    std::optional<result<void>> done;
    scene.host_of(0).start(rebalance(&scene, &done));
    ASSERT_TRUE(scene.finish([&] { return done && waits->done(); }));
    EXPECT_TRUE(waits->good()) << waits->explain();
}

TEST(couchbase_obstacles, node_without_the_service_gives_service_not_available_until_it_has_it)
{
    VERIFIES_BY_TRAFFIC("CR-009");
    VERIFIES_BY_TRAFFIC("CR-050");
    // A node that serves documents, but not to clients with TLS.
    kv_scene scene{{.nodes = 2, .certificate = "wildcard.pem"}};
    scene.connect();
    scene.warm_up();
    const std::string key = scene.key_on(1);
    scene.cluster->set_service(1, "kvSSL", 0);
    scene.simulation.run_for(100ms);
    scene.count_requests(kv_opcode::upsert);
    const auto late = scene.upsert(key, "{}", {.timeout = 1s});
    expect_only(late, "SERVICE_NOT_AVAILABLE", 1s);
    EXPECT_EQ(scene.counted(kv_opcode::upsert), 0);
    EXPECT_TRUE(scene.upsert(scene.key_on(0), "{}")->good()) << "others are served";

    const couchbase::raw_json content{"{}"};
    const auto waits = scene.start(scene.documents().upsert(key, content, {}, use_awaitable));
    scene.simulation.run_for(200ms);
    EXPECT_FALSE(waits->done());
    scene.cluster->set_service(1, "kvSSL", 11207);
    ASSERT_TRUE(scene.finish([&] { return waits->done(); }));
    EXPECT_TRUE(waits->good()) << waits->explain();
    EXPECT_LT(waits->took(), 1s);
}

TEST(couchbase_obstacles, node_that_refuses_connections_gives_socket_not_available_until_it_listens)
{
    VERIFIES_BY_TRAFFIC("CR-009");
    VERIFIES_BY_TRAFFIC("CR-049");
    kv_scene scene{{.nodes = 2}};
    scene.connect();
    scene.warm_up();
    const std::string key = scene.key_on(1);
    ASSERT_TRUE(scene.cluster->close_port(1));
    scene.simulation.run_for(10ms);
    const auto late = scene.upsert(key, "{}", {.timeout = 1s});
    expect_only(late, "SOCKET_NOT_AVAILABLE", 1s);
    EXPECT_NE(late->error().message().find("n1:11210: not connected"), std::string::npos)
        << late->explain();

    const couchbase::raw_json content{"{}"};
    const auto waits = scene.start(scene.documents().upsert(key, content, {}, use_awaitable));
    scene.simulation.run_for(200ms);
    ASSERT_TRUE(scene.cluster->open_port_again(1));
    ASSERT_TRUE(scene.finish([&] { return waits->done(); }));
    EXPECT_TRUE(waits->good()) << waits->explain();
    EXPECT_LT(waits->took(), 1500ms);
}

TEST(couchbase_obstacles, node_that_accepts_and_stays_silent_gives_socket_not_available)
{
    VERIFIES_BY_TRAFFIC("CR-009");
    kv_scene scene{{.nodes = 2}};
    scene.connect({}, "?kv_connect_timeout=200ms&bootstrap_timeout=200ms");
    scene.warm_up();
    scene.fault(1, kv_opcode::hello, proof::silent_fault(), activation::always());
    scene.simulation.reset_connections(scene.app, scene.host_of(1));
    scene.simulation.run_for(5ms);
    const auto late = scene.upsert(scene.key_on(1), "{}", {.timeout = 1s});
    expect_only(late, "SOCKET_NOT_AVAILABLE", 1s);
}

TEST(couchbase_obstacles, connection_that_takes_no_more_bytes_gives_socket_not_available)
{
    VERIFIES_BY_TRAFFIC("CR-009");
    VERIFIES_BY_TRAFFIC("CR-049");
    kv_scene scene;
    scene.connect({}, "?enable_compression=false");
    scene.warm_up();
    lab::couchbase::kv_fault deaf;
    deaf.stop_reading = true;
    scene.fault(0, kv_opcode::get, deaf, activation::times(1));
    std::vector<change_run> large;
    const couchbase::raw_json content{'"' + std::string(1'000'000, 'x') + '"'};
    const auto ignored = scene.start(
        scene.documents().get("warm1", {.timeout = 3s}, use_awaitable));
    scene.simulation.run_for(5ms);
    for (int n = 0; n != 6; ++n)
        large.push_back(scene.start(
            scene.documents().upsert("large", content, {.timeout = 3s}, use_awaitable)));
    scene.simulation.run_for(5ms);
    const auto late = scene.upsert("a", "{}", {.timeout = 1s});
    expect_only(late, "SOCKET_NOT_AVAILABLE", 1s);
    EXPECT_NE(late->error().message().find("too many writes are waiting"), std::string::npos)
        << late->explain();
    ASSERT_TRUE(scene.finish(
        [&] { return std::ranges::all_of(large, [](const auto& one) { return one->done(); }); }));
}

TEST(couchbase_obstacles, strategy_is_asked_for_each_of_them)
{
    VERIFIES_BY_TRAFFIC("CR-049");
    VERIFIES_BY_TRAFFIC("CR-050");
    VERIFIES_BY_TRAFFIC("CR-051");
    kv_scene scene{{.nodes = 4, .certificate = "wildcard.pem"}};
    const auto strategy = std::make_shared<observing_strategy>();
    couchbase::cluster_options options;
    options.strategy = strategy;
    scene.connect(options);
    scene.warm_up();
    const std::string gone = scene.key_on(1);
    ASSERT_TRUE(scene.cluster->fail_over(1));
    scene.cluster->set_service(2, "kvSSL", 0);
    ASSERT_TRUE(scene.cluster->close_port(3));
    scene.simulation.run_for(100ms);
    const std::pair<std::string, retry_reason> expected[] = {
        {gone, retry_reason::node_not_available},
        {scene.key_on(2), retry_reason::service_not_available},
        {scene.key_on(3), retry_reason::socket_not_available},
    };
    for (const auto& [key, reason] : expected) {
        strategy->asked.clear();
        EXPECT_FALSE(scene.upsert(key, "{}", {.timeout = 500ms})->good());
        EXPECT_EQ(strategy->reasons(), std::vector<retry_reason>{reason}) << name_of(reason);
        EXPECT_FALSE(strategy->asked.front().idempotent);
    }
}

}  // namespace
}  // namespace holdfast::couchbase_obstacles_test
