#pragma once
#include "client/races/races.hpp"

#include <gtest/gtest.h>

#include <ostream>

namespace holdfast::proof {

inline constexpr std::uint64_t race_seeds = 500;

/// For GoogleTest, which would show bytes otherwise.
inline void PrintTo(const race& one, std::ostream* to)
{
    *to << one.name;
}

/// Runs a race under all seeds. Returns how often it was one.
inline std::size_t check_race(const race& one)
{
    std::size_t raced = 0;
    std::size_t failed = 0;
    for (std::uint64_t seed = 1; seed <= race_seeds && failed < 3; ++seed) {
        const race_report report = one.run(seed);
        raced += report.raced ? 1 : 0;
        if (report.complaints.empty())
            continue;
        ++failed;
        ADD_FAILURE() << one.name << ", seed " << seed << ":\n"
                      << report.complaints.substr(0, 20'000);
    }
    // A race that never happens proves nothing.
    EXPECT_GE(raced, race_seeds / 10);
    return raced;
}

}  // namespace holdfast::proof
