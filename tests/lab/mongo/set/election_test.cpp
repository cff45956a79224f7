#include "lab/mongo/set/set_in_sim.hpp"

namespace holdfast::lab::election_test {
namespace {

using namespace std::chrono_literals;

using mongo::member_state;

class election : public testing::TestWithParam<std::size_t> {};

TEST_P(election, a_new_set_gets_one_primary_and_the_rest_follow)
{
    set_in_sim on{GetParam()};
    const time_point began = on.net.now();
    const std::size_t leads = on.settle();
    EXPECT_EQ(leads, 0U) << "who has the first entry leads first";
    EXPECT_LT(on.net.now() - began, 500ms);

    const bson::document hello = on.run(leads, R"({"hello": 1, "$db": "admin"})");
    EXPECT_TRUE(hello.get<bool>("isWritablePrimary").value());
    EXPECT_FALSE(hello.get<bool>("secondary").value());
    EXPECT_EQ(hello.get<std::string_view>("setName").value(), "rs0");
    EXPECT_EQ(hello.get<std::int32_t>("setVersion").value(), 1);
    EXPECT_EQ(hello["hosts"].as_array().count(), GetParam());
    EXPECT_EQ(hello.get<std::string_view>("primary").value(), "m0:27017");
    EXPECT_EQ(hello.get<std::string_view>("me").value(), "m0:27017");
    EXPECT_EQ(hello["electionId"].as_object_id(), mongo::election_id(1));
    EXPECT_TRUE(hello.find_path("lastWrite.majorityOpTime.ts"));

    const bson::document other = on.run(1, R"({"hello": 1, "$db": "admin"})");
    EXPECT_FALSE(other.get<bool>("isWritablePrimary").value());
    EXPECT_TRUE(other.get<bool>("secondary").value());
    EXPECT_EQ(other.get<std::string_view>("primary").value(), "m0:27017");
    EXPECT_FALSE(other["electionId"]);
}

TEST(step_down, member_is_neither_primary_nor_secondary_for_a_moment)
{
    set_in_sim on{3};
    const std::size_t leads = on.settle();
    const bson::document before = on.run(leads, R"({"hello": 1, "$db": "admin"})");
    const bson::document awaited = bson::doc("hello", 1, "topologyVersion",
                                             before["topologyVersion"], "maxAwaitTimeMS", 10'000,
                                             "$db", "admin");
    const auto asked = on.begin(leads, bson::to_json(awaited, bson::json_mode::canonical).value(),
                                15s);
    on.pass(50ms);
    ASSERT_FALSE(*asked.done);
    on.run(leads, R"({"replSetStepDown": 60, "force": true, "$db": "admin"})");
    ASSERT_TRUE(on.pass_until([&] { return *asked.done; }));
    const bson::document between = asked.reply->value();
    EXPECT_FALSE(between.get<bool>("isWritablePrimary").value());
    EXPECT_FALSE(between.get<bool>("secondary").value());
    on.pass(50ms);
    const bson::document after = on.run(leads, R"({"hello": 1, "$db": "admin"})");
    EXPECT_FALSE(after.get<bool>("isWritablePrimary").value());
    EXPECT_TRUE(after.get<bool>("secondary").value());
}

TEST_P(election, another_one_leads_after_a_crash_and_the_old_one_follows_it)
{
    set_in_sim on{GetParam()};
    const std::size_t first = on.settle();
    const std::int64_t term = on.set->process(first)->member()->term();
    on.crash(first);
    ASSERT_TRUE(on.pass_until([&] { return on.set->primary() && on.set->primary() != first; }, 5s));
    const std::size_t second = on.settle();
    EXPECT_GT(on.set->process(second)->member()->term(), term);
    on.restart(first);
    EXPECT_EQ(on.settle(), second);
    EXPECT_EQ(on.set->process(first)->member()->state(), member_state::secondary);
}

TEST_P(election, a_silent_primary_is_replaced_too)
{
    set_in_sim on{GetParam()};
    const std::size_t first = on.settle();
    on.crash(first, true);
    EXPECT_TRUE(on.pass_until([&] { return on.set->primary() && on.set->primary() != first; }, 8s));
}

TEST_P(election, a_frozen_primary_is_replaced_and_steps_down_when_it_wakes)
{
    set_in_sim on{GetParam()};
    const std::size_t first = on.settle();
    on.set->freeze(first, true);
    ASSERT_TRUE(on.pass_until([&] { return on.set->primary() && on.set->primary() != first; }, 8s));
    const std::size_t second = on.set->primary().value();
    on.set->freeze(first, false);
    EXPECT_EQ(on.settle(), second);
}

TEST_P(election, a_primary_without_a_majority_steps_down)
{
    set_in_sim on{GetParam()};
    const std::size_t first = on.settle();
    on.cut_off(first);
    ASSERT_TRUE(on.pass_until([&] { return !on.set->process(first)->is_primary(); }, 5s));
    ASSERT_TRUE(on.pass_until([&] { return on.set->primary().has_value(); }, 5s));
    const std::size_t second = on.set->primary().value();
    EXPECT_NE(second, first);
    on.net.heal_all();
    on.settle();
}

TEST_P(election, minority_elects_no_primary)
{
    set_in_sim on{GetParam()};
    on.settle();
    for (std::size_t n = 0; n < GetParam() / 2 + 1; ++n)
        on.crash(n);
    on.pass(5s);
    EXPECT_FALSE(on.set->primary());
    on.restart(0);
    on.wait_for_primary();
}

INSTANTIATE_TEST_SUITE_P(sizes, election, testing::Values(3, 5));

TEST(step_down, hands_over_quickly_and_keeps_connections)
{
    set_in_sim on{3};
    const std::size_t first = on.settle();
    const time_point before = on.net.now();
    const bson::document reply = on.run(
        first, R"({"replSetStepDown": 20, "force": true, "$db": "admin"})");
    EXPECT_TRUE(is_ok(reply));
    const std::size_t second = on.wait_for_primary();
    EXPECT_NE(second, first);
    EXPECT_LT(on.net.now() - before, 500ms);
    on.settle();
    EXPECT_EQ(on.run(first, R"({"replSetStepDown": 20, "$db": "admin"})")
                  .get<std::int32_t>("code")
                  .value(),
              10107);
}

TEST(step_down, waits_for_a_secondary_and_needs_force_without_one)
{
    set_in_sim on{3};
    const std::size_t first = on.settle();
    // Every member may stand, and none gets the messages of the primary.
    on.cut_off(first);
    const auto asked = on.begin(
        first, R"({"replSetStepDown": 5, "secondaryCatchUpPeriodSecs": 0, "$db": "admin"})");
    ASSERT_TRUE(on.pass_until([&] { return *asked.done; }));
    // What the others had before counts, so that it may also have gone well.
    ASSERT_TRUE(*asked.reply);
    EXPECT_TRUE(is_ok(**asked.reply) || (*asked.reply)->get<std::int32_t>("code").value() == 262);
}

TEST(step_down, refuses_periods_that_make_no_sense)
{
    set_in_sim on{3};
    const std::size_t first = on.settle();
    const auto code = [&](std::string_view json) {
        return on.run(first, json).get<std::int32_t>("code").value();
    };
    EXPECT_EQ(code(R"({"replSetStepDown": 5, "secondaryCatchUpPeriodSecs": 6, "$db": "admin"})"),
              2);
    EXPECT_EQ(code(R"({"replSetStepDown": -1, "$db": "admin"})"), 2);
    EXPECT_EQ(code(R"({"replSetStepDown": "x", "$db": "admin"})"), 14);
    EXPECT_EQ(code(R"({"replSetFreeze": 5, "$db": "admin"})"), 95);
    EXPECT_EQ(code(R"({"replSetInitiate": {}, "$db": "admin"})"), 23);
}

TEST(freeze, frozen_member_does_not_stand_for_election)
{
    set_in_sim on{3};
    const std::size_t first = on.settle();
    const std::size_t frozen = (first + 1) % 3;
    EXPECT_TRUE(is_ok(on.run(frozen, R"({"replSetFreeze": 60, "$db": "admin"})")));
    on.crash(first);
    EXPECT_EQ(on.wait_for_primary(), (first + 2) % 3);
}

TEST(step_down, stepped_down_member_lets_others_be_elected_after_a_crash)
{
    set_in_sim on{3};
    const std::size_t first = on.settle();
    ASSERT_TRUE(is_ok(on.run(first, R"({"replSetStepDown": 60, "force": true, "$db": "admin"})")));
    // The next one dies at once: the one that may not stand has most, and gives it to the other.
    const std::size_t second = on.wait_for_primary();
    on.crash(second);
    ASSERT_TRUE(on.pass_until([&] { return on.set->primary().has_value(); }, 8s)) << on.received();
    EXPECT_EQ(on.set->primary().value(), 3 - first - second);
}

TEST(arbiter, votes_and_has_no_data)
{
    set_in_sim on{3, 1, [](auto& options) { options.arbiters = 1; }};
    const std::size_t first = on.settle();
    EXPECT_TRUE(on.run(2, R"({"hello": 1, "$db": "admin"})").get<bool>("arbiterOnly").value());
    on.crash(first);
    EXPECT_EQ(on.wait_for_primary(), 1U);
    EXPECT_EQ(on.set->disk_of(2).last(), mongo::optime{});
}

TEST(priority, member_of_the_highest_priority_takes_over)
{
    set_in_sim on{3};
    const std::size_t first = on.settle();
    EXPECT_EQ(first, 0U);
    const bson::document reply = on.run(first, R"({"replSetReconfig": {"_id": "rs0", "version": 2,
        "members": [{"_id": 0, "host": "m0:27017"}, {"_id": 1, "host": "m1:27017"},
                    {"_id": 2, "host": "m2:27017", "priority": 5}],
        "settings": {"heartbeatIntervalMillis": 200, "electionTimeoutMillis": 1000}},
        "$db": "admin"})");
    EXPECT_TRUE(is_ok(reply)) << bson::to_json(reply).value();
    EXPECT_TRUE(on.pass_until([&] { return on.set->primary() == 2U; }, 10s));
    on.settle();
}

