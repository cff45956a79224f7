#include "runtime/wait.hpp"

#include "support/virtual_world.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::runtime::wait_test {
namespace {

using namespace std::chrono_literals;

/// What became of the waits of a test: "a notified 5ms", in the order in which they ended.
class waits : public ::testing::Test {
protected:
    void SetUp() override { start = world.steady_now(); }

    void note(const std::string& who, wait_end end)
    {
        constexpr const char* names[] = {"notified", "timed_out", "cancelled"};
        const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(world.steady_now() -
                                                                              start);
        ended.push_back(who + ' ' + names[static_cast<int>(end)] + ' ' +
                        std::to_string(ms.count()) + "ms");
    }
    awaitable<void> sleep(std::string who, duration length)
    {
        co_await asio::this_coro::throw_if_cancelled(false);
        const wait_end end = co_await sleep_until(world, start + length);
        note(who, end);
    }
    awaitable<void> wait(std::string who, std::optional<duration> limit = {})
    {
        co_await asio::this_coro::throw_if_cancelled(false);
        const auto seen = news->count();
        const wait_end end = co_await news->wait(seen, limit ? start + *limit : never);
        note(who, end);
    }
    awaitable<void> yield_twice()
    {
        co_await asio::this_coro::throw_if_cancelled(false);
        asio::post(world.executor(), [this] { ended.emplace_back("other"); });
        const wait_end first = co_await yield();
        note("yielded", first);
        cancel_the_last_one();
        const wait_end second = co_await yield();
        note("yielded", second);
    }
    /// Runs it until it waits.
    void go(awaitable<void> what)
    {
        const asio::cancellation_slot slot = signals.emplace_back().slot();
        asio::co_spawn(world.executor(), std::move(what),
                       asio::bind_cancellation_slot(slot, asio::detached));
        world.queue.run_ready();
    }
    void cancel_the_last_one() { signals.back().emit(asio::cancellation_type::terminal); }

