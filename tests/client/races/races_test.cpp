#include "client/races/races.hpp"

#include <gtest/gtest.h>

#include <ostream>

namespace holdfast::proof {

/// For GoogleTest, which would show bytes otherwise.
static void PrintTo(const race& one, std::ostream* to)
{
    *to << one.name;
}

namespace {

constexpr std::uint64_t seeds = 500;

class races : public ::testing::TestWithParam<race> {};

TEST_P(races, no_invariant_is_violated_under_any_seed)
{
    std::size_t raced = 0;
    std::size_t failed = 0;
    for (std::uint64_t seed = 1; seed <= seeds && failed < 3; ++seed) {
        const race_report report = GetParam().run(seed);
        raced += report.raced ? 1 : 0;
        if (report.complaints.empty())
            continue;
        ++failed;
        ADD_FAILURE() << GetParam().name << ", seed " << seed << ":\n"
                      << report.complaints.substr(0, 20'000);
    }
    // A race that never happens proves nothing.
    EXPECT_GE(raced, seeds / 10);
    RecordProperty("raced", static_cast<int>(raced));
}

INSTANTIATE_TEST_SUITE_P(all, races, ::testing::ValuesIn(all_races()),
                         [](const auto& one) { return std::string{one.param.name}; });

}  // namespace
}  // namespace holdfast::proof
