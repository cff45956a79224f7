#include "shell/events/event_queue.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace holdfast::shell::event_queue_test {
namespace {

std::vector<int> drained(event_queue<int>& queue)
{
    std::vector<int> seen;
    queue.drain([&](int one) { seen.push_back(one); });
    return seen;
}

TEST(event_queue, drain_delivers_all_events_once_in_the_order_of_push)
{
    event_queue<int> queue;
    EXPECT_TRUE(drained(queue).empty());
    for (const int one : {3, 1, 2})
        queue.push(one);
    EXPECT_EQ(drained(queue), (std::vector{3, 1, 2}));
    EXPECT_TRUE(drained(queue).empty());
    queue.push(4);
    EXPECT_EQ(drained(queue), std::vector{4});
}

TEST(event_queue, drain_inside_a_delivery_returns_and_leaves_new_events_to_the_outer_one)
{
    event_queue<int> queue;
    std::vector<int> seen;
    queue.push(1);
    queue.push(2);
    queue.drain([&](int one) {
        if (one == 1) {
            queue.push(3);
            EXPECT_TRUE(drained(queue).empty());
        }
        seen.push_back(one);
    });
    EXPECT_EQ(seen, (std::vector{1, 2, 3}));
}

TEST(event_queue, close_drops_queued_and_later_events)
{
    event_queue<int> queue;
    queue.push(1);
    queue.close();
    queue.push(2);
    EXPECT_TRUE(drained(queue).empty());
}

TEST(event_queue, close_inside_a_delivery_ends_the_batch)
{
    event_queue<int> queue;
    std::vector<int> seen;
    for (const int one : {1, 2, 3})
        queue.push(one);
    queue.drain([&](int one) {
        seen.push_back(one);
        queue.close();
    });
    EXPECT_EQ(seen, std::vector{1});
}

TEST(event_queue, concurrent_drains_deliver_each_event_once_and_one_at_a_time)
{
    constexpr int events = 2'000;
    event_queue<int> queue;
    std::vector<int> seen;  // not protected: the queue must not call two threads at a time
    const auto work = [&] {
        for (int i = 0; i < events; ++i) {
            queue.push(i);
            queue.drain([&](int one) { seen.push_back(one); });
        }
    };
    std::thread other{work};
    work();
    other.join();
    queue.drain([&](int one) { seen.push_back(one); });
    EXPECT_EQ(seen.size(), 2U * events);
}

TEST(event_queue, events_need_only_be_movable)
{
    event_queue<std::unique_ptr<int>> queue;
    queue.push(std::make_unique<int>(7));
    int seen = 0;
    queue.drain([&](const std::unique_ptr<int>& one) { seen = *one; });
    EXPECT_EQ(seen, 7);
}

}  // namespace
}  // namespace holdfast::shell::event_queue_test
