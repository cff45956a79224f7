#include "tools/holdfast/drill/judge.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace holdfast::drill::judge_test {
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

operation counting(token which, std::int64_t received, fate end = fate::acknowledged)
{
    operation made = ended(action::find_one_and_update, end);
    made.signature = which;
    made.page = "shared page 0";
    if (end == fate::acknowledged)
        made.reported_count = received;
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

TEST(judge, document_count_must_match_the_reported_fate)
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
        const std::size_t running = r.end == fate::running ? 1 : 0;
        EXPECT_EQ(made.complaints.size(), r.lost + r.doubled + r.untrue + running);
    }
}

TEST(judge, signature_count_must_match_the_reported_fate)
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

TEST(judge, insert_many_is_checked_per_document)
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

TEST(judge, document_after_delete_one_must_match_the_fate_of_the_deletion)
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

TEST(judge, delete_one_that_finds_nothing_of_an_acknowledged_insert_is_lost)
{
    struct search {
        const char* name;
        fate inserted;
        std::size_t there;
        std::uint64_t lost, doubled, untrue;
    };
    constexpr search table[] = {
        {"the deletion had no effect", fate::acknowledged, 1, 1, 0, 0},
        {"the document is lost, or the answer to a retry is wrong", fate::acknowledged, 0, 1, 0, 0},
        {"it was there twice", fate::acknowledged, 2, 1, 1, 0},
        {"it may never have been there", fate::unclear, 0, 0, 0, 0},
        {"it came later", fate::unclear, 1, 0, 0, 0},
        {"it was not inserted", fate::failed, 0, 0, 0, 0},
        {"it was not inserted, and is there", fate::failed, 1, 0, 0, 1},
    };
    for (const search& r : table) {
        SCOPED_TRACE(r.name);
        std::vector<operation> history{insert(7, r.inserted), removal(7)};
        history[1].found_nothing = true;
        history[1].scenario = 1;
        found_state found;
        if (r.there > 0)
            found.documents[7] = r.there;
        const verdict made = judge(history, found, 2);
        EXPECT_EQ(made.total.lost, r.lost);
        EXPECT_EQ(made.scenarios[1].lost, r.lost);  // where it should have been found
        EXPECT_EQ(made.total.doubled, r.doubled);
        EXPECT_EQ(made.total.untrue, r.untrue);
        EXPECT_EQ(made.complaints.size(), r.lost + r.doubled + r.untrue);
    }
}

TEST(judge, delete_one_after_another_deletion_may_find_nothing)
{
    for (const fate first : {fate::acknowledged, fate::unclear, fate::running}) {
        std::vector<operation> history{insert(7), removal(7, first), removal(7)};
        history[2].found_nothing = true;
        EXPECT_EQ(judge(history, {}).total.lost, 0U);
    }
    std::vector<operation> history{insert(7), removal(7, fate::failed), removal(7)};
    history[2].found_nothing = true;
    EXPECT_EQ(judge(history, {}).total.lost, 1U);
}

TEST(judge, page_count_that_differs_from_its_signatures_is_reported)
{
    const std::vector<operation> history{signing(1), signing(2)};
    found_state found;
    found.pages["page 0.0"] = {3, {1, 2}};
    EXPECT_EQ(judge(history, found).total.doubled, 1U);
    EXPECT_EQ(judge(history, found).scenarios[0].doubled, 1U);
    found.pages["page 0.0"] = {1, {1, 2}};
    EXPECT_EQ(judge(history, found).total.lost, 1U);
    found.pages["page 0.0"] = {2, {1, 2}};
    EXPECT_TRUE(judge(history, found).holds());
}

