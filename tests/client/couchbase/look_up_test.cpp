// Look-ups of collections that find no connection to ask.
#include "client/couchbase/kv_scene.hpp"
#include "holdfast/couchbase/errc.hpp"

#include <chrono>
#include <vector>

namespace holdfast::couchbase_look_up_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;
using couchbase::errc;
using proof::kv_scene;
using proof::use_awaitable;

TEST(couchbase_look_ups, connection_without_a_place_is_tried_again_later_and_not_at_once)
{
    kv_scene scene;
    scene.connect({}, "?max_in_flight=4");
    scene.warm_up();
    scene.cluster->create_collection("travel", "_default", "orders");
    lab::couchbase::kv_fault silent;
    silent.silent = true;
    scene.fault(0, kv_opcode::get, silent, lab::activation::always());
    std::vector<proof::kv_run<couchbase::document<couchbase::raw_json>>> asked;
    for (int n = 0; n != 4; ++n)
        asked.push_back(scene.start(scene.documents().get("a", {.timeout = 500ms}, use_awaitable)));
    scene.simulation.run_for(10ms);
    const auto orders = (*scene.client)["travel"].collection("orders");
    const couchbase::raw_json content{"{}"};
    std::vector<proof::kv_run<couchbase::mutation_result>> stored;
    for (int n = 0; n != 3; ++n)
        stored.push_back(scene.start(
            orders.upsert("k" + std::to_string(n), content, {.timeout = 300ms}, use_awaitable)));
    // Those that wait for the same look-up must not wake each other without end, in no time.
    const std::uint64_t before = scene.simulation.events();
    const time_point until = scene.simulation.now() + 400ms;
    (void)scene.simulation.run_while_not([&] {
        return scene.simulation.now() >= until || scene.simulation.events() > before + 20'000;
    });
    ASSERT_LT(scene.simulation.events(), before + 20'000);
    for (const auto& one : stored) {
        ASSERT_TRUE(one->done());
        EXPECT_EQ(one->code(), errc::unambiguous_timeout) << one->explain();
        EXPECT_EQ(one->took(), 300ms);
    }
}

TEST(couchbase_look_ups, node_that_hangs_holds_up_no_requests_for_others)
{
    kv_scene scene{{.nodes = 3}};
    scene.connect();
    scene.warm_up();
    scene.cluster->create_collection("travel", "_default", "orders");
    const auto orders = (*scene.client)["travel"].collection("orders");
    scene.cluster->freeze(2, true);
    const auto first = scene.start(orders.get(scene.key_on(2), {.timeout = 2s}, use_awaitable));
    scene.simulation.run_for(10ms);
    const auto second = scene.run(orders.get(scene.key_on(0), {.timeout = 2s}, use_awaitable));
    EXPECT_EQ(second->code(), errc::document_not_found) << second->explain();
    EXPECT_LE(second->took(), 600ms);
    ASSERT_TRUE(scene.finish([&] { return first->done(); }));
    EXPECT_EQ(first->code(), errc::unambiguous_timeout) << first->explain();
    EXPECT_EQ(first->took(), 2s);
}

TEST(couchbase_look_ups, slow_network_is_waited_for)
{
    kv_scene scene;
    scene.connect();
    scene.warm_up();
    scene.cluster->create_collection("travel", "_default", "orders");
    sim::link slow;
    slow.latency_min = slow.latency_max = 400ms;
    scene.simulation.set_all_links(slow);
    const auto orders = (*scene.client)["travel"].collection("orders");
    const auto got = scene.run(orders.get("k", {.timeout = 10s}, use_awaitable));
    EXPECT_EQ(got->code(), errc::document_not_found) << got->explain();
    EXPECT_LE(got->took(), 500ms + 800ms + 800ms) << "asked twice, and sent once";
}

}  // namespace
}  // namespace holdfast::couchbase_look_up_test
