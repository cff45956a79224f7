#include "runtime/short_mutex.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace holdfast::runtime::short_mutex_test {
namespace {

TEST(short_mutex, threads_are_inside_one_at_a_time)
{
    constexpr int threads = 4;
    constexpr int times = 20'000;
    short_mutex mutex;
    int count = 0;
    {
        std::vector<std::jthread> running;
        for (int n = 0; n != threads; ++n)
            running.emplace_back([&] {
                for (int i = 0; i != times; ++i) {
                    const std::scoped_lock lock{mutex};
                    ++count;
                }
            });
    }
    EXPECT_EQ(count, threads * times);
}

TEST(short_mutex, thread_that_waits_goes_on_and_may_destroy_it)
{
    for (int round = 0; round != 200; ++round) {
        auto mutex = std::make_unique<short_mutex>();
        mutex->lock();
        std::jthread last{[&] {
            mutex->lock();
            mutex->unlock();
            mutex.reset();
        }};
        mutex->unlock();
    }
}

}  // namespace
}  // namespace holdfast::runtime::short_mutex_test
