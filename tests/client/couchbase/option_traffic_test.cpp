// What options of the connection string change of what is sent, and when.
#include "client/couchbase/kv_scene.hpp"
#include "client/couchbase/retry_support.hpp"
#include "core/couchbase/wire/features.hpp"
#include "holdfast/couchbase/errc.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::couchbase_option_traffic_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::feature_set;
using core::couchbase::kv_feature;
using core::couchbase::kv_opcode;
using core::couchbase::kv_status;
using couchbase::errc;
using lab::activation;
using lab::couchbase::kv_target;
using proof::kv_scene;
using proof::labels_of;
using proof::silent_fault;
using proof::status_fault;
using proof::use_awaitable;

/// The features that the connections of a client with that option ask for.
feature_set features_asked_for(const std::string& option)
{
    kv_scene scene;
    feature_set asked;
    scene.watch_requests(kv_opcode::hello, [&](const kv_target& one) {
        asked = core::couchbase::parse_features(one.value).value();
    });
    scene.connect({}, option);
    scene.warm_up();
    return asked;
}

TEST(couchbase_option_traffic, features_that_are_switched_off_are_not_asked_for)
{
    struct row {
        const char* option;
        std::vector<kv_feature> features;
    };
    const row table[] = {
        {"enable_compression", {kv_feature::snappy}},
        {"enable_mutation_tokens", {kv_feature::mutation_seqno}},
        {"enable_unordered_execution", {kv_feature::unordered_execution}},
        {"enable_clustermap_notification",
         {kv_feature::clustermap_change_notification,
          kv_feature::clustermap_change_notification_brief}},
    };
    feature_set expected = features_asked_for("");
    for (const row& one : table) {
        SCOPED_TRACE(one.option);
        feature_set without = expected;
        for (const kv_feature each : one.features) {
            EXPECT_TRUE(expected.has(each));
            without.remove(each);
        }
        EXPECT_EQ(features_asked_for(std::string{"?"} + one.option + "=false"), without);
    }
}

