#include "core/mongo/select/round_trip.hpp"

#include "support/verifies.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace holdfast::core::mongo::round_trip_test {
namespace {

using namespace std::chrono_literals;

TEST(round_trip, average_rtt_is_an_ewma_with_alpha_0_2)
{
    VERIFIES("SD-068");
    round_trip_tracker t;
    EXPECT_EQ(t.average(), std::nullopt);
    t.record(10ms);
    EXPECT_EQ(t.average(), 10ms);
    t.record(20ms);
    EXPECT_EQ(t.average(), 12ms);
    t.record(2ms);
    EXPECT_EQ(t.average(), 10ms);
}

TEST(round_trip, minimum_rtt_covers_the_last_ten_samples)
{
    VERIFIES("SD-068");
    round_trip_tracker t;
    EXPECT_EQ(t.minimum(), std::nullopt);
    t.record(1ms);
    EXPECT_EQ(t.minimum(), std::nullopt) << "one says nothing";
    t.record(7ms);
    EXPECT_EQ(t.minimum(), 1ms);
    for (int i = 0; i < 8; ++i)
        t.record(9ms);
    EXPECT_EQ(t.minimum(), 1ms) << "the tenth still counts";
    t.record(8ms);
    EXPECT_EQ(t.minimum(), 7ms);
    t.record(8ms);
    EXPECT_EQ(t.minimum(), 8ms);
}

TEST(round_trip, negative_sample_is_ignored)
{
    round_trip_tracker t;  // prose test 2 of "Server Selection -- Test Plan"
    t.record(-5ms);
    EXPECT_EQ(t.average(), std::nullopt);
    t.record(10ms);
    t.record(-5ms);
    EXPECT_EQ(t.average(), 10ms);
    EXPECT_EQ(t.minimum(), std::nullopt) << "one says nothing, still";
    t.record(0ms);
    EXPECT_EQ(t.average(), 8ms);
    EXPECT_EQ(t.minimum(), 0ms);
}

TEST(round_trip, reset_clears_average_and_minimum)
{
    VERIFIES("SD-069");
    round_trip_tracker t;
    t.record(1ms);
    t.record(1ms);
    t.reset();
    EXPECT_EQ(t.average(), std::nullopt);
    EXPECT_EQ(t.minimum(), std::nullopt);
    t.record(50ms);
    EXPECT_EQ(t.average(), 50ms);
    t.record(60ms);
    EXPECT_EQ(t.minimum(), 50ms);
}

}  // namespace
}  // namespace holdfast::core::mongo::round_trip_test
