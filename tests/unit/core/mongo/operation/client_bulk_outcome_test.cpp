#include "core/mongo/error/errc.hpp"
#include "core/mongo/operation/client_bulk.hpp"
#include "support/sent_command.hpp"
#include "support/verifies.hpp"

#include <gtest/gtest.h>

namespace holdfast::client_bulk_outcome_test {
namespace {

using namespace core::mongo;
using bson::doc;
using holdfast::mongo::bulk_write_options;
using holdfast::mongo::client_bulk_writes;
using proof::failed_with;
using proof::failure_in;
using proof::json;
using proof::send;

const auto admin = proof::space_of("admin", "");

std::unique_ptr<client_writes> make(const client_bulk_writes& work,
                                    const bulk_write_options& options = {})
{
    proof::counted_ids ids;
    return client_writes::make(admin, work, options, ids).value();
}

client_bulk_writes deletes(int count)
{
    client_bulk_writes work;
    for (int i = 0; i < count; ++i)
        work.delete_one("db.coll", doc("_id", i));
    return work;
}

/// A reply of so many deletions and errors, with these results in its cursor.
bson::document deleted(int count, int errors, std::string_view results = "",
                       std::int64_t cursor = 0)
{
    return json(R"({"ok": 1, "nInserted": 0, "nMatched": 0, "nModified": 0, "nUpserted": 0,
        "nDeleted": )" +
                std::to_string(count) + R"(, "nErrors": )" + std::to_string(errors) +
                R"(, "cursor": {"id": {"$numberLong": ")" + std::to_string(cursor) +
                R"("}, "ns": "admin.$cmd.bulkWrite", "firstBatch": [)" + std::string{results} +
                "]}}");
}

bson::document next_batch(std::string_view results, std::int64_t cursor = 0)
{
    return json(R"({"ok": 1, "cursor": {"id": {"$numberLong": ")" + std::to_string(cursor) +
                R"("}, "ns": "admin.$cmd.bulkWrite", "nextBatch": [)" + std::string{results} +
                "]}}");
}

constexpr std::string_view refused =
    R"({"ok": 0, "idx": 0, "code": 17276, "errmsg": "no", "n": 0})";

TEST(client_bulk_outcome, verbose_results_are_indexed_by_input_position)
{
    client_bulk_writes work;
    work.delete_one("db.coll", doc());
    work.insert_one("db.coll", doc("_id", 7));
    work.update_one("db.coll", doc(), doc("$inc", doc("x", 1)));
    work.replace_one("db.coll", doc("_id", 9), doc("x", 1), {.upsert = true});
    work.delete_many("db.coll", doc());
    const auto writes = make(work, {.verbose_results = true});
    ASSERT_TRUE(send(*writes->next(), {.writes = 4}));
    writes->done(json(R"({"ok": 1, "nErrors": 0, "nInserted": 1, "nMatched": 1, "nModified": 1,
        "nUpserted": 1, "nDeleted": 1, "cursor": {"id": {"$numberLong": "0"}, "ns": "admin.x",
        "firstBatch": [{"ok": 1, "idx": 0, "n": 1}, {"ok": 1, "idx": 1, "n": 1},
        {"ok": 1, "idx": 2, "n": 1, "nModified": 1},
        {"ok": 1, "idx": 3, "n": 1, "nModified": 0, "upserted": {"_id": 9}}]}})"));
    ASSERT_TRUE(send(*writes->next(), {.writes = 4}));
    writes->done(deleted(3, 0, R"({"ok": 1, "idx": 0, "n": 3})"));
    EXPECT_EQ(writes->next(), nullptr);
    const auto done = writes->finish().value();
    EXPECT_TRUE(done.verbose);
    EXPECT_EQ(done.inserted_count, 1);
    EXPECT_EQ(done.matched_count, 1);
    EXPECT_EQ(done.modified_count, 1);
    EXPECT_EQ(done.upserted_count, 1);
    EXPECT_EQ(done.deleted_count, 4);
    ASSERT_EQ(done.insert_results.size(), 1U);
    EXPECT_EQ(done.insert_results.at(1).inserted_id.get<std::int32_t>().value(), 7);
    ASSERT_EQ(done.update_results.size(), 2U);
    EXPECT_EQ(done.update_results.at(2).modified_count, 1);
    EXPECT_FALSE(done.update_results.at(2).upserted_id);
    EXPECT_EQ(done.update_results.at(3).matched_count, 1);
    EXPECT_EQ(done.update_results.at(3).upserted_id.value().get<std::int32_t>().value(), 9);
    ASSERT_EQ(done.delete_results.size(), 2U);
    EXPECT_EQ(done.delete_results.at(0).deleted_count, 1);
    EXPECT_EQ(done.delete_results.at(4).deleted_count, 3);
}

