#include "lab/mongo/set/votes.hpp"

#include "lab/mongo/set/commit_point.hpp"

#include <gtest/gtest.h>

namespace holdfast::lab::votes_test {
namespace {

using namespace mongo;
using namespace std::chrono_literals;

set_config config_of(int data, int arbiters = 0)
{
    set_config made;
    made.name = "rs";
    made.version = 5;
    made.term = 1;
    made.election_timeout = 1000ms;
    for (int n = 0; n < data + arbiters; ++n) {
        member_config m;
        m.id = n;
        m.host = "h:" + std::to_string(n + 1);
        m.arbiter_only = n >= data;
        made.members.push_back(m);
    }
    return made;
}

optime at(std::int64_t term, std::uint32_t seconds)
{
    return {term, {seconds, 1}};
}

TEST(votes, vote_is_granted_by_term_and_optime)
{
    const set_config config = config_of(3);
    const vote_request good{.set = "rs",
                            .term = 4,
                            .candidate = 1,
                            .config_version = 5,
                            .config_term = 1,
                            .last = at(3, 10)};
    const voter_state voter{.config = config, .term = 4, .last = at(3, 10)};
    EXPECT_TRUE(decide_vote(good, voter).granted);

    struct row {
        const char* why;
        void (*change)(vote_request&, voter_state&);
        bool granted;
    };
    const row table[] = {
        {"another set", [](auto& r, auto&) { r.set = "other"; }, false},
        {"an old term", [](auto& r, auto&) { r.term = 3; }, false},
        {"an old configuration", [](auto& r, auto&) { r.config_version = 4; }, false},
        {"a newer configuration", [](auto& r, auto&) { r.config_version = 6; }, true},
        {"less data of the same term", [](auto& r, auto&) { r.last = at(3, 9); }, false},
        {"less data: an older term, though later", [](auto& r, auto&) { r.last = at(2, 99); },
         false},
        {"more data: a newer term, though earlier", [](auto& r, auto&) { r.last = at(4, 1); },
         true},
        {"voted in this term", [](auto&, auto& v) { v.voted_in = 4; }, false},
        {"voted in an earlier one", [](auto&, auto& v) { v.voted_in = 3; }, true},
        {"voted, but this is a dry run",
         [](auto& r, auto& v) {
             v.voted_in = 4;
             r.dry_run = true;
         },
         true},
        {"unknown candidate", [](auto& r, auto&) { r.candidate = 3; }, false},
        {"an arbiter that sees a primary",
         [](auto&, auto& v) {
             v.arbiter = true;
             v.sees_primary = true;
         },
         false},
        {"a member that sees a primary", [](auto&, auto& v) { v.sees_primary = true; }, true},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.why);
        vote_request request = good;
        voter_state state = voter;
        r.change(request, state);
        const vote given = decide_vote(request, state);
        EXPECT_EQ(given.granted, r.granted) << given.reason;
        EXPECT_EQ(given.reason.empty(), r.granted);
    }
}

TEST(votes, election_timeout_has_up_to_15_percent_jitter)
{
    const set_config config = config_of(3);
    EXPECT_EQ(election_delay(config, 0), 1000ms);
    EXPECT_EQ(election_delay(config, 0.5), 1075ms);
    EXPECT_LT(election_delay(config, 0.999), 1150ms);
}

TEST(votes, election_id_has_mongodbs_form)
{
    EXPECT_EQ(election_id(1).to_string(), "7fffffff0000000000000001");
    EXPECT_EQ(election_id(0x1234).to_string(), "7fffffff0000000000001234");
}

TEST(votes, a_primary_counts_whom_it_has_heard)
{
    const set_config config = config_of(3, 2);
    const time_point start{};
    const time_point now = start + 100s;
    using row = std::pair<std::int32_t, time_point>;
    const std::vector<row> heard{{1, start + 90s}, {2, start + 95s}, {3, start + 10s}};
    EXPECT_EQ(majority_heard(config, 0, now, heard), start + 90s);
    EXPECT_EQ(majority_heard(config, 0, now, std::vector<row>{{1, start + 90s}}),
              time_point::min());
    EXPECT_EQ(majority_heard(config_of(1), 0, now, {}), now);
}

TEST(positions, a_write_is_committed_when_a_majority_has_it_in_the_present_term)
{
    struct row {
        const char* why;
        int data;
        int arbiters;
        positions known;
        optime expected;
    };
    const row table[] = {
        {"two of three", 3, 0, {{0, at(2, 9)}, {1, at(2, 7)}, {2, at(1, 3)}}, at(2, 7)},
        {"only one", 3, 0, {{0, at(2, 9)}}, at(1, 1)},
        {"a majority, but of an old term",
         3,
         0,
         {{0, at(2, 9)}, {1, at(1, 8)}, {2, at(1, 8)}},
         at(1, 1)},
        {"three of five",
         5,
         0,
         {{0, at(2, 9)}, {1, at(2, 8)}, {2, at(2, 6)}, {3, at(2, 5)}, {4, at(2, 5)}},
         at(2, 6)},
        {"an arbiter has nothing", 2, 1, {{0, at(2, 9)}, {1, at(2, 4)}, {2, at(2, 9)}}, at(2, 4)},
        {"alone with arbiters", 1, 2, {{0, at(2, 9)}}, at(2, 9)},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.why);
        EXPECT_EQ(commit_point(config_of(r.data, r.arbiters), r.known, 2, at(1, 1)), r.expected);
    }
    EXPECT_EQ(commit_point(config_of(3), {{0, at(2, 3)}, {1, at(2, 3)}}, 2, at(2, 8)), at(2, 8))
        << "it never goes back";
}

