// The retry rules, proven by what goes over the wire.
#include "client/couchbase/kv_scene.hpp"
#include "client/couchbase/retry_support.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/verifies.hpp"

#include <chrono>

namespace holdfast::couchbase_retry_traffic_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_opcode;
using core::couchbase::kv_status;
using couchbase::errc;
using couchbase::retry_reason;
using lab::activation;
using lab::couchbase::kv_fault;
using proof::cut_fault;
using proof::kv_scene;
using proof::labels_of;
using proof::refusing_strategy;
using proof::status_fault;
using proof::use_awaitable;

class couchbase_retries : public ::testing::Test {
protected:
    void open(couchbase::cluster_options options = {})
    {
        scene.connect(std::move(options));
        scene.warm_up();
    }
    kv_scene scene;
};

TEST_F(couchbase_retries, vbucket_that_is_refused_waits_by_the_fixed_steps_without_a_strategy)
{
    VERIFIES_BY_TRAFFIC("CR-052");
    VERIFIES_BY_TRAFFIC("CR-067");
    VERIFIES_BY_TRAFFIC("CR-081");
    const auto strategy = std::make_shared<refusing_strategy>();
    couchbase::cluster_options options;
    options.strategy = strategy;
    open(options);
    const std::vector<duration> steps{1ms, 10ms, 50ms, 100ms, 500ms, 1000ms, 1000ms, 1000ms};
    for (std::size_t refusals = 0; refusals <= steps.size(); ++refusals) {
        if (refusals != 0)
            scene.fault(0, kv_opcode::get, status_fault(kv_status::not_my_vbucket),
                        activation::times(static_cast<std::int64_t>(refusals)));
        const auto one = scene.get("warm1", {.timeout = 10s});
        ASSERT_TRUE(one->good()) << one->explain();
        duration expected = 2ms;
        for (std::size_t n = 0; n != refusals; ++n)
            expected += steps[n] + 2ms;
        EXPECT_EQ(one->took(), expected) << refusals;
    }
    EXPECT_EQ(strategy->asked, 0);
}

TEST_F(couchbase_retries, vbucket_that_is_refused_for_ever_ends_with_an_unambiguous_timeout)
{
    VERIFIES_BY_TRAFFIC("CR-006");
    VERIFIES_BY_TRAFFIC("CR-063");
    const auto strategy = std::make_shared<refusing_strategy>();
    couchbase::cluster_options options;
    options.strategy = strategy;
    open(options);
    scene.fault(0, kv_opcode::upsert, status_fault(kv_status::not_my_vbucket),
                activation::always());
    scene.count_requests(kv_opcode::upsert);
    const auto late = scene.upsert("a", "{}", {.timeout = 2500ms});
    EXPECT_EQ(late->code(), errc::unambiguous_timeout) << late->explain();
    EXPECT_EQ(late->took(), 2500ms);
    EXPECT_EQ(late->error().context("may_have_been_applied"), "false");
    EXPECT_EQ(labels_of(late->error()), std::vector<std::string>(7, "KV_NOT_MY_VBUCKET"));
    EXPECT_EQ(scene.counted(kv_opcode::upsert), 7) << "the last at 1,673 ms";
    EXPECT_EQ(strategy->asked, 0);
}

TEST_F(couchbase_retries, four_temporary_failures_cost_fifteen_milliseconds)
{
    VERIFIES_BY_TRAFFIC("CR-023");
    VERIFIES_BY_TRAFFIC("CR-084");
    open();
    scene.fault(0, kv_opcode::upsert, status_fault(kv_status::temporary_failure),
                activation::times(4));
    scene.count_requests(kv_opcode::upsert);
    const auto one = scene.upsert("a", "{}");
    ASSERT_TRUE(one->good()) << one->explain();
    EXPECT_EQ(one->took(), 15ms + 5 * 2ms);
    EXPECT_EQ(scene.counted(kv_opcode::upsert), 5);
}

TEST_F(couchbase_retries, two_hundred_retries_with_a_calculator_of_its_own_succeed)
{
    VERIFIES_BY_TRAFFIC("CR-020");
    VERIFIES_BY_TRAFFIC("CR-024");
    couchbase::cluster_options options;
    options.strategy = std::make_shared<couchbase::best_effort_retry_strategy>(
        [](std::uint32_t) -> duration { return 1ms; });
    open(options);
    scene.fault(0, kv_opcode::get, status_fault(kv_status::temporary_failure),
                activation::times(200));
    const auto one = scene.get("warm1");
    ASSERT_TRUE(one->good()) << one->explain();
    EXPECT_EQ(one->took(), 200 * 1ms + 201 * 2ms);
}

