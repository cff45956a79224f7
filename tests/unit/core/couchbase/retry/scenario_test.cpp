// Whole requests on a virtual clock, as a user would meet them.
#include "core/couchbase/retry/classify_http.hpp"
#include "core/couchbase/retry/classify_kv.hpp"
#include "core/couchbase/retry/health.hpp"
#include "core/couchbase/retry/idempotent.hpp"
#include "core/couchbase/service/query.hpp"
#include "support/verifies.hpp"
#include "unit/core/couchbase/retry/virtual_shell.hpp"

#include <numeric>

namespace holdfast::core::couchbase::scenario_test {
namespace {

using namespace std::chrono_literals;
using namespace testing;
namespace hc = holdfast::couchbase;

/// An answer with a status, as the client will make it: what has no reason never gets to the
/// orchestrator, which here means that it is as good as unknown.
failed_attempt answered(kv_opcode command, kv_status status, const kv_error_map* map = nullptr)
{
    const classification meant = classify_kv(command, status, map);
    return {{endpoint{"node:11210"}, dispatch_phase::answered, {}},
            meant.reason.value_or(retry_reason::unknown),
            meant.as_error()};
}

duration sum(const std::vector<duration>& waits)
{
    return std::accumulate(waits.begin(), waits.end(), duration::zero());
}

TEST(retry_scenario, four_temporary_failures_wait_15_ms_with_best_effort)
{
    VERIFIES("CR-018");
    virtual_clock clock;
    virtual_request request{clock, upsert(best_effort()),
                            failing(4, answered(kv_opcode::upsert, kv_status::temporary_failure))};
    request.start();
    clock.run();
    EXPECT_TRUE(request.succeeded());
    EXPECT_EQ(request.waits, (std::vector<duration>{1ms, 2ms, 4ms, 8ms}));
    EXPECT_EQ(request.ended, 15ms);
}

TEST(retry_scenario, best_effort_retries_until_the_deadline_only)
{
    VERIFIES("CR-020");
    const auto patient = std::make_shared<hc::best_effort_retry_strategy>(
        [](std::uint32_t) { return 1ms; });
    auto of = upsert(patient);
    virtual_clock clock;
    of.deadline = clock.now() + 2500ms;
    virtual_request request{
        clock, of, failing(200, answered(kv_opcode::upsert, kv_status::temporary_failure))};
    request.start();
    clock.run();
    EXPECT_TRUE(request.succeeded());
    EXPECT_EQ(request.request().retry_attempts(), 200u);
    EXPECT_EQ(request.ended, 200ms);
}

TEST(retry_scenario, not_my_vbucket_is_retried_under_every_strategy)
{
    VERIFIES("CR-006");
    VERIFIES("CR-081");
    const std::vector<duration> expected{1ms, 10ms, 50ms, 100ms, 500ms, 1s, 1s, 1s};
    for (const auto& by : {hc::default_retry_strategy(), best_effort(),
                           hc::retry_strategy_ptr{std::make_shared<strict_fail_fast_strategy>()}})
        for (const kv_opcode command :
             {kv_opcode::get, kv_opcode::upsert, kv_opcode::subdoc_multi_lookup}) {
            auto of = is_idempotent(command) ? get(by) : upsert(by);
            virtual_clock clock;
            virtual_request request{clock, of,
                                    failing(8, answered(command, kv_status::not_my_vbucket))};
            request.start();
            clock.run();
            EXPECT_TRUE(request.succeeded());
            EXPECT_EQ(request.waits, expected);
        }
    auto of = upsert(refusing());
    virtual_clock clock;
    of.deadline = clock.now() + 2500ms;
    virtual_request forever{clock, of,
                            always_failing(answered(kv_opcode::upsert, kv_status::not_my_vbucket))};
    forever.start();
    clock.run();
    EXPECT_EQ(forever.ended, 2500ms);
    EXPECT_EQ(forever.error().code(), errc::unambiguous_timeout);
    EXPECT_EQ(forever.error().context("retry_reasons"), "KV_NOT_MY_VBUCKET");
}

TEST(retry_scenario, locked_document_until_the_deadline_is_unambiguous_timeout)
{
    VERIFIES("CR-083");
    auto of = upsert();
    virtual_clock clock;
    of.deadline = clock.now() + 1500ms;
    virtual_request request{clock, of,
                            always_failing(answered(kv_opcode::upsert, kv_status::locked))};
    request.start();
    clock.run();
    EXPECT_EQ(request.ended, 1500ms);
    EXPECT_EQ(sum(request.waits), 1500ms);
    EXPECT_EQ(request.error().code(), errc::unambiguous_timeout);
    EXPECT_EQ(request.error().context("retry_reasons"), "KV_LOCKED");

    // To unlock a document that another client has locked fails at once.
    virtual_request unlock{clock, upsert(), [](std::uint32_t) -> attempt_script {
                               const auto failed = answered(kv_opcode::unlock, kv_status::locked);
                               EXPECT_EQ(failed.reason, retry_reason::unknown);
                               return {0ms, failed};
                           }};
    unlock.start();
    clock.run();
    EXPECT_EQ(unlock.dispatched.size(), 1u);
    EXPECT_EQ(unlock.error().code(), errc::cas_mismatch);
}

/// A request that cannot be sent for as long as a fact stands, and what clears the fact.
struct terminal_row {
    const char* why;
    std::function<void(health&)> sets, clears;
    obstacle what;
    errc code;
    const char* says;
};

class terminal_facts : public ::testing::Test {
protected:
    static constexpr tracker_id node{1};
    const std::vector<terminal_row> rows{
        {"wrong password", [](health& h) { h.sasl_answered(node, kv_status::auth_error); },
         [](health& h) { h.sasl_answered(node, kv_status::success); }, obstacle::node_gone,
         errc::authentication_failure, "credentials"},
        {"rejected certificate", [](health& h) { h.tls_failed(node, "self-signed certificate"); },
         [](health& h) { h.tls_passed(node); }, obstacle::all_sockets_down, errc::generic_failure,
         "self-signed certificate"},
        {"denied bucket", [](health& h) { h.select_bucket_answered("beer", kv_status::no_access); },
         [](health& h) { h.select_bucket_answered("beer", kv_status::success); },
         obstacle::all_sockets_down, errc::generic_failure, "\"beer\""},
        {"missing scope", [](health& h) { h.manifest_fetched("beer"); }, [](health&) {},
         obstacle::scope_not_in_map, errc::scope_not_found, "scope \"belgian\""},
        {"missing collection", [](health& h) { h.manifest_fetched("beer"); }, [](health&) {},
         obstacle::collection_not_in_map, errc::collection_not_found, "collection \"dubbel\""},
    };

