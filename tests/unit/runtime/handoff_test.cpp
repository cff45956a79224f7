#include "runtime/handoff.hpp"

#include "support/virtual_world.hpp"

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <list>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace holdfast::runtime::handoff_test {
namespace {

using texts = std::vector<std::string>;
using source = handoff_source<std::string>;

std::string text_of(wait_end end, handoff<std::string>& got)
{
    switch (end) {
    case wait_end::notified:
        return got.take();
    case wait_end::timed_out:
        return "timed_out";
    case wait_end::cancelled:
        return "cancelled";
    }
    return {};
}

/// A connection with slots, and operations that wait at them: "a reply", in the order in which they
/// went on.
class handoffs : public ::testing::Test {
protected:
    /// With a slot of its own, since bind_cancellation_slot() would post each cancellation, to
    /// arrive after all that is queued already.
    struct finished {
        using cancellation_slot_type = asio::cancellation_slot;
        cancellation_slot_type get_cancellation_slot() const noexcept { return slot; }
        void operator()(const std::exception_ptr& thrown) const { EXPECT_FALSE(thrown); }
        cancellation_slot_type slot;
    };

    awaitable<void> wait(std::string name, source& from, std::function<void()> before_wait)
    {
        co_await asio::this_coro::throw_if_cancelled(false);
        handoff<std::string> waiter;
        {
            const std::scoped_lock lock{mutex};
            waiter.expect(from, mutex);
        }
        if (before_wait)
            before_wait();
        const wait_end end = co_await waiter.wait();
        ended.push_back(name + ' ' + text_of(end, waiter));
        if (then)
            then(name);
    }
    awaitable<void> wait_at_each_slot()
    {
        handoff<std::string> waiter;
        for (source& from : slots) {
            {
                const std::scoped_lock lock{mutex};
                waiter.expect(from, mutex);
                EXPECT_FALSE(from.resumes_inline(world.executor())) << "it does not wait yet";
            }
            co_await waiter.suspend();
            ended.push_back(text_of(waiter.ended_by(), waiter));
        }
    }
    awaitable<void> wait_as_owner(std::shared_ptr<int>)
    {
        const std::function<void()> nothing;
        co_await wait("a", slot, nothing);
    }
    /// Runs it until it waits.
    void go(awaitable<void> what)
    {
        const finished handler{signals.emplace_back().slot()};
        asio::co_spawn(world.executor(), std::move(what), handler);
        world.queue.run_ready();
    }
    void go(const std::string& name, source& from, std::function<void()> before_wait = {})
    {
        go(wait(name, from, std::move(before_wait)));
    }
    void cancel_the_last_one() { signals.back().emit(asio::cancellation_type::terminal); }
    bool expected(const source& one)
    {
        const std::scoped_lock lock{mutex};
        return one.expected();
    }
    /// As the reader does, which runs on `here`.
    void hand_over(source& to, const std::string& value, const executor& here)
    {
        handoff_base::resumption resumed;
        const std::scoped_lock lock{mutex};
        resumed = to.end(value, here);
    }
    void hand_over(source& to, const std::string& value) { hand_over(to, value, world.executor()); }
    void time_out(source& to)
    {
        const std::scoped_lock lock{mutex};
        to.end(wait_end::timed_out);
    }

    std::list<asio::cancellation_signal> signals;  // one each; they outlive the coroutines
    short_mutex mutex;
    std::array<source, 4> slots;
    source& slot = slots[0];
    proof::virtual_world world;
    std::function<void(const std::string&)> then;  // in each coroutine after its wait
    texts ended;
};

TEST_F(handoffs, value_resumes_a_waiter_of_the_same_executor_inline)
{
    go("a", slots[0]);
    go("b", slots[1]);
    EXPECT_TRUE(ended.empty());
    hand_over(slots[1], "two");
    EXPECT_EQ(ended, (texts{"b two"})) << "before hand_over() returns";
    hand_over(slots[0], "one");
    EXPECT_EQ(ended, (texts{"b two", "a one"}));
    EXPECT_FALSE(expected(slots[0]));
}

TEST_F(handoffs, value_from_another_executor_resumes_the_waiter_on_its_own)
{
    proof::virtual_world other;
    go("a", slot);
    {
        const std::scoped_lock lock{mutex};
        EXPECT_TRUE(slot.resumes_inline(world.executor()));
        EXPECT_FALSE(slot.resumes_inline(other.executor()));
    }
    hand_over(slot, "one", other.executor());
    EXPECT_TRUE(ended.empty());
    EXPECT_FALSE(expected(slot));
    EXPECT_TRUE(other.queue.empty());
    world.queue.run_ready();
    EXPECT_EQ(ended, (texts{"a one"}));
}

TEST_F(handoffs, deadline_never_resumes_inline)
{
    go("a", slot);
    time_out(slot);
    EXPECT_TRUE(ended.empty()) << "a clock that rings holds its mutex";
    world.queue.run_ready();
    EXPECT_EQ(ended, (texts{"a timed_out"}));
}

TEST_F(handoffs, end_before_the_wait_is_not_missed)
{
    go("a", slots[0], [this] { hand_over(slots[0], "early"); });
    go("b", slots[1], [this] { time_out(slots[1]); });
    EXPECT_EQ(ended, (texts{"a early", "b timed_out"}));
}

TEST_F(handoffs, cancelled_wait_ends_alone_and_its_source_sees_that)
{
    go("a", slots[0]);
    go("b", slots[1]);
    cancel_the_last_one();
    cancel_the_last_one();
    EXPECT_TRUE(ended.empty()) << "the emitting code runs no coroutine";
    EXPECT_FALSE(expected(slots[1])) << "though it has not run yet";
    EXPECT_TRUE(expected(slots[0]));
    hand_over(slots[1], "late");
    world.queue.run_ready();
    EXPECT_EQ(ended, (texts{"b cancelled"}));
}

TEST_F(handoffs, wait_in_a_cancelled_coroutine_ends_at_once)
{
    go("a", slot, [this] { cancel_the_last_one(); });
    EXPECT_EQ(ended, (texts{"a cancelled"}));
    EXPECT_FALSE(expected(slot));
}

/// All orders of the three, so many of them before the wait and the others in it, and with the
/// executor running or not between them: the first one decides, once. A cancellation before the
/// wait counts when the wait begins.
TEST_F(handoffs, first_of_value_deadline_and_cancellation_ends_the_wait)
{
    struct event {
        const char* expected;
        std::function<void()> happens;
    };
    const std::array<event, 3> events{event{"a value", [this] { hand_over(slot, "value"); }},
                                      event{"a timed_out", [this] { time_out(slot); }},
                                      event{"a cancelled", [this] { cancel_the_last_one(); }}};
    constexpr std::size_t cancellation = 2;
    std::array<std::size_t, 3> order{0, 1, 2};
    int tried = 0;
    do {
        for (std::size_t before_wait = 0; before_wait <= 3; ++before_wait) {
            for (const bool running : {false, true}) {
                SCOPED_TRACE(std::to_string(tried++));
                ended.clear();
                const auto early = [&] {
                    for (std::size_t i = 0; i < before_wait; ++i)
                        events[order[i]].happens();
                };
                go("a", slot, early);
                for (std::size_t i = before_wait; i < 3; ++i) {
                    events[order[i]].happens();
                    if (running)
                        world.queue.run_ready();
                }
                world.queue.run_ready();
                const bool counts_later = before_wait >= 2 && order[0] == cancellation;
                EXPECT_EQ(ended, (texts{events[order[counts_later ? 1 : 0]].expected}));
                EXPECT_FALSE(expected(slot));
            }
        }
    } while (std::next_permutation(order.begin(), order.end()));
    EXPECT_EQ(tried, 48);
}

TEST_F(handoffs, handoff_is_used_again_with_another_source)
{
    go(wait_at_each_slot());
    hand_over(slots[0], "one");
    hand_over(slots[0], "again");
    time_out(slots[1]);
    hand_over(slots[1], "late");
    world.queue.run_ready();
    EXPECT_FALSE(expected(slots[0]) || expected(slots[1]));
    hand_over(slots[2], "three");
    hand_over(slots[3], "four");
    EXPECT_EQ(ended, (texts{"one", "timed_out", "three", "four"}));
}

TEST_F(handoffs, withdrawn_handoff_is_not_expected)
{
    handoff<std::string> waiter;
    waiter.withdraw();
    {
        const std::scoped_lock lock{mutex};
        waiter.expect(slot, mutex);
    }
    EXPECT_TRUE(expected(slot));
    waiter.withdraw();
    EXPECT_FALSE(expected(slot));
    hand_over(slot, "late");
}

TEST_F(handoffs, coroutine_destroyed_with_its_executor_is_not_expected)
{
    go("a", slots[0]);
    go("b", slots[1]);
    world.queue.stop();
    EXPECT_FALSE(expected(slots[0]));
    EXPECT_FALSE(expected(slots[1]));
    cancel_the_last_one();
    hand_over(slots[0], "late");
    time_out(slots[1]);
    EXPECT_TRUE(ended.empty());
}

TEST_F(handoffs, queued_resumption_is_destroyed_with_its_executor)
{
    const auto owned = std::make_shared<int>();
    go(wait_as_owner(owned));
    time_out(slot);
    EXPECT_EQ(owned.use_count(), 2);
    world.queue.stop();
    EXPECT_EQ(owned.use_count(), 1);
    EXPECT_TRUE(ended.empty());
}

TEST_F(handoffs, cancellation_signal_may_be_destroyed_before_the_waiter)
{
    go("a", slots[0]);
    go("b", slots[1]);
    signals.clear();
    hand_over(slots[1], "two", executor{});
    world.queue.stop();
    EXPECT_FALSE(expected(slots[0]));
}

/// Each waiter ends the next one, as requests do that are sent out of replies.
TEST_F(handoffs, resumptions_are_nested_32_deep_and_then_queued)
{
    constexpr std::size_t count = 100;
    std::array<source, count> chain;
    std::size_t next = 0;
    unsigned depth = 0;
    unsigned deepest = 0;
    then = [&](const std::string&) {
        deepest = std::max(deepest, ++depth);
        if (++next < count)
            hand_over(chain[next], "x");
        --depth;
    };
    for (source& one : chain)
        go("a", one);
    hand_over(chain[0], "x");
    EXPECT_EQ(ended.size(), handoff_base::most_nested);
    EXPECT_EQ(deepest, handoff_base::most_nested);
    world.queue.run_ready();
    EXPECT_EQ(ended.size(), count);
    EXPECT_LE(deepest, handoff_base::most_nested + 1);
}

/// On a context of Asio's, which calls the handler inside the resumption and keeps its exception.
TEST_F(handoffs, exception_of_a_completion_handler_comes_out_of_the_executor)
{
    asio::io_context context;
    const std::function<void()> nothing;
    asio::co_spawn(context, wait("a", slot, nothing), [](const std::exception_ptr&) {
        throw std::runtime_error{"a bug of the application"};
    });
    context.poll();
    bool read_on = false;
    asio::post(context, [&] {
        hand_over(slot, "one", context.get_executor());
        read_on = ended == texts{"a one"};
    });
    EXPECT_THROW(context.poll(), std::runtime_error);
    EXPECT_TRUE(read_on) << "the reader is not disturbed";
}

}  // namespace
}  // namespace holdfast::runtime::handoff_test
