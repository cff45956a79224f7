// How requests end: the error, its story, ambiguity, and that it happens once.
#include "core/couchbase/retry/orchestrator.hpp"
#include "support/verifies.hpp"
#include "unit/core/couchbase/retry/virtual_shell.hpp"

namespace holdfast::core::couchbase::orchestrator_end_test {
namespace {

using namespace std::chrono_literals;
using namespace testing;
using stage = retry_state::stage;

retry_request::settings until(retry_request::settings of, time_point deadline)
{
    of.deadline = deadline;
    return of;
}

TEST(orchestrator_end, timeout_error_holds_reasons_attempts_and_history)
{
    virtual_clock clock;
    virtual_request request{clock, until(upsert(constant(2ms)), clock.now() + 5ms),
                            always_failing(failed_by(retry_reason::kv_locked))};
    request.start();
    clock.run();
    const error& why = request.error();
    EXPECT_EQ(why.code(), errc::unambiguous_timeout);
    EXPECT_EQ(why.message(),
              "upsert: timed out after 5 ms and 3 retries; "
              "the last failure: it failed");
    EXPECT_EQ(why.context("operation"), "upsert");
    EXPECT_EQ(why.context("idempotent"), "false");
    EXPECT_EQ(why.context("retry_attempts"), "3");
    EXPECT_EQ(why.context("retry_reasons"), "KV_LOCKED");
    EXPECT_EQ(why.context("may_have_been_applied"), "false");
    ASSERT_EQ(why.history().size(), 3u);
    EXPECT_EQ(why.history()[1].started, 2ms);
    EXPECT_EQ(why.history()[1].took, 0ms);
    EXPECT_EQ(why.history()[1].server.value(), "node:11210");
    EXPECT_EQ(why.history()[2].decision,
              "retried by the strategy; but only 1 ms are left, so it times out");
}

TEST(orchestrator_end, timeout_is_ambiguous_only_with_a_mutation_in_flight)
{
    struct row { bool idempotent; std::optional<dispatch_phase> open; errc code; };
    const row table[] = {
        {false, std::nullopt, errc::unambiguous_timeout},
        {false, dispatch_phase::not_sent, errc::unambiguous_timeout},
        {false, dispatch_phase::in_flight, errc::ambiguous_timeout},
        {false, dispatch_phase::answered, errc::unambiguous_timeout},
        {true, dispatch_phase::in_flight, errc::unambiguous_timeout},
        {true, std::nullopt, errc::unambiguous_timeout},
    };
    for (const row& r : table) {
        std::optional<started_attempt> open;
        if (r.open)
            open = started_attempt{endpoint{"a"}, *r.open, time_point{1ms}};
        const auto step = timed_out(begun(r.idempotent ? get() : upsert()), open, time_point{3ms});
        ASSERT_TRUE(std::holds_alternative<complete>(step.next));
        const error& why = std::get<complete>(step.next).why;
        EXPECT_EQ(why.code(), r.code);
        EXPECT_EQ(why.context("may_have_been_applied"),
                  r.code == errc::ambiguous_timeout ? "true" : "false");
        ASSERT_EQ(why.history().size(), r.open ? 1u : 0u);
        if (r.open) {
            EXPECT_EQ(why.history()[0].took, 2ms);
            EXPECT_EQ(why.history()[0].cause, r.code);
            EXPECT_EQ(why.history()[0].decision, "timed out during the attempt");
        }
    }
}

TEST(orchestrator_end, durable_write_that_the_server_leaves_in_doubt_may_have_been_applied)
{
    const started_attempt done{endpoint{"a"}, dispatch_phase::answered, time_point{}};
    for (const bool ambiguous : {true, false}) {
        const error answer{ambiguous ? errc::durability_ambiguous : errc::durability_impossible,
                           "it failed"};
        const auto last = never_retry(
            begun(upsert()), failed_attempt{done, retry_reason::unknown, answer}, time_point{1ms});
        const error& why = std::get<complete>(last.next).why;
        EXPECT_EQ(why.context("may_have_been_applied"), ambiguous ? "true" : "false");
        ASSERT_EQ(why.history().size(), 1u);
        EXPECT_EQ(why.history()[0].possibly_applied, ambiguous);
    }
}

TEST(orchestrator_end, reply_that_broke_off_after_rows_is_not_asked_for_again)
{
    const failed_attempt cut{{endpoint{"a"}, dispatch_phase::in_flight, time_point{}},
                             retry_reason::socket_closed_while_in_flight,
                             error{errc::request_canceled, "cut"}};
    for (const bool idempotent : {true, false}) {
        const auto last = broke_off(begun(idempotent ? get() : upsert()), cut, time_point{1ms},
                                    "17 rows");
        ASSERT_TRUE(std::holds_alternative<complete>(last.next));
        const error& why = std::get<complete>(last.next).why;
        EXPECT_EQ(why.code(), errc::request_canceled);
        EXPECT_EQ(why.context("may_have_been_applied"), idempotent ? "false" : "true");
        ASSERT_EQ(why.history().size(), 1u);
        EXPECT_EQ(why.history()[0].decision, "not retried: 17 rows were handed out already");
        EXPECT_EQ(why.history()[0].labels,
                  std::vector<std::string>{"SOCKET_CLOSED_WHILE_IN_FLIGHT"});
        ASSERT_TRUE(last.event);
        EXPECT_EQ(last.event->what, retry_event::kind::not_retried);
    }
}

TEST(orchestrator_end, failure_without_a_reason_says_by_its_phase_why_it_is_the_last)
{
    struct row { dispatch_phase phase; const char* decision; };
    const row table[] = {
        {dispatch_phase::not_sent, "not retried: the request cannot be sent"},
        {dispatch_phase::in_flight, "not retried: what came back cannot be used"},
        {dispatch_phase::answered, "not retried: the server has answered"},
    };
    for (const row& r : table) {
        const failed_attempt failed{{endpoint{"a"}, r.phase, time_point{}},
                                    retry_reason::unknown,
                                    error{errc::decoding_failure, "it failed"}};
        const auto last = never_retry(begun(get()), failed, time_point{1ms});
        EXPECT_EQ(std::get<complete>(last.next).why.history()[0].decision, r.decision);
    }
}

TEST(orchestrator_end, cancelled_request_records_its_dispatch_phase)
{
    const started_attempt open{endpoint{"a"}, dispatch_phase::in_flight, time_point{}};
    const auto sent = cancelled(begun(upsert()), open, time_point{1ms});
    EXPECT_EQ(std::get<complete>(sent.next).why.code(), errc::request_canceled);
    EXPECT_EQ(std::get<complete>(sent.next).why.context("may_have_been_applied"), "true");
    const auto unsent = cancelled(begun(upsert()), std::nullopt, time_point{1ms});
    EXPECT_EQ(std::get<complete>(unsent.next).why.context("may_have_been_applied"), "false");
    EXPECT_EQ(std::get<complete>(unsent.next).why.message(),
              "upsert: cancelled after 1 ms and 0 retries");
}

TEST(orchestrator_end, completed_request_ignores_further_input)
{
    const auto over = cancelled(begun(get()), std::nullopt, time_point{}).state;
    const auto idle = [](const retry_step& step) {
        return std::holds_alternative<nothing_to_do>(step.next) && !step.event;
    };
    EXPECT_EQ(over.where, stage::completed);
    EXPECT_TRUE(idle(maybe_retry(over, failed_by(retry_reason::kv_locked), {})));
    EXPECT_TRUE(idle(with_answer(over, retry_action::with_duration(1ms), {})));
    EXPECT_TRUE(idle(after_wait(over, {})));
    EXPECT_TRUE(idle(timed_out(over, std::nullopt, {})));
    EXPECT_TRUE(idle(cancelled(over, std::nullopt, {})));
    EXPECT_TRUE(idle(broke_off(over, failed_by(retry_reason::kv_locked), {}, "1 row")));

    // Nor does anything happen out of turn while it lives.
    EXPECT_TRUE(idle(with_answer(begun(get()), retry_action::with_duration(1ms), {})));
    EXPECT_TRUE(idle(after_wait(begun(get()), {})));
    const auto asking = maybe_retry(begun(get()), failed_by(retry_reason::kv_locked), {}).state;
    EXPECT_TRUE(idle(maybe_retry(asking, failed_by(retry_reason::kv_locked), {})));
    EXPECT_TRUE(idle(after_wait(asking, {})));
}

TEST(orchestrator_end, token_bucket_bounds_the_retries_of_all_requests)
{
    virtual_clock clock;
    const token_bucket two{tokens::whole(2)};
    virtual_request request{clock, get(constant(1ms)),
                            always_failing(failed_by(retry_reason::kv_locked)), two};
    request.start();
    clock.run();
    EXPECT_EQ(request.dispatched.size(), 3u);
    EXPECT_EQ(request.error().code(), errc::document_locked);
    EXPECT_EQ(request.events.back().decision, "not retried: the retry budget is empty");
    EXPECT_EQ(request.budget()->level(), tokens{});

    virtual_request always{clock, get(constant(1ms)),
                           failing(3, failed_by(retry_reason::kv_not_my_vbucket)),
                           request.budget()};
    always.start();
    clock.run();
    EXPECT_TRUE(always.succeeded());  // free of charge
    EXPECT_EQ(always.budget()->level(), tokens{1});

    const auto asked = maybe_retry(begun(get()), failed_by(retry_reason::kv_locked), {}, two);
    EXPECT_EQ(asked.budget, two);
    EXPECT_EQ(with_answer(asked.state, retry_action::no_retry(), {}, two).budget, two);
    EXPECT_EQ(with_answer(asked.state, retry_action::with_duration(1ms), {}, two).budget->level(),
              tokens::whole(1));
}

}  // namespace
}  // namespace holdfast::core::couchbase::orchestrator_end_test