TEST(client_bulk_outcome, results_cursor_is_read_with_get_more_to_its_end)
{
    const auto writes = make(deletes(3), {.verbose_results = true});
    ASSERT_TRUE(send(*writes->next()));
    writes->done(deleted(3, 0, R"({"ok": 1, "idx": 0, "n": 1})", 55));
    const command* more = writes->more();
    ASSERT_NE(more, nullptr);
    EXPECT_EQ(more->database, "admin");
    EXPECT_EQ(more->body.view(), doc("getMore", std::int64_t{55}, "collection", "$cmd.bulkWrite"));
    EXPECT_FALSE(more->eligible);
    EXPECT_EQ(more->load, nullptr);
    writes->add_batch(next_batch(R"({"ok": 1, "idx": 1, "n": 1})", 55));
    ASSERT_NE(writes->more(), nullptr);
    writes->add_batch(next_batch(R"({"ok": 1, "idx": 2, "n": 1})"));
    EXPECT_EQ(writes->more(), nullptr);
    EXPECT_EQ(writes->kill(), nullptr);
    EXPECT_EQ(writes->next(), nullptr);
    EXPECT_EQ(writes->finish().value().delete_results.size(), 3U);
}

TEST(client_bulk_outcome, get_more_error_ends_the_writes_and_kills_the_cursor)
{
    const auto writes = make(deletes(3), {.verbose_results = true});
    ASSERT_TRUE(send(*writes->next(), {.writes = 2}));
    writes->done(deleted(2, 0, R"({"ok": 1, "idx": 0, "n": 1})", 55));
    ASSERT_NE(writes->more(), nullptr);
    writes->add_batch(failed_with(R"({"ok": 0, "code": 8, "errmsg": "no more"})"));
    EXPECT_EQ(writes->more(), nullptr);
    const command* const kill = writes->kill();
    ASSERT_NE(kill, nullptr);
    EXPECT_EQ(std::string{kill->body.begin()->key()}, "killCursors");
    EXPECT_EQ(writes->kill(), nullptr);
    EXPECT_EQ(writes->next(), nullptr);
    const auto done = writes->finish();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code(), (error_code{8, server_category()}));
    const auto& failed = failure_in(done.error());
    EXPECT_EQ(failed.ended_by.value().message(), "no more");
    EXPECT_EQ(failed.partial_client_result.value().deleted_count, 2);
    EXPECT_EQ(failed.partial_client_result->delete_results.size(), 1U);
    EXPECT_TRUE(failed.partly_done) << "whatever became of the getMore";
}

TEST(client_bulk_outcome, write_error_of_a_multi_statement_may_be_partly_applied)
{
    for (const bool many : {false, true}) {
        client_bulk_writes work = deletes(1);
        if (many)
            work.delete_many("db.coll", doc());
        else
            work.delete_one("db.coll", doc());
        const auto writes = make(work);
        ASSERT_TRUE(send(*writes->next()));
        writes->done(deleted(1, 1, R"({"ok": 0, "idx": 1, "code": 13, "errmsg": "no"})"));
        const auto done = writes->finish();
        ASSERT_FALSE(done);
        EXPECT_EQ(failure_in(done.error()).partly_done, many);
    }
}

