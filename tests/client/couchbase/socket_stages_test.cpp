// How far a request had come when it failed, and what follows: on sockets, with faults on both
// sides of the moment in which the server carries it out.
#include "client/couchbase/socket_scene.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/verifies.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace holdfast::couchbase_socket_stages_test {
namespace {

using namespace std::chrono_literals;
using core::couchbase::kv_status;
using couchbase::errc;
using proof::answer_with;
using proof::reasons_of;
using proof::use_awaitable;

/// Counts the retries of all requests.
class retry_counter final : public couchbase::event_listener {
public:
    void on(const couchbase::request_retried& what) override { scheduled += what.scheduled; }
    int scheduled = 0;  // the loop has one thread
};

class couchbase_socket_stages : public ::testing::Test {
protected:
    couchbase_socket_stages() { open(); }
    void open(couchbase::cluster_options options = {})
    {
        options.listeners = {retries};
        scene.connect(std::move(options));
        scene.warm_up();
    }
    bool is_connected() const
    {
        for (const auto& one : scene.client->diagnostics().key_value) {
            if (one.bucket == "travel" && one.state == couchbase::endpoint_state::connected)
                return true;
        }
        return false;
    }
    /// The node's process ends, and the client has seen it.
    void crash()
    {
        ASSERT_TRUE(scene.lab.crash(0));
        ASSERT_TRUE(scene.finish([&] { return !is_connected(); }));
    }