TEST(reconfig, reaches_all_members_and_shows_in_their_hello)
{
    set_in_sim on{3};
    const std::size_t first = on.settle();
    const bson::document before = on.run(1, R"({"hello": 1, "$db": "admin"})");
    const bson::document reply = on.run(first, R"({"replSetReconfig": {"_id": "rs0", "version": 2,
        "members": [{"_id": 0, "host": "m0:27017", "tags": {"dc": "east"}},
                    {"_id": 1, "host": "m1:27017", "priority": 0},
                    {"_id": 2, "host": "m2:27017", "priority": 0, "hidden": true}]},
        "$db": "admin"})");
    EXPECT_TRUE(is_ok(reply)) << bson::to_json(reply).value();
    on.pass(3s);
    const bson::document one = on.run(1, R"({"hello": 1, "$db": "admin"})");
    EXPECT_EQ(one.get<std::int32_t>("setVersion").value(), 2);
    EXPECT_EQ(one["hosts"].as_array().count(), 1U);
    EXPECT_EQ(one["passives"].as_array().count(), 1U);
    EXPECT_TRUE(one.get<bool>("passive").value());
    EXPECT_GT(one.get<std::int64_t>("topologyVersion.counter").value(),
              before.get<std::int64_t>("topologyVersion.counter").value());
    EXPECT_TRUE(on.run(2, R"({"hello": 1, "$db": "admin"})").get<bool>("hidden").value());
    EXPECT_EQ(on.run(0, R"({"hello": 1, "$db": "admin"})").get<std::string_view>("tags.dc").value(),
              "east");
    const bson::document config = on.run(2, R"({"replSetGetConfig": 1, "$db": "admin"})");
    EXPECT_EQ(config.get<std::int32_t>("config.version").value(), 2);
    const auto code_of = [&](std::size_t member, std::string_view command) {
        return on.run(member, command).get<std::int32_t>("code").value();
    };
    EXPECT_EQ(code_of(1, R"({"replSetReconfig": {}, "$db": "admin"})"), 10107);
    EXPECT_EQ(code_of(first, R"({"replSetReconfig": {}, "$db": "admin"})"), 93);
    EXPECT_EQ(code_of(first, R"({"replSetReconfig": {"_id": "rs0", "version": 3, "members": []},
                                 "$db": "admin"})"),
              103);
}

