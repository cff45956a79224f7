#include "core/couchbase/retry/orchestrator.hpp"

#include "support/verifies.hpp"
#include "unit/core/couchbase/retry/virtual_shell.hpp"

namespace holdfast::core::couchbase::orchestrator_test {
namespace {

using namespace std::chrono_literals;
using namespace testing;
using stage = retry_state::stage;

retry_request::settings until(retry_request::settings of, time_point deadline)
{
    of.deadline = deadline;
    return of;
}

TEST(orchestrator, always_retry_reasons_use_controlled_backoff)
{
    VERIFIES("CR-067");
    struct row { std::uint32_t made; duration wait; };
    const row table[] = {
        {0, 1ms},   {1, 10ms},    {2, 50ms},         {3, 100ms},
        {4, 500ms}, {5, 1'000ms}, {6, 1'000ms}, {70'000, 1'000ms},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.made);
        retry_state state = begun(upsert(refusing()));
        for (std::uint32_t i = 0; i < r.made; ++i)
            state.request.increment_retry_attempts(retry_reason::kv_locked);
        const auto step = maybe_retry(state, failed_by(retry_reason::kv_not_my_vbucket), {});
        ASSERT_TRUE(std::holds_alternative<retry_after>(step.next));
        EXPECT_EQ(std::get<retry_after>(step.next).wait, r.wait);
        EXPECT_EQ(step.state.request.retry_attempts(), r.made + 1);
    }
}

TEST(orchestrator, always_retry_reasons_bypass_the_strategy)
{
    VERIFIES("CR-063");
    struct row { const char* id; retry_reason reason; };
    const row table[] = {
        {"CR-052", retry_reason::kv_not_my_vbucket},
        {"CR-053", retry_reason::kv_collection_outdated},
        {"CR-059", retry_reason::views_no_active_partition},
    };
    for (const row& r : table) {
        VERIFIES_ROW(r.id);
        const auto spy = refusing();
        virtual_clock clock;
        virtual_request request{clock, upsert(spy), failing(3, failed_by(r.reason))};
        request.start();
        clock.run();
        EXPECT_TRUE(request.succeeded());
        EXPECT_EQ(spy->calls, 0);
        EXPECT_EQ(request.waits, (std::vector<duration>{1ms, 10ms, 50ms}));
        EXPECT_EQ(request.request().retry_attempts(), 3u);
        ASSERT_EQ(request.events.size(), 3u);
        for (const retry_event& event : request.events)
            EXPECT_EQ(event.what, retry_event::kind::scheduled);
    }
}

TEST(orchestrator, strategy_is_asked_about_all_other_reasons_but_unknown)
{
    for (const auto& row : holdfast::couchbase::retry_reason_table) {
        SCOPED_TRACE(row.name);
        const auto step = maybe_retry(begun(get()), failed_by(row.reason), {});
        const bool asks = !row.always_retry && row.reason != retry_reason::unknown;
        EXPECT_EQ(std::holds_alternative<ask_strategy>(step.next), asks);
        EXPECT_FALSE(asks && step.event);  // nothing is decided yet
        EXPECT_EQ(step.state.request.retry_attempts(), row.always_retry ? 1u : 0u);
    }
}

TEST(orchestrator, strategy_wait_is_counted_logged_capped_and_scheduled)
{
    VERIFIES("CR-064");
    const auto asked = maybe_retry(begun(until(upsert(), time_point{2500ms})),
                                   failed_by(retry_reason::kv_locked), time_point{2s});
    ASSERT_TRUE(std::holds_alternative<ask_strategy>(asked.next));
    EXPECT_EQ(std::get<ask_strategy>(asked.next).reason, retry_reason::kv_locked);
    EXPECT_EQ(asked.state.where, stage::asking);

    const auto step = with_answer(asked.state, retry_action::with_duration(200ms),
                                  time_point{2100ms});
    ASSERT_TRUE(std::holds_alternative<retry_after>(step.next));
    EXPECT_EQ(std::get<retry_after>(step.next).wait, 200ms);
    EXPECT_EQ(step.state.where, stage::waiting);
    EXPECT_FALSE(step.state.pending);
    ASSERT_TRUE(step.event);
    EXPECT_EQ(step.event->what, retry_event::kind::scheduled);
    EXPECT_EQ(step.event->reason, retry_reason::kv_locked);
    EXPECT_EQ(step.event->attempts, 1u);  // counted first, then logged
    EXPECT_EQ(step.event->wait, 200ms);
    const auto log = step.state.log.entries();
    ASSERT_EQ(log.size(), 1u);
    EXPECT_EQ(log[0].waited, 200ms);
    EXPECT_EQ(log[0].cause, errc::document_locked);
    EXPECT_EQ(log[0].labels, std::vector<std::string>{"KV_LOCKED"});
    EXPECT_EQ(log[0].decision, "retried by the strategy, after 200 ms");
    EXPECT_EQ(log[0].phase, dispatch_phase::answered);
}

TEST(orchestrator, wait_is_capped_by_the_deadline_on_both_paths)
{
    VERIFIES("CR-068");
    struct row { duration left; duration wanted; duration wait; bool times_out; };
    const row table[] = {
        {500ms, 1s, 500ms, true},     {500ms, 499ms, 499ms, false}, {500ms, 500ms, 500ms, true},
        {500ms, 501ms, 500ms, true},  {0ms, 1ms, 0ms, true},        {0ms, 0ms, 0ms, true},
        {500ms, 0ms, 0ms, false},     {500ms, -7ms, 0ms, false},
    };
    for (const row& r : table) {
        const time_point now{2500ms - r.left};
        const auto of = until(upsert(), time_point{2500ms});
        const auto asked = maybe_retry(begun(of), failed_by(retry_reason::kv_locked), now);
        const auto step = with_answer(asked.state, retry_action::with_duration(r.wanted), now);
        if (r.times_out) {
            ASSERT_TRUE(std::holds_alternative<time_out_after>(step.next));
            EXPECT_EQ(std::get<time_out_after>(step.next).wait, r.wait);
        } else {
            ASSERT_TRUE(std::holds_alternative<retry_after>(step.next));
            EXPECT_EQ(std::get<retry_after>(step.next).wait, r.wait);
        }
        EXPECT_EQ(step.event->wait, r.wait);
    }
    retry_state state = begun(until(upsert(), time_point{2500ms}));
    for (int i = 0; i < 5; ++i)
        state.request.increment_retry_attempts(retry_reason::kv_not_my_vbucket);
    const auto step = maybe_retry(state, failed_by(retry_reason::kv_not_my_vbucket),
                                  time_point{2s});
    ASSERT_TRUE(std::holds_alternative<time_out_after>(step.next));
    EXPECT_EQ(std::get<time_out_after>(step.next).wait, 500ms);
    EXPECT_EQ(step.event->decision, "always retried; but only 500 ms are left, so it times out");
}

TEST(orchestrator, capped_wait_ends_in_timeout_without_dispatch)
{
    VERIFIES("CR-069");
    virtual_clock clock;
    virtual_request request{clock, until(upsert(constant(1s)), clock.now() + 2500ms),
                            always_failing(failed_by(retry_reason::kv_temporary_failure))};
    request.start();
    clock.run();
    EXPECT_EQ(request.dispatched, (std::vector<duration>{0s, 1s, 2s}));
    EXPECT_EQ(request.waits, (std::vector<duration>{1s, 1s, 500ms}));
    EXPECT_EQ(request.completions, 1);
    EXPECT_EQ(request.ended, 2500ms);
    EXPECT_EQ(request.error().code(), errc::unambiguous_timeout);
}

TEST(orchestrator, alarm_after_the_deadline_times_out)
{
    const auto asked = maybe_retry(begun(until(get(), time_point{1s})),
                                   failed_by(retry_reason::kv_locked), time_point{});
    const auto step = with_answer(asked.state, retry_action::with_duration(1ms), time_point{});
    EXPECT_TRUE(std::holds_alternative<dispatch_now>(after_wait(step.state, time_point{2ms}).next));
    EXPECT_TRUE(
        std::holds_alternative<dispatch_now>(after_wait(step.state, time_point{999ms}).next));
    EXPECT_TRUE(std::holds_alternative<complete>(after_wait(step.state, time_point{1s}).next));

    // An alarm that rings early does not bring a capped request back.
    const auto capped = with_answer(asked.state, retry_action::with_duration(9s), time_point{});
    EXPECT_TRUE(std::holds_alternative<complete>(after_wait(capped.state, time_point{1ms}).next));
}

TEST(orchestrator, no_retry_answer_is_logged_and_fails_the_request)
{
    VERIFIES("CR-065");
    virtual_clock clock;
    virtual_request request{clock, get(refusing()),
                            always_failing(failed_by(retry_reason::kv_locked))};
    request.start();
    clock.run();
    EXPECT_EQ(request.dispatched.size(), 1u);
    EXPECT_TRUE(request.waits.empty());
    ASSERT_EQ(request.events.size(), 1u);
    EXPECT_EQ(request.events[0].what, retry_event::kind::not_retried);
    EXPECT_EQ(request.events[0].reason, retry_reason::kv_locked);
    ASSERT_EQ(request.completions, 1);
    EXPECT_EQ(request.error().code(), errc::document_locked);
    ASSERT_EQ(request.error().history().size(), 1u);
    EXPECT_EQ(request.error().history()[0].decision, "not retried: the strategy refused");
    EXPECT_EQ(request.error().history()[0].waited, 0ms);
}

TEST(orchestrator, log_lines_name_the_retry_reason)
{
    VERIFIES("CR-066");
    virtual_clock clock;
    const auto twice = strategy([](const retry_request& request, retry_reason) {
        return request.retry_attempts() < 2 ? retry_action::with_duration(300us)
                                            : retry_action::no_retry();
    });
    virtual_request request{clock, get(twice), always_failing(failed_by(retry_reason::kv_locked))};
    request.start();
    clock.run();
    std::vector<std::string> lines;
    for (const retry_event& event : request.events)
        lines.push_back(to_text(event, request.request()));
    EXPECT_EQ(lines, (std::vector<std::string>{
                         "get: retry 1 for KV_LOCKED: retried by the strategy, after 300 us",
                         "get: retry 2 for KV_LOCKED: retried by the strategy, after 300 us",
                         "get: no retry after 2 for KV_LOCKED: not retried: the strategy refused",
                     }));
}

TEST(orchestrator, strategy_sees_retry_attempts_before_its_own)
{
    VERIFIES("CR-012");
    VERIFIES("CR-014");
    std::vector<std::uint32_t> seen;
    std::vector<std::size_t> reasons_seen;
    const auto spy = strategy([&](const retry_request& request, retry_reason) {
        seen.push_back(request.retry_attempts());
        reasons_seen.push_back(request.retry_reasons().size());
        return retry_action::with_duration(1ms);
    });
    virtual_clock clock;
    virtual_request request{clock, upsert(spy), [](std::uint32_t number) -> attempt_script {
                                if (number == 5)
                                    return {};
                                const auto reason = number == 2 ? retry_reason::kv_not_my_vbucket
                                                                : retry_reason::kv_locked;
                                return {0ms, failed_by(reason)};
                            }};
    request.start();
    clock.run();
    EXPECT_TRUE(request.succeeded());
    EXPECT_EQ(seen, (std::vector<std::uint32_t>{0, 1, 3, 4}));
    EXPECT_EQ(reasons_seen, (std::vector<std::size_t>{0, 1, 2, 2}));
    EXPECT_EQ(request.waits, (std::vector<duration>{1ms, 1ms, 50ms, 1ms, 1ms}));
    EXPECT_EQ(request.request().retry_attempts(), request.dispatched.size() - 1);
    const auto& met = request.request().retry_reasons();
    EXPECT_EQ(std::vector(met.begin(), met.end()),
              (std::vector{retry_reason::kv_locked, retry_reason::kv_not_my_vbucket}));
}

TEST(orchestrator, unknown_reason_is_never_retried)
{
    VERIFIES("CR-048");
    for (const bool idempotent : {false, true}) {
        const auto spy = constant(1ms);
        virtual_clock clock;
        virtual_request request{clock, idempotent ? get(spy) : upsert(spy),
                                always_failing(failed_by(retry_reason::unknown))};
        request.start();
        clock.run();
        EXPECT_EQ(request.dispatched.size(), 1u);
        EXPECT_EQ(spy->calls, 0);
        EXPECT_EQ(request.error().code(), errc::request_canceled);
    }
}

TEST(orchestrator, in_flight_mutation_is_not_retried_by_any_strategy)
{
    VERIFIES("CR-003");
    struct row { bool idempotent; retry_reason reason; dispatch_phase phase; bool again; };
    using enum retry_reason;
    using enum dispatch_phase;
    const row table[] = {
        {false, socket_closed_while_in_flight, in_flight, false},
        {true, socket_closed_while_in_flight, in_flight, true},
        // A reason and a phase that contradict each other: the worse one counts.
        {false, kv_temporary_failure, in_flight, false},
        {false, kv_not_my_vbucket, in_flight, false},
        {false, socket_closed_while_in_flight, not_sent, false},
        {false, kv_temporary_failure, answered, true},
        {false, socket_not_available, not_sent, true},
        {true, kv_not_my_vbucket, in_flight, true},
    };
    for (const row& r : table) {
        SCOPED_TRACE(name_of(r.reason));
        const auto eager = constant(1ms);
        virtual_clock clock;
        virtual_request request{clock, r.idempotent ? get(eager) : upsert(eager),
                                failing(1, failed_by(r.reason, r.phase))};
        request.start();
        clock.run();
        EXPECT_EQ(request.dispatched.size(), r.again ? 2u : 1u);
        EXPECT_EQ(request.succeeded(), r.again);
        if (!r.again) {
            EXPECT_EQ(request.error().context("may_have_been_applied"),
                      r.phase == in_flight ? "true" : "false");
            EXPECT_EQ(eager->calls, 0);
        }
    }
}

}  // namespace
}  // namespace holdfast::core::couchbase::orchestrator_test
