// Operations whose requests share one connection.
#include "client/retry_loop_pipelined.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <gtest/gtest.h>

#include <list>
#include <random>

namespace holdfast::retry_loop_pipelined_test {
namespace {

using namespace std::chrono_literals;
using namespace retry_test;
using run_type = operation_run<pipelined_operation>;

constexpr scripted_reply silence{.after = std::nullopt};
constexpr scripted_reply failure{.after = 1ms, .fails = true};
constexpr scripted_reply failure_at_once{.after = 0ms, .fails = true};

constexpr scripted_reply reply_after(duration time)
{
    return {.after = time};
}

class pipelined : public ::testing::Test {
protected:
    struct started {
        explicit started(virtual_world& in) : world{in} {}
        virtual_world& world;
        ledger book;
        std::optional<run_type> run;
    };
    started& start(const std::string& name, pipelined_operation::script script, duration time = 1h)
    {
        started& one = all.emplace_back(world);
        const core::deadline until{world.steady_now() + time};
        one.run.emplace(world,
                        pipelined_operation{world, over, name, std::move(script), one.book, until},
                        until);
        return one;
    }
    void expect_all_ended_once()
    {
        for (const started& one : all) {
            EXPECT_EQ(one.run->completions, 1);
            EXPECT_FALSE(one.run->thrown);
            EXPECT_EQ(one.book.checked_out, 0);
            EXPECT_EQ(one.book.held_while_waiting, 0);
        }
        EXPECT_EQ(over.expected(), 0U);
    }