TEST(judge, doubled_count_is_reported_beside_an_unclear_write)
{
    std::vector<operation> history{counting(1, 1), counting(2, 3), counting(3, 0, fate::unclear)};
    history[0].scenario = 1;
    found_state found;
    found.pages["shared page 0"] = {3, {1, 1, 2}};
    const verdict made = judge(history, found, 2);
    EXPECT_EQ(made.total.doubled, 1U);
    EXPECT_EQ(made.scenarios[1].doubled, 1U);
    EXPECT_EQ(made.scenarios[0].doubled, 0U);
    found.pages["shared page 0"] = {3, {1, 3, 2}};
    EXPECT_TRUE(judge(history, found, 2).holds());
    history[1].reported_count = 2;
    found.pages["shared page 0"] = {2, {1, 2}};
    EXPECT_TRUE(judge(history, found, 2).holds());
}

TEST(judge, find_one_and_update_reply_must_have_the_count_that_it_made)
{
    struct answer {
        const char* name;
        std::int64_t received;
        page there;
        std::uint64_t lost, doubled;
    };
    const answer table[] = {
        {"its own", 2, {3, {1, 7, 2}}, 0, 0},
        {"its own, and the last", 3, {3, {1, 2, 7}}, 0, 0},
        {"that of the write before", 1, {3, {1, 7, 2}}, 1, 0},
        {"that of a write after it", 3, {3, {1, 7, 2}}, 1, 0},
        {"more than were ever counted", 4, {3, {1, 7, 2}}, 1, 0},
        {"none", -1, {3, {1, 7, 2}}, 1, 0},
        {"that of the page before it", 0, {3, {1, 7, 2}}, 1, 0},
        {"what is lost is lost once", 2, {2, {1, 2}}, 1, 0},
        {"that of the first of two", 2, {4, {1, 7, 7, 2}}, 0, 1},
        {"that of the second of two", 3, {4, {1, 7, 7, 2}}, 0, 1},
    };
    for (const answer& r : table) {
        SCOPED_TRACE(r.name);
        // The others are unclear: a write without a reply may be anywhere.
        const std::vector<operation> history{counting(1, 0, fate::unclear), counting(7, r.received),
                                             counting(2, 0, fate::unclear)};
        found_state found;
        found.pages["shared page 0"] = r.there;
        const verdict made = judge(history, found);
        EXPECT_EQ(made.total.lost, r.lost);
        EXPECT_EQ(made.total.doubled, r.doubled);
        EXPECT_EQ(made.complaints.size(), r.lost + r.doubled);
    }
}

TEST(judge, find_one_and_update_upsert_without_a_document_in_the_reply_is_lost)
{
    std::vector<operation> history{counting(7, 1)};
    found_state found;
    found.pages["shared page 0"] = {1, {7}};
    EXPECT_TRUE(judge(history, found).holds());
    history[0].reported_count.reset();
    const verdict made = judge(history, found);
    EXPECT_EQ(made.total.lost, 1U);
    ASSERT_EQ(made.complaints.size(), 1U);
    EXPECT_NE(made.complaints[0].find("has no document"), std::string::npos);
    history[0].end = fate::unclear;  // an error has no document
    EXPECT_TRUE(judge(history, found).holds());
}

TEST(judge, two_replies_with_the_same_count_are_a_lost_write)
{
    std::vector<operation> history{counting(1, 1), counting(2, 1)};
    found_state found;
    found.pages["shared page 0"] = {2, {1, 2}};
    EXPECT_EQ(judge(history, found).total.lost, 1U);
    history[1].page = "shared page 1";
    found.pages = {{"shared page 0", {1, {1}}}, {"shared page 1", {1, {2}}}};
    EXPECT_TRUE(judge(history, found).holds());
}

TEST(judge, partial_bulk_write_is_checked_by_the_fate_of_each_part)
{
    operation half = ended(action::bulk_write, fate::unclear);
    half.inserted = {1};
    half.signature = 2;
    half.page = "page 0.0";
    half.end_of_inserts = fate::acknowledged;
    half.end_of_signature = fate::failed;
    found_state found;
    found.documents = {{1, 1}};
    EXPECT_TRUE(judge(std::vector{half}, found).holds());
    found.documents.clear();
    EXPECT_EQ(judge(std::vector{half}, found).total.lost, 1U);
    found.documents = {{1, 1}};
    found.pages["page 0.0"] = {1, {2}};
    EXPECT_EQ(judge(std::vector{half}, found).total.untrue, 1U);
}

