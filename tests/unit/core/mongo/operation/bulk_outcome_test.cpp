#include "core/mongo/error/errc.hpp"
#include "core/mongo/operation/bulk.hpp"
#include "support/sent_command.hpp"
#include "support/verifies.hpp"

#include <gtest/gtest.h>

namespace holdfast::bulk_outcome_test {
namespace {

using namespace core::mongo;
using bson::arr;
using bson::doc;
using holdfast::mongo::bulk_write_options;
using holdfast::mongo::bulk_writes;
using proof::failed_with;
using proof::failure_in;
using proof::json;
using proof::send;

const auto here = proof::space_of("db", "c");

std::unique_ptr<collection_writes> make(const bulk_writes& work,
                                        const bulk_write_options& options = {})
{
    proof::counted_ids ids;
    return collection_writes::make(here, work.list(), options, ids).value();
}

bulk_writes inserts(int count)
{
    bulk_writes work;
    for (int i = 0; i < count; ++i)
        work.insert_one(doc("_id", i));
    return work;
}

TEST(bulk_outcome, counts_are_summed_and_indexes_refer_to_the_input)
{
    bulk_writes work;
    work.insert_one(doc("_id", "a"));
    work.update_one(doc("_id", 1), doc("$inc", doc("x", 1)));
    work.update_one(doc("_id", 2), doc("$inc", doc("x", 1)), {.upsert = true});
    work.delete_many(doc()).insert_one(doc("_id", "b"));
    const auto writes = make(work);
    for (const auto reply : {R"({"n": 1, "ok": 1})",
                             R"({"n": 2, "nModified": 1, "upserted": [{"index": 1, "_id": 2}],
                                 "ok": 1})",
                             R"({"n": 5, "ok": 1})", R"({"n": 1, "ok": 1})"}) {
        ASSERT_NE(writes->next(), nullptr);
        writes->done(json(reply));
    }
    EXPECT_EQ(writes->next(), nullptr);
    const auto done = writes->finish().value();
    EXPECT_EQ(done.inserted_count, 2);
    EXPECT_EQ(done.matched_count, 1);
    EXPECT_EQ(done.modified_count, 1);
    EXPECT_EQ(done.deleted_count, 5);
    EXPECT_EQ(done.upserted_count, 1);
    EXPECT_EQ(done.upserted_ids.at(2).get<std::int32_t>().value(), 2);
    ASSERT_EQ(done.inserted_ids.size(), 2U);
    EXPECT_EQ(done.inserted_ids.at(0).get<std::string>().value(), "a");
    EXPECT_EQ(done.inserted_ids.at(4).get<std::string>().value(), "b");
}

TEST(bulk_outcome, ordered_writes_stop_at_the_first_write_error)
{
    VERIFIES("RW-023");
    VERIFIES("RD-025");
    bulk_writes work = inserts(4);
    work.delete_one(doc());
    const auto writes = make(work);
    ASSERT_TRUE(send(*writes->next(), {.writes = 2}));
    writes->done(doc("n", 2, "ok", 1));
    ASSERT_TRUE(send(*writes->next(), {.writes = 2}));
    writes->done(json(R"({"n": 1, "writeErrors": [{"index": 1, "code": 11000,
        "errmsg": "E11000 duplicate key", "errInfo": {"a": 1}}], "ok": 1})"));
    EXPECT_EQ(writes->next(), nullptr);
    const auto done = writes->finish();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code(), (error_code{11000, server_category()}));
    EXPECT_EQ(done.error().message(), "writes[3]: E11000 duplicate key");
    const auto& failed = failure_in(done.error());
    ASSERT_EQ(failed.write_errors.size(), 1U);
    EXPECT_EQ(failed.write_errors[0].index, 3);
    EXPECT_EQ(failed.write_errors[0].details, json(R"({"a": 1})"));
    EXPECT_EQ(failed.partial_result.value().inserted_count, 3);
    EXPECT_EQ(failed.partial_result->inserted_ids.size(), 3U);
    EXPECT_FALSE(failed.ended_by);
}

