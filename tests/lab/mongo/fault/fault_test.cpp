#include "holdfast/bson/json.hpp"
#include "lab/mongo/fault/fail_points.hpp"
#include "lab/mongo/fault/rate_limiter.hpp"
#include "support/json.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <string>
#include <string_view>

namespace holdfast::lab::fault_test {
namespace {

using namespace std::chrono_literals;

/// A fail point set to `mode`, with `data`.
fail_points with(std::string_view mode, std::string_view data,
                 std::string_view name = "failCommand")
{
    fail_points points;
    const auto set = points.configure(json(R"({"configureFailPoint": ")" + std::string{name} +
                                           R"(", "mode": )" + std::string{mode} + R"(, "data": )" +
                                           std::string{data} + "}"));
    EXPECT_TRUE(set) << (set ? "" : set.error().message());
    return points;
}

/// Which of eight commands are hit: "110..."
std::string hits(fail_points& points, std::string_view command = "insert", double chance = 0.5)
{
    std::string out;
    for (int i = 0; i < 8; ++i)
        out += points.on_command({command, "db.c", "app"}, chance) ? '1' : '0';
    return out;
}

struct mode_row {
    const char* mode;
    const char* hit;
    bool stays_active;
};

TEST(lab_fail_points, modes)
{
    const mode_row rows[] = {
        {R"("off")", "00000000", false},
        {R"("alwaysOn")", "11111111", true},
        {R"({"times": 1})", "10000000", false},
        {R"({"times": 3})", "11100000", false},
        {R"({"times": {"$numberLong": "2"}})", "11000000", false},
        {R"({"times": 0})", "00000000", false},
        {R"({"skip": 2})", "00111111", true},
        {R"({"activationProbability": 0.6})", "11111111", true},
        {R"({"activationProbability": 0.5})", "00000000", true},
        {R"({"activationProbability": 0})", "00000000", true},
    };
    for (const mode_row& row : rows) {
        fail_points points = with(row.mode, R"({"failCommands": ["insert"], "errorCode": 91})");
        EXPECT_EQ(hits(points), row.hit) << row.mode;
        EXPECT_EQ(points.any(), row.stays_active) << row.mode;
    }
}

struct target_row {
    const char* data;
    fault_target target;
    bool hit;
};

TEST(lab_fail_points, choose_by_name_application_and_namespace)
{
    const target_row rows[] = {
        {R"({"failCommands": ["insert", "find"]})", {"find", "", ""}, true},
        {R"({"failCommands": ["insert"]})", {"find", "", ""}, false},
        {R"({"failCommands": ["insert"]})", {"Insert", "", ""}, false},
        {R"({"failCommands": []})", {"find", "", ""}, false},
        {R"({"failCommands": ["find"], "appName": "a"})", {"find", "", "a"}, true},
        {R"({"failCommands": ["find"], "appName": "a"})", {"find", "", "b"}, false},
        {R"({"failCommands": ["find"], "appName": "a"})", {"find", "", ""}, false},
        {R"({"failCommands": ["find"], "namespace": "db.c"})", {"find", "db.c", ""}, true},
        {R"({"failCommands": ["find"], "namespace": "db.c"})", {"find", "db.d", ""}, false},
        {R"({"failCommands": ["find"]})", {"find", "", "", true}, false},
        {R"({"failCommands": ["find"], "failInternalCommands": true})",
         {"find", "", "", true},
         true},
        {R"({"failCommands": ["hello"]})", {"hello", "", ""}, true},
        {R"({"failCommands": ["hello"]})", {"isMaster", "", ""}, false},
        {R"({"failCommands": ["isMaster"]})", {"hello", "", ""}, false},
        {R"({"failCommands": ["isMaster"]})", {"ismaster", "", ""}, true},
        {R"({"failCommands": ["ismaster"]})", {"isMaster", "", ""}, true},
        {R"({"failCommands": ["findAndModify"]})", {"findandmodify", "", ""}, true},
        {R"({"failAllCommands": true})", {"anything", "", ""}, true},
        {R"({"failAllCommands": true})", {"hello", "", ""}, false},
        {R"({"failAllCommands": true})", {"ismaster", "", ""}, false},
        {R"({"failAllCommands": true, "failCommands": ["hello"]})", {"hello", "", ""}, true},
        {R"({"failAllCommands": true})", {"configureFailPoint", "", ""}, false},
    };
    for (const target_row& row : rows) {
        fail_points points = with(R"("alwaysOn")", row.data);
        EXPECT_EQ(points.on_command(row.target, 0).has_value(), row.hit)
            << row.data << " " << row.target.command;
    }
}

