#include "client/retry_loop_mongo.hpp"

#include "support/verifies.hpp"

#include <gtest/gtest.h>

namespace holdfast::retry_loop_mongo_test {
namespace {

using namespace std::chrono_literals;
using namespace retry_test;
using core::mongo::failed_attempt;
using core::mongo::failure_origin;

failed_attempt overloaded()
{
    failed_attempt one;
    one.origin = failure_origin::server;
    one.labels = {.system_overloaded = true, .retryable = true};
    one.max_wire_version = 27;
    return one;
}

failed_attempt lost_connection()
{
    return {.origin = failure_origin::network};
}

mongo_operation::script times(std::size_t count, const failed_attempt& what, duration takes = {})
{
    return mongo_operation::script(count, {takes, what});
}

class retry_loop_mongo : public ::testing::Test {
protected:
    /// What the world will say when it is asked, and the waits that follow from it.
    static std::vector<duration> backoffs(std::uint32_t count)
    {
        virtual_world twin;
        std::vector<duration> all;
        for (std::uint32_t retry = 1; retry <= count; ++retry)
            all.push_back(core::mongo::overload_backoff(core::mongo::as_specified, retry,
                                                        std::nullopt, twin.chance()));
        return all;
    }
    mongo_operation operation(mongo_operation::script attempts)
    {
        return {world, policy, std::move(attempts), tokens, book};
    }

    virtual_world world;
    core::mongo::retry_policy policy{.repeatable = true};
    std::atomic<core::token_bucket> tokens{core::token_bucket{}};
    ledger book;
};

TEST_F(retry_loop_mongo, first_attempt_that_succeeds_neither_waits_nor_suspends)
{
    operation_run run{world, operation({}), {}};
    EXPECT_TRUE(run.succeeded()) << "in the very step in which it was called";
    EXPECT_EQ(book.waits, 0);
    EXPECT_EQ(world.alarms_set(), 0U);
}

TEST_F(retry_loop_mongo, overload_errors_are_retried_with_jittered_backoff)
{
    VERIFIES("BP-047");
    operation_run run{world, operation(times(3, overloaded(), 2ms)), {}};
    world.run();
    ASSERT_TRUE(run.succeeded());
    EXPECT_EQ(**run.got, 3U);
    EXPECT_EQ(book.chosen_waits(), backoffs(3));
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_GT(book.decided[i].wait, 0ms);
        EXPECT_EQ(book.dispatched[i + 1] - book.dispatched[i], 2ms + book.decided[i].wait);
    }
    EXPECT_EQ(world.alarms_set(), 0U);
}

TEST_F(retry_loop_mongo, network_error_is_retried_without_backoff)
{
    VERIFIES("BP-030");
    operation_run run{world, operation(times(1, lost_connection())), {}};
    world.run();
    EXPECT_TRUE(run.succeeded());
    EXPECT_EQ(book.dispatched.size(), 2U);
    EXPECT_EQ(run.took(), 0ms);
}

TEST_F(retry_loop_mongo, last_error_has_all_attempts_in_order)
{
    operation_run run{world, operation(times(9, overloaded(), 1ms)), {}};
    world.run();
    EXPECT_EQ(run.completions, 1);
    const error why = run.error();
    EXPECT_EQ(why.code().value(), 6) << "the last one: 5 retries are the limit";
    ASSERT_EQ(why.history().size(), 6U);
    const auto waits = backoffs(6);
    for (std::size_t i = 0; i < 6; ++i) {
        const attempt& one = why.history()[i];
        EXPECT_EQ(one.cause.value(), static_cast<int>(i) + 1);
        EXPECT_EQ(one.took, 1ms);
        EXPECT_EQ(one.waited, i < 5 ? waits[i] : 0ms);
    }
    EXPECT_EQ(why.history()[0].decision.substr(0, 8), "retry 1,");
    EXPECT_EQ(why.history()[5].decision, "not retried: 5 retries are the limit");
}

TEST_F(retry_loop_mongo, empty_token_bucket_ends_the_retries)
{
    policy.adaptive = true;
    tokens = core::token_bucket{core::tokens::whole(2)};
    operation_run run{world, operation(times(9, overloaded())), {}};
    world.run();
    EXPECT_EQ(book.dispatched.size(), 3U);
    EXPECT_EQ(tokens.load().level(), core::tokens{});
    ASSERT_EQ(run.error().history().size(), 3U);
    EXPECT_EQ(run.error().history()[2].decision, "not retried: the retry budget is used up");
}

TEST_F(retry_loop_mongo, success_after_a_retry_returns_tokens)
{
    policy.adaptive = true;
    tokens = core::token_bucket{core::tokens::whole(5), core::tokens::whole(10)};
    operation_run run{world, operation(times(1, overloaded())), {}};
    world.run();
    EXPECT_TRUE(run.succeeded());
    EXPECT_EQ(tokens.load().level(), core::tokens{51});
}

TEST_F(retry_loop_mongo, backoff_that_ends_at_the_deadline_times_out)
{
    const duration wait = backoffs(1).front();
    policy.until = core::deadline{world.steady_now() + wait};
    operation_run run{world, operation(times(1, overloaded())), policy.until};
    world.run();
    EXPECT_EQ(run.completions, 1);
    EXPECT_EQ(run.took(), wait);
    EXPECT_EQ(run.error().code(), boost::system::errc::timed_out);
    EXPECT_EQ(run.error().history().size(), 1U);
    EXPECT_EQ(book.dispatched.size(), 1U) << "nothing is sent at the deadline";
    EXPECT_EQ(world.alarms_set(), 0U);
}

TEST_F(retry_loop_mongo, backoff_beyond_the_deadline_is_not_started)
{
    VERIFIES("BP-036");
    policy.adaptive = true;
    const core::token_bucket before = tokens;
    policy.until = core::deadline{world.steady_now() + backoffs(1).front() - 1ns};
    operation_run run{world, operation(times(1, overloaded())), policy.until};
    world.run();
    EXPECT_EQ(run.took(), 0ms);
    EXPECT_EQ(run.error().code().value(), 1);
    EXPECT_EQ(book.waits, 0);
    EXPECT_EQ(tokens.load(), before);
}

TEST_F(retry_loop_mongo, attempt_that_the_deadline_ends_is_the_last)
{
    policy.until = core::deadline{world.steady_now() + 50ms};
    operation_run run{world, operation(times(9, lost_connection(), 30ms)), policy.until};
    world.run();
    EXPECT_EQ(run.took(), 50ms);
    ASSERT_EQ(run.error().history().size(), 2U);
    EXPECT_EQ(run.error().history()[1].took, 20ms);
    EXPECT_EQ(run.error().history()[1].decision, "not retried: the deadline has passed");
}

TEST_F(retry_loop_mongo, connection_is_free_for_other_operations_during_backoff)
{
    VERIFIES("BP-038");
    operation_run first{world, operation(times(1, overloaded(), 1ms)), {}};
    world.run_for(1ms);
    ASSERT_EQ(book.waits, 1);
    ASSERT_FALSE(first.over);
    EXPECT_EQ(book.checked_out, 0);

    ledger others;
    operation_run second{world, mongo_operation{world, policy, {}, tokens, others}, {}};
    EXPECT_TRUE(second.succeeded());
    world.run();
    EXPECT_TRUE(first.succeeded());
    EXPECT_EQ(book.held_while_waiting, 0);
    EXPECT_EQ(book.dispatched.size(), 2U) << "each attempt checks out anew";
}

}  // namespace
}  // namespace holdfast::retry_loop_mongo_test
