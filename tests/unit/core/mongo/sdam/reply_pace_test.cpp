#include "core/mongo/sdam/reply_pace.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::mongo::reply_pace_test {
namespace {

using namespace std::chrono_literals;

constexpr time_point start{1h};

TEST(reply_pace, burst_passes_without_rest)
{
    reply_pace pace;
    for (int i = 0; i < reply_pace::burst; ++i)
        EXPECT_EQ(pace.next(start), 0ms) << i;
    EXPECT_EQ(pace.next(start), reply_pace::interval);
    EXPECT_EQ(pace.next(start), 2 * reply_pace::interval);
}

TEST(reply_pace, endless_replies_come_at_the_rate_of_the_interval)
{
    reply_pace pace;
    time_point now = start;
    int replies = 0;
    while (now < start + 10s) {
        now += 1us + pace.next(now);
        ++replies;
    }
    EXPECT_LE(replies, reply_pace::burst + 10s / reply_pace::interval + 1);
    EXPECT_GE(replies, 10s / reply_pace::interval);
}

TEST(reply_pace, silence_restores_the_burst)
{
    reply_pace pace;
    for (int i = 0; i < 3 * reply_pace::burst; ++i)
        (void)pace.next(start);
    const time_point later = start + 1min;
    for (int i = 0; i < reply_pace::burst; ++i)
        EXPECT_EQ(pace.next(later), 0ms) << i;
    EXPECT_GT(pace.next(later), 0ms);
}

TEST(reply_pace, heartbeats_never_rest)
{
    reply_pace pace;
    for (int i = 0; i < 1000; ++i)
        EXPECT_EQ(pace.next(start + i * 500ms), 0ms);
}

}  // namespace
}  // namespace holdfast::core::mongo::reply_pace_test
