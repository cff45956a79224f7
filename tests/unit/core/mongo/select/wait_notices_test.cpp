#include "core/mongo/select/wait_notices.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::mongo::wait_notices_test {
namespace {

using namespace std::chrono_literals;

constexpr time_point began{std::chrono::hours{1}};
constexpr time_point until = began + 30s;

TEST(wait_notices, short_wait_is_not_logged)
{
    wait_notices notices{began, true, true};
    EXPECT_FALSE(notices.log_is_due(began, until));
    EXPECT_FALSE(notices.log_is_due(began + 499ms, until));
    EXPECT_EQ(notices.next(until), began + 500ms);
}

TEST(wait_notices, long_wait_is_logged_once_and_warned_of_once)
{
    wait_notices notices{began, true, true};
    EXPECT_TRUE(notices.log_is_due(began + 500ms, until));
    EXPECT_FALSE(notices.log_is_due(began + 501ms, until));
    EXPECT_FALSE(notices.warning_is_due(began + 4999ms));
    EXPECT_EQ(notices.next(until), began + 5s);
    EXPECT_TRUE(notices.warning_is_due(began + 5s));
    EXPECT_FALSE(notices.warning_is_due(began + 6s));
    EXPECT_EQ(notices.next(until), until);
}

TEST(wait_notices, wait_in_vain_is_logged_however_short)
{
    wait_notices notices{began, true, false};
    EXPECT_TRUE(notices.log_is_due(began + 50ms, began + 50ms));
    wait_notices no_time{began, true, false};
    EXPECT_FALSE(no_time.log_is_due(began, began)) << "it has not waited";
}

TEST(wait_notices, no_notice_is_due_without_a_wait)
{
    wait_notices notices{began, false, false};
    EXPECT_FALSE(notices.log_is_due(until, until));
    EXPECT_FALSE(notices.warning_is_due(until));
    EXPECT_EQ(notices.next(until), until);
}

}  // namespace
}  // namespace holdfast::core::mongo::wait_notices_test