    std::shared_ptr<retry_counter> retries = std::make_shared<retry_counter>();
    proof::socket_scene scene{{}};
};

TEST_F(couchbase_socket_stages, request_that_was_not_sent_is_retried_whatever_it_is)
{
    VERIFIES_BY_TRAFFIC("CR-001");
    VERIFIES_BY_TRAFFIC("CR-002");
    VERIFIES_BY_TRAFFIC("CR-049");
    crash();
    const auto late = scene.upsert("a", "{}", {.timeout = 100ms});
    EXPECT_EQ(late->code(), errc::unambiguous_timeout) << late->explain();
    EXPECT_EQ(late->error().context("may_have_been_applied"), "false");
    ASSERT_FALSE(late->error().history().empty());
    EXPECT_EQ(late->error().history()[0].phase, dispatch_phase::not_sent);
    EXPECT_EQ(reasons_of(late->error()).front(), "SOCKET_NOT_AVAILABLE");

    const couchbase::raw_json content{"{}"};
    const auto waits = scene.start(
        scene.documents().upsert("a", content, {.timeout = 10s}, use_awaitable));
    const auto reads = scene.start(scene.documents().get("warm1", {.timeout = 10s}, use_awaitable));
    const int before = retries->scheduled;
    ASSERT_TRUE(scene.finish([&] { return retries->scheduled >= before + 2; }));
    EXPECT_FALSE(waits->done());
    ASSERT_TRUE(scene.lab.restart(0));
    ASSERT_TRUE(scene.finish([&] { return waits->done() && reads->done(); }));
    EXPECT_TRUE(waits->good()) << waits->explain();
    EXPECT_TRUE(reads->good()) << reads->explain();
}

struct stage_row {
    const char* name;
    lab::couchbase_fault fault;
    dispatch_phase phase;
    bool carried_out;  // an upsert that fails
    std::string id;
};

TEST_F(couchbase_socket_stages, request_in_flight_is_retried_if_it_is_idempotent)
{
    const std::vector<stage_row> rows{
        {"before it is carried out", proof::cut_before(1), dispatch_phase::in_flight, false,
         "CR-003"},
        {"before the reply", proof::cut_after(0, 1), dispatch_phase::in_flight, true, "CR-022"},
        {"in the reply's header", proof::cut_after(10, 1), dispatch_phase::in_flight, true,
         "CR-005"},
        {"in the reply's body", proof::cut_after(30, 1), dispatch_phase::in_flight, true, "CR-055"},
    };
    for (const stage_row& row : rows) {
        VERIFIES_ROW_BY_TRAFFIC(row.id);
        SCOPED_TRACE(row.name);
        const std::string id = std::string{"new "} + row.name;
        scene.count("upsert");
        scene.fault("upsert", row.fault);
        const auto lost = scene.upsert(id, R"({"a":"long enough for a reply to be cut"})");
        EXPECT_EQ(lost->code(), errc::request_canceled) << lost->explain();
        EXPECT_EQ(lost->error().context("may_have_been_applied"), "true");
        ASSERT_EQ(lost->error().history().size(), 1u);
        EXPECT_EQ(lost->error().history()[0].phase, row.phase);
        EXPECT_TRUE(lost->error().history()[0].possibly_applied);

        scene.fault("get", row.fault);
        const auto read = scene.get("warm1");
        EXPECT_TRUE(read->good()) << read->explain();
        EXPECT_EQ(scene.hits("get"), 1);
        EXPECT_EQ(scene.get(id)->good(), row.carried_out);
        EXPECT_EQ(scene.arrived("upsert"), 1) << "an upsert is never sent again";
    }
}

TEST_F(couchbase_socket_stages, refusal_is_an_answer_and_retried_if_it_is_listed)
{
    VERIFIES_BY_TRAFFIC("CR-001");
    VERIFIES_BY_TRAFFIC("CR-004");
    VERIFIES_BY_TRAFFIC("CR-005");
    scene.count("upsert");
    scene.fault("upsert", answer_with(kv_status::temporary_failure, 2));
    EXPECT_TRUE(scene.upsert("a", "{}")->good());
    EXPECT_EQ(scene.arrived("upsert"), 3);
    scene.fault("get", answer_with(kv_status::temporary_failure, 2));
    EXPECT_TRUE(scene.get("a")->good());
    scene.count("upsert");
    scene.fault("upsert", answer_with(kv_status::too_big));
    const auto refused = scene.upsert("a", "{}");
    EXPECT_EQ(refused->code(), errc::value_too_large);
    ASSERT_EQ(refused->error().history().size(), 1u);
    EXPECT_EQ(refused->error().history()[0].phase, dispatch_phase::answered);
    EXPECT_EQ(refused->error().context("may_have_been_applied"), "false");
    EXPECT_EQ(scene.arrived("upsert"), 1);
}

TEST_F(couchbase_socket_stages, later_operation_on_a_locked_document_may_finish_first)
{
    VERIFIES_BY_TRAFFIC("CR-007");
    const auto locked = scene.run(scene.documents().get_and_lock("warm1", 25s, {}, use_awaitable));
    ASSERT_TRUE(locked->good()) << locked->explain();
    scene.count("upsert");
    const couchbase::raw_json content{"2"};
    const auto waits = scene.start(
        scene.documents().upsert("warm1", content, {.timeout = 10s}, use_awaitable));
    ASSERT_TRUE(scene.finish([&] { return scene.arrived("upsert") >= 2; }));
    EXPECT_TRUE(scene.get("warm1")->good());
    EXPECT_FALSE(waits->done());
    const auto cas = (*locked->outcome)->cas;
    EXPECT_TRUE(scene.run(scene.documents().unlock("warm1", cas, {}, use_awaitable))->good());
    ASSERT_TRUE(scene.finish([&] { return waits->done(); }));
    EXPECT_TRUE(waits->good()) << waits->explain();
}

TEST_F(couchbase_socket_stages, silence_ends_in_a_timeout_that_is_ambiguous_for_changes)
{
    scene.fault("get", proof::no_reply(1));
    scene.fault("upsert", proof::no_reply(1));
    const auto read = scene.get("warm1", {.timeout = 50ms});
    EXPECT_EQ(read->code(), errc::unambiguous_timeout) << read->explain();
    const auto written = scene.upsert("a", "{}", {.timeout = 50ms});
    EXPECT_EQ(written->code(), errc::ambiguous_timeout) << written->explain();
    EXPECT_EQ(written->error().context("may_have_been_applied"), "true");
    EXPECT_GE(written->took(), 50ms);
    EXPECT_TRUE(scene.get("a")->good()) << "it was applied indeed, and the connection is in use";
}

/// Counters, each increased once while their connection is cut at one of them.
TEST_F(couchbase_socket_stages, increments_in_flight_of_a_cut_are_applied_once_at_most)
{
    VERIFIES_BY_TRAFFIC("CR-003");
    constexpr int in_flight = 16;
    const std::vector<lab::couchbase_fault> cuts{proof::cut_before(1), proof::cut_after(0, 1),
                                                 proof::cut_after(20, 1)};
    int round = 0;
    for (lab::couchbase_fault cut : cuts) {
        for (const std::int64_t skip : {0, 7, 15}) {
            cut.skip = skip;
            scene.fault("increment", cut);
            const std::string prefix = "n" + std::to_string(++round) + "_";
            std::vector<proof::kv_run<couchbase::counter_result>> all;
            for (int n = 0; n != in_flight; ++n)
                all.push_back(scene.start(scene.documents().increment(
                    prefix + std::to_string(n), {.initial = 1}, use_awaitable)));
            const auto read = scene.start(scene.documents().get("warm1", {}, use_awaitable));
            ASSERT_TRUE(scene.finish([&] {
                return read->done() &&
                       std::ranges::all_of(all, [](const auto& one) { return one->done(); });
            }));
            EXPECT_TRUE(read->good()) << read->explain();
            for (int n = 0; n != in_flight; ++n) {
                const auto& one = all[static_cast<std::size_t>(n)];
                const auto is = scene.run(scene.documents().increment(
                    prefix + std::to_string(n), {.delta = 0, .initial = 0}, use_awaitable));
                ASSERT_TRUE(is->good()) << is->explain();
                const std::uint64_t applied = (*is->outcome)->value;
                EXPECT_LE(applied, 1u) << n;
                if (one->good())
                    EXPECT_EQ(applied, 1u) << n;
                else
                    EXPECT_EQ(one->error().context("may_have_been_applied"), "true")
                        << one->explain();
            }
        }
    }
}

TEST_F(couchbase_socket_stages, unknown_status_is_one_request_on_the_wire)
{
    VERIFIES_BY_TRAFFIC("CR-048");
    VERIFIES_BY_TRAFFIC("CR-072");
    for (const std::string operation : {"get", "upsert"}) {
        scene.count(operation);
        scene.fault(operation, answer_with(kv_status{0x7abc}));
    }
    const auto read = scene.get("warm1");
    EXPECT_EQ(read->code(), errc::generic_failure) << read->explain();
    EXPECT_NE(read->error().message().find("0x7abc"), std::string::npos);
    EXPECT_EQ(scene.upsert("a", "{}")->code(), errc::generic_failure);
    EXPECT_EQ(scene.arrived("get"), 1);
    EXPECT_EQ(scene.arrived("upsert"), 1);
}

TEST_F(couchbase_socket_stages, error_map_decides_on_statuses_that_are_not_known)
{
    VERIFIES_BY_TRAFFIC("CR-054");
    VERIFIES_BY_TRAFFIC("CR-071");
    VERIFIES_BY_TRAFFIC("CR-073");
    scene.command(R"(error-map all {"version":2,"revision":9,"errors":{)"
                  R"("7ff0":{"name":"LATER","desc":"d","attrs":["retry-later"],)"
                  R"("retry":{"strategy":"constant","interval":5000,"max-duration":1}},)"
                  R"("7ff1":{"name":"NOW","desc":"d","attrs":["retry-now"]},)"
                  R"("7ff2":{"name":"NO","desc":"d","attrs":["item-only"]},)"
                  R"("86":{"name":"TMPFAIL","desc":"d","attrs":["item-only"]}}})");
    open();
    for (const int status : {0x7ff0, 0x7ff1}) {
        scene.count("upsert");
        scene.fault("upsert", answer_with(static_cast<kv_status>(status), 3));
        const auto retried = scene.upsert("a", "{}");
        EXPECT_TRUE(retried->good()) << retried->explain();
        EXPECT_EQ(scene.arrived("upsert"), 4);
        EXPECT_GE(retried->took(), 7ms) << "1 + 2 + 4: the strategy's waits";
        EXPECT_LT(retried->took(), 2500ms) << "and not those of the map";
    }
    scene.fault("upsert", answer_with(static_cast<kv_status>(0x7ff2), 1));
    const auto refused = scene.upsert("a", "{}");
    EXPECT_EQ(refused->code(), errc::generic_failure);
    EXPECT_NE(refused->error().message().find("NO"), std::string::npos);
    scene.fault("upsert", answer_with(kv_status::temporary_failure, 1));
    EXPECT_TRUE(scene.upsert("a", "{}")->good()) << "a known status is not looked up";
}

TEST_F(couchbase_socket_stages, error_map_of_the_first_version_is_understood)
{
    VERIFIES_BY_TRAFFIC("CR-070");
    scene.command(R"(error-map all {"version":1,"revision":4,"errors":{)"
                  R"("7ff0":{"name":"OLD","desc":"d","attrs":["temp","auto-retry"]}}})");
    open();
    scene.fault("get", answer_with(static_cast<kv_status>(0x7ff0), 2));
    const auto retried = scene.get("warm1");
    EXPECT_TRUE(retried->good()) << retried->explain();
    EXPECT_EQ(scene.hits("get"), 2);
}

}  // namespace
}  // namespace holdfast::couchbase_socket_stages_test
