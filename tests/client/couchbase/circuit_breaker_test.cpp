// The circuit breaker of a node: nothing is written to it while it is open, then one request tries.
#include "client/couchbase/kv_scene.hpp"
#include "client/couchbase/retry_support.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/verifies.hpp"

#include <chrono>

namespace holdfast::couchbase_circuit_breaker_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;
using core::couchbase::kv_status;
using couchbase::errc;
using lab::activation;
using proof::kv_scene;
using proof::labels_of;
using proof::use_awaitable;

using get_run = proof::kv_run<couchbase::document<couchbase::raw_json>>;

class couchbase_circuit_breaker : public ::testing::Test {
protected:
    couchbase_circuit_breaker()
    {
        couchbase::cluster_options options;
        couchbase::breaker_options breaker;
        breaker.volume = 5;
        breaker.sleep_window = 100ms;
        breaker.rolling_window = 200ms;
        options.circuit_breaker = breaker;
        scene.connect(options);
        scene.warm_up();
        sick = scene.key_on(0);
        well = scene.key_on(1);
        for (const std::string& key : {sick, well})
            EXPECT_TRUE(scene.upsert(key, "{}")->good());
        scene.simulation.run_for(300ms);  // so that these count no more
    }
    /// Requests that are never answered, until the breaker has opened. Gives when it has.
    time_point open_it()
    {
        scene.fault(0, kv_opcode::get, proof::silent_fault(), activation::always());
        for (int n = 0; n != 5; ++n)
            EXPECT_EQ(scene.get(sick, {.timeout = 5ms})->code(), errc::unambiguous_timeout);
        return scene.simulation.now();
    }
    get_run start_get(std::chrono::milliseconds timeout)
    {
        return scene.start(scene.documents().get(sick, {.timeout = timeout}, use_awaitable));
    }

    kv_scene scene{{.nodes = 2}};
    std::string sick;
    std::string well;
};

TEST_F(couchbase_circuit_breaker, nothing_is_written_to_the_node_while_it_is_open)
{
    VERIFIES_BY_TRAFFIC("CR-056");
    const time_point opened = open_it();
    scene.clear_faults();
    scene.count_requests(kv_opcode::get);
    scene.count_requests(kv_opcode::upsert);
    const std::uint64_t before = scene.written_to(0);
    for (int n = 0; n != 3; ++n) {
        const auto read = scene.get(sick, {.timeout = 10ms});
        EXPECT_EQ(read->code(), errc::unambiguous_timeout) << read->explain();
        for (const std::string& label : labels_of(read->error()))
            EXPECT_EQ(label, "CIRCUIT_BREAKER_OPEN");
        const auto stored = scene.upsert(sick, "{}", {.timeout = 10ms});
        EXPECT_EQ(stored->code(), errc::unambiguous_timeout) << stored->explain();
        EXPECT_EQ(labels_of(stored->error()).front(), "CIRCUIT_BREAKER_OPEN");
        EXPECT_EQ(stored->error().history()[0].phase, dispatch_phase::not_sent);
    }
    EXPECT_LT(scene.simulation.now() - opened, 100ms);
    EXPECT_EQ(scene.written_to(0), before) << "not a byte";
    EXPECT_EQ(scene.counted(kv_opcode::get) + scene.counted(kv_opcode::upsert), 0);
    EXPECT_TRUE(scene.get(well)->good()) << "the other node is served";
}

TEST_F(couchbase_circuit_breaker, one_request_tries_the_node_and_its_success_lets_all_through)
{
    VERIFIES_BY_TRAFFIC("CR-056");
    const time_point opened = open_it();
    scene.clear_faults();
    scene.count_requests(kv_opcode::get);
    lab::couchbase::kv_fault slow;
    slow.delay = 40ms;
    scene.fault(0, kv_opcode::get, slow, activation::times(1));
    scene.simulation.run_until(opened + 101ms);
    std::vector<get_run> all;
    for (int n = 0; n != 10; ++n)
        all.push_back(start_get(2s));
    scene.simulation.run_for(30ms);
    EXPECT_EQ(scene.counted(kv_opcode::get), 1) << "one is on its way, the others wait for it";
    ASSERT_TRUE(scene.finish(
        [&] { return std::ranges::all_of(all, [](const auto& one) { return one->done(); }); }));
    for (const get_run& one : all) {
        EXPECT_TRUE(one->good()) << one->explain();
        EXPECT_LT(one->took(), 200ms);
    }
    EXPECT_EQ(scene.counted(kv_opcode::get), 10);
    EXPECT_EQ(scene.get(sick)->took(), 2ms) << "closed";
}

TEST_F(couchbase_circuit_breaker, request_that_tries_in_vain_opens_it_again)
{
    VERIFIES_BY_TRAFFIC("CR-056");
    const time_point opened = open_it();
    scene.count_requests(kv_opcode::get);
    scene.simulation.run_until(opened + 101ms);
    EXPECT_EQ(scene.get(sick, {.timeout = 5ms})->code(), errc::unambiguous_timeout);
    EXPECT_EQ(scene.counted(kv_opcode::get), 1);
    scene.clear_faults();
    scene.count_requests(kv_opcode::get);
    const std::uint64_t before = scene.written_to(0);
    const auto kept_away = scene.get(sick, {.timeout = 90ms});
    EXPECT_EQ(labels_of(kept_away->error()).front(), "CIRCUIT_BREAKER_OPEN");
    EXPECT_EQ(scene.written_to(0), before);
    const auto later = scene.get(sick);
    EXPECT_TRUE(later->good()) << later->explain();
}

TEST_F(couchbase_circuit_breaker, node_that_is_busy_for_long_opens_it_too)
{
    VERIFIES_BY_TRAFFIC("CR-056");
    scene.fault(0, kv_opcode::get, proof::status_fault(kv_status::temporary_failure),
                activation::times(5));
    const auto read = start_get(2s);
    ASSERT_TRUE(scene.finish([&] { return read->done(); }));
    EXPECT_TRUE(read->good()) << read->explain();
    EXPECT_GE(read->took(), 100ms) << "the fifth refusal opens it, and then it waits";
    EXPECT_EQ(scene.get(sick)->took(), 2ms);
}

}  // namespace
}  // namespace holdfast::couchbase_circuit_breaker_test