TEST(client_bulk_outcome, ordered_writes_stop_at_the_first_write_error)
{
    VERIFIES("RD-025");
    const auto writes = make(deletes(4), {.verbose_results = true});
    ASSERT_TRUE(send(*writes->next(), {.writes = 1}));
    writes->done(deleted(1, 0, R"({"ok": 1, "idx": 0, "n": 1})"));
    ASSERT_TRUE(send(*writes->next(), {.writes = 2}));
    writes->done(deleted(0, 1, refused));
    EXPECT_EQ(writes->more(), nullptr);
    EXPECT_EQ(writes->next(), nullptr);
    const auto done = writes->finish();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code(), (error_code{17276, server_category()}));
    const auto& failed = failure_in(done.error());
    ASSERT_EQ(failed.write_errors.size(), 1U);
    EXPECT_EQ(failed.write_errors[0].index, 1);
    EXPECT_EQ(failed.partial_client_result.value().delete_results.size(), 1U);
}

TEST(client_bulk_outcome, error_in_a_later_cursor_batch_stops_ordered_writes_at_once)
{
    const auto writes = make(deletes(4));
    ASSERT_TRUE(send(*writes->next(), {.writes = 2}));
    writes->done(deleted(1, 1, "", 55));
    ASSERT_NE(writes->more(), nullptr);
    writes->add_batch(next_batch(R"({"ok": 0, "idx": 1, "code": 17276, "errmsg": "no"})"));
    EXPECT_EQ(writes->more(), nullptr);
    EXPECT_EQ(writes->next(), nullptr);
    const auto done = writes->finish();
    ASSERT_FALSE(done);
    EXPECT_EQ(failure_in(done.error()).partial_client_result.value().deleted_count, 1);
}

TEST(client_bulk_outcome, unordered_writes_continue_after_write_errors)
{
    const auto writes = make(deletes(4), {.ordered = false});
    ASSERT_TRUE(send(*writes->next(), {.writes = 2}));
    writes->done(deleted(1, 1, refused));
    ASSERT_TRUE(send(*writes->next(), {.writes = 2}));
    writes->done(deleted(1, 1, R"({"ok": 0, "idx": 1, "code": 17276, "errmsg": "no"})"));
    EXPECT_EQ(writes->next(), nullptr);
    const auto done = writes->finish();
    ASSERT_FALSE(done);
    const auto& failed = failure_in(done.error());
    ASSERT_EQ(failed.write_errors.size(), 2U);
    EXPECT_EQ(failed.write_errors[0].index, 0);
    EXPECT_EQ(failed.write_errors[1].index, 3);
    EXPECT_EQ(failed.partial_client_result.value().deleted_count, 2);
    EXPECT_TRUE(failed.partial_client_result->delete_results.empty());
}

/// "Drivers MUST NOT populate the partialResult field if it cannot be determined that at least one
/// write was successfully performed."
TEST(client_bulk_outcome, partial_result_is_absent_if_no_write_succeeded)
{
    const auto partial = [](bool ordered, int writes_given, int errors, std::string_view results) {
        const auto writes = make(deletes(writes_given), {.ordered = ordered});
        EXPECT_TRUE(send(*writes->next()));
        writes->done(deleted(0, errors, results));
        const auto done = writes->finish();
        return failure_in(done.error()).partial_client_result.has_value();
    };
    EXPECT_FALSE(partial(true, 2, 1, refused));
    EXPECT_TRUE(partial(true, 2, 1, R"({"ok": 0, "idx": 1, "code": 1})"));
    EXPECT_FALSE(partial(false, 1, 1, refused));
    EXPECT_TRUE(partial(false, 2, 1, refused));

    const auto writes = make(deletes(2));
    ASSERT_TRUE(send(*writes->next()));
    writes->done(failed_with(R"({"ok": 0, "code": 8, "errmsg": "no"})"));
    EXPECT_EQ(writes->more(), nullptr);
    EXPECT_EQ(writes->next(), nullptr);
    const auto done = writes->finish();
    ASSERT_FALSE(done);
    EXPECT_FALSE(failure_in(done.error()).partial_client_result);
    EXPECT_EQ(failure_in(done.error()).ended_by.value().code(), (error_code{8, server_category()}));
}

