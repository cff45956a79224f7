#include "net/blocking/world.hpp"
#include "runtime/wait.hpp"
#include "world/raw_peer.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace holdfast::blocking_run_test {
namespace {

using namespace std::chrono_literals;
using net::blocking_world;
using runtime::awaitable;
using runtime::event;
using runtime::wait_end;
namespace asio = boost::asio;

constexpr auto long_enough = 10s;

/// Neither to be copied nor made from nothing.
struct precious {
    explicit precious(int of) : value{std::make_unique<int>(of)} {}
    std::unique_ptr<int> value;
};

awaitable<precious> make_precious(int of)
{
    co_return precious{of};
}

awaitable<result<int>> half(int of)
{
    if (of % 2 != 0)
        co_return error{runtime::errc::not_available, "odd"};
    co_return of / 2;
}

awaitable<void> add(int& to, int what)
{
    to += what;
    co_return;
}

awaitable<int> fail()
{
    throw std::runtime_error{"as planned"};
    co_return 0;
}

awaitable<void> step_aside(int times)
{
    const auto here = co_await asio::this_coro::executor;
    for (int i = 0; i < times; ++i)
        co_await asio::post(here, asio::use_awaitable);
}

awaitable<wait_end> wait_for_news(event& news, time_point until)
{
    const auto seen = news.count();
    co_return co_await news.wait(seen, until);
}

TEST(blocking_run, value_of_the_coroutine_is_returned)
{
    blocking_world world;
    EXPECT_EQ(*world.run(make_precious(7)).value, 7);
    EXPECT_EQ(*world.run(half(8)), 4);
    EXPECT_EQ(world.run(half(7)).error().message(), "odd");
    int sum = 0;
    world.run(add(sum, 5));
    EXPECT_EQ(sum, 5);
}

TEST(blocking_run, exception_of_the_coroutine_is_rethrown)
{
    blocking_world world;
    EXPECT_THROW(world.run(fail()), std::runtime_error);
    EXPECT_EQ(*world.run(half(2)), 1);
}

TEST(blocking_run, suspended_coroutine_is_resumed)
{
    blocking_world world;
    world.run(step_aside(1000));
    EXPECT_EQ(*world.run(half(2)), 1);
}

TEST(blocking_run, queued_functions_run_before_and_meanwhile)
{
    blocking_world world;
    int ran = 0;
    asio::post(world.executor(), [&ran] { ++ran; });
    EXPECT_EQ(ran, 0);
    world.run(step_aside(0));  // never suspends: the queue must not starve for that
    EXPECT_EQ(ran, 1);
    asio::co_spawn(world.executor(), add(ran, 10), asio::detached);
    world.run(step_aside(10));
    EXPECT_EQ(ran, 11);
}

TEST(blocking_run, due_alarms_ring_although_nothing_waits)
{
    blocking_world world;
    bool rung = false;
    const auto sleeper = [](runtime::world& in, bool& flag) -> awaitable<void> {
        co_await runtime::sleep_until(in, in.steady_now() + 1ms);
        flag = true;
    };
    asio::co_spawn(world.executor(), sleeper(world, rung), asio::detached);
    const auto give_up = world.steady_now() + long_enough;
    while (!rung && world.steady_now() < give_up)
        world.run(step_aside(0));
    EXPECT_TRUE(rung);
}

TEST(blocking_run, exception_of_a_queued_function_is_thrown_after_the_job)
{
    blocking_world world;
    bool done = false;
    const auto job = [](bool& flag) -> awaitable<void> {
        co_await step_aside(5);
        flag = true;
    };
    asio::post(world.executor(), [] { throw std::runtime_error{"stray"}; });
    EXPECT_THROW(world.run(job(done)), std::runtime_error);
    EXPECT_TRUE(done);
    EXPECT_EQ(*world.run(half(2)), 1);
}

TEST(blocking_run, sleep_ends_at_its_time)
{
    blocking_world world;
    const auto begin = world.steady_now();
    EXPECT_EQ(world.run(runtime::sleep_until(world, begin + 20ms)), wait_end::timed_out);
    EXPECT_GE(world.steady_now(), begin + 20ms);
    EXPECT_LT(world.steady_now(), begin + long_enough);
}

TEST(blocking_run, event_without_notify_times_out)
{
    blocking_world world;
    event news{world};
    const auto begin = world.steady_now();
    EXPECT_EQ(world.run(wait_for_news(news, begin + 20ms)), wait_end::timed_out);
    EXPECT_GE(world.steady_now(), begin + 20ms);
    EXPECT_EQ(world.run(wait_for_news(news, begin)), wait_end::timed_out);
}

TEST(blocking_run, notify_from_another_thread_wakes_the_world)
{
    blocking_world world;
    event news{world};
    for (const auto limit : {runtime::never, world.steady_now() + long_enough}) {
        std::thread other{[&news, me = proof::this_thread()] {
            proof::wait_until_asleep(me);
            news.notify();
        }};
        EXPECT_EQ(world.run(wait_for_news(news, limit)), wait_end::notified);
        other.join();
    }
}

TEST(blocking_run, event_destroyed_by_another_thread_ends_the_wait)
{
    blocking_world world;
    auto news = std::make_unique<event>(world);
    auto waiting = wait_for_news(*news, runtime::never);
    std::atomic<bool> begun = false;
    const auto job = [](awaitable<wait_end> what, std::atomic<bool>& flag) -> awaitable<wait_end> {
        flag = true;
        co_return co_await std::move(what);
    };
    std::thread other{[&, me = proof::this_thread()] {
        while (!begun)
            std::this_thread::yield();
        proof::wait_until_asleep(me);
        news.reset();
    }};
    EXPECT_EQ(world.run(job(std::move(waiting), begun)), wait_end::cancelled);
    other.join();
}

TEST(blocking_run, earlier_alarm_set_by_another_thread_wakes_the_world)
{
    struct flag final : runtime::alarm {
        explicit flag(event& to_notify) : news{to_notify} {}
        void ring() noexcept override { news.notify(); }
        event& news;
    };
    blocking_world world;
    event news{world};
    flag early{news};
    std::thread other{[&, me = proof::this_thread()] {
        proof::wait_until_asleep(me);
        world.alarms().set(early, world.steady_now() + 5ms);
    }};
    const auto begin = world.steady_now();
    EXPECT_EQ(world.run(wait_for_news(news, begin + long_enough)), wait_end::notified);
    EXPECT_LT(world.steady_now(), begin + long_enough);
    other.join();
    world.alarms().clear(early);
}

TEST(blocking_run, notify_and_post_from_many_threads_all_arrive)
{
    blocking_world world;
    event news{world};
    std::atomic<int> posted = 0;
    std::atomic<int> arrived = 0;
    constexpr int threads = 4;
    constexpr int each = 500;
    const auto count_them = [](event& changed, std::atomic<int>& have) -> awaitable<int> {
        for (;;) {
            const auto seen = changed.count();
            if (have == threads * each)
                co_return have;
            co_await changed.wait(seen);
        }
    };
    std::vector<std::thread> others;
    for (int t = 0; t < threads; ++t) {
        others.emplace_back([&] {
            for (int i = 0; i < each; ++i) {
                asio::post(world.executor(), [&] { ++posted; });
                ++arrived;
                news.notify();
            }
        });
    }
    EXPECT_EQ(world.run(count_them(news, arrived)), threads * each);
    for (auto& one : others)
        one.join();
    world.run(step_aside(threads * each));
    EXPECT_EQ(posted, threads * each);
}

TEST(blocking_run, waiting_coroutines_are_destroyed_with_the_world)
{
    struct witness {
        explicit witness(int& count) : gone{count} {}
        ~witness() { ++gone; }
        int& gone;
    };
    const auto sleeper = [](runtime::world& in, int& count) -> awaitable<void> {
        const witness here{count};
        co_await runtime::sleep_until(in, in.steady_now() + 1h);
    };
    int gone = 0;
    {
        blocking_world world;
        asio::co_spawn(world.executor(), sleeper(world, gone), asio::detached);
        asio::co_spawn(world.executor(), sleeper(world, gone), asio::detached);
        world.run(step_aside(3));
        asio::co_spawn(world.executor(), sleeper(world, gone), asio::detached);  // never begins
        EXPECT_EQ(gone, 0);
    }
    EXPECT_EQ(gone, 2);
}

#ifndef NDEBUG
TEST(blocking_run_death_test, nested_run_is_refused)
{
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    blocking_world world;
    const auto nested = [](blocking_world& in) -> awaitable<int> { co_return *in.run(half(2)); };
    EXPECT_DEATH(world.run(nested(world)), "not from inside itself");
}
#endif

}  // namespace
}  // namespace holdfast::blocking_run_test
