#include "truth/totals.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace holdfast::truth::totals_test {
namespace {

/// What 60 storms have really come to.
totals of_60_storms()
{
    totals made;
    made.storms = 60;
    made.operations = 30'840;
    made.acknowledged = 30'732;
    made.failed = 30;
    made.unclear = 78;
    made.retries = 2080;
    made.faults.fill(40);
    return made;
}

bool says(const totals& sum, std::string_view what)
{
    return shortcomings(sum).find(what) != std::string::npos;
}

TEST(totals, sums_of_60_storms_have_no_shortcoming)
{
    EXPECT_EQ(shortcomings(of_60_storms()), "");
}

TEST(totals, kind_of_fault_that_never_happened_is_a_shortcoming)
{
    totals sum = of_60_storms();
    sum.faults[6] = 0;
    EXPECT_TRUE(says(sum, "a kind of fault")) << shortcomings(sum);
}

TEST(totals, fewer_retries_than_storms_are_a_shortcoming)
{
    totals sum = of_60_storms();
    sum.retries = 0;
    EXPECT_TRUE(says(sum, "only 0 retries in 60 storms")) << shortcomings(sum);
    sum.retries = 59;
    EXPECT_TRUE(says(sum, "only 59 retries")) << shortcomings(sum);
    sum.retries = 60;
    EXPECT_EQ(shortcomings(sum), "");
}

TEST(totals, more_than_1_percent_unacknowledged_is_a_shortcoming)
{
    for (const auto fate : {&totals::unclear, &totals::failed}) {
        totals sum = of_60_storms();
        sum.*fate += 200;  // 308 in all, and 308.4 are allowed
        sum.acknowledged -= 200;
        EXPECT_EQ(shortcomings(sum), "");
        ++(sum.*fate);
        --sum.acknowledged;
        EXPECT_TRUE(says(sum, "309 of 30840 writes")) << shortcomings(sum);
    }
}

TEST(totals, fewer_than_50_storms_have_no_shortcoming)
{
    totals sum = of_60_storms();
    sum.retries = 0;
    sum.unclear = sum.operations;
    sum.faults.fill(0);
    sum.storms = storms_that_show_all - 1;
    EXPECT_EQ(shortcomings(sum), "");
    sum.storms = storms_that_show_all;
    EXPECT_NE(shortcomings(sum), "");
}

}  // namespace
}  // namespace holdfast::truth::totals_test
