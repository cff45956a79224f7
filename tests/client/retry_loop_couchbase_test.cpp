#include "client/retry_loop_couchbase.hpp"

#include "support/verifies.hpp"

#include <gtest/gtest.h>

namespace holdfast::retry_loop_couchbase_test {
namespace {

using namespace std::chrono_literals;
using namespace retry_test;
using couchbase::errc;
using couchbase::retry_reason;

class retry_loop_couchbase : public ::testing::Test {
protected:
    /// `count` failures for that reason, and then all is well.
    couchbase_operation failing(std::size_t count, retry_reason reason, duration takes = {})
    {
        const couchbase_operation::failure what{reason};
        return {world, settings, couchbase_operation::script(count, {takes, what}), book};
    }
    core::deadline within(duration timeout)
    {
        settings.deadline = world.steady_now() + timeout;
        return core::deadline{*settings.deadline};
    }

    virtual_world world;
    couchbase::retry_request::settings settings{
        .operation = "get", .strategy = std::make_shared<couchbase::best_effort_retry_strategy>()};
    ledger book;
};

TEST_F(retry_loop_couchbase, temporary_failure_with_best_effort_is_retried_with_backoff)
{
    const auto until = within(2500ms);
    operation_run run{world, failing(4, retry_reason::kv_temporary_failure), until};
    world.run();
    ASSERT_TRUE(run.succeeded());
    EXPECT_EQ(book.chosen_waits(), (std::vector<duration>{1ms, 2ms, 4ms, 8ms}));
    EXPECT_EQ(run.took(), 15ms);
    EXPECT_EQ(book.held_while_waiting, 0);
    EXPECT_EQ(book.waits, 8) << "the strategy is asked four times, and waited for four times";
    EXPECT_EQ(world.alarms_set(), 0U);
}

TEST_F(retry_loop_couchbase, not_my_vbucket_with_fail_fast_is_retried)
{
    VERIFIES("CR-067");
    settings.strategy = std::make_shared<core::couchbase::strict_fail_fast_strategy>();
    const auto until = within(10s);
    operation_run run{world, failing(8, retry_reason::kv_not_my_vbucket), until};
    world.run();
    ASSERT_TRUE(run.succeeded());
    EXPECT_EQ(book.chosen_waits(),
              (std::vector<duration>{1ms, 10ms, 50ms, 100ms, 500ms, 1s, 1s, 1s}));
    EXPECT_EQ(run.took(), 3661ms);
}

TEST_F(retry_loop_couchbase, other_reasons_with_fail_fast_are_not_retried)
{
    settings.strategy = std::make_shared<core::couchbase::strict_fail_fast_strategy>();
    operation_run run{world, failing(8, retry_reason::kv_temporary_failure), within(10s)};
    world.run();
    EXPECT_EQ(run.error().code().value(), 1);
    ASSERT_EQ(run.error().history().size(), 1U);
    EXPECT_EQ(run.error().history()[0].decision, "not retried: the strategy refused");
}

TEST_F(retry_loop_couchbase, backoff_capped_by_the_deadline_times_out_without_an_attempt)
{
    VERIFIES("CR-069");
    const auto until = within(2500ms);
    operation_run run{world, failing(99, retry_reason::kv_not_my_vbucket), until};
    world.run();
    EXPECT_EQ(run.completions, 1);
    EXPECT_EQ(run.took(), 2500ms);
    EXPECT_EQ(run.error().code(), errc::unambiguous_timeout);
    EXPECT_EQ(book.decided.back().wait, 839ms) << "1 s, capped";
    EXPECT_EQ(book.dispatched.size(), 7U);
    ASSERT_EQ(run.error().history().size(), 7U);
    for (int i = 0; i < 7; ++i)
        EXPECT_EQ(run.error().history()[static_cast<std::size_t>(i)].cause.value(), i + 1);
}

TEST_F(retry_loop_couchbase, timeout_during_an_attempt_may_be_ambiguous)
{
    const auto until = within(50ms);
    operation_run run{world, failing(1, retry_reason::kv_temporary_failure, 1h), until};
    world.run();
    EXPECT_EQ(run.took(), 50ms);
    EXPECT_EQ(run.error().code(), errc::ambiguous_timeout);
    ASSERT_EQ(run.error().history().size(), 1U);
    EXPECT_EQ(run.error().history()[0].decision, "timed out during the attempt");
}

TEST_F(retry_loop_couchbase, operation_cancelled_during_backoff_ends_with_its_history)
{
    operation_run run{world, failing(8, retry_reason::kv_not_my_vbucket), within(10s)};
    world.run_for(30ms);
    run.cancel();
    world.run();
    EXPECT_EQ(run.completions, 1);
    EXPECT_EQ(run.took(), 30ms);
    EXPECT_EQ(run.error().code(), errc::request_canceled);
    EXPECT_EQ(run.error().history().size(), 3U);
    EXPECT_EQ(book.dispatched.size(), 3U);
    EXPECT_EQ(world.alarms_set(), 0U);
}

}  // namespace
}  // namespace holdfast::retry_loop_couchbase_test
