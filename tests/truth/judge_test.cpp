#include "tools/holdfast/drill/judge.hpp"

#include "tools/holdfast/drill/report.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace holdfast::drill {
namespace {

using namespace std::chrono_literals;

const time_point start = time_point{} + 1h;

operation ended(action what, fate end)
{
    operation made;
    made.what = what;
    made.end = end;
    made.completions = 1;
    made.began = start;
    made.ended = start + 5ms;
    return made;
}

operation insert(token which, fate end = fate::acknowledged)
{
    operation made = ended(action::insert_one, end);
    made.inserted = {which};
    return made;
}

operation removal(token which, fate end = fate::acknowledged)
{
    operation made = ended(action::delete_one, end);
    made.removed = which;
    return made;
}

operation signing(token which, fate end = fate::acknowledged)
{
    operation made = ended(action::update_one, end);
    made.signature = which;
    made.page = "page 0.0";
    return made;
}

operation counting(std::int64_t told, fate end = fate::acknowledged)
{
    operation made = ended(action::find_one_and_update, end);
    made.counted = true;
    if (end == fate::acknowledged)
        made.count_told = told;
    return made;
}

/// What a fate allows for one effect that is there so often: lost, doubled, untrue.
struct row {
    const char* name;
    fate end;
    std::size_t there;
    std::uint64_t lost, doubled, untrue;
};

constexpr row effects[] = {
    {"acknowledged and there", fate::acknowledged, 1, 0, 0, 0},
    {"acknowledged and lost", fate::acknowledged, 0, 1, 0, 0},
    {"acknowledged and there twice", fate::acknowledged, 2, 0, 1, 0},
    {"acknowledged and there three times", fate::acknowledged, 3, 0, 1, 0},
    {"failed and not there", fate::failed, 0, 0, 0, 0},
    {"failed and there", fate::failed, 1, 0, 0, 1},
    {"failed and there twice", fate::failed, 2, 0, 1, 0},
    {"unclear and not there", fate::unclear, 0, 0, 0, 0},
    {"unclear and there", fate::unclear, 1, 0, 0, 0},
    {"unclear and there twice", fate::unclear, 2, 0, 1, 0},
    {"running and there", fate::running, 1, 0, 0, 0},
    {"running and there twice", fate::running, 2, 0, 1, 0},
};

TEST(judge, compares_documents_with_what_was_told)
{
    for (const row& r : effects) {
        SCOPED_TRACE(r.name);
        const std::vector<operation> history{insert(7, r.end)};
        found_state found;
        if (r.there > 0)
            found.documents[7] = r.there;
        const verdict made = judge(history, found);
        EXPECT_EQ(made.total.lost, r.lost);
        EXPECT_EQ(made.total.doubled, r.doubled);
        EXPECT_EQ(made.total.untrue, r.untrue);
        EXPECT_EQ(made.holds(), r.lost + r.doubled + r.untrue == 0);
        EXPECT_EQ(made.complaints.size(), r.lost + r.doubled + r.untrue);
    }
}

TEST(judge, compares_signatures_with_what_was_told)
{
    for (const row& r : effects) {
        SCOPED_TRACE(r.name);
        const std::vector<operation> history{signing(7, r.end)};
        found_state found;
        found.pages["page 0.0"].signatures.assign(r.there, 7);
        found.pages["page 0.0"].count = static_cast<std::int64_t>(r.there);
        const verdict made = judge(history, found);
        EXPECT_EQ(made.total.lost, r.lost);
        EXPECT_EQ(made.total.doubled, r.doubled);
        EXPECT_EQ(made.total.untrue, r.untrue);
    }
}

TEST(judge, looks_at_each_document_of_a_write_of_many)
{
    operation many = ended(action::insert_many, fate::acknowledged);
    many.inserted = {1, 2, 3};
    found_state found;
    found.documents = {{1, 1}, {3, 2}};
    const verdict made = judge(std::vector{many}, found);
    EXPECT_EQ(made.total.lost, 1U);
    EXPECT_EQ(made.total.doubled, 1U);
    EXPECT_EQ(made.total.operations, 1U);
}

TEST(judge, knows_what_was_deleted)
{
    struct deletion {
        const char* name;
        fate end;
        std::size_t there;
        std::uint64_t lost;
    };
    constexpr deletion table[] = {
        {"deleted", fate::acknowledged, 0, 0},
        {"the deletion is lost", fate::acknowledged, 1, 1},
        {"perhaps deleted, and gone", fate::unclear, 0, 0},
        {"perhaps deleted, and there", fate::unclear, 1, 0},
        {"not deleted, and there", fate::failed, 1, 0},
        {"not deleted, and gone", fate::failed, 0, 1},
    };
    for (const deletion& r : table) {
        SCOPED_TRACE(r.name);
        const std::vector<operation> history{insert(7), removal(7, r.end)};
        found_state found;
        if (r.there > 0)
            found.documents[7] = r.there;
        EXPECT_EQ(judge(history, found).total.lost, r.lost);
        EXPECT_EQ(judge(history, found).holds(), r.lost == 0);
    }
}

TEST(judge, a_page_counts_what_it_was_signed)
{
    const std::vector<operation> history{signing(1), signing(2)};
    found_state found;
    found.pages["page 0.0"] = {3, {1, 2}};
    EXPECT_EQ(judge(history, found).total.doubled, 1U);
    found.pages["page 0.0"] = {1, {1, 2}};
    EXPECT_EQ(judge(history, found).total.lost, 1U);
    found.pages["page 0.0"] = {2, {1, 2}};
    EXPECT_TRUE(judge(history, found).holds());
}

TEST(judge, the_shared_counter_is_between_what_is_sure_and_what_is_possible)
{
    const std::vector<operation> history{counting(1), counting(2), counting(0, fate::unclear),
                                         counting(0, fate::failed)};
    for (std::int64_t count = 0; count < 6; ++count) {
        SCOPED_TRACE(count);
        found_state found;
        found.shared_count = count;
        const verdict made = judge(history, found);
        EXPECT_EQ(made.total.lost, count < 2 ? static_cast<std::uint64_t>(2 - count) : 0U);
        EXPECT_EQ(made.total.doubled, count > 3 ? static_cast<std::uint64_t>(count - 3) : 0U);
    }
}

TEST(judge, no_two_writes_are_told_the_same_count)
{
    const std::vector<operation> history{counting(1), counting(1)};
    found_state found;
    found.shared_count = 2;
    EXPECT_EQ(judge(history, found).total.lost, 1U);
}

TEST(judge, nothing_comes_from_nowhere)
{
    found_state found;
    found.documents[3] = 1;
    found.pages["page 9.0"] = {1, {4}};
    EXPECT_EQ(judge({}, found).total.untrue, 2U);
}

TEST(judge, operations_end_once_and_in_time)
{
    operation late = insert(1);
    late.deadline = start + 4ms;
    operation punctual = insert(2);
    punctual.deadline = start + 5ms;
    operation twice = insert(3);
    twice.completions = 2;
    operation never = insert(4, fate::running);
    never.completions = 0;
    found_state found;
    found.documents = {{1, 1}, {2, 1}, {3, 1}};
    const verdict made = judge(std::vector{late, punctual, twice, never}, found);
    EXPECT_TRUE(made.holds());
    EXPECT_FALSE(made.in_time());
    EXPECT_EQ(made.total.late, 1U);
    EXPECT_EQ(made.total.unfinished, 2U);
    EXPECT_TRUE(judge(std::vector{punctual}, {.documents = {{2, 1}}}).in_time());
}

TEST(judge, counts_by_scene_and_reason)
{
    std::vector<operation> history{insert(1), insert(2, fate::failed), insert(3, fate::unclear),
                                   insert(4)};
    history[1].why = "server: busy";
    history[2].why = "network";
    history[3].scene = 1;
    found_state found;
    found.documents = {{1, 1}};
    const verdict made = judge(history, found, 2);
    ASSERT_EQ(made.scenes.size(), 2U);
    EXPECT_EQ(made.scenes[0].operations, 3U);
    EXPECT_EQ(made.scenes[0].acknowledged, 1U);
    EXPECT_EQ(made.scenes[0].failed, 1U);
    EXPECT_EQ(made.scenes[0].unclear, 1U);
    EXPECT_EQ(made.scenes[0].reasons.at("network"), 1U);
    EXPECT_EQ(made.scenes[0].lost, 0U);
    EXPECT_EQ(made.scenes[1].lost, 1U);
    EXPECT_EQ(made.total.operations, 4U);
    EXPECT_EQ(made.total.reasons.size(), 2U);
}

TEST(judge, the_longest_pause_is_between_acknowledgements)
{
    std::vector<operation> history{insert(1), insert(2, fate::failed), insert(3), insert(4)};
    history[1].ended = start + 500ms;
    history[2].ended = start + 905ms;
    history[3].ended = start + 1000ms;
    history[3].scene = 1;
    found_state found;
    found.documents = {{1, 1}, {3, 1}, {4, 1}};
    const verdict made = judge(history, found, 2);
    EXPECT_EQ(made.total.longest_pause, 900ms);
    EXPECT_EQ(made.scenes[1].longest_pause, 95ms);
}

TEST(drill_report, says_what_was_found)
{
    drill_report report;
    report.scenes = {"steady", "crash"};
    report.retries = {0, 3};
    std::vector<operation> history{insert(1), insert(2)};
    history[1].scene = 1;
    report.found = judge(history, {.documents = {{1, 1}, {2, 1}}}, 2);
    EXPECT_NE(draw(report).find("Nothing lost, nothing applied twice: each of 2"),
              std::string::npos);
    EXPECT_NE(to_json(report).find("\"holds\":true"), std::string::npos) << to_json(report);
    report.found = judge(history, {.documents = {{1, 2}}}, 2);
    EXPECT_NE(draw(report).find("BROKEN: 1 lost, 1 applied twice"), std::string::npos);
    EXPECT_NE(to_json(report).find("\"holds\":false"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::drill