TEST(lab_fail_points, only_commands_that_are_hit_count)
{
    fail_points points = with(R"({"times": 1})", R"({"failCommands": ["find"], "appName": "a"})");
    EXPECT_FALSE(points.on_command({"insert", "", "a"}, 0));
    EXPECT_FALSE(points.on_command({"find", "", "b"}, 0));
    EXPECT_TRUE(points.on_command({"find", "", "a"}, 0));
    EXPECT_FALSE(points.on_command({"find", "", "a"}, 0));
    const auto off = points.configure(
        json(R"({"configureFailPoint": "failCommand", "mode": "off"})"));
    ASSERT_TRUE(off);
    EXPECT_EQ(*off, 1) << "the times it was entered";
}

TEST(lab_fail_points, fail_command_data_is_parsed_into_a_fault)
{
    fail_points points = with(R"("alwaysOn")",
                              R"({"failCommands": ["insert"], "errorCode": 91, "errorLabels": ["A"],
                                  "closeConnection": true, "blockConnection": true,
                                  "blockTimeMS": 25, "labCutReplyAt": 7,
                                  "writeConcernError": {"code": 64, "errmsg": "x"}})");
    const auto fault = points.on_command({"insert", "", ""}, 0);
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->delay, 25ms);
    EXPECT_TRUE(fault->close_connection);
    EXPECT_EQ(fault->error_code, 91);
    EXPECT_EQ(fault->cut_reply_at, 7U);
    ASSERT_TRUE(fault->error_labels);
    EXPECT_EQ(*fault->error_labels, std::vector<std::string>{"A"});
    EXPECT_EQ(fault->write_concern_error, json(R"({"code": 64, "errmsg": "x"})"));

    fail_points bare = with(R"("alwaysOn")", R"({"failCommands": ["insert"], "blockTimeMS": 25,
                                                 "errorLabels": []})");
    const auto less = bare.on_command({"insert", "", ""}, 0);
    ASSERT_TRUE(less);
    EXPECT_EQ(less->delay, 0ms) << "a time alone does not block";
    EXPECT_FALSE(less->close_connection);
    EXPECT_FALSE(less->error_code);
    ASSERT_TRUE(less->error_labels) << "an empty list means: no labels at all";
    EXPECT_TRUE(less->error_labels->empty());
    EXPECT_TRUE(less->write_concern_error.empty());
}

TEST(lab_fail_points, fail_points_hit_transactional_writes_and_get_more)
{
    fail_points writes = with(R"({"times": 1})", R"({"failBeforeCommitExceptionCode": 1})",
                              "onPrimaryTransactionalWrite");
    EXPECT_FALSE(writes.on_command({"insert", "", ""}, 0));
    EXPECT_FALSE(writes.on_get_more(0));
    const auto write = writes.on_transactional_write(0);
    ASSERT_TRUE(write);
    EXPECT_TRUE(write->close_connection);
    EXPECT_EQ(write->fail_before_commit_code, 1);
    EXPECT_FALSE(writes.on_transactional_write(0));
    fail_points open = with(R"("alwaysOn")", R"({"closeConnection": false})",
                            "onPrimaryTransactionalWrite");
    EXPECT_FALSE(open.on_transactional_write(0)->close_connection);

    fail_points more = with(R"({"times": 1})", R"({"errorCode": 6, "closeConnection": false})",
                            "failGetMoreAfterCursorCheckout");
    const auto fault = more.on_get_more(0);
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->error_code, 6);
    EXPECT_FALSE(fault->close_connection);
    EXPECT_FALSE(more.any());
}

