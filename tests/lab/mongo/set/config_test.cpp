#include "lab/mongo/set/config.hpp"

#include "holdfast/bson/json.hpp"
#include "lab/mongo/set/message_fields.hpp"

#include <gtest/gtest.h>

namespace holdfast::lab::config_test {
namespace {

using namespace mongo;

set_config config_of(std::string_view json)
{
    const auto document = bson::from_json(json);
    EXPECT_TRUE(document) << json;
    auto read = read_config(document->view());
    EXPECT_TRUE(read) << json << (read ? "" : read.error().message());
    return read ? *std::move(read) : set_config{};
}

int code_of(const result<void>& outcome)
{
    return outcome ? 0 : outcome.error().code().value();
}

int reading_fails_with(std::string_view json)
{
    const auto document = bson::from_json(json);
    EXPECT_TRUE(document) << json;
    const auto read = read_config(document->view());
    return read ? 0 : read.error().code().value();
}

constexpr std::string_view three = R"({"_id": "rs", "version": 3, "members": [
    {"_id": 0, "host": "a:1"}, {"_id": 1, "host": "b:1"}, {"_id": 2, "host": "c:1"}]})";

TEST(set_config, omitted_members_have_mongodbs_defaults)
{
    const set_config made = config_of(R"({"_id": "rs", "members": [{"_id": 4, "host": "a:1"},
        {"_id": 5, "host": "b:1", "arbiterOnly": true}]})");
    ASSERT_EQ(made.members.size(), 2U);
    EXPECT_EQ(made.members[0].priority, 1);
    EXPECT_EQ(made.members[0].votes, 1);
    EXPECT_FALSE(made.members[0].hidden);
    EXPECT_EQ(made.members[1].priority, 0);
    EXPECT_FALSE(made.members[1].may_stand());
    EXPECT_EQ(made.heartbeat_interval.count(), 2000);
    EXPECT_EQ(made.election_timeout.count(), 10'000);
}

TEST(set_config, configuration_round_trips)
{
    const set_config made = config_of(R"({"_id": "rs", "version": 7, "term": 3, "members": [
        {"_id": 0, "host": "a:1", "priority": 2.5, "tags": {"dc": "east"}},
        {"_id": 1, "host": "b:1", "hidden": true, "priority": 0, "secondaryDelaySecs": 5},
        {"_id": 2, "host": "c:1", "arbiterOnly": true}],
        "settings": {"heartbeatIntervalMillis": 100, "electionTimeoutMillis": 900,
                     "getLastErrorModes": {"two": {"dc": 1}}}})");
    const bson::document written = document_of(
        [&](bson::builder& out) { write_config(out, made); });
    EXPECT_EQ(written.get<std::int32_t>("version").value(), 7);
    EXPECT_EQ(written.get<std::int64_t>("term").value(), 3);
    EXPECT_EQ(written.get<double>("members.0.priority").value(), 2.5);
    EXPECT_EQ(written.get<std::string_view>("members.0.tags.dc").value(), "east");
    EXPECT_EQ(written.get<std::int64_t>("members.1.secondaryDelaySecs").value(), 5);
    EXPECT_TRUE(written.get<bool>("members.2.arbiterOnly").value());
    EXPECT_EQ(written.get<std::int32_t>("settings.electionTimeoutMillis").value(), 900);
    EXPECT_EQ(written.get<std::int32_t>("settings.getLastErrorModes.two.dc").value(), 1);

    const auto again = read_config(written.view());
    ASSERT_TRUE(again) << again.error().message();
    const bson::document twice = document_of(
        [&](bson::builder& out) { write_config(out, *again); });
    EXPECT_EQ(written, twice);
}

TEST(set_config, refuses_what_no_set_can_be)
{
    struct row {
        const char* why;
        const char* members;
    };
    const row table[] = {
        {"no members", "[]"},
        {"the same _id twice", R"([{"_id": 0, "host": "a:1"}, {"_id": 0, "host": "b:1"}])"},
        {"the same host twice", R"([{"_id": 0, "host": "a:1"}, {"_id": 1, "host": "a:1"}])"},
        {"no electable member", R"([{"_id": 0, "host": "a:1", "priority": 0}])"},
        {"a hidden member that may stand",
         R"([{"_id": 0, "host": "a:1"}, {"_id": 1, "host": "b:1", "hidden": true}])"},
        {"a delayed member that may stand",
         R"([{"_id": 0, "host": "a:1"}, {"_id": 1, "host": "b:1", "secondaryDelaySecs": 1}])"},
        {"no vote but a priority",
         R"([{"_id": 0, "host": "a:1"}, {"_id": 1, "host": "b:1", "votes": 0}])"},
        {"two votes for one", R"([{"_id": 0, "host": "a:1", "votes": 2}])"},
        {"an arbiter without a vote",
         R"([{"_id": 0, "host": "a:1"},
             {"_id": 1, "host": "b:1", "arbiterOnly": true, "votes": 0}])"},
        {"eight votes",
         R"([{"_id": 0, "host": "a:1"}, {"_id": 1, "host": "a:2"}, {"_id": 2, "host": "a:3"},
             {"_id": 3, "host": "a:4"}, {"_id": 4, "host": "a:5"}, {"_id": 5, "host": "a:6"},
             {"_id": 6, "host": "a:7"}, {"_id": 7, "host": "a:8"}])"},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.why);
        const set_config made = config_of(R"({"_id": "rs", "version": 1, "members": )" +
                                          std::string{r.members} + "}");
        EXPECT_EQ(code_of(check_config(made)), 93);
    }
    EXPECT_EQ(code_of(check_config(config_of(three))), 0);
    set_config crowd = config_of(three);
    for (std::int32_t id = 3; id < 51; ++id) {
        member_config one;
        one.id = id;
        one.host = "d:" + std::to_string(id);
        one.priority = 0;
        one.votes = 0;
        if (id == 50) {
            EXPECT_EQ(code_of(check_config(crowd)), 0);
        }
        crowd.members.push_back(one);
    }
    EXPECT_EQ(code_of(check_config(crowd)), 93) << "51 are too many";
}

