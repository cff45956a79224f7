#include "core/retry/backoff.hpp"

#include "support/verifies.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::backoff_test {
namespace {

using namespace std::chrono_literals;

TEST(controlled_backoff, waits_match_the_rfc_table)
{
    VERIFIES("CR-067");
    const duration table[] = {1ms, 10ms, 50ms, 100ms, 500ms, 1000ms, 1000ms};
    for (std::uint32_t made = 0; made < std::size(table); ++made)
        EXPECT_EQ(controlled_backoff(made), table[made]) << made;
    EXPECT_EQ(controlled_backoff(UINT32_MAX), 1000ms);
}

TEST(exponential_backoff, default_doubles_from_1_to_500_ms)
{
    VERIFIES("CR-023");
    const duration table[] = {1ms, 2ms, 4ms, 8ms, 16ms, 32ms, 64ms, 128ms, 256ms, 500ms, 500ms};
    for (std::uint32_t made = 0; made < std::size(table); ++made)
        EXPECT_EQ(exponential_backoff{}(made), table[made]) << made;
    EXPECT_EQ(exponential_backoff{}(UINT32_MAX), 500ms);
}

TEST(exponential_backoff, custom_bounds_are_used)
{
    constexpr exponential_backoff slow{20ms, 50ms};
    EXPECT_EQ(slow(0), 20ms);
    EXPECT_EQ(slow(1), 40ms);
    EXPECT_EQ(slow(2), 50ms);
}

TEST(full_jitter, wait_is_chance_times_the_exponential_wait)
{
    EXPECT_EQ(full_jitter(100ms, 0, 10s, 0.5), 50ms);
    EXPECT_EQ(full_jitter(100ms, 3, 10s, 0.25), 200ms);
    EXPECT_EQ(full_jitter(100ms, 3, 10s, 0.0), 0ms);
}

TEST(full_jitter, wait_stays_below_the_cap_without_overflow)
{
    VERIFIES("BP-019");
    constexpr double nearly_one = 1 - 1e-9;
    for (const std::uint32_t doublings : {6U, 7U, 63U, 64U, 1000U, UINT32_MAX}) {
        const duration wait = full_jitter(100ms, doublings, 10s, nearly_one);
        EXPECT_LT(wait, 10s);
        EXPECT_GT(wait, doublings == 6 ? 6399ms : 9999ms);
    }
    EXPECT_EQ(doubled(1h, UINT32_MAX, duration::max()), duration::max());
}

TEST(equal_jitter, wait_is_between_half_of_the_exponential_wait_and_all_of_it)
{
    EXPECT_EQ(equal_jitter(50ms, 0, 1s, 0.0), 25ms);
    EXPECT_EQ(equal_jitter(50ms, 0, 1s, 0.5), 37500us);
    EXPECT_EQ(equal_jitter(50ms, 2, 1s, 0.0), 100ms);
    EXPECT_EQ(equal_jitter(50ms, UINT32_MAX, 1s, 0.0), 500ms);
    EXPECT_LT(equal_jitter(50ms, UINT32_MAX, 1s, 1 - 1e-9), 1s);
}

}  // namespace
}  // namespace holdfast::core::backoff_test
