#include "core/retry/deadline.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::deadline_test {
namespace {

using namespace std::chrono_literals;

constexpr time_point now{1h};

TEST(deadline, unset_timeout_never_expires)
{
    const deadline none = deadline::after(now, std::nullopt);
    EXPECT_FALSE(none.is_set());
    EXPECT_FALSE(none.expired(now + 10000h));
    EXPECT_EQ(none.left(now), duration::max());
}

TEST(deadline, set_timeout_expires_exactly_then)
{
    const deadline soon = deadline::after(now, 100ms);
    EXPECT_TRUE(soon.is_set());
    EXPECT_EQ(soon.left(now), 100ms);
    EXPECT_FALSE(soon.expired(now + 99ms));
    EXPECT_TRUE(soon.expired(now + 100ms));
    EXPECT_EQ(soon.left(now + 1h), 0ms);
}

TEST(deadline, overflowing_timeout_is_unset)
{
    EXPECT_FALSE(deadline::after(now, duration::max()).is_set());
}

TEST(deadline, sooner_returns_the_earlier_one)
{
    const deadline soon = deadline::after(now, 1s);
    EXPECT_EQ(deadline::sooner(soon, deadline::after(now, 2s)), soon);
    EXPECT_EQ(deadline::sooner(deadline{}, soon), soon);
}

}  // namespace
}  // namespace holdfast::core::deadline_test