TEST(positions, a_concern_is_met_by_those_who_have_the_write)
{
    set_config config = config_of(3, 1);
    config.members[0].tags = {{"dc", "east"}};
    config.members[1].tags = {{"dc", "west"}};
    config.members[2].tags = {{"dc", "west"}};
    config.modes["both"] = {{"dc", 2}};
    const positions two_west{{1, at(1, 5)}, {2, at(1, 6)}};
    const positions both{{0, at(1, 5)}, {2, at(1, 6)}, {3, at(1, 9)}};
    const auto w = [](std::int64_t n) {
        write_concern c;
        c.w = n;
        return c;
    };
    write_concern mode;
    mode.mode = "both";
    write_concern majority;
    majority.majority = true;
    EXPECT_TRUE(is_met(config, two_west, {}, at(1, 5), w(2)));
    EXPECT_FALSE(is_met(config, two_west, {}, at(1, 6), w(2)));
    EXPECT_FALSE(is_met(config, both, {}, at(1, 5), w(3))) << "an arbiter does not count";
    EXPECT_TRUE(is_met(config, {}, {}, at(1, 5), w(0)));
    EXPECT_FALSE(is_met(config, two_west, {}, at(1, 5), mode));
    EXPECT_TRUE(is_met(config, both, {}, at(1, 5), mode));
    EXPECT_TRUE(is_met(config, {}, at(1, 5), at(1, 5), majority));
    EXPECT_FALSE(is_met(config, both, at(1, 4), at(1, 5), majority));
}

TEST(positions, unsatisfiable_write_concern_is_refused)
{
    const set_config config = config_of(3, 1);
    const auto code = [&](const write_concern& c) {
        const auto fine = check_satisfiable(config, c);
        return fine ? 0 : fine.error().code().value();
    };
    write_concern c;
    c.w = 3;
    EXPECT_EQ(code(c), 0);
    c.w = 4;
    EXPECT_EQ(code(c), 100);
    c.majority = true;
    EXPECT_EQ(code(c), 0);
    c = {};
    c.mode = "nowhere";
    EXPECT_EQ(code(c), 79);
}

}  // namespace
}  // namespace holdfast::lab::votes_test
