#include "core/retry/circuit_breaker.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::circuit_breaker_test {
namespace {

using namespace std::chrono_literals;
using state = circuit_breaker::state;

constexpr time_point start{1h};

circuit_breaker after(int successes, int failures, time_point when = start)
{
    circuit_breaker breaker;
    for (int i = 0; i < successes; ++i)
        breaker.succeeded(when, when);
    for (int i = 0; i < failures; ++i)
        breaker.failed(when, when);
    return breaker;
}

TEST(circuit_breaker, opens_at_50_percent_of_20_requests)
{
    struct row {
        int successes, failures;
        state expected;
    };
    const row table[] = {
        {0, 0, state::closed},  {0, 19, state::closed}, {0, 20, state::open},
        {10, 9, state::closed}, {10, 10, state::open},  {11, 9, state::closed},
        {11, 10, state::closed}, {11, 11, state::open}, {1000, 999, state::closed},
    };
    for (const row& r : table)
        EXPECT_EQ(after(r.successes, r.failures).current(), r.expected)
            << r.successes << " successes, " << r.failures << " failures";
}

TEST(circuit_breaker, open_refuses_until_the_sleep_window_ends)
{
    circuit_breaker breaker = after(0, 20);
    EXPECT_FALSE(breaker.allows(start));
    EXPECT_FALSE(breaker.allows(start + 4999ms));
    breaker.sent(start + 4999ms);
    EXPECT_EQ(breaker.current(), state::open);
    EXPECT_TRUE(breaker.allows(start + 5s));
}

TEST(circuit_breaker, half_open_allows_one_canary)
{
    circuit_breaker breaker = after(0, 20);
    breaker.sent(start + 5s);
    EXPECT_EQ(breaker.current(), state::half_open);
    EXPECT_FALSE(breaker.allows(start + 5s));
    EXPECT_FALSE(breaker.allows(start + 9999ms));
}

TEST(circuit_breaker, late_answers_to_requests_sent_before_the_canary_decide_nothing)
{
    circuit_breaker breaker = after(0, 20);
    breaker.sent(start + 5s);
    breaker.succeeded(start + 5100ms, start - 1ms);
    EXPECT_EQ(breaker.current(), state::half_open);
    breaker.failed(start + 5100ms, start - 1ms);
    EXPECT_EQ(breaker.current(), state::half_open);
    // A canary that was given up is late, too.
    breaker.sent(start + 10s);
    breaker.succeeded(start + 10100ms, start + 5s);
    EXPECT_EQ(breaker.current(), state::half_open);
    breaker.succeeded(start + 10200ms, start + 10s);
    EXPECT_EQ(breaker.current(), state::closed);
}

TEST(circuit_breaker, canary_without_a_result_is_replaced_after_the_sleep_window)
{
    circuit_breaker breaker = after(0, 20);
    breaker.sent(start + 5s);
    EXPECT_TRUE(breaker.allows(start + 10s));
    breaker.sent(start + 10s);
    EXPECT_EQ(breaker.current(), state::half_open);
    EXPECT_FALSE(breaker.allows(start + 10s));
}

TEST(circuit_breaker, canary_result_closes_or_reopens)
{
    circuit_breaker good = after(0, 20);
    good.sent(start + 5s);
    good.succeeded(start + 6s, start + 6s);
    EXPECT_EQ(good.current(), state::closed);
    for (int i = 0; i < 19; ++i)
        good.failed(start + 6s, start + 6s);
    EXPECT_EQ(good.current(), state::closed) << "the window starts anew";
    good.failed(start + 6s, start + 6s);
    EXPECT_EQ(good.current(), state::open);

    circuit_breaker bad = after(0, 20);
    bad.sent(start + 5s);
    bad.failed(start + 6s, start + 6s);
    EXPECT_EQ(bad.current(), state::open);
    EXPECT_FALSE(bad.allows(start + 10s));
    EXPECT_TRUE(bad.allows(start + 11s));
}

TEST(circuit_breaker, failures_older_than_the_rolling_window_are_dropped)
{
    circuit_breaker breaker = after(0, 19);
    breaker.failed(start + 60s, start + 60s);
    EXPECT_EQ(breaker.current(), state::closed);
    circuit_breaker within = after(0, 19);
    within.failed(start + 59s, start + 59s);
    EXPECT_EQ(within.current(), state::open);
}

TEST(circuit_breaker, late_results_do_not_extend_the_sleep_window)
{
    circuit_breaker breaker = after(0, 20);
    breaker.failed(start + 4s, start + 4s);
    breaker.succeeded(start + 4s, start + 4s);
    EXPECT_EQ(breaker.current(), state::open);
    EXPECT_TRUE(breaker.allows(start + 5s));
}

}  // namespace
}  // namespace holdfast::core::circuit_breaker_test