    using texts = std::vector<std::string>;
    std::list<asio::cancellation_signal> signals;  // one each; they outlive the coroutines
    proof::virtual_world world;
    time_point start;
    std::optional<event> news{std::in_place, world};
    texts ended;
};

TEST_F(waits, sleepers_wake_in_time_order)
{
    go(sleep("long", 30ms));
    go(sleep("short", 10ms));
    go(sleep("middle", 20ms));
    go(sleep("another middle", 20ms));
    go(sleep("late already", -5ms));
    EXPECT_EQ(world.alarms_set(), 5U);
    world.run_for(20ms);
    EXPECT_EQ(ended, (texts{"late already timed_out 0ms", "short timed_out 10ms",
                            "middle timed_out 20ms", "another middle timed_out 20ms"}));
    world.run();
    EXPECT_EQ(ended.back(), "long timed_out 30ms");
    EXPECT_EQ(world.alarms_set(), 0U);
}

TEST_F(waits, sleep_until_never_sets_no_alarm)
{
    go([](runtime::world& in) -> awaitable<void> { co_await sleep_until(in, never); }(world));
    EXPECT_EQ(world.alarms_set(), 0U);
}

TEST_F(waits, cancelled_sleep_ends_at_once)
{
    go(sleep("sleeper", 30ms));
    world.run_for(3ms);
    cancel_the_last_one();
    cancel_the_last_one();
    world.queue.run_ready();
    EXPECT_EQ(ended, (texts{"sleeper cancelled 3ms"}));
    EXPECT_EQ(world.alarms_set(), 0U) << "its alarm is cleared";
}

TEST_F(waits, notify_wakes_all_waiters_in_order)
{
    go(wait("first"));
    go(wait("second"));
    go(wait("third", 50ms));
    world.run_for(1ms);
    news->notify();
    EXPECT_TRUE(ended.empty()) << "notify() runs no waiter inline";
    world.queue.run_ready();
    EXPECT_EQ(ended, (texts{"first notified 1ms", "second notified 1ms", "third notified 1ms"}));
    EXPECT_EQ(world.alarms_set(), 0U);
}

TEST_F(waits, notify_counts_and_seen_counts_do_not_wake)
{
    EXPECT_EQ(news->count(), 0U);
    news->notify();
    news->notify();
    EXPECT_EQ(news->count(), 2U);
    go(wait("has seen two", 5ms));
    EXPECT_TRUE(ended.empty()) << "a count that was seen does not wake";
    world.run();
    EXPECT_EQ(ended, (texts{"has seen two timed_out 5ms"}));
    EXPECT_EQ(news->count(), 2U);
}

TEST_F(waits, thousands_of_waiters_leave_an_event_at_once)
{
    constexpr int count = 40'000;
    int timed_out = 0;
    for (int i = 0; i < count; ++i) {
        go([](event& on, time_point until, int& times) -> awaitable<void> {
            const wait_end end = co_await on.wait(0, until);
            times += end == wait_end::timed_out;
        }(*news, start + 1ms, timed_out));
    }
    const std::clock_t began = std::clock();
    world.run_for(1ms);
    EXPECT_EQ(timed_out, count);
    // Some 50 ms. A search in a list of all of them took seconds.
    EXPECT_LT(static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC, 1.5);
}

TEST_F(waits, ended_waits_are_not_notified)
{
    go(wait("first", 1ms));
    go(wait("second"));
    go(wait("third", 2ms));
    go(wait("fourth"));
    world.run_for(1ms);
    world.run_for(1ms);
    go(wait("fifth"));
    news->notify();
    world.queue.run_ready();
    EXPECT_EQ(ended, (texts{"first timed_out 1ms", "third timed_out 2ms", "second notified 2ms",
                            "fourth notified 2ms", "fifth notified 2ms"}));
}

TEST_F(waits, yield_lets_others_run_and_notices_cancellation)
{
    go(yield_twice());
    EXPECT_EQ(ended, (texts{"other", "yielded notified 0ms", "yielded cancelled 0ms"}));
}

awaitable<void> look_then_wait(event& news, std::vector<wait_end>& ended)
{
    const auto seen = news.count();
    news.notify();  // happens while he looks
    const wait_end end = co_await news.wait(seen);
    ended.push_back(end);
    const wait_end still = co_await news.wait(seen);  // and stays true
    ended.push_back(still);
}

TEST_F(waits, notify_before_wait_is_not_missed)
{
    std::vector<wait_end> ends;
    go(look_then_wait(*news, ends));
    EXPECT_EQ(ends, (std::vector{wait_end::notified, wait_end::notified}));
}

TEST_F(waits, deadline_ends_one_wait_only)
{
    go(wait("patient"));
    go(wait("hasty", 2ms));
    world.run_for(10ms);
    EXPECT_EQ(ended, (texts{"hasty timed_out 2ms"}));
    news->notify();
    world.run();
    EXPECT_EQ(ended.back(), "patient notified 10ms");
}

TEST_F(waits, expired_deadline_ends_the_wait_at_once)
{
    go(wait("too late", -1ms));
    world.run_for(0ms);
    EXPECT_EQ(ended, (texts{"too late timed_out 0ms"}));
}

TEST_F(waits, cancelled_wait_ends_alone)
{
    go(wait("other"));
    go(wait("cancelled one"));
    cancel_the_last_one();
    world.queue.run_ready();
    EXPECT_EQ(ended, (texts{"cancelled one cancelled 0ms"}));
    news->notify();
    world.queue.run_ready();
    EXPECT_EQ(ended.back(), "other notified 0ms");
}

TEST_F(waits, notify_before_cancel_wins)
{
    go(wait("one"));
    news->notify();
    cancel_the_last_one();  // too late, though it has not run yet
    world.queue.run_ready();
    EXPECT_EQ(ended, (texts{"one notified 0ms"}));
}

TEST_F(waits, destroying_the_event_cancels_its_waits)
{
    go(wait("one"));
    go(wait("two", 5ms));
    news.reset();
    world.queue.run_ready();
    EXPECT_EQ(ended, (texts{"one cancelled 0ms", "two cancelled 0ms"}));
    EXPECT_EQ(world.alarms_set(), 0U);
}

awaitable<void> wait_when_cancelled(world& in, event& news, std::vector<wait_end>& ended)
{
    co_await asio::this_coro::throw_if_cancelled(false);
    for (int i = 0; i < 2; ++i) {
        const wait_end slept = co_await sleep_until(in, in.steady_now() + 1h);
        ended.push_back(slept);
    }
    const auto seen = news.count();
    const wait_end waited = co_await news.wait(seen);
    ended.push_back(waited);
    news.notify();
    const wait_end known = co_await news.wait(seen);
    ended.push_back(known);
}

TEST_F(waits, wait_in_a_cancelled_coroutine_ends_at_once)
{
    std::vector<wait_end> ends;
    go(wait_when_cancelled(world, *news, ends));
    cancel_the_last_one();
    world.queue.run_ready();
    EXPECT_EQ(ends, (std::vector{wait_end::cancelled, wait_end::cancelled, wait_end::cancelled,
                                 wait_end::notified}));
    EXPECT_EQ(world.alarms_set(), 0U);
    EXPECT_EQ(world.steady_now(), start);
}

TEST_F(waits, destroyed_coroutine_is_unregistered)
{
    const auto owned = std::make_shared<int>();
    const auto keeps = [this](std::shared_ptr<int>) -> awaitable<void> {
        co_await news->wait(news->count(), start + 1h);
    };
    go(keeps(owned));
    EXPECT_EQ(owned.use_count(), 2);
    world.queue.stop();
    EXPECT_EQ(owned.use_count(), 1);
    EXPECT_EQ(world.alarms_set(), 0U);
    news->notify();
}

awaitable<void> wait_for_all(event& news, std::atomic<int>& posted, int expected, bool& done)
{
    for (;;) {
        const auto seen = news.count();
        if (posted.load() == expected)
            break;
        co_await news.wait(seen);
    }
    done = true;
}

/// The waiter looks and waits while four threads change what he looks at. A lost wake-up would
/// leave him waiting for ever.
TEST_F(waits, notify_from_many_threads_reaches_the_waiter)
{
    constexpr int threads = 4;
    constexpr int each = 300;
    std::atomic<int> posted = 0;
    bool done = false;
    go(wait_for_all(*news, posted, threads * each, done));
    std::vector<std::thread> notifiers;
    for (int who = 0; who < threads; ++who) {
        notifiers.emplace_back([this, &posted] {
            for (int i = 0; i < each; ++i) {
                ++posted;
                news->notify();
            }
        });
    }
    while (!done && world.queue.wait_until(std::chrono::steady_clock::now() + 10s))
        world.queue.run_ready();
    for (std::thread& one : notifiers)
        one.join();
    EXPECT_TRUE(done);
    EXPECT_EQ(news->count(), static_cast<std::uint64_t>(threads * each));
}

}  // namespace
}  // namespace holdfast::runtime::wait_test
