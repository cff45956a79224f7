// Strategies that answer later, or elsewhere, or badly, or never.
#include "client/retry_loop_couchbase.hpp"
#include "support/verifies.hpp"

#include <boost/asio/detached.hpp>
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

namespace holdfast::retry_loop_strategy_test {
namespace {

using namespace std::chrono_literals;
using namespace retry_test;
using couchbase::errc;
using couchbase::retry_action;
using couchbase::retry_answer;
using couchbase::retry_reason;
using couchbase::retry_reply;

class strategy final : public couchbase::retry_strategy {
public:
    explicit strategy(std::function<retry_answer()> answer) : answer_{std::move(answer)} {}
    retry_answer retry_after(const couchbase::retry_request&, retry_reason) const override
    {
        return answer_();
    }

private:
    std::function<retry_answer()> answer_;
};

runtime::awaitable<void> answer_in(runtime::world& in, duration delay, retry_reply reply)
{
    co_await runtime::sleep_until(in, in.steady_now() + delay);
    reply(retry_action::with_duration(5ms));
}

class retry_loop_strategy : public ::testing::Test {
protected:
    couchbase_operation asking(std::function<retry_answer()> answer, virtual_world& in)
    {
        couchbase::retry_request::settings settings;
        settings.operation = "get";
        settings.idempotent = true;
        settings.deadline = in.steady_now() + 100ms;
        settings.strategy = std::make_shared<strategy>(std::move(answer));
        const couchbase_operation::failure once{retry_reason::kv_temporary_failure};
        return {in, std::move(settings), {{1ms, once}}, book};
    }
    static core::deadline in_100ms(const virtual_world& in)
    {
        return core::deadline{in.steady_now() + 100ms};
    }
    /// Keeps the reply for the test to use.
    std::function<retry_answer()> keeping()
    {
        return [this] {
            return retry_answer::later(
                [this](retry_reply reply) { kept.emplace(std::move(reply)); });
        };
    }

