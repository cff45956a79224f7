#include "runtime/run_queue.hpp"

#include "runtime/wait.hpp"
#include "support/virtual_world.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace holdfast::runtime::run_queue_test {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

template <class Function>
void put(run_queue& into, Function what)
{
    into.get_executor().execute(std::move(what));
}

TEST(run_queue, functions_run_in_the_order_posted)
{
    run_queue queue;
    std::vector<int> ran;
    EXPECT_FALSE(queue.run_one());
    for (int i = 0; i < 4; ++i)
        put(queue, [&ran, i] { ran.push_back(i); });
    EXPECT_TRUE(ran.empty()) << "nothing runs by being put in";
    EXPECT_FALSE(queue.empty());

    EXPECT_TRUE(queue.run_one());
    EXPECT_EQ(ran, (std::vector{0}));
    EXPECT_EQ(queue.run_ready(), 3U);
    EXPECT_EQ(ran, (std::vector{0, 1, 2, 3}));
    EXPECT_TRUE(queue.empty());
}

TEST(run_queue, functions_posted_while_running_run_last)
{
    run_queue queue;
    std::vector<int> ran;
    put(queue, [&] {
        ran.push_back(1);
        put(queue, [&ran] { ran.push_back(3); });
        EXPECT_EQ(ran.size(), 1U) << "put in by what runs, and still does not run at once";
    });
    put(queue, [&ran] { ran.push_back(2); });
    EXPECT_EQ(queue.run_ready(), 3U);
    EXPECT_EQ(ran, (std::vector{1, 2, 3}));
}

TEST(run_queue, move_only_functions_are_accepted)
{
    run_queue queue;
    int seen = 0;
    put(queue, [&seen, owned = std::make_unique<int>(7)] { seen = *owned; });
    queue.run_ready();
    EXPECT_EQ(seen, 7);
}

TEST(run_queue, exception_propagates_and_the_next_function_runs)
{
    run_queue queue;
    bool next = false;
    put(queue, [] { throw std::runtime_error{"of a user's"}; });
    put(queue, [&next] { next = true; });
    EXPECT_THROW(queue.run_one(), std::runtime_error);
    EXPECT_TRUE(queue.run_one());
    EXPECT_TRUE(next);
}

TEST(run_queue, executor_post_never_runs_inline)
{
    run_queue queue;
    run_queue other;
    EXPECT_EQ(queue.get_executor(), queue.get_executor());
    EXPECT_FALSE(queue.get_executor() == other.get_executor());

    const executor erased = queue.get_executor();
    int ran = 0;
    asio::post(erased, [&ran] { ++ran; });
    asio::require(erased, asio::execution::blocking.never).execute([&ran] { ++ran; });
    EXPECT_EQ(ran, 0);
    EXPECT_EQ(queue.run_ready(), 2U);
    EXPECT_EQ(ran, 2);
}

TEST(run_queue, wait_until_returns_at_the_deadline)
{
    run_queue queue;
    const auto start = steady_clock::now();
    EXPECT_FALSE(queue.wait_until(start + 5ms));
    EXPECT_GE(steady_clock::now(), start + 5ms);
    EXPECT_FALSE(queue.wait_until(start)) << "a time that has passed";
    put(queue, [] {});
    EXPECT_TRUE(queue.wait_until(start)) << "there is one, whatever the time";
    EXPECT_TRUE(queue.wait_until(never));
}

/// Each round is a chance for a wake-up to be lost; one that is lost costs ten seconds.
TEST(run_queue, post_from_another_thread_wakes_the_waiter)
{
    constexpr int rounds = 300;
    run_queue queue;
    std::atomic<int> ran = 0;
    const auto start = steady_clock::now();
    std::thread other{[&] {
        for (int round = 0; round < rounds; ++round) {
            put(queue, [&ran] { ++ran; });
            while (ran.load() == round)
                std::this_thread::yield();
        }
    }};
    while (ran.load() < rounds) {
        const bool woken = queue.wait_until(start + 10s);
        EXPECT_TRUE(woken);
        if (!woken)
            break;
        queue.run_ready();
    }
    queue.run_ready();
    EXPECT_EQ(ran.load(), rounds);
    while (ran.load() < rounds)  // so that the thread ends also when the test has failed
        ++ran;
    other.join();
}

