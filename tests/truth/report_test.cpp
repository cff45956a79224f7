#include "tools/holdfast/drill/report.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace holdfast::drill::report_test {
namespace {

using namespace std::chrono_literals;

operation insert(token which)
{
    operation made;
    made.end = fate::acknowledged;
    made.completions = 1;
    made.inserted = {which};
    return made;
}

/// Two scenarios with a write each, and a fault in the one that needs it.
drill_report good_report()
{
    drill_report report;
    report.scenarios.resize(2);
    report.scenarios[0].name = "steady";
    report.scenarios[1].name = "crash";
    report.scenarios[1].needs_faults = true;
    report.scenarios[1].faults = 2;
    report.scenarios[1].retries = 3;
    std::vector<operation> history{insert(1), insert(2)};
    history[1].scenario = 1;
    report.found = judge(history, {.documents = {{1, 1}, {2, 1}}}, 2);
    return report;
}

bool says(const std::string& text, std::string_view what)
{
    return text.find(what) != std::string::npos;
}

TEST(drill_report, report_without_a_loss_holds)
{
    const drill_report report = good_report();
    EXPECT_TRUE(passed(report));
    EXPECT_FALSE(was_interrupted(report));
    EXPECT_TRUE(says(draw(report), "Nothing lost, nothing applied twice: each of 2"));
    EXPECT_TRUE(says(to_json(report), "\"holds\":true")) << to_json(report);
    EXPECT_TRUE(says(to_json(report), "\"faults\":2")) << to_json(report);
}

TEST(drill_report, report_with_a_loss_or_a_doubled_write_is_broken)
{
    drill_report report = good_report();
    report.found = judge(std::vector{insert(1), insert(2)}, {.documents = {{1, 2}}}, 2);
    EXPECT_FALSE(passed(report));
    EXPECT_TRUE(says(draw(report), "BROKEN: 1 lost, 1 applied twice")) << draw(report);
    EXPECT_TRUE(says(to_json(report), "\"holds\":false"));
}

TEST(drill_report, scenario_that_needs_a_fault_and_had_none_fails)
{
    drill_report report = good_report();
    report.scenarios[1].faults = 0;
    EXPECT_FALSE(passed(report));
    EXPECT_TRUE(says(draw(report), "FAILED: scenario crash: nothing was broken in it"))
        << draw(report);
    EXPECT_FALSE(says(draw(report), "Nothing lost"));
    EXPECT_TRUE(says(to_json(report), "\"holds\":false"));
}

TEST(drill_report, client_or_member_that_does_not_come_back_fails)
{
    drill_report report = good_report();
    report.all_came_back = false;
    EXPECT_FALSE(passed(report));
    report = good_report();
    report.scenarios[1].trouble = "the member does not start";
    EXPECT_FALSE(passed(report));
    EXPECT_TRUE(says(draw(report), "scenario crash: the member does not start")) << draw(report);
}

TEST(drill_report, interrupted_report_does_not_hold)
{
    drill_report report = good_report();
    report.scenarios[0].ran = extent::in_part;
    report.scenarios[1].ran = extent::not_at_all;
    report.scenarios[1].faults = 0;
    report.found = judge(std::vector{insert(1)}, {.documents = {{1, 1}}}, 2);
    EXPECT_TRUE(was_interrupted(report));
    EXPECT_TRUE(passed(report));  // what was run
    const std::string text = draw(report);
    EXPECT_TRUE(says(text, "interrupted: not all scenarios were run")) << text;
    EXPECT_TRUE(says(text, "crash: run not at all")) << text;
    EXPECT_FALSE(says(text, "Nothing lost")) << text;
    EXPECT_TRUE(says(to_json(report), "\"holds\":false"));
    EXPECT_TRUE(says(to_json(report), "\"interrupted\":true"));
}

TEST(drill_report, table_fits_into_80_columns)
{
    drill_report report = good_report();
    tally& most = report.found.total;
    most.operations = most.acknowledged = 123'456;
    most.longest_pause = 12'345ms;
    const std::string text = draw(report);
    // Each character of a rule is three bytes.
    EXPECT_LE(text.find('\n') / 3, 80U) << text;
}

}  // namespace
}  // namespace holdfast::drill::report_test