TEST(set_config, refuses_what_it_cannot_read)
{
    for (const char* const wrong :
         {R"({"_id": "rs"})", R"({"_id": 5, "members": []})", R"({"_id": "rs", "members": 5})",
          R"({"_id": "rs", "members": [5]})", R"({"_id": "rs", "members": [{"_id": 0}]})",
          R"({"_id": "rs", "members": [{"_id": 0, "host": 7}]})",
          R"({"_id": "rs", "nonsense": 1, "members": []})",
          R"({"_id": "rs", "members": [{"_id": 0, "host": "a", "x": 1}]})"})
        EXPECT_EQ(reading_fails_with(wrong), 93) << wrong;
}

TEST(set_config, follows_another_only_by_the_rules)
{
    const set_config now = config_of(three);
    struct row {
        const char* why;
        const char* next;
        bool force;
        int code;
    };
    const row table[] = {
        {"the same version", R"({"_id": "rs", "version": 3, "members": [{"_id": 0, "host": "a:1"},
            {"_id": 1, "host": "b:1"}, {"_id": 2, "host": "c:1"}]})",
         false, 103},
        {"a greater one", R"({"_id": "rs", "version": 4, "members": [{"_id": 0, "host": "a:1"},
            {"_id": 1, "host": "b:1"}, {"_id": 2, "host": "c:1"}]})",
         false, 0},
        {"another name", R"({"_id": "xx", "version": 4, "members": [{"_id": 0, "host": "a:1"},
            {"_id": 1, "host": "b:1"}, {"_id": 2, "host": "c:1"}]})",
         false, 93},
        {"no members", R"({"_id": "rs", "version": 4, "members": []})", false, 103},
        {"the same _id twice", R"({"_id": "rs", "version": 4, "members": [
            {"_id": 0, "host": "a:1"}, {"_id": 0, "host": "b:1"}]})",
         true, 103},
        {"one voter less", R"({"_id": "rs", "version": 4, "members": [{"_id": 0, "host": "a:1"},
            {"_id": 1, "host": "b:1"}]})",
         false, 0},
        {"two voters less", R"({"_id": "rs", "version": 4, "members": [
            {"_id": 0, "host": "a:1"}]})",
         false, 103},
        {"two voters less, by force", R"({"_id": "rs", "version": 4, "members": [
            {"_id": 0, "host": "a:1"}]})",
         true, 0},
        {"a host with another _id", R"({"_id": "rs", "version": 4, "members": [
            {"_id": 0, "host": "a:1"}, {"_id": 1, "host": "b:1"}, {"_id": 9, "host": "c:1"}]})",
         false, 103},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.why);
        EXPECT_EQ(code_of(check_reconfig(now, config_of(r.next), r.force)), r.code);
    }
}

TEST(set_config, configurations_compare_by_term_then_version)
{
    set_config config;
    config.version = 5;
    config.term = 2;
    EXPECT_TRUE(newer(config, 9, 1));
    EXPECT_FALSE(newer(config, 1, 3));
    EXPECT_TRUE(newer(config, 4, 2));
    EXPECT_FALSE(newer(config, 5, 2));
    EXPECT_TRUE(newer(config, 4, -1));   // a forced one has no term
    EXPECT_FALSE(newer(config, 6, -1));
}

TEST(set_config, counts_majorities)
{
    struct row {
        int data;
        int arbiters;
        std::size_t votes;
        std::size_t write;
    };
    const row table[] = {{1, 0, 1, 1}, {2, 0, 2, 2}, {3, 0, 2, 2}, {5, 0, 3, 3},
                         {2, 1, 2, 2}, {1, 2, 2, 1}, {3, 2, 3, 3}};
    for (const row& r : table) {
        set_config config;
        for (int n = 0; n < r.data + r.arbiters; ++n) {
            member_config m;
            m.id = n;
            m.arbiter_only = n >= r.data;
            config.members.push_back(m);
        }
        EXPECT_EQ(config.majority(), r.votes) << r.data << '+' << r.arbiters;
        EXPECT_EQ(config.write_majority(), r.write) << r.data << '+' << r.arbiters;
    }
}

}  // namespace
}  // namespace holdfast::lab::config_test