    /// Every attempt fails while `blocked`, which is looked at each time.
    static virtual_request::script blocked_by(obstacle what, const health& facts,
                                              const bool& blocked)
    {
        return [=, &facts, &blocked](std::uint32_t) -> attempt_script {
            if (!blocked)
                return {};
            const request_target target{service_type::key_value, "beer", "belgian", "dubbel"};
            return {0ms, dispatch_failed(what, target, facts, endpoint{"node:11210"}, {})};
        };
    }
};

TEST_F(terminal_facts, default_strategy_fails_at_once)
{
    VERIFIES("CR-060");
    for (const terminal_row& row : rows) {
        SCOPED_TRACE(row.why);
        health facts;
        facts.track(node);
        row.sets(facts);
        bool blocked = true;
        virtual_clock clock;
        virtual_request request{clock, upsert(), blocked_by(row.what, facts, blocked)};
        request.start();
        clock.run();
        EXPECT_EQ(request.completions, 1);
        EXPECT_EQ(request.ended, 0ms);
        EXPECT_EQ(request.error().code(), row.code);
        EXPECT_NE(request.error().message().find(row.says), std::string::npos)
            << request.error().message();

        row.clears(facts);
        blocked = false;
        virtual_request again{clock, upsert(), blocked_by(row.what, facts, blocked)};
        again.start();
        clock.run();
        EXPECT_TRUE(again.succeeded());
    }
}

TEST_F(terminal_facts, best_effort_waits_until_the_fact_is_cleared)
{
    VERIFIES("CR-060");
    for (const terminal_row& row : rows) {
        SCOPED_TRACE(row.why);
        health facts;
        facts.track(node);
        row.sets(facts);
        bool blocked = true;
        virtual_clock clock;
        virtual_request request{clock, upsert(best_effort()), blocked_by(row.what, facts, blocked)};
        request.start();
        clock.after(100ms, [&] { blocked = false; });
        clock.run();
        EXPECT_TRUE(request.succeeded());
        EXPECT_EQ(request.ended, 127ms);  // 1 + 2 + 4 ... + 64
    }
}

TEST(retry_scenario, socket_closed_in_flight_retries_get_and_fails_upsert)
{
    VERIFIES("CR-003");
    VERIFIES("CR-055");
    for (const auto& by : {hc::default_retry_strategy(), best_effort()}) {
        const failed_attempt cut = connection_lost(endpoint{"node:11210"}, {}, "reset by peer");
        virtual_clock clock;
        virtual_request read{clock, get(by), failing(1, cut)};
        virtual_request write{clock, upsert(by), failing(1, cut)};
        read.start();
        write.start();
        clock.run();
        EXPECT_TRUE(read.succeeded());
        EXPECT_EQ(read.dispatched.size(), 2u);
        EXPECT_EQ(write.dispatched.size(), 1u);
        EXPECT_EQ(write.error().code(), errc::request_canceled);
        EXPECT_EQ(write.error().context("may_have_been_applied"), "true");
    }
}

TEST(retry_scenario, each_dispatch_phase_has_its_own_retry_rule)
{
    VERIFIES("CR-001");
    VERIFIES("CR-002");
    VERIFIES("CR-005");
    const failed_attempt unsent = dispatch_failed(obstacle::all_sockets_down, {}, {}, {}, {});
    const failed_attempt lost = connection_lost({}, {}, "reset");
    const failed_attempt answer = answered(kv_opcode::get, kv_status::temporary_failure);
    EXPECT_EQ(unsent.attempt.phase, dispatch_phase::not_sent);
    EXPECT_EQ(lost.attempt.phase, dispatch_phase::in_flight);
    EXPECT_EQ(answer.attempt.phase, dispatch_phase::answered);
    struct row { failed_attempt failed; bool write_again; };
    for (const row& r : {row{unsent, true}, row{lost, false}, row{answer, true}}) {
        virtual_clock clock;
        virtual_request read{clock, get(), failing(1, r.failed)};
        virtual_request write{clock, upsert(), failing(1, r.failed)};
        read.start();
        write.start();
        clock.run();
        EXPECT_TRUE(read.succeeded());
        EXPECT_EQ(write.succeeded(), r.write_again);
        if (!r.write_again) {
            EXPECT_EQ(write.error().history()[0].phase, r.failed.attempt.phase);
        }
    }
}

TEST(retry_scenario, answered_error_is_retried_only_if_server_state_is_unchanged)
{
    VERIFIES("CR-004");
    struct row { const char* category; kv_opcode command; kv_status status; bool again; };
    const row table[] = {
        {"permanent", kv_opcode::upsert, kv_status::durability_invalid_level, false},
        {"unknown code", kv_opcode::upsert, static_cast<kv_status>(0x7fee), false},
        {"domain context", kv_opcode::upsert, kv_status::temporary_failure, true},
        {"domain context", kv_opcode::upsert, kv_status::locked, true},
        {"application context", kv_opcode::replace, kv_status::not_found, false},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.category);
        virtual_clock clock;
        virtual_request request{clock, upsert(), failing(1, answered(r.command, r.status))};
        request.start();
        clock.run();
        EXPECT_EQ(request.succeeded(), r.again);
    }
}

TEST(retry_scenario, unanswered_mutation_gives_ambiguous_timeout)
{
    auto write = upsert(), read = get();
    virtual_clock clock;
    write.deadline = read.deadline = clock.now() + 2500ms;
    const auto silent = [](std::uint32_t) { return attempt_script{std::nullopt}; };
    virtual_request lost{clock, write, silent}, harmless{clock, read, silent};
    lost.start();
    harmless.start();
    clock.run();
    EXPECT_EQ(lost.error().code(), errc::ambiguous_timeout);
    EXPECT_EQ(lost.ended, 2500ms);
    EXPECT_EQ(harmless.error().code(), errc::unambiguous_timeout);
}

TEST(retry_scenario, retry_does_not_block_a_later_request_on_the_same_key)
{
    VERIFIES("CR-007");
    virtual_clock clock;
    virtual_request first{clock, upsert(), failing(3, failed_by(retry_reason::kv_not_my_vbucket))};
    virtual_request second{clock, upsert(), failing(0, failed_by(retry_reason::unknown))};
    first.start();
    second.start();
    clock.run();
    EXPECT_EQ(first.ended, 61ms);
    EXPECT_EQ(second.ended, 0ms);
}

TEST(retry_scenario, error_map_decides_retry_but_not_the_backoff)
{
    VERIFIES("CR-071");
    VERIFIES("CR-072");
    VERIFIES("CR-073");
    const auto map = kv_error_map::parse(R"({"version": 2, "revision": 1, "errors": {
        "7ff0": {"name": "LATER", "desc": "d", "attrs": ["retry-later"], "retry": {
            "strategy": "constant", "interval": 5000, "after": 5000, "max-duration": 9000}},
        "7ff1": {"name": "AUTO", "desc": "d", "attrs": ["temp", "auto-retry"]},
        "7ff2": {"name": "NEVER", "desc": "d", "attrs": ["temp"]}}})");
    ASSERT_TRUE(map);
    const auto spy = constant(3ms);
    const auto run = [&](std::uint16_t status) {
        virtual_clock clock;
        const auto failed = answered(kv_opcode::upsert, static_cast<kv_status>(status), &*map);
        virtual_request request{clock, upsert(spy), failing(2, failed)};
        request.start();
        clock.run();
        return std::pair{request.succeeded(), request.waits};
    };
    EXPECT_EQ(run(0x7ff0), (std::pair{true, std::vector<duration>{3ms, 3ms}}));
    EXPECT_EQ(spy->calls, 2);
    EXPECT_EQ(run(0x7ff1), (std::pair{true, std::vector<duration>{3ms, 3ms}}));
    EXPECT_EQ(spy->calls, 4);
    EXPECT_EQ(run(0x7ff2), (std::pair{false, std::vector<duration>{}}));
    EXPECT_EQ(spy->calls, 4);
}