TEST(bulk_outcome, unordered_bulk_write_continues_and_reports_write_errors_by_index)
{
    bulk_writes work;
    work.delete_one(doc("_id", 0)).insert_one(doc("_id", 1)).update_one(doc(), doc("$a", 1));
    work.insert_one(doc("_id", 3)).insert_one(doc("_id", 4));
    const auto writes = make(work, {.ordered = false});
    const auto reply = json(R"({"n": 1, "writeErrors": [
        {"index": 0, "code": 11000, "errmsg": "first"},
        {"index": 2, "code": 121, "errmsg": "second"}], "ok": 1})");
    ASSERT_TRUE(send(*writes->next()));
    writes->done(reply);
    ASSERT_TRUE(send(*writes->next()));
    writes->done(json(R"({"n": 0, "nModified": 0, "writeErrors": [
        {"index": 0, "code": 9, "errmsg": "unknown operator"}], "ok": 1})"));
    ASSERT_TRUE(send(*writes->next()));
    writes->done(doc("n", 1, "ok", 1));
    EXPECT_EQ(writes->next(), nullptr);
    const auto done = writes->finish();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().message(), "writes[1]: first; 2 other writes failed as well");
    const auto& failed = failure_in(done.error());
    ASSERT_EQ(failed.write_errors.size(), 3U);
    EXPECT_EQ(failed.write_errors[0].index, 1);
    EXPECT_EQ(failed.write_errors[1].index, 2);
    EXPECT_EQ(failed.write_errors[2].index, 4);
    EXPECT_EQ(failed.partial_result.value().inserted_count, 1);
    EXPECT_EQ(failed.partial_result->deleted_count, 1);
    ASSERT_EQ(failed.partial_result->inserted_ids.size(), 1U);
    EXPECT_EQ(failed.partial_result->inserted_ids.begin()->first, 3);
}

TEST(bulk_outcome, unordered_inserts_that_the_reply_leaves_out_are_an_error)
{
    struct row {
        const char* reply;
        bool complete;
    };
    const row table[] = {
        {R"({"n": 3, "ok": 1})", true},
        {R"({"n": 2, "ok": 1})", false},  // as 4.4 answers a retry; one document was refused
        {R"({"n": 1, "writeErrors": [{"index": 2, "code": 11000}], "ok": 1})", false},
        {R"({"n": 2, "writeErrors": [{"index": 2, "code": 11000}], "ok": 1})", true},
    };
    for (const row& one : table) {
        SCOPED_TRACE(one.reply);
        const auto writes = make(inserts(4), {.ordered = false});
        ASSERT_TRUE(send(*writes->next(), {.writes = 3}));
        writes->done(json(one.reply));
        EXPECT_EQ(writes->next() != nullptr, one.complete) << "the rest is not sent";
        if (one.complete)
            continue;
        const auto done = writes->finish_inserts();
        ASSERT_FALSE(done);
        EXPECT_EQ(done.error().code(), core::mongo::errc::incomplete_reply);
        EXPECT_NE(done.error().message().find("unclear"), std::string::npos);
        const auto& failed = failure_in(done.error());
        EXPECT_TRUE(failed.partly_done);
        EXPECT_TRUE(failed.partial_result.value().inserted_ids.empty());
    }
}

TEST(bulk_outcome, write_error_of_a_multi_statement_may_be_partly_applied)
{
    for (const int place : {0, 1}) {
        bulk_writes work;
        work.insert_one(doc("_id", 0));
        work.delete_one(doc("_id", 1)).delete_many(doc("x", 1));
        const auto writes = make(work);
        ASSERT_TRUE(send(*writes->next()));
        writes->done(doc("n", 1, "ok", 1));
        ASSERT_TRUE(send(*writes->next()));
        writes->done(doc("n", 0, "writeErrors", arr(doc("index", place, "code", 13)), "ok", 1));
        const auto done = writes->finish();
        ASSERT_FALSE(done);
        EXPECT_EQ(failure_in(done.error()).partly_done, place == 1);
    }
}

TEST(bulk_outcome, write_concern_error_does_not_stop_ordered_writes)
{
    const auto writes = make(inserts(4));
    ASSERT_TRUE(send(*writes->next(), {.writes = 2}));
    writes->done(failed_with(R"({"n": 2, "ok": 1, "errorLabels": ["RetryableWriteError"],
        "writeConcernError": {"code": 91, "codeName": "ShutdownInProgress",
        "errmsg": "going down", "errInfo": {"a": 1}}})"));
    ASSERT_NE(writes->next(), nullptr);
    ASSERT_TRUE(send(*writes->next(), {.writes = 2}));
    writes->done(failed_with(R"({"n": 2, "ok": 1,
        "writeConcernError": {"code": 64, "errmsg": "waiting"}})"));
    EXPECT_EQ(writes->next(), nullptr);
    const auto done = writes->finish_inserts();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code(), (error_code{91, server_category()}));
    EXPECT_TRUE(done.error().has_label("RetryableWriteError"));
    const auto& failed = failure_in(done.error());
    ASSERT_EQ(failed.write_concern_errors.size(), 2U);
    EXPECT_EQ(failed.write_concern_errors[0].code_name, "ShutdownInProgress");
    EXPECT_EQ(failed.write_concern_errors[0].details, json(R"({"a": 1})"));
    EXPECT_EQ(failed.write_concern_errors[1].message, "waiting");
    EXPECT_EQ(failed.partial_result.value().inserted_count, 4);
    EXPECT_FALSE(failed.ended_by);
}

