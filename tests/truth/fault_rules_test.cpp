#include "truth/fault_rules.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace holdfast::truth::fault_rules_test {
namespace {

TEST(fault_rules, second_overload_during_the_first_does_not_begin)
{
    refusing_time overload;
    EXPECT_TRUE(overload.begin(10));
    EXPECT_FALSE(overload.begin(12));
    EXPECT_EQ(overload.end(15), 5U);  // all of them are the first one's
    EXPECT_TRUE(overload.begin(15));
    EXPECT_EQ(overload.end(15), 0U);
}

TEST(fault_rules, refusals_of_a_restarted_server_are_not_negative)
{
    refusing_time overload;
    EXPECT_TRUE(overload.begin(10));
    EXPECT_EQ(overload.end(3), 0U);
}

TEST(fault_rules, clock_jump_on_a_host_without_a_process_is_no_fault)
{
    sim::simulation net{1};
    sim::host& well = net.add_host("well");
    sim::host& still = net.add_host("still");
    sim::host& gone = net.add_host("gone");
    still.freeze();
    gone.crash();
    EXPECT_EQ(running({&well, &still, &gone}), (std::vector<sim::host*>{&well, &still}));
    EXPECT_TRUE(running({&gone}).empty());
    gone.restart({});
    EXPECT_EQ(running({&gone}).size(), 1U);
}

}  // namespace
}  // namespace holdfast::truth::fault_rules_test