TEST(retry_scenario, upsert_is_retried_when_the_error_map_says_retry)
{
    VERIFIES("CR-054");
    VERIFIES("CR-057");
    for (const retry_reason reason : {retry_reason::kv_error_map_retry_indicated,
                                      retry_reason::service_response_code_indicated}) {
        virtual_clock clock;
        virtual_request request{clock, upsert(best_effort()), failing(2, failed_by(reason))};
        request.start();
        clock.run();
        EXPECT_TRUE(request.succeeded());
        EXPECT_EQ(request.asked, (std::vector{reason, reason}));
    }
}

TEST(retry_scenario, prepared_statement_failure_is_retried_a_bounded_number_of_times)
{
    const std::string body = R"({"errors":[{"code":4040,"msg":"No such prepared statement: x"}]})";
    query_run run{true, true};
    std::vector<query_form> forms;
    virtual_clock clock;
    virtual_request request{clock, upsert(best_effort()), [&](std::uint32_t) {
                                forms.push_back(run.next(nullptr));
                                const classification meant = classify_query(
                                    body, {.prepared_failures = run.prepared_failures()});
                                run.plan_was_refused();
                                failed_attempt failed = failed_by(
                                    meant.reason.value_or(retry_reason::unknown));
                                failed.cause = meant.as_error();
                                return attempt_script{0ms, failed};
                            }};
    request.start();
    clock.run();
    std::vector<query_form> expected(4, query_form::prepare_and_execute);
    expected.push_back(query_form::plain);
    EXPECT_EQ(forms, expected);
    EXPECT_EQ(request.error().code(), errc::prepared_statement_failure);
}

}  // namespace
}  // namespace holdfast::core::couchbase::scenario_test