TEST(run_queue, posts_of_each_thread_keep_their_order)
{
    constexpr int threads = 4;
    constexpr int each = 500;
    run_queue queue;
    std::vector<int> last(threads, -1);
    int ran = 0;
    std::vector<std::thread> posters;
    for (int who = 0; who < threads; ++who) {
        posters.emplace_back([&queue, &last, &ran, who] {
            for (int i = 0; i < each; ++i) {
                put(queue, [&last, &ran, who, i] {
                    EXPECT_EQ(std::exchange(last[static_cast<std::size_t>(who)], i), i - 1);
                    ++ran;
                });
            }
        });
    }
    while (ran < threads * each && queue.wait_until(steady_clock::now() + 10s))
        queue.run_ready();
    for (std::thread& one : posters)
        one.join();
    EXPECT_EQ(ran, threads * each);
}

TEST(run_queue, stop_drops_queued_and_later_functions)
{
    run_queue queue;
    const auto owned = std::make_shared<int>();
    bool ran = false;
    for (int i = 0; i < 3; ++i)
        put(queue, [owned, &ran] { ran = true; });
    EXPECT_EQ(owned.use_count(), 4);

    queue.stop();
    EXPECT_EQ(owned.use_count(), 1);
    put(queue, [owned, &ran] { ran = true; });
    EXPECT_EQ(owned.use_count(), 1) << "what comes too late goes at once";
    EXPECT_EQ(queue.run_ready(), 0U);
    EXPECT_FALSE(ran);
    queue.stop();  // again
}

/// Puts one more in when it goes, as a coroutine's locals might.
struct puts_more {
    explicit puts_more(run_queue& into) : queue{&into} {}
    puts_more(puts_more&& other) noexcept : queue{std::exchange(other.queue, nullptr)} {}
    ~puts_more()
    {
        if (queue != nullptr)
            put(*queue, [] { ADD_FAILURE() << "ran after the stop"; });
    }
    void operator()() const {}

    run_queue* queue;
};

TEST(run_queue, stop_survives_posts_from_destructors)
{
    run_queue queue;
    put(queue, puts_more{queue});
    queue.stop();
    EXPECT_TRUE(queue.empty());
}

awaitable<void> sleep_and_say(world& in, std::shared_ptr<bool> went_on)
{
    co_await sleep_until(in, in.steady_now() + 1h);
    *went_on = true;
}

awaitable<void> wait_and_say(event& news, std::shared_ptr<bool> went_on)
{
    const auto seen = news.count();
    co_await news.wait(seen);
    *went_on = true;
}

TEST(run_queue, stop_destroys_waiting_coroutines)
{
    proof::virtual_world world;
    event news{world};
    const auto went_on = std::make_shared<bool>(false);
    asio::co_spawn(world.executor(), sleep_and_say(world, went_on), asio::detached);
    asio::co_spawn(world.executor(), wait_and_say(news, went_on), asio::detached);
    asio::co_spawn(world.executor(), wait_and_say(news, went_on), asio::detached);
    world.queue.run_ready();
    EXPECT_EQ(went_on.use_count(), 4);
    EXPECT_EQ(world.alarms_set(), 1U);

    world.queue.stop();
    EXPECT_EQ(went_on.use_count(), 1);
    EXPECT_EQ(world.alarms_set(), 0U);
    news.notify();  // no waiter is left
    world.run();
    EXPECT_FALSE(*went_on);
}

TEST(run_queue, stop_destroys_notified_coroutines)
{
    proof::virtual_world world;
    event news{world};
    const auto went_on = std::make_shared<bool>(false);
    asio::co_spawn(world.executor(), wait_and_say(news, went_on), asio::detached);
    world.queue.run_ready();
    news.notify();
    EXPECT_FALSE(world.queue.empty());

    world.queue.stop();
    EXPECT_EQ(went_on.use_count(), 1);
    EXPECT_FALSE(*went_on);
}

}  // namespace
}  // namespace holdfast::runtime::run_queue_test