TEST(judge, effect_without_an_operation_is_untrue)
{
    found_state found;
    found.documents[3] = 1;
    found.pages["page 9.0"] = {1, {4}};
    EXPECT_EQ(judge({}, found).total.untrue, 2U);
}

TEST(judge, operation_that_completes_twice_never_or_late_is_reported)
{
    operation late = insert(1);
    late.deadline = start + 4ms;
    operation punctual = insert(2);
    punctual.deadline = start + 5ms;
    operation twice = insert(3);
    twice.completions = 2;
    operation never = insert(4, fate::running);
    never.completions = 0;
    operation stuck = insert(5, fate::running);  // its callback came, but its client did not go on
    found_state found;
    found.documents = {{1, 1}, {2, 1}, {3, 1}, {5, 1}};
    const verdict made = judge(std::vector{late, punctual, twice, never, stuck}, found);
    EXPECT_TRUE(made.holds());
    EXPECT_FALSE(made.in_time());
    EXPECT_EQ(made.total.late, 1U);
    EXPECT_EQ(made.total.unfinished, 3U);
    EXPECT_TRUE(judge(std::vector{punctual}, {.documents = {{2, 1}}}).in_time());
}

TEST(judge, tally_counts_by_scenario_and_reason)
{
    std::vector<operation> history{insert(1), insert(2, fate::failed), insert(3, fate::unclear),
                                   insert(4)};
    history[1].reason = "server: busy";
    history[2].reason = "network";
    history[3].scenario = 1;
    found_state found;
    found.documents = {{1, 1}};
    const verdict made = judge(history, found, 2);
    ASSERT_EQ(made.scenarios.size(), 2U);
    EXPECT_EQ(made.scenarios[0].operations, 3U);
    EXPECT_EQ(made.scenarios[0].acknowledged, 1U);
    EXPECT_EQ(made.scenarios[0].failed, 1U);
    EXPECT_EQ(made.scenarios[0].unclear, 1U);
    EXPECT_EQ(made.scenarios[0].reasons.at("network"), 1U);
    EXPECT_EQ(made.scenarios[0].lost, 0U);
    EXPECT_EQ(made.scenarios[1].lost, 1U);
    EXPECT_EQ(made.total.operations, 4U);
    EXPECT_EQ(made.total.reasons.size(), 2U);
}

TEST(judge, longest_pause_is_measured_between_acknowledgements)
{
    std::vector<operation> history{insert(1), insert(2, fate::failed), insert(3), insert(4)};
    history[1].ended = start + 500ms;
    history[2].ended = start + 905ms;
    history[3].ended = start + 1000ms;
    history[3].scenario = 1;
    found_state found;
    found.documents = {{1, 1}, {3, 1}, {4, 1}};
    const verdict made = judge(history, found, 2);
    EXPECT_EQ(made.total.longest_pause, 900ms);
    EXPECT_EQ(made.scenarios[1].longest_pause, 95ms);
}

TEST(judge, longest_pause_includes_one_that_does_not_end)
{
    std::vector<operation> history{insert(1), insert(2, fate::failed), insert(3, fate::running)};
    history[1].ended = start + 305ms;
    history[1].scenario = 1;
    history[2].began = start + 805ms;
    history[2].ended = {};
    history[2].scenario = 2;
    const verdict made = judge(history, {.documents = {{1, 1}}}, 3);
    EXPECT_EQ(made.total.longest_pause, 800ms);
    EXPECT_EQ(made.scenarios[0].longest_pause, 5ms);
    EXPECT_EQ(made.scenarios[1].longest_pause, 300ms);
    EXPECT_EQ(made.scenarios[2].longest_pause, 800ms);
}

}  // namespace
}  // namespace holdfast::drill::judge_test