    ledger book;
    std::optional<retry_reply> kept;
    virtual_world world;
};

TEST_F(retry_loop_strategy, strategy_that_answers_30_ms_later)
{
    VERIFIES("CR-017");
    const auto later = [this] {
        return retry_answer::later([this](retry_reply reply) {
            runtime::asio::co_spawn(world.executor(), answer_in(world, 30ms, std::move(reply)),
                                    runtime::asio::detached);
        });
    };
    operation_run run{world, asking(later, world), in_100ms(world)};
    world.run();
    EXPECT_TRUE(run.succeeded());
    EXPECT_EQ(run.took(), 36ms) << "1 to fail, 30 for the answer, which is 5";
    EXPECT_EQ(book.held_while_waiting, 0);
    EXPECT_EQ(world.alarms_set(), 0U);
}

TEST_F(retry_loop_strategy, strategy_that_throws)
{
    const auto bad = []() -> retry_answer { throw std::runtime_error{"out of ideas"}; };
    operation_run run{world, asking(bad, world), in_100ms(world)};
    world.run();
    EXPECT_EQ(run.completions, 1);
    EXPECT_EQ(run.error().code(), errc::retry_strategy_failure);
    EXPECT_EQ(run.error().message(), "the retry strategy threw: out of ideas");
    EXPECT_EQ(run.error().history().size(), 1U);
    EXPECT_FALSE(run.thrown);
}

TEST_F(retry_loop_strategy, strategy_that_throws_an_error_of_its_own_choice)
{
    const auto chosen = [] {
        return retry_answer::later(
            [](retry_reply) { throw failure{error{errc::document_locked, "mine"}}; });
    };
    operation_run run{world, asking(chosen, world), in_100ms(world)};
    world.run();
    EXPECT_EQ(run.error().code(), errc::document_locked);
}

TEST_F(retry_loop_strategy, strategy_that_drops_its_reply)
{
    operation_run run{world, asking(keeping(), world), in_100ms(world)};
    world.run_for(20ms);
    kept.reset();
    world.run();
    EXPECT_EQ(run.took(), 20ms);
    EXPECT_EQ(run.error().code(), errc::retry_strategy_failure);
}

TEST_F(retry_loop_strategy, strategy_that_never_answers)
{
    operation_run run{world, asking(keeping(), world), in_100ms(world)};
    world.run();
    EXPECT_EQ(run.completions, 1);
    EXPECT_EQ(run.took(), 100ms);
    EXPECT_EQ(run.error().code(), errc::unambiguous_timeout);
    ASSERT_EQ(run.error().history().size(), 1U);
    EXPECT_EQ(run.error().history()[0].decision, "timed out before the strategy had answered");
    EXPECT_EQ(world.alarms_set(), 0U);
}

TEST_F(retry_loop_strategy, strategy_that_answers_after_the_deadline)
{
    operation_run run{world, asking(keeping(), world), in_100ms(world)};
    world.run();
    ASSERT_TRUE(run.over);
    (*kept)(retry_action::with_duration(1ms));
    EXPECT_FALSE(world.step());
    EXPECT_EQ(run.completions, 1);
    EXPECT_EQ(book.dispatched.size(), 1U);
}

TEST_F(retry_loop_strategy, strategy_that_answers_after_the_deadline_but_before_the_wait_resumes)
{
    operation_run run{world, asking(keeping(), world), in_100ms(world)};
    world.run_for(99ms);
    ASSERT_TRUE(world.step());  // rings
    ASSERT_FALSE(run.over);
    (*kept)(retry_action::with_duration(1ms));
    world.run();
    EXPECT_EQ(run.error().code(), errc::unambiguous_timeout);
    EXPECT_EQ(book.dispatched.size(), 1U);
}

TEST_F(retry_loop_strategy, strategy_that_answers_with_a_wait_that_ends_at_the_deadline)
{
    operation_run run{world, asking(keeping(), world), in_100ms(world)};
    world.run_for(60ms);
    (*kept)(retry_action::with_duration(40ms));
    world.run();
    EXPECT_EQ(run.took(), 100ms);
    EXPECT_EQ(run.error().code(), errc::unambiguous_timeout);
    EXPECT_EQ(book.dispatched.size(), 1U);
}

TEST_F(retry_loop_strategy, strategy_that_answers_after_cancellation_from_another_thread)
{
    operation_run run{world, asking(keeping(), world), in_100ms(world)};
    world.run_for(20ms);
    run.cancel();
    world.run();
    EXPECT_EQ(run.completions, 1);
    EXPECT_EQ(run.took(), 20ms);
    EXPECT_EQ(run.error().code(), errc::request_canceled);
    ASSERT_EQ(run.error().history().size(), 1U);
    EXPECT_EQ(run.error().history()[0].decision, "cancelled before the strategy had answered");
    EXPECT_EQ(world.alarms_set(), 0U);
    std::thread{[this] { (*kept)(retry_action::with_duration(1ms)); }}.join();
    EXPECT_FALSE(world.step());
    EXPECT_EQ(run.completions, 1);
    EXPECT_EQ(book.dispatched.size(), 1U);
}

TEST_F(retry_loop_strategy, strategy_that_answers_when_the_world_is_gone)
{
    {
        virtual_world short_lived;
        operation_run run{short_lived, asking(keeping(), short_lived), in_100ms(short_lived)};
        short_lived.run_for(20ms);
        short_lived.queue.stop();
        EXPECT_EQ(run.completions, 0) << "its coroutine went with the executor";
        EXPECT_EQ(short_lived.alarms_set(), 0U);
        EXPECT_EQ(book.checked_out, 0);
    }
    ASSERT_TRUE(kept);
    (*kept)(retry_action::with_duration(1ms));
}

TEST_F(retry_loop_strategy, strategy_that_answers_from_another_thread)
{
    VERIFIES("CR-017");
    std::thread other;
    const auto elsewhere = [&other] {
        return retry_answer::later([&other](retry_reply reply) {
            other = std::thread{
                [to = std::move(reply)]() mutable { to(retry_action::with_duration(5ms)); }};
        });
    };
    operation_run run{world, asking(elsewhere, world), in_100ms(world)};
    while (!other.joinable())
        ASSERT_TRUE(world.step());
    // Virtual time stands still until the real thread has spoken.
    while (book.decided.empty() && world.queue.wait_until(std::chrono::steady_clock::now() + 30s))
        world.queue.run_ready();
    other.join();
    world.run();
    EXPECT_TRUE(run.succeeded());
    EXPECT_EQ(run.took(), 6ms);
}

TEST_F(retry_loop_strategy, answer_box_is_filled_from_another_thread)
{
    shell::answer_box<int> box{world};
    std::thread other{[reply = box.reply()] { reply(1); }};
    std::optional<int> got;
    while (!got) {
        got = box.take();
        std::this_thread::yield();
    }
    other.join();
    EXPECT_EQ(got, 1);
}

TEST_F(retry_loop_strategy, strategy_that_answers_from_another_thread_while_it_is_cancelled)
{
    for (int i = 0; i < 300; ++i) {
        book = {};
        operation_run run{world, asking(keeping(), world), in_100ms(world)};
        world.run_for(1ms);
        ASSERT_TRUE(kept);
        std::thread other{
            [reply = std::move(*kept)]() mutable { reply(retry_action::with_duration(1ms)); }};
        if (i % 2 == 0)
            std::this_thread::yield();
        run.cancel();
        world.queue.run_ready();  // and no time passes while the thread is at it
        other.join();
        world.run();
        ASSERT_EQ(run.completions, 1);
        ASSERT_FALSE(run.succeeded());
        ASSERT_EQ(run.error().code(), errc::request_canceled);
        ASSERT_EQ(book.dispatched.size(), 1U);
        ASSERT_EQ(world.alarms_set(), 0U);
    }
}

}  // namespace
}  // namespace holdfast::retry_loop_strategy_test
