#include "client/races/couchbase_races.hpp"

#include "client/races/race_check.hpp"

namespace holdfast::proof {
namespace {

class couchbase_race_suite : public ::testing::TestWithParam<race> {};

TEST_P(couchbase_race_suite, no_invariant_is_violated_under_any_seed)
{
    RecordProperty("raced", static_cast<int>(check_race(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(all, couchbase_race_suite, ::testing::ValuesIn(couchbase_races()),
                         [](const auto& one) { return std::string{one.param.name}; });

}  // namespace
}  // namespace holdfast::proof