TEST(bulk_outcome, reply_with_writeErrors_and_writeConcernError_reports_both)
{
    const auto writes = make(inserts(3), {.ordered = false});
    ASSERT_TRUE(send(*writes->next()));
    writes->done(failed_with(R"({"n": 2, "ok": 1, "errorLabels": ["RetryableWriteError"],
        "writeErrors": [{"index": 1, "code": 11000, "errmsg": "duplicate"}],
        "writeConcernError": {"code": 91, "errmsg": "going down"}})"));
    const auto done = writes->finish();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code(), (error_code{11000, server_category()}));
    EXPECT_TRUE(done.error().has_label("RetryableWriteError"));
    EXPECT_EQ(failure_in(done.error()).write_concern_errors.size(), 1U);
    EXPECT_EQ(failure_in(done.error()).partial_result.value().inserted_count, 2);
}

TEST(bulk_outcome, command_error_ends_ordered_and_unordered_writes)
{
    VERIFIES("RW-058");
    VERIFIES("RW-059");
    for (const bool ordered : {true, false}) {
        SCOPED_TRACE(ordered);
        bulk_writes work = inserts(2);
        work.update_one(doc(), doc("$set", doc("x", 1))).delete_one(doc());
        const auto writes = make(work, {.ordered = ordered});
        ASSERT_TRUE(send(*writes->next()));
        writes->done(doc("n", 2, "ok", 1));
        ASSERT_TRUE(send(*writes->next()));
        error lost{error_code{104, boost::system::system_category()}, "the connection broke"};
        std::vector<attempt> tried(2);
        writes->done(std::move(lost).with_label("RetryableWriteError").with_history(tried));
        EXPECT_EQ(writes->next(), nullptr);
        const auto done = writes->finish();
        ASSERT_FALSE(done);
        EXPECT_EQ(done.error().message(), "the connection broke");
        EXPECT_TRUE(done.error().has_label("RetryableWriteError"));
        EXPECT_EQ(done.error().history().size(), 2U);
        const auto& failed = failure_in(done.error());
        EXPECT_EQ(failed.ended_by.value().message(), "the connection broke");
        EXPECT_EQ(failed.partial_result.value().inserted_count, 2);
        EXPECT_EQ(failed.partial_result->inserted_ids.size(), 2U);
        EXPECT_EQ(failed.partial_result->matched_count, 0);
    }
}

TEST(bulk_outcome, first_command_error_ends_the_writes)
{
    const auto writes = make(inserts(2));
    ASSERT_TRUE(send(*writes->next()));
    writes->done(failed_with(R"({"ok": 0, "code": 8, "errmsg": "no",
        "writeConcernError": {"code": 91, "errmsg": "not looked at"}})"));
    EXPECT_EQ(writes->next(), nullptr);
    const auto done = writes->finish();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code(), (error_code{8, server_category()}));
    const auto& failed = failure_in(done.error());
    EXPECT_EQ(failed.partial_result.value().inserted_count, 0);
    EXPECT_TRUE(failed.partial_result->inserted_ids.empty());
    EXPECT_NE(dynamic_cast<const holdfast::mongo::server_failure*>(failed.ended_by->detail()),
              nullptr);
}

TEST(bulk_outcome, error_before_first_command_was_sent_is_returned_unchanged)
{
    VERIFIES("RW-045");
    const auto writes = make(inserts(2));
    ASSERT_NE(writes->next(), nullptr);
    writes->done(error{core::mongo::errc::no_server, "no server was found"});
    const auto done = writes->finish_inserts();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code(), core::mongo::errc::no_server);
    EXPECT_EQ(done.error().detail(), nullptr);
}

TEST(bulk_outcome, out_of_range_indexes_of_a_reply_are_ignored)
{
    const auto writes = make(inserts(2));
    ASSERT_TRUE(send(*writes->next()));
    writes->done(json(R"({"n": -5, "writeErrors": [{"index": 900, "code": 1}, {"index": -3}, 7],
        "upserted": [{"index": 12}], "ok": 1})"));
    const auto done = writes->finish();
    ASSERT_FALSE(done);
    const auto& failed = failure_in(done.error());
    ASSERT_EQ(failed.write_errors.size(), 2U);
    EXPECT_EQ(failed.write_errors[0].index, 0);
    EXPECT_EQ(failed.write_errors[1].index, 1);
    EXPECT_TRUE(failed.partial_result.value().inserted_ids.empty());
}

}  // namespace
}  // namespace holdfast::bulk_outcome_test