TEST(couchbase_option_traffic, compression_makes_values_smaller_unless_it_is_switched_off)
{
    const std::string text = '"' + std::string(4'000, 'x') + '"';
    for (const bool compresses : {true, false}) {
        kv_scene scene;
        std::size_t sent = 0;
        scene.watch_requests(kv_opcode::upsert,
                             [&](const kv_target& one) { sent = one.value.size(); });
        scene.connect({}, compresses ? "" : "?enable_compression=false");
        ASSERT_TRUE(scene.upsert("k", text)->good());
        EXPECT_EQ(sent < text.size() / 2, compresses) << sent;
        EXPECT_EQ(sent == text.size(), !compresses) << sent;
        EXPECT_EQ((*scene.get("k")->outcome)->content.text(), text);
    }
}

TEST(couchbase_option_traffic, user_agent_extra_is_shown_to_servers)
{
    kv_scene scene;
    std::string agent;
    scene.watch_requests(kv_opcode::hello, [&](const kv_target& one) { agent = one.key; });
    scene.connect({}, "?user_agent_extra=my-app/7");
    scene.warm_up();
    const std::size_t own = agent.find("holdfast/");
    ASSERT_NE(own, std::string::npos) << agent;
    EXPECT_NE(agent.find(" my-app/7", own), std::string::npos) << agent;
}

/// When connections fail.
class failure_times final : public couchbase::event_listener {
public:
    explicit failure_times(const sim::simulation& clock) : clock_{clock} {}
    void on(const couchbase::connection_failed&) override { times.push_back(clock_.now()); }

    std::vector<time_point> times;

private:
    const sim::simulation& clock_;
};

/// How long a client tries to connect to a node that `prepare` has made hang.
template <class Prepare>
duration time_to_fail(const std::string& option, Prepare prepare)
{
    kv_scene scene;
    prepare(scene);
    const auto events = std::make_shared<failure_times>(scene.simulation);
    couchbase::cluster_options options;
    options.listeners.push_back(events);
    scene.connect(options, option);
    const time_point began = scene.simulation.now();
    const auto waits = scene.start(scene.documents().get("k", {.timeout = 30s}, use_awaitable));
    EXPECT_TRUE(scene.finish([&] { return !events->times.empty(); }));
    return events->times.empty() ? duration{} : events->times.front() - began;
}

TEST(couchbase_option_traffic, connecting_ends_with_its_timeouts)
{
    const auto unreachable = [](kv_scene& scene) {
        scene.simulation.partition(scene.app, scene.host_of(0));
    };
    const auto mute = [](kv_scene& scene) {
        scene.fault(0, kv_opcode::hello, silent_fault(), activation::always());
    };
    const auto is_about = [](duration took, duration expected) {
        return took >= expected && took <= expected + 5ms;
    };
    EXPECT_TRUE(is_about(time_to_fail("?kv_connect_timeout=300ms", unreachable), 300ms));
    EXPECT_TRUE(is_about(time_to_fail("?bootstrap_timeout=400ms", unreachable), 400ms));
    EXPECT_TRUE(is_about(time_to_fail("?bootstrap_timeout=400ms", mute), 400ms));
    EXPECT_TRUE(is_about(time_to_fail("?kv_connect_timeout=300ms", mute), 10s))
        << "the connection itself was there in time";
}

TEST(couchbase_option_traffic, look_up_of_srv_records_ends_with_its_timeout)
{
    kv_scene scene;
    scene.simulation.set_dns_failing(true);
    const std::shared_ptr<runtime::world> world{std::shared_ptr<void>{}, &scene.app.world()};
    couchbase::cluster_options options;
    options.authenticator = kv_scene::login();
    scene.client.emplace(
        couchbase::access::in_world(world, "couchbase://n0?resolve_timeout=250ms", options)
            .value());
    const auto waits = scene.start(scene.documents().get("k", {.timeout = 5s}, use_awaitable));
    scene.simulation.run_for(100ms);
    // Without an answer to the first question the name is taken for that of a host.
    scene.simulation.set_dns_failing(false);
    ASSERT_TRUE(scene.finish([&] { return waits->done(); }));
    EXPECT_EQ(waits->code(), errc::document_not_found) << waits->explain();
    EXPECT_GE(waits->took(), 250ms);
    EXPECT_LE(waits->took(), 350ms);
}

/// When nodes are asked for the configuration of the bucket.
std::shared_ptr<std::vector<time_point>> watch_polls(kv_scene& scene)
{
    auto times = std::make_shared<std::vector<time_point>>();
    scene.watch_requests(kv_opcode::get_cluster_config, [&scene, times](const kv_target& one) {
        if (one.bucket == "travel")
            times->push_back(scene.simulation.now());
    });
    return times;
}

TEST(couchbase_option_traffic, configuration_is_asked_for_at_the_interval)
{
    kv_scene scene{{.nodes = 2}};
    const auto polls = watch_polls(scene);
    scene.connect({}, "?enable_clustermap_notification=false&config_poll_interval=700ms");
    scene.warm_up();
    scene.simulation.run_for(1s);
    polls->clear();
    scene.simulation.run_for(7s);
    EXPECT_EQ(polls->size(), 10u);
}

TEST(couchbase_option_traffic, configuration_is_not_asked_for_where_it_is_announced)
{
    kv_scene scene{{.nodes = 2}};
    const auto polls = watch_polls(scene);
    scene.connect({}, "?config_poll_interval=100ms");
    scene.warm_up();
    scene.simulation.run_for(1s);
    polls->clear();
    scene.simulation.run_for(7s);
    EXPECT_TRUE(polls->empty());
}

TEST(couchbase_option_traffic, refused_vbuckets_are_no_reason_to_ask_more_often_than_the_floor)
{
    const auto shortest_gap = [](const std::string& option) {
        kv_scene scene{{.nodes = 2}};
        const auto polls = watch_polls(scene);
        scene.connect({}, option);
        scene.warm_up();
        scene.fault_everywhere(kv_opcode::get, status_fault(kv_status::not_my_vbucket),
                               activation::always());
        polls->clear();
        const auto refused = scene.get("warm1", {.timeout = 2s});
        EXPECT_EQ(refused->code(), errc::unambiguous_timeout) << refused->explain();
        EXPECT_GE(polls->size(), 2u);
        duration shortest = 1h;
        for (std::size_t n = 1; n < polls->size(); ++n)
            shortest = std::min(shortest, (*polls)[n] - (*polls)[n - 1]);
        return shortest;
    };
    EXPECT_GE(shortest_gap(""), 50ms);
    EXPECT_LT(shortest_gap(""), 300ms);
    EXPECT_GE(shortest_gap("?config_poll_floor=300ms"), 300ms);
}

TEST(couchbase_option_traffic, no_more_requests_are_in_flight_than_allowed)
{
    kv_scene scene;
    scene.connect({}, "?max_in_flight=4");
    scene.warm_up();
    scene.fault(0, kv_opcode::get, silent_fault(), activation::always());
    scene.count_requests(kv_opcode::get);
    std::vector<proof::kv_run<couchbase::document<couchbase::raw_json>>> all;
    for (int n = 0; n != 10; ++n)
        all.push_back(scene.start(scene.documents().get("k", {.timeout = 1s}, use_awaitable)));
    scene.simulation.run_for(500ms);
    EXPECT_EQ(scene.counted(kv_opcode::get), 4);
    ASSERT_TRUE(scene.finish(
        [&] { return std::ranges::all_of(all, [](const auto& one) { return one->done(); }); }));
}

TEST(couchbase_option_traffic, retry_budget_bounds_retries_and_successes_refill_it)
{
    kv_scene scene;
    scene.connect({}, "?retryBudget=2");
    scene.warm_up();
    const auto attempts = [&] {
        scene.fault(0, kv_opcode::get, status_fault(kv_status::temporary_failure),
                    activation::times(4));
        const auto failed = scene.get("warm1");
        EXPECT_EQ(failed->code(), errc::temporary_failure) << failed->explain();
        const std::size_t made = failed->good() ? 0 : failed->error().history().size();
        scene.clear_faults();
        return made;
    };
    EXPECT_EQ(attempts(), 3u) << "two of them were retries";
    EXPECT_EQ(attempts(), 1u) << "nothing is left";
    for (int n = 0; n != 10; ++n)
        ASSERT_TRUE(scene.get("warm1")->good());
    EXPECT_EQ(attempts(), 2u) << "ten successes pay for one retry";
}

TEST(couchbase_option_traffic, circuit_breaker_keeps_requests_from_a_node_that_fails)
{
    for (const bool wanted : {true, false}) {
        kv_scene scene;
        scene.connect({}, wanted ? "?circuitBreaker=true" : "");
        scene.warm_up();
        scene.fault(0, kv_opcode::get, silent_fault(), activation::always());
        for (int n = 0; n != 40; ++n)
            EXPECT_EQ(scene.get("warm1", {.timeout = 5ms})->code(), errc::unambiguous_timeout);
        scene.count_requests(kv_opcode::get);
        const auto last = scene.get("warm1", {.timeout = 100ms});
        EXPECT_EQ(last->code(), errc::unambiguous_timeout);
        EXPECT_EQ(scene.counted(kv_opcode::get), wanted ? 0 : 1);
        const bool was_open = std::ranges::count(labels_of(last->error()),
                                                 "CIRCUIT_BREAKER_OPEN") != 0;
        EXPECT_EQ(was_open, wanted) << last->explain();
    }
}

}  // namespace
}  // namespace holdfast::couchbase_option_traffic_test