TEST_F(couchbase_retries, locked_document_ends_with_an_unambiguous_timeout)
{
    VERIFIES_BY_TRAFFIC("CR-058");
    VERIFIES_BY_TRAFFIC("CR-083");
    open();
    scene.fault(0, kv_opcode::upsert, status_fault(kv_status::locked), activation::always());
    const auto late = scene.upsert("a", "{}", {.timeout = 1s});
    EXPECT_EQ(late->code(), errc::unambiguous_timeout) << late->explain();
    EXPECT_EQ(late->took(), 1s);
    EXPECT_GE(late->error().history().size(), 5u);
    EXPECT_EQ(late->error().context("may_have_been_applied"), "false");
}

TEST_F(couchbase_retries,
       later_operation_on_the_same_document_finishes_first_if_the_first_is_refused)
{
    VERIFIES_BY_TRAFFIC("CR-007");
    open();
    scene.fault(0, kv_opcode::upsert, status_fault(kv_status::locked), activation::times(3));
    const couchbase::raw_json first{"1"};
    const couchbase::raw_json second{"2"};
    const auto waits = scene.start(scene.documents().upsert("a", first, {}, use_awaitable));
    scene.simulation.run_for(10ms);
    const auto overtakes = scene.run(scene.documents().upsert("a", second, {}, use_awaitable));
    EXPECT_TRUE(overtakes->good());
    EXPECT_EQ(overtakes->took(), 2ms) << "it waits for no other";
    EXPECT_FALSE(waits->done());
    ASSERT_TRUE(scene.finish([&] { return waits->done(); }));
    EXPECT_TRUE(waits->good());
    const auto read = scene.get("a");
    ASSERT_TRUE(read->good());
    EXPECT_EQ((*read->outcome)->content, first) << "begun first, applied last";
}

TEST_F(couchbase_retries, unknown_status_is_one_request_on_the_wire)
{
    VERIFIES_BY_TRAFFIC("CR-048");
    VERIFIES_BY_TRAFFIC("CR-072");
    open();
    for (const kv_opcode opcode : {kv_opcode::get, kv_opcode::upsert}) {
        scene.count_requests(opcode);
        scene.fault(0, opcode, status_fault(kv_status{0x7abc}), activation::always());
    }
    const auto read = scene.get("a");
    EXPECT_EQ(read->code(), errc::generic_failure) << read->explain();
    EXPECT_EQ(read->took(), 2ms);
    EXPECT_EQ(scene.upsert("a", "{}")->code(), errc::generic_failure);
    EXPECT_EQ(scene.counted(kv_opcode::get), 1);
    EXPECT_EQ(scene.counted(kv_opcode::upsert), 1);
}

TEST_F(couchbase_retries, get_survives_a_cut_and_upsert_is_reported_in_doubt)
{
    VERIFIES_BY_TRAFFIC("CR-003");
    VERIFIES_BY_TRAFFIC("CR-022");
    VERIFIES_BY_TRAFFIC("CR-055");
    open();
    scene.fault(0, kv_opcode::get, cut_fault(), activation::times(1));
    const auto read = scene.get("warm1");
    ASSERT_TRUE(read->good()) << read->explain();
    EXPECT_LT(read->took(), 100ms);
    scene.simulation.run_for(2s);

    scene.fault(0, kv_opcode::upsert, cut_fault(), activation::times(1));
    scene.count_requests(kv_opcode::upsert);
    const auto lost = scene.upsert("a", "{}");
    EXPECT_EQ(lost->code(), errc::request_canceled) << lost->explain();
    EXPECT_LT(lost->took(), 50ms);
    EXPECT_EQ(lost->error().context("may_have_been_applied"), "true");
    ASSERT_EQ(lost->error().history().size(), 1u);
    EXPECT_EQ(lost->error().history()[0].phase, dispatch_phase::in_flight);
    EXPECT_EQ(labels_of(lost->error()).front(), "SOCKET_CLOSED_WHILE_IN_FLIGHT");
    scene.simulation.run_for(1s);
    EXPECT_EQ(scene.counted(kv_opcode::upsert), 1) << "never sent again";
}

TEST_F(couchbase_retries, reply_that_is_cut_in_the_middle_is_no_answer)
{
    VERIFIES_BY_TRAFFIC("CR-001");
    open();
    kv_fault half;
    half.cut_reply_at = 30;
    scene.fault(0, kv_opcode::upsert, half, activation::times(1));
    const auto lost = scene.upsert("a", R"({"n":1})");
    EXPECT_EQ(lost->code(), errc::request_canceled) << lost->explain();
    EXPECT_EQ(lost->error().history()[0].phase, dispatch_phase::in_flight);
    scene.simulation.run_for(2s);
    const auto read = scene.get("a");
    ASSERT_TRUE(read->good()) << "it was carried out";
    scene.fault(0, kv_opcode::get, half, activation::times(1));
    EXPECT_TRUE(scene.get("a")->good());
}