struct wrong_row {
    const char* command;
    int code;
};

TEST(lab_fail_points, wrong_ones_are_refused)
{
    const wrong_row rows[] = {
        {R"({"configureFailPoint": "nonsense", "mode": "off"})", 266},
        {R"({"configureFailPoint": 1, "mode": "off"})", 14},
        {R"({"configureFailPoint": "failCommand"})", 14},
        {R"({"configureFailPoint": "failCommand", "mode": 1})", 14},
        {R"({"configureFailPoint": "failCommand", "mode": "sometimes"})", 2},
        {R"({"configureFailPoint": "failCommand", "mode": {}})", 2},
        {R"({"configureFailPoint": "failCommand", "mode": {"times": -1}})", 2},
        {R"({"configureFailPoint": "failCommand", "mode": {"times": "1"}})", 14},
        {R"({"configureFailPoint": "failCommand", "mode": {"activationProbability": 2}})", 2},
        {R"({"configureFailPoint": "failCommand", "mode": "alwaysOn", "data": 1})", 14},
        {R"({"configureFailPoint": "failCommand", "mode": "alwaysOn",
             "data": {"failCommands": "insert"}})",
         14},
        {R"({"configureFailPoint": "failCommand", "mode": "alwaysOn",
             "data": {"failCommands": [1]}})",
         14},
        {R"({"configureFailPoint": "failCommand", "mode": "alwaysOn",
             "data": {"failCommands": ["a"], "errorCode": "x"}})",
         14},
        {R"({"configureFailPoint": "failCommand", "mode": "alwaysOn",
             "data": {"failCommands": ["a"], "blockConnection": true}})",
         72},
    };
    fail_points points = with(R"("alwaysOn")", R"({"failCommands": ["insert"]})");
    for (const wrong_row& row : rows) {
        const auto set = points.configure(json(row.command));
        ASSERT_FALSE(set) << row.command;
        EXPECT_EQ(set.error().code().value(), row.code) << row.command;
    }
    EXPECT_TRUE(points.on_command({"insert", "", ""}, 0)) << "what was set before stays";
    points.clear();
    EXPECT_FALSE(points.any());
}

TEST(lab_rate_limiter, admits_a_burst_and_then_the_rate)
{
    const time_point start{1h};
    rate_limiter limit;
    EXPECT_TRUE(limit.admit(start)) << "off";
    limit.enable(true);
    EXPECT_TRUE(limit.admit(start)) << "without a rate there is no limit";
    limit.set_rate(10, 2, start);
    int admitted = 0;
    for (int i = 0; i < 100; ++i)
        admitted += limit.admit(start);
    EXPECT_EQ(admitted, 20);
    EXPECT_FALSE(limit.admit(start + 99ms));
    EXPECT_TRUE(limit.admit(start + 101ms));
    EXPECT_FALSE(limit.admit(start + 102ms));
    EXPECT_TRUE(limit.admit(start + 100s));
    EXPECT_DOUBLE_EQ(limit.available(), 19) << "never more than the burst";
    EXPECT_FALSE(limit.refused() == 0);
    EXPECT_EQ(limit.admitted(), 2U + 20U + 2U);
    limit.enable(false);
    for (int i = 0; i < 100; ++i)
        EXPECT_TRUE(limit.admit(start));

    limit.enable(true);
    limit.set_rate(0, 5, start);
    EXPECT_FALSE(limit.admit(start + 1h));
    limit.set_rate(std::numeric_limits<double>::infinity(), 0, start);
    EXPECT_TRUE(limit.admit(start));
}

}  // namespace
}  // namespace holdfast::lab::fault_test
