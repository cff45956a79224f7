// What the loop promises to every protocol, and to the coroutine that calls it.
#include "client/retry_loop_run.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

#include <stdexcept>

namespace holdfast::retry_loop_test {
namespace {

using namespace std::chrono_literals;
using namespace retry_test;

error say(const char* what)
{
    return error{make_error_code(boost::system::errc::interrupted), what};
}

/// Fails without end, with the waits of the test.
struct stubborn {
    using value_type = std::unique_ptr<int>;  // nothing that could be copied

    runtime::awaitable<result<value_type>> attempt()
    {
        const lease connection{*book};
        book->dispatched.push_back({});
        if (throws)
            throw std::runtime_error{"a bug"};
        if (book->dispatched.size() > failures)
            co_return std::make_unique<int>(7);
        co_return say("failed");
    }
    shell::settled_step decide_retry(error, time_point now)
    {
        book->decided.push_back({now, wait});
        return shell::try_again{wait};
    }
    std::optional<error> woke(time_point)
    {
        return wakes_well ? std::nullopt : std::optional{say("woke badly")};
    }
    error timed_out(time_point) { return say("timed out"); }
    error cancelled(const error* undecided, time_point)
    {
        return say(undecided != nullptr ? "cancelled in an attempt" : "cancelled");
    }
    void about_to_wait() { book->about_to_wait(); }

    ledger* book;
    duration wait{};
    std::size_t failures = 1'000'000;
    bool throws = false;
    bool wakes_well = true;
};
static_assert(shell::retry_protocol<stubborn> && !shell::asking_protocol<stubborn>);

class retry_loop : public ::testing::Test {
protected:
    core::deadline within(duration time) const { return core::deadline{world.steady_now() + time}; }

    virtual_world world;
    ledger book;
};

TEST_F(retry_loop, value_of_the_attempt_is_returned)
{
    operation_run run{world, stubborn{.book = &book, .wait = 3ms, .failures = 2}, {}};
    world.run();
    ASSERT_TRUE(run.succeeded());
    EXPECT_EQ(***run.got, 7);
    EXPECT_EQ(run.took(), 6ms);
    EXPECT_TRUE(run.throws_when_cancelled) << "the caller's coroutine is as it was";
}

TEST_F(retry_loop, zero_wait_lets_other_handlers_run)
{
    operation_run run{world, stubborn{.book = &book}, {}};
    runtime::asio::post(world.executor(), [&run] { run.cancel(); });
    for (int steps = 0; steps < 100 && !run.over; ++steps)
        world.step();
    EXPECT_EQ(run.completions, 1);
    EXPECT_EQ(run.error().message(), "cancelled");
    EXPECT_TRUE(run.throws_when_cancelled);
    EXPECT_EQ(world.alarms_set(), 0U);
}

TEST_F(retry_loop, negative_wait_is_a_zero_wait)
{
    operation_run run{world, stubborn{.book = &book, .wait = -1h, .failures = 3}, {}};
    world.run();
    EXPECT_TRUE(run.succeeded());
    EXPECT_EQ(run.took(), 0ms);
}

TEST_F(retry_loop, endless_wait_ends_with_the_deadline)
{
    operation_run run{world, stubborn{.book = &book, .wait = duration::max()}, within(1s)};
    world.run();
    EXPECT_EQ(run.error().message(), "timed out");
    EXPECT_EQ(run.took(), 1s);
    EXPECT_EQ(book.dispatched.size(), 1U);
}

TEST_F(retry_loop, endless_wait_without_a_deadline_ends_with_cancellation)
{
    operation_run run{world, stubborn{.book = &book, .wait = duration::max()}, {}};
    world.run();
    EXPECT_FALSE(run.over);
    run.cancel();
    world.run();
    EXPECT_EQ(run.completions, 1);
    EXPECT_EQ(run.error().message(), "cancelled");
}

/// Asio forgets a cancellation when another one follows that the coroutine does not heed.
TEST_F(retry_loop, cancellation_during_a_wait_is_not_lost)
{
    operation_run run{world, stubborn{.book = &book, .wait = 5ms}, {}};
    world.run_for(1ms);
    run.cancel();
    run.cancellation.emit(runtime::asio::cancellation_type::partial);
    world.run_for(1s);
    EXPECT_EQ(run.completions, 1);
    EXPECT_EQ(run.error().message(), "cancelled");
    EXPECT_EQ(book.dispatched.size(), 1U);
}

TEST_F(retry_loop, deadline_during_a_wait_prevents_the_next_attempt)
{
    for (const duration time : {9ms, 10ms}) {
        book = {};
        operation_run run{world, stubborn{.book = &book, .wait = 5ms}, within(time)};
        world.run();
        EXPECT_EQ(run.took(), time);
        EXPECT_EQ(run.error().message(), "timed out");
        EXPECT_EQ(book.dispatched.size(), 2U);
    }
}

TEST_F(retry_loop, error_of_woke_ends_the_operation)
{
    operation_run run{world, stubborn{.book = &book, .wait = 5ms, .wakes_well = false}, {}};
    world.run();
    EXPECT_EQ(run.error().message(), "woke badly");
    EXPECT_EQ(book.dispatched.size(), 1U);
}

TEST_F(retry_loop, executor_that_ends_destroys_the_operation)
{
    operation_run run{world, stubborn{.book = &book, .wait = 5ms}, within(1s)};
    world.run_for(2ms);
    ASSERT_EQ(world.alarms_set(), 1U);
    world.queue.stop();
    EXPECT_EQ(run.completions, 0);
    EXPECT_EQ(world.alarms_set(), 0U);
}

/// A caller that is cancelled, and calls nevertheless.
struct defiant_caller {
    virtual_world& world;
    stubborn what;
    runtime::asio::cancellation_signal cancellation = {};
    std::string outcome = {};