    virtual_world world;
    pipelined_connection over{world};
    std::list<started> all;
};

TEST_F(pipelined, replies_out_of_order_reach_their_operations)
{
    start("a", {reply_after(4ms)});
    start("b", {reply_after(2ms)});
    start("c", {reply_after(3ms)});
    EXPECT_EQ(over.expected(), 3U) << "all in flight at once";
    world.run();
    expect_all_ended_once();
    const std::vector<std::string> expected{"reply to a", "reply to b", "reply to c"};
    const std::vector<duration> times{4ms, 2ms, 3ms};
    std::size_t i = 0;
    for (const started& one : all) {
        ASSERT_TRUE(one.run->succeeded());
        EXPECT_EQ(**one.run->got, expected[i]);
        EXPECT_EQ(one.run->took(), times[i++]);
    }
    EXPECT_EQ(over.slow_attempts, 0);
}

TEST_F(pipelined, reply_refers_to_the_reader_buffer_until_its_operation_has_ended)
{
    start("a", {silence});
    start("b", {silence});
    over.read({1, 0}, world.executor());
    EXPECT_EQ(all.back().run->completions, 1) << "inside the read";
    expect_all_ended_once();
    EXPECT_EQ(**all.front().run->got, "reply to a");
    EXPECT_EQ(**all.back().run->got, "reply to b");
}

TEST_F(pipelined, reply_to_another_executor_owns_its_bytes)
{
    virtual_world other;
    start("a", {silence});
    over.read({0}, other.executor());
    EXPECT_EQ(all.front().run->completions, 0);
    world.run();
    expect_all_ended_once();
    EXPECT_EQ(**all.front().run->got, "reply to a");
}

TEST_F(pipelined, reply_after_the_deadline_is_an_orphan)
{
    started& late = start("late", {reply_after(30ms)}, 10ms);
    started& other = start("other", {reply_after(20ms)}, 25ms);
    started& last = start("last", {silence}, 40ms);
    world.run_for(10ms);
    EXPECT_EQ(late.run->completions, 1);
    EXPECT_EQ(late.run->error().message(), "timed out");
    EXPECT_EQ(late.run->took(), 10ms);
    EXPECT_EQ(over.taken(), 3U) << "its slot is not free before its reply has come";
    world.run();
    EXPECT_TRUE(other.run->succeeded());
    EXPECT_EQ(last.run->took(), 40ms);
    EXPECT_EQ(over.orphans, 1);
    EXPECT_EQ(over.taken(), 1U);
    expect_all_ended_once();
    EXPECT_EQ(late.book.dispatched.size(), 1U) << "nothing is sent after the deadline";
}

TEST_F(pipelined, failed_attempt_is_repeated_after_its_wait_and_holds_no_slot_meanwhile)
{
    started& one = start("a", {failure, failure_at_once, reply_after(2ms)});
    world.run();
    expect_all_ended_once();
    ASSERT_TRUE(one.run->succeeded());
    EXPECT_EQ(one.book.dispatched.size(), 3U);
    EXPECT_EQ(one.book.waits, 2);
    EXPECT_EQ(one.run->took(), 1ms + 2 * pipelined_operation::wait + 2ms);
    EXPECT_EQ(over.slow_attempts, 0) << "a retry takes the fast way too";
}

TEST_F(pipelined, deadline_during_the_wait_prevents_the_next_attempt)
{
    started& one = start("a", {failure}, 4ms);
    world.run();
    expect_all_ended_once();
    EXPECT_EQ(one.run->error().message(), "timed out");
    EXPECT_EQ(one.run->took(), 4ms);
    EXPECT_EQ(one.book.dispatched.size(), 1U);
}

TEST_F(pipelined, operation_without_a_slot_waits_for_one)
{
    for (const char* name : {"a", "b", "c", "d"})
        start(name, {reply_after(3ms)});
    started& fifth = start("e", {reply_after(1ms)});
    started& hasty = start("f", {}, 2ms);
    EXPECT_EQ(over.slow_attempts, 2);
    EXPECT_TRUE(fifth.book.dispatched.empty());
    world.run();
    expect_all_ended_once();
    EXPECT_EQ(fifth.run->took(), 4ms);
    EXPECT_EQ(**fifth.run->got, "reply to e");
    EXPECT_EQ(hasty.run->error().message(), "timed out");
    EXPECT_EQ(hasty.run->took(), 2ms);
}

TEST_F(pipelined, cancelled_operation_ends_at_once_and_alone)
{
    started& one = start("a", {reply_after(10ms)});
    started& other = start("b", {reply_after(10ms)});
    world.run_for(1ms);
    one.run->cancel();
    world.queue.run_ready();
    EXPECT_EQ(one.run->error().message(), "cancelled");
    EXPECT_EQ(one.run->took(), 1ms);
    EXPECT_EQ(over.expected(), 1U);
    world.run();
    expect_all_ended_once();
    EXPECT_TRUE(other.run->succeeded());
    EXPECT_EQ(over.orphans, 1);
    EXPECT_EQ(over.taken(), 0U);
}

runtime::awaitable<void> call_late(virtual_world& in, pipelined_connection& over, ledger& book,
                                   std::string& message)
{
    co_await runtime::asio::this_coro::throw_if_cancelled(false);
    co_await runtime::yield();
    pipelined_operation what{in, over, "a", {}, book, {}};
    const auto got = co_await shell::retry_loop(in, std::move(what), {});
    message = got ? *got : got.error().message();
}

TEST_F(pipelined, operation_cancelled_before_it_begins_sends_nothing)
{
    runtime::asio::cancellation_signal stop;
    ledger book;
    std::string message;
    runtime::asio::co_spawn(
        world.executor(), call_late(world, over, book, message),
        runtime::asio::bind_cancellation_slot(stop.slot(), runtime::asio::detached));
    stop.emit(runtime::asio::cancellation_type::terminal);
    world.run();
    EXPECT_EQ(message, "cancelled");
    EXPECT_TRUE(book.dispatched.empty());
}

runtime::awaitable<void> call_twice(virtual_world& in, pipelined_connection& over, ledger& book)
{
    const pipelined_operation::script script{silence, silence};
    for (int i = 0; i < 2; ++i) {
        pipelined_operation what{in, over, "a", script, book, {}};
        const auto got = co_await shell::retry_loop(in, std::move(what), {});
        EXPECT_TRUE(got);
    }
}

TEST_F(pipelined, requests_sent_out_of_replies_share_one_flush)
{
    ledger books[2];
    for (ledger& book : books) {
        runtime::asio::co_spawn(world.executor(), call_twice(world, over, book),
                                runtime::asio::detached);
    }
    world.queue.run_ready();
    EXPECT_EQ(over.flushes, 2);
    over.read({0, 1}, world.executor());
    EXPECT_EQ(over.expected(), 2U) << "the next two are in flight";
    EXPECT_EQ(over.flushes, 3);
    over.read({1, 0}, world.executor());
    EXPECT_EQ(over.taken(), 0U);
    EXPECT_EQ(over.flushes, 3);
}

TEST_F(pipelined, operation_cancelled_at_every_step_ends_once)
{
    for (int steps = 0; steps < 200; ++steps) {
        SCOPED_TRACE(steps);
        virtual_world there;
        pipelined_connection on{there};
        ledger book;
        const core::deadline until{there.steady_now() + 1s};
        const pipelined_operation::script script{failure, failure_at_once, reply_after(2ms)};
        run_type run{there, pipelined_operation{there, on, "a", script, book, until}, until};
        for (int i = 0; i < steps; ++i)
            there.step();
        const bool was_over = run.over;
        const std::size_t attempts = book.dispatched.size();
        const time_point now = there.steady_now();
        run.cancel();
        while (!run.over && there.step()) {}
        EXPECT_LE(run.ended, now);
        there.run();
        ASSERT_EQ(run.completions, 1);
        EXPECT_EQ(book.dispatched.size(), attempts) << "nothing is sent after a cancellation";
        EXPECT_EQ(book.checked_out, 0);
        EXPECT_EQ(on.taken(), 0U);
        EXPECT_EQ(there.alarms_set(), 0U);
        if (was_over) {
            EXPECT_TRUE(run.succeeded());
            EXPECT_GT(steps, 8) << "or too little was tried";
            return;
        }
    }
    FAIL() << "it never ends";
}

/// Operations that come, fail, wait, time out and are cancelled in all orders.
TEST_F(pipelined, every_operation_completes_once_whatever_happens)
{
    int succeeded = 0;
    int timed_out = 0;
    int cancelled = 0;
    for (unsigned seed = 1; seed <= 200; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 chance{seed};
        const auto below = [&](unsigned limit) { return static_cast<int>(chance() % limit); };
        const auto some_time = [&](unsigned limit) {
            return std::chrono::milliseconds{below(limit)};
        };
        all.clear();
        for (int i = 0; i < 12; ++i) {
            pipelined_operation::script script;
            for (int n = below(4); n > 0; --n)
                script.push_back({.after = some_time(20), .fails = below(2) == 0});
            start(std::to_string(i), std::move(script), some_time(40) + 1ms);
            world.run_for(some_time(3));
            if (below(4) == 0)
                all.back().run->cancel();
        }
        world.run();
        expect_all_ended_once();
        EXPECT_EQ(over.taken(), 0U);
        int i = 0;
        for (const started& one : all) {
            const auto& got = *one.run->got;
            succeeded += got ? 1 : 0;
            timed_out += !got && got.error().message() == "timed out" ? 1 : 0;
            cancelled += !got && got.error().message() == "cancelled" ? 1 : 0;
            if (got) {
                EXPECT_EQ(*got, "reply to " + std::to_string(i));
            }
            ++i;
        }
    }
    EXPECT_EQ(succeeded + timed_out + cancelled, 200 * 12);
    EXPECT_GT(std::min({succeeded, timed_out, cancelled}), 100) << "or too little was tried";
}

}  // namespace
}  // namespace holdfast::retry_loop_pipelined_test