TEST(client_bulk_outcome, write_concern_errors_of_all_commands_are_collected)
{
    const auto writes = make(deletes(3));
    for (const int count : {2, 1}) {
        const command* const next = writes->next();
        ASSERT_NE(next, nullptr);
        ASSERT_TRUE(send(*next, {.writes = 2}));
        writes->done(failed_with(R"({"ok": 1, "nErrors": 0, "nDeleted": )" + std::to_string(count) +
                                 R"(, "cursor": {"id": {"$numberLong": "0"}, "ns": "admin.x",
            "firstBatch": []}, "writeConcernError": {"code": 91, "errmsg": "going down"}})"));
    }
    EXPECT_EQ(writes->next(), nullptr);
    const auto done = writes->finish();
    ASSERT_FALSE(done);
    EXPECT_EQ(failure_in(done.error()).write_concern_errors.size(), 2U);
    EXPECT_EQ(failure_in(done.error()).partial_client_result.value().deleted_count, 3);
}

TEST(client_bulk_outcome, reply_without_a_cursor_ends_the_writes)
{
    const auto writes = make(deletes(2));
    ASSERT_TRUE(send(*writes->next(), {.writes = 1}));
    writes->done(doc("ok", 1, "nDeleted", 1, "nErrors", 0));
    EXPECT_EQ(writes->more(), nullptr);
    EXPECT_EQ(writes->next(), nullptr);
    const auto done = writes->finish();
    ASSERT_FALSE(done);
    EXPECT_TRUE(failure_in(done.error()).ended_by);
    EXPECT_TRUE(failure_in(done.error()).partly_done);
}

TEST(client_bulk_outcome, out_of_range_indexes_of_a_reply_are_ignored)
{
    const auto writes = make(deletes(2), {.ordered = false, .verbose_results = true});
    ASSERT_TRUE(send(*writes->next()));
    writes->done(
        deleted(1, 1, R"({"ok": 0, "idx": 900, "code": 1}, {"ok": 1, "idx": -4, "n": 1})"));
    const auto done = writes->finish();
    ASSERT_FALSE(done);
    EXPECT_EQ(failure_in(done.error()).write_errors.at(0).index, 1);
    EXPECT_EQ(failure_in(done.error()).partial_client_result.value().delete_results.count(0), 1U);
}

TEST(client_bulk_outcome, error_names_the_namespace_of_the_first_refused_write)
{
    client_bulk_writes work;
    work.delete_one("db.first", doc()).delete_one("db.second", doc());
    const auto writes = make(work, {.ordered = false});
    ASSERT_TRUE(send(*writes->next(), {.writes = 2}));
    writes->done(deleted(1, 1, R"({"ok": 0, "idx": 1, "code": 17276, "errmsg": "no", "n": 0})"));
    const auto done = writes->finish();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().context("operation"), "bulkWrite in db.second");
    EXPECT_EQ(done.error().context("namespace"), "db.second");
}

TEST(client_bulk_outcome, error_of_all_writes_names_their_namespace_if_they_have_one)
{
    for (const bool one_space : {true, false}) {
        client_bulk_writes work;
        work.delete_one("db.first", doc()).delete_one(one_space ? "db.first" : "db.second", doc());
        const auto writes = make(work);
        ASSERT_TRUE(send(*writes->next(), {.writes = 2}));
        writes->done(error{errc::no_server, "gone"});
        const auto done = writes->finish();
        ASSERT_FALSE(done);
        EXPECT_EQ(done.error().context("namespace"), one_space ? "db.first" : "");
    }
}

}  // namespace
}  // namespace holdfast::client_bulk_outcome_test