    runtime::awaitable<void> call()
    {
        co_await runtime::asio::this_coro::throw_if_cancelled(false);
        cancellation.emit(runtime::asio::cancellation_type::terminal);
        const core::deadline none;
        const auto got = co_await shell::retry_loop(world, what, none);
        const bool throws = co_await runtime::asio::this_coro::throw_if_cancelled();
        outcome = got ? "succeeded" : got.error().message();
        outcome += throws ? ", throws" : ", throws not";
    }

    struct handler {
        using cancellation_slot_type = runtime::asio::cancellation_slot;
        cancellation_slot_type get_cancellation_slot() const noexcept { return slot; }
        void operator()(std::exception_ptr) const {}
        cancellation_slot_type slot;
    };
};

TEST_F(retry_loop, operation_cancelled_before_its_start_makes_no_attempt)
{
    defiant_caller caller{world, {.book = &book}};
    const defiant_caller::handler with_slot{caller.cancellation.slot()};
    runtime::asio::co_spawn(world.executor(), caller.call(), with_slot);
    world.run();
    EXPECT_EQ(caller.outcome, "cancelled, throws not");
    EXPECT_TRUE(book.dispatched.empty());
}

runtime::awaitable<void> call_buggy(virtual_world& in, stubborn what, std::string& outcome)
{
    const core::deadline none;
    try {
        const auto got = co_await shell::retry_loop(in, what, none);
        outcome = "ended";
    } catch (const std::runtime_error& thrown) {
        outcome = thrown.what();
    }
    const bool throws = co_await runtime::asio::this_coro::throw_if_cancelled();
    outcome += throws ? ", throws" : ", throws not";
}

TEST_F(retry_loop, exception_restores_the_throw_if_cancelled_of_the_caller)
{
    std::string outcome;
    runtime::asio::co_spawn(world.executor(),
                            call_buggy(world, stubborn{.book = &book, .throws = true}, outcome),
                            runtime::asio::detached);
    world.run();
    EXPECT_EQ(outcome, "a bug, throws");
    EXPECT_EQ(book.checked_out, 0);
}

/// Without a value; reports a connection that it should not hold.
struct hoarder {
    using value_type = void;

    runtime::awaitable<result<void>> attempt()
    {
        kept = std::make_shared<lease>(*book);
        if (++tries > 1)
            co_return result<void>{};
        co_return say("failed");
    }
    shell::settled_step decide_retry(error, time_point) { return shell::try_again{1ms}; }
    std::optional<error> woke(time_point) { return std::nullopt; }
    error timed_out(time_point) { return say("timed out"); }
    error cancelled(const error*, time_point) { return say("cancelled"); }
    void about_to_wait() { book->about_to_wait(); }

    ledger* book;
    int tries = 0;
    std::shared_ptr<lease> kept = {};
};

TEST_F(retry_loop, about_to_wait_detects_a_protocol_that_keeps_its_connection)
{
    operation_run run{world, hoarder{.book = &book}, {}};
    world.run();
    EXPECT_TRUE(run.succeeded());
    EXPECT_EQ(book.held_while_waiting, 1) << "or the other tests of this prove nothing";
}

TEST_F(retry_loop, answer_box_keeps_the_first_answer)
{
    shell::answer_box<int> box{world};
    EXPECT_EQ(box.take(), std::nullopt);
    const auto reply = box.reply();
    const auto again = box.reply();
    reply(1);
    again(2);
    EXPECT_EQ(box.take(), 1);
    reply(3);
    EXPECT_EQ(box.take(), std::nullopt);
}

}  // namespace
}  // namespace holdfast::retry_loop_test
