#include "truth/endurance.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <vector>

namespace holdfast::truth {
namespace {

constexpr std::uint64_t megabyte = 1U << 20U;

std::vector<endurance_sample> steady(std::size_t minutes)
{
    return std::vector<endurance_sample>(minutes, {20 * megabyte, 12});
}

TEST(endurance, steady_process_has_nothing_to_complain_about)
{
    EXPECT_EQ(check_endurance(steady(60)), "");
}

TEST(endurance, growth_before_the_fifth_minute_is_allowed)
{
    auto samples = steady(60);
    for (std::size_t n = 0; n < 4; ++n)
        samples[n] = {megabyte, 3};
    EXPECT_EQ(check_endurance(samples), "");
}

TEST(endurance, memory_that_grows_by_more_than_two_megabytes_is_reported)
{
    auto samples = steady(8);
    samples[6].resident = 22 * megabyte;
    EXPECT_EQ(check_endurance(samples), "");
    samples[6].resident = 23 * megabyte;
    EXPECT_EQ(check_endurance(samples),
              "resident memory has grown by 3072 kB after minute 5, to 23552 kB in minute 7\n");
}

TEST(endurance, one_more_descriptor_is_reported)
{
    auto samples = steady(6);
    samples[5].descriptors = 13;
    EXPECT_EQ(check_endurance(samples), "descriptors leak: 12 in minute 5, 13 in minute 6\n");
}

TEST(endurance, run_that_is_too_short_is_reported)
{
    EXPECT_NE(check_endurance(steady(5)), "");
    EXPECT_NE(check_endurance({}), "");
}

TEST(endurance, sample_sees_descriptors_and_memory_of_the_process)
{
    const endurance_sample before = sample_of_this_process();
    EXPECT_GT(before.resident, megabyte);
    const int opened = ::open("/dev/null", O_RDONLY);
    ASSERT_GE(opened, 0);
    EXPECT_EQ(sample_of_this_process().descriptors, before.descriptors + 1);
    ::close(opened);
    EXPECT_EQ(sample_of_this_process().descriptors, before.descriptors);
    const std::vector<char> filled(8 * megabyte, 'x');
    EXPECT_GE(sample_of_this_process().resident, before.resident + 7 * megabyte) << filled.size();
}

}  // namespace
}  // namespace holdfast::truth
