#include "client/races/races.hpp"

#include "client/races/race_check.hpp"

namespace holdfast::proof {
namespace {

class races : public ::testing::TestWithParam<race> {};

TEST_P(races, no_invariant_is_violated_under_any_seed)
{
    RecordProperty("raced", static_cast<int>(check_race(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(all, races, ::testing::ValuesIn(all_races()),
                         [](const auto& one) { return std::string{one.param.name}; });

}  // namespace
}  // namespace holdfast::proof