TEST(reconfig, a_removed_member_is_in_no_set_and_may_come_back)
{
    set_in_sim on{3};
    on.settle();
    EXPECT_TRUE(is_ok(on.run(0, R"({"replSetReconfig": {"_id": "rs0", "version": 2, "members": [
        {"_id": 0, "host": "m0:27017"}, {"_id": 1, "host": "m1:27017"}],
        "settings": {"heartbeatIntervalMillis": 200, "electionTimeoutMillis": 1000}},
        "$db": "admin"})")));
    on.pass(2s);
    EXPECT_EQ(on.set->process(0)->member()->config().members.size(), 2U);
    EXPECT_TRUE(is_ok(on.run(0, R"({"replSetReconfig": {"_id": "rs0", "version": 3, "members": [
        {"_id": 0, "host": "m0:27017"}, {"_id": 1, "host": "m1:27017"},
        {"_id": 2, "host": "m2:27017"}],
        "settings": {"heartbeatIntervalMillis": 200, "electionTimeoutMillis": 1000}},
        "$db": "admin"})")));
    on.pass(2s);
    on.settle();
    EXPECT_EQ(on.set->process(2)->member()->state(), member_state::secondary);
    EXPECT_EQ(on.set->process(2)->member()->config().version, 3);
}

TEST(status, repl_set_get_status_lists_every_member)
{
    set_in_sim on{3};
    const std::size_t first = on.settle();
    on.pass(2s);
    const bson::document all = on.run(first, R"({"replSetGetStatus": 1, "$db": "admin"})");
    EXPECT_EQ(all.get<std::string_view>("set").value(), "rs0");
    EXPECT_EQ(all.get<std::int32_t>("myState").value(), 1);
    EXPECT_EQ(all.get<std::string_view>("members.0.stateStr").value(), "PRIMARY");
    EXPECT_EQ(all.get<std::string_view>("members.1.stateStr").value(), "SECONDARY");
    EXPECT_EQ(all.get<double>("members.2.health").value(), 1);
    on.crash(2);
    on.pass(2s);
    const bson::document after = on.run(first, R"({"replSetGetStatus": 1, "$db": "admin"})");
    EXPECT_EQ(after.get<double>("members.2.health").value(), 0);
    EXPECT_EQ(after.get<std::int32_t>("members.2.state").value(), 8);
}

}  // namespace
}  // namespace holdfast::lab::election_test