TEST_F(couchbase_retries, request_without_a_connection_is_not_sent_and_retried_whatever_it_is)
{
    VERIFIES_BY_TRAFFIC("CR-002");
    VERIFIES_BY_TRAFFIC("CR-049");
    open();
    scene.simulation.reset_connections(scene.app, scene.host_of(0));
    kv_fault refused = cut_fault();
    scene.fault(0, kv_opcode::hello, refused, activation::times(3));
    scene.simulation.run_for(1ms);
    const auto one = scene.upsert("a", "{}");
    EXPECT_TRUE(one->good()) << one->explain();
    EXPECT_LT(one->took(), 500ms);
    scene.fault(0, kv_opcode::hello, refused, activation::always());
    scene.simulation.reset_connections(scene.app, scene.host_of(0));
    scene.simulation.run_for(1ms);
    const auto late = scene.upsert("a", "{}", {.timeout = 500ms});
    EXPECT_EQ(late->code(), errc::unambiguous_timeout) << late->explain();
    EXPECT_EQ(late->took(), 500ms);
    EXPECT_EQ(labels_of(late->error()).front(), "SOCKET_NOT_AVAILABLE");
    EXPECT_EQ(late->error().history()[0].phase, dispatch_phase::not_sent);
}

TEST_F(couchbase_retries, timeout_of_a_request_in_flight_is_ambiguous_for_changes_only)
{
    open();
    kv_fault silent;
    silent.silent = true;
    for (const kv_opcode opcode : {kv_opcode::get, kv_opcode::upsert})
        scene.fault(0, opcode, silent, activation::times(1));
    const auto read = scene.get("a", {.timeout = 100ms});
    EXPECT_EQ(read->code(), errc::unambiguous_timeout);
    EXPECT_EQ(read->took(), 100ms);
    const auto written = scene.upsert("a", "{}", {.timeout = 100ms});
    EXPECT_EQ(written->code(), errc::ambiguous_timeout) << written->explain();
    EXPECT_EQ(written->error().context("may_have_been_applied"), "true");
}

TEST_F(couchbase_retries, wait_is_capped_by_the_deadline_and_no_frame_leaves_after_it)
{
    VERIFIES_BY_TRAFFIC("CR-068");
    VERIFIES_BY_TRAFFIC("CR-069");
    couchbase::cluster_options options;
    options.strategy = std::make_shared<couchbase::best_effort_retry_strategy>(
        [](std::uint32_t) -> duration { return 1s; });
    open(options);
    scene.fault(0, kv_opcode::get, status_fault(kv_status::temporary_failure),
                activation::always());
    scene.count_requests(kv_opcode::get);
    const auto late = scene.get("a", {.timeout = 2500ms});
    EXPECT_EQ(late->code(), errc::unambiguous_timeout);
    EXPECT_EQ(late->took(), 2500ms);
    EXPECT_EQ(scene.counted(kv_opcode::get), 3);
    ASSERT_EQ(late->error().history().size(), 3u);
    EXPECT_EQ(late->error().history()[2].waited, 2500ms - 2 * 1002ms - 2ms);
    scene.simulation.run_for(5s);
    EXPECT_EQ(scene.counted(kv_opcode::get), 3);
}

TEST_F(couchbase_retries, server_without_proof_fails_operations_at_once)
{
    VERIFIES_BY_TRAFFIC("CR-039");
    kv_fault bare = status_fault(kv_status::success);
    scene.fault(0, kv_opcode::sasl_step, bare, activation::always());
    scene.count_requests(kv_opcode::get);
    scene.connect();
    const auto refused = scene.get("a");
    EXPECT_EQ(refused->code(), errc::authentication_failure) << refused->explain();
    EXPECT_LT(refused->took(), 100ms);
    kv_fault wrong = bare;
    wrong.body = "v=AAAA";
    scene.clear_faults();
    scene.fault(0, kv_opcode::sasl_step, wrong, activation::always());
    scene.simulation.run_for(2s);
    EXPECT_EQ(scene.get("a")->code(), errc::authentication_failure);
    EXPECT_EQ(scene.counted(kv_opcode::get), 0);
}

TEST_F(couchbase_retries, login_that_breaks_off_is_no_authentication_error)
{
    VERIFIES_BY_TRAFFIC("CR-032");
    scene.fault(0, kv_opcode::sasl_auth, cut_fault(), activation::always());
    scene.connect();
    const auto late = scene.get("a", {.timeout = 300ms});
    EXPECT_EQ(late->code(), errc::unambiguous_timeout) << late->explain();
    EXPECT_EQ(late->took(), 300ms);
}

TEST_F(couchbase_retries, stale_login_replaces_the_connection_and_the_operation_goes_on)
{
    VERIFIES_BY_TRAFFIC("CR-046");
    open();
    scene.fault(0, kv_opcode::upsert, status_fault(kv_status::auth_stale), activation::times(1));
    const auto one = scene.upsert("a", "{}");
    EXPECT_TRUE(one->good()) << one->explain();
    EXPECT_LT(one->took(), 100ms);
}

}  // namespace
}  // namespace holdfast::couchbase_retry_traffic_test
