#include "shell/planted.hpp"

#include "client/races/couchbase_races.hpp"
#include "client/races/races.hpp"

#include <gtest/gtest.h>

#include <ostream>

namespace holdfast::shell {

planted_defects planted;

}  // namespace holdfast::shell

namespace holdfast::proof {

/// A defect, the race that must find it, and what it must say.
struct planting {
    const char* name;
    bool shell::planted_defects::* defect;
    race_report (*run)(std::uint64_t seed);
    std::string_view text;
};

static void PrintTo(const planting& one, std::ostream* to)
{
    *to << one.name;
}

namespace {

constexpr std::uint64_t seeds = 500;

class planted_defect : public ::testing::TestWithParam<planting> {
protected:
    ~planted_defect() override { shell::planted = {}; }

    /// The first seed under which the race complains in these words; 0 if none does.
    static std::uint64_t first_report(std::string_view text)
    {
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
            if (GetParam().run(seed).complaints.find(text) != std::string::npos)
                return seed;
        }
        return 0;
    }
};

TEST_P(planted_defect, each_planted_defect_is_reported_by_an_invariant_checker)
{
    shell::planted.*GetParam().defect = true;
    const std::uint64_t found = first_report(GetParam().text);
    EXPECT_NE(found, 0U) << "no seed of " << seeds << " has reported it";
    RecordProperty("seed", static_cast<int>(found));
    // The same seed has nothing to complain about in a sound client.
    shell::planted = {};
    EXPECT_EQ(GetParam().run(found).complaints, "");
}

using shell::planted_defects;

INSTANTIATE_TEST_SUITE_P(
    all, planted_defect,
    ::testing::Values(
        planting{"clears_pool_later", &planted_defects::clears_pool_later,
                 lost_and_cleared_together, "and the clearing of its pool"},
        planting{"reuses_dirty_connections", &planted_defects::reuses_dirty_connections,
                 late_replies, "an operation met another's reply"},
        planting{"drops_events", &planted_defects::drops_events, repeated_writes,
                 "that never ended"},
        planting{"renumbers_retries", &planted_defects::renumbers_retries, repeated_writes,
                 "a retry with another session or transaction number"},
        planting{"applies_writes_twice", &planted_defects::renumbers_retries, repeated_writes,
                 "a write was applied 2 times"},
        planting{"holds_connection_while_waiting", &planted_defects::holds_connection_while_waiting,
                 refused_commands, "was held after its reply had come"},
        planting{"makes_others_wait", &planted_defects::holds_connection_while_waiting,
                 refused_commands, "a ping waited for another operation's backoff"},
        planting{"takes_old_configurations", &planted_defects::takes_old_configurations,
                 couchbase_two_configurations, "a configuration went back"},
        planting{"repeats_after_cut", &planted_defects::repeats_after_cut, couchbase_flush_and_cut,
                 "was written 2 times"},
        planting{"ignores_deadline_after_wait", &planted_defects::ignores_deadline_after_wait,
                 couchbase_cancellations, "ended after its deadline"},
        planting{"keeps_collection_ids", &planted_defects::keeps_collection_ids,
                 couchbase_new_collection, "on a collection that was made again failed"},
        planting{"trusts_any_server", &planted_defects::trusts_any_server,
                 couchbase_unproven_server, "a connection to a server without proof was opened"},
        planting{"forgives_failures", &planted_defects::forgives_failures,
                 couchbase_breaker_and_success, "a request went through an open circuit"},
        planting{"keeps_slots", &planted_defects::keeps_slots, couchbase_flush_and_cut,
                 "slots are in use after all operations have ended"}),
    [](const auto& one) { return std::string{one.param.name}; });

}  // namespace
}  // namespace holdfast::proof
