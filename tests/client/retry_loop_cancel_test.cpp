// Cancels an operation at every step that it takes, in turn.
#include "client/retry_loop_couchbase.hpp"
#include "client/retry_loop_mongo.hpp"

#include <boost/asio/detached.hpp>
#include <gtest/gtest.h>

namespace holdfast::retry_loop_cancel_test {
namespace {

using namespace std::chrono_literals;
using namespace retry_test;
using couchbase::retry_action;
using couchbase::retry_answer;
using couchbase::retry_reason;
using couchbase::retry_reply;

runtime::awaitable<void> answer_in(runtime::world& in, duration delay, retry_reply reply)
{
    co_await runtime::sleep_until(in, in.steady_now() + delay);
    reply(retry_action::with_duration(3ms));
}

/// Needs 4 ms for its answer.
class slow_strategy final : public couchbase::retry_strategy {
public:
    explicit slow_strategy(runtime::world& in) : world_{in} {}
    retry_answer retry_after(const couchbase::retry_request&, retry_reason) const override
    {
        return retry_answer::later([&in = world_](retry_reply reply) {
            runtime::asio::co_spawn(in.executor(), answer_in(in, 4ms, std::move(reply)),
                                    runtime::asio::detached);
        });
    }

private:
    runtime::world& world_;
};

/// Attempts that take time and attempts that take none; waits for the cluster, for the strategy,
/// and of its choice.
couchbase_operation couchbase_story(virtual_world& in, ledger& book)
{
    couchbase::retry_request::settings settings;
    settings.operation = "get";
    settings.idempotent = true;
    settings.strategy = std::make_shared<slow_strategy>(in);
    settings.deadline = in.steady_now() + 1s;
    const couchbase_operation::failure moved{retry_reason::kv_not_my_vbucket};
    const couchbase_operation::failure busy{retry_reason::kv_temporary_failure};
    return {in, settings, {{2ms, moved}, {2ms, busy}, {0ms, busy}, {2ms, moved}, {2ms}}, book};
}

std::atomic<core::token_bucket> tokens{core::token_bucket{}};

mongo_operation mongo_story(virtual_world& in, ledger& book)
{
    core::mongo::retry_policy policy;
    policy.repeatable = true;
    policy.until = core::deadline{in.steady_now() + 1h};
    core::mongo::failed_attempt lost;
    core::mongo::failed_attempt overloaded;
    overloaded.origin = core::mongo::failure_origin::server;
    overloaded.labels = {.system_overloaded = true, .retryable = true};
    return {in, policy, {{2ms, lost}, {2ms, overloaded}, {0ms, overloaded}, {2ms}}, tokens, book};
}

template <class Story>
void cancel_at_every_step(Story story, error_code cancelled, std::size_t all_attempts)
{
    std::size_t interrupted = 0;
    for (int steps = 0; steps < 1000; ++steps) {
        SCOPED_TRACE(steps);
        virtual_world world;
        ledger book;
        operation_run run{world, story(world, book), core::deadline{world.steady_now() + 1s}};
        for (int i = 0; i < steps; ++i)
            world.step();
        const bool was_over = run.over;
        const std::size_t attempts = book.dispatched.size();
        const time_point now = world.steady_now();
        run.cancel();
        while (!run.over && world.step()) {}

        ASSERT_EQ(run.completions, 1);
        EXPECT_TRUE(run.throws_when_cancelled);
        EXPECT_EQ(book.dispatched.size(), attempts) << "nothing is sent after a cancellation";
        EXPECT_EQ(book.checked_out, 0);
        EXPECT_EQ(book.held_while_waiting, 0);
        EXPECT_LE(run.ended, now) << "it ends at once, if it had not ended before";
        if (!run.succeeded()) {
            ++interrupted;
            EXPECT_EQ(run.error().code(), cancelled);
            EXPECT_EQ(run.error().history().size(), attempts);
        }
        world.run();  // a strategy may still be at work
        EXPECT_EQ(run.completions, 1);
        EXPECT_EQ(world.alarms_set(), 0U);
        EXPECT_TRUE(world.queue.empty());
        if (was_over) {
            EXPECT_EQ(attempts, all_attempts);
            EXPECT_GT(interrupted, 2 * all_attempts) << "or too little was tried";
            return;
        }
    }
    FAIL() << "it never ends";
}

TEST(retry_loop_cancel, couchbase_operation_cancelled_at_every_step_ends_once)
{
    cancel_at_every_step(couchbase_story, couchbase::errc::request_canceled, 5);
}

TEST(retry_loop_cancel, mongo_operation_cancelled_at_every_step_ends_once)
{
    cancel_at_every_step(mongo_story, runtime::errc::cancelled, 4);
}

}  // namespace
}  // namespace holdfast::retry_loop_cancel_test
