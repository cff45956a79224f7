#include "runtime/handoff.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <mutex>
#include <thread>

namespace holdfast::runtime::handoff_threads_test {
namespace {

/// A context of Asio's with one waiter after the other, and three threads that end their waits.
class handoff_threads : public ::testing::Test {
protected:
    static constexpr int rounds = 2000;

    awaitable<void> wait_often()
    {
        co_await asio::this_coro::throw_if_cancelled(false);
        handoff<int> waiter;
        for (int round = 0; round < rounds; ++round) {
            {
                const std::scoped_lock lock{mutex};
                waiter.expect(slot, mutex);
            }
            const wait_end end = co_await waiter.wait();
            ++ends[static_cast<std::size_t>(end)];
            if (end == wait_end::notified)
                sum += waiter.take();
        }
        done = true;
    }
    void end_often(bool with_value)
    {
        const executor nowhere;
        while (!done) {
            {
                handoff_base::resumption resumed;
                const std::scoped_lock lock{mutex};
                if (with_value)
                    resumed = slot.end(1, nowhere);
                else
                    slot.end(wait_end::timed_out);
                EXPECT_FALSE(resumed);
            }
            std::this_thread::yield();
        }
    }

    short_mutex mutex;
    handoff_source<int> slot;
    std::array<int, 3> ends{};
    int sum = 0;
    std::atomic<bool> done = false;
};

TEST_F(handoff_threads, every_wait_ends_once_by_either_of_two_threads)
{
    asio::io_context context;
    asio::co_spawn(context, wait_often(), asio::detached);
    std::thread values{[this] { end_often(true); }};
    std::thread deadlines{[this] { end_often(false); }};
    auto guard = asio::make_work_guard(context);
    while (!done)
        context.run_one();
    values.join();
    deadlines.join();
    EXPECT_EQ(ends[0] + ends[1], rounds);
    EXPECT_EQ(sum, ends[0]);
    EXPECT_FALSE(slot.expected());
}

TEST_F(handoff_threads, context_may_be_destroyed_while_another_thread_ends_the_wait)
{
    std::thread values{[this] { end_often(true); }};
    for (int round = 0; round < 300; ++round) {
        asio::io_context context;
        asio::co_spawn(context, wait_often(), asio::detached);
        for (int i = 0; i < round % 7; ++i)
            context.poll_one();
    }
    done = true;
    values.join();
    EXPECT_FALSE(slot.expected());
}

}  // namespace
}  // namespace holdfast::runtime::handoff_threads_test
