#include "tools/holdfast/drill/judge.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace holdfast::drill::judge_values_test {
namespace {

operation ended(action what, fate end)
{
    operation made;
    made.what = what;
    made.end = end;
    made.completions = 1;
    return made;
}

operation counted(std::int64_t reply, fate end = fate::acknowledged, bool durable = true)
{
    operation made = ended(action::increment, end);
    made.counter = "counter 0";
    made.durable = durable;
    if (end == fate::acknowledged)
        made.reported_count = reply;
    return made;
}

operation stored(token what, fate end = fate::acknowledged, bool durable = true)
{
    operation made = ended(action::upsert, end);
    made.record = "record 0";
    made.stored = what;
    made.durable = durable;
    return made;
}

operation has_read(std::optional<token> what)
{
    operation made = ended(action::get, fate::acknowledged);
    made.record = "record 0";
    made.read = what;
    return made;
}

found_state with_counter(std::int64_t value)
{
    found_state made;
    made.counters["counter 0"] = value;
    return made;
}

found_state with_record(token value)
{
    found_state made;
    made.records["record 0"] = value;
    return made;
}

bool says(const verdict& made, std::string_view what)
{
    for (const std::string& one : made.complaints) {
        if (one.find(what) != std::string::npos)
            return true;
    }
    return false;
}

TEST(judge_values, counter_has_each_acknowledged_increment_and_no_more_than_the_unclear_ones)
{
    const std::vector<operation> history{counted(1), counted(2), counted(0, fate::unclear),
                                         counted(0, fate::failed)};
    EXPECT_TRUE(judge(history, with_counter(2)).holds());
    EXPECT_TRUE(judge(history, with_counter(3)).holds());
    EXPECT_EQ(judge(history, with_counter(1)).total.lost, 1U);
    EXPECT_EQ(judge(history, with_counter(5)).total.doubled, 2U);
    EXPECT_EQ(judge(history, {}).total.lost, 2U);
}

TEST(judge_values, two_increments_with_the_same_reply_are_a_lost_one)
{
    const verdict made = judge(std::vector{counted(1), counted(1)}, with_counter(2));
    EXPECT_EQ(made.total.lost, 1U);
    EXPECT_TRUE(says(made, "have both made it 1"));
}

TEST(judge_values, write_without_durability_may_be_lost_by_a_failover_only)
{
    const std::vector<operation> history{counted(1, fate::acknowledged, false),
                                         counted(2, fate::acknowledged, false)};
    found_state found = with_counter(1);
    EXPECT_EQ(judge(history, found).total.lost, 1U);
    found.replicas_promoted = true;
    EXPECT_TRUE(judge(history, found).holds());
    EXPECT_EQ(judge(history, found).total.forgotten, 1U);
    EXPECT_EQ(judge(std::vector{counted(1), counted(2)}, found).total.lost, 1U) << "durable ones";
}

TEST(judge_values, record_has_what_was_stored_last_or_what_is_unclear)
{
    const std::vector<operation> history{stored(1), stored(2, fate::unclear), stored(3),
                                         stored(4, fate::failed)};
    EXPECT_TRUE(judge(history, with_record(3)).holds());
    EXPECT_TRUE(judge(history, with_record(2)).holds()) << "it may be carried out late";
    EXPECT_EQ(judge(history, with_record(1)).total.lost, 1U);
    EXPECT_EQ(judge(history, {}).total.lost, 1U);
    EXPECT_EQ(judge(history, with_record(4)).total.untrue, 1U);
    EXPECT_EQ(judge(history, with_record(9)).total.untrue, 1U);
    EXPECT_TRUE(judge(std::vector{stored(1, fate::failed)}, {}).holds());
}

TEST(judge_values, read_of_an_older_value_is_not_true_unless_a_server_was_replaced_unnoticed)
{
    const std::vector<operation> history{stored(1), stored(2), has_read(1), has_read(2)};
    EXPECT_EQ(judge(history, with_record(2)).total.untrue, 1U);
    found_state found = with_record(2);
    found.stale_reads = true;
    EXPECT_TRUE(judge(history, found).holds());
    EXPECT_EQ(judge(std::vector{stored(1), has_read(std::nullopt)}, with_record(1)).total.untrue,
              1U);
    EXPECT_TRUE(judge(std::vector{has_read(std::nullopt), stored(1)}, with_record(1)).holds());
}

TEST(judge_values, reply_that_cannot_be_true_is_reported)
{
    operation one = has_read(std::nullopt);
    one.reply_defect = "the content of a was read from b";
    const verdict made = judge(std::vector{one}, {});
    EXPECT_EQ(made.total.untrue, 1U);
    EXPECT_TRUE(says(made, "was read from b"));
}

TEST(judge_values, lists_without_durability_may_lose_signatures_by_a_failover_only)
{
    operation one = ended(action::compare_and_swap, fate::acknowledged);
    one.signature = 7;
    one.page = "loose page 0";
    one.reported_count = 1;
    one.durable = false;
    found_state found;
    EXPECT_EQ(judge(std::vector{one}, found).total.lost, 1U);
    found.replicas_promoted = true;
    EXPECT_EQ(judge(std::vector{one}, found).total.forgotten, 1U);
    found.pages["loose page 0"] = {2, {7, 7}};
    EXPECT_EQ(judge(std::vector{one}, found).total.doubled, 1U);
}

}  // namespace
}  // namespace holdfast::drill::judge_values_test
