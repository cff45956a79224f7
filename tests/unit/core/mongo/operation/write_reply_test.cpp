#include "core/mongo/operation/write_reply.hpp"

#include "core/mongo/error/errc.hpp"
#include "core/mongo/operation/single_write.hpp"
#include "unit/core/mongo/operation/operation_fixture.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::mongo::write_reply_test {
namespace {

using bson::doc;

const bson::object_id fresh = bson::object_id::parse("0123456789abcdef01234567").value();

command an_insert(std::string_view document)
{
    return built(a_space(), insert_one_operation{json(document), {}}, fresh).value();
}

command any_write(bool acknowledged = true)
{
    command sent;
    sent.acknowledged = acknowledged;
    return sent;
}

TEST(write_reply, insert_one_result_has_the_inserted_id)
{
    const auto given = insert_one_operation::read(answered(R"({"n": 1, "ok": 1})"),
                                                  an_insert(R"({"_id": 7})"));
    EXPECT_EQ(given.value().inserted_id.get<int>().value(), 7);
    EXPECT_TRUE(given->acknowledged);

    const auto made = insert_one_operation::read(answered(R"({"n": 1, "ok": 1})"),
                                                 an_insert(R"({"x": 7})"));
    EXPECT_EQ(made.value().inserted_id.get<bson::object_id>().value(), fresh);
}

TEST(write_reply, unacknowledged_write_says_so_in_its_result)
{
    command sent = an_insert(R"({"_id": 7})");
    sent.acknowledged = false;
    const auto inserted = insert_one_operation::read(answered(R"({"ok": 1})"), sent);
    EXPECT_FALSE(inserted.value().acknowledged);
    EXPECT_EQ(inserted->inserted_id.get<int>().value(), 7);
    EXPECT_FALSE(
        update_operation::read(answered(R"({"ok": 1})"), any_write(false)).value().acknowledged);
    EXPECT_FALSE(
        delete_operation::read(answered(R"({"ok": 1})"), any_write(false)).value().acknowledged);
    EXPECT_FALSE(
        find_one_and_update_operation::read(answered(R"({"ok": 1})"), any_write(false)).value());
}

TEST(write_reply, an_upserted_document_was_not_matched)
{
    struct row {
        const char* reply;
        std::int64_t matched, modified, upserted;
    };
    const row table[] = {
        {R"({"n": 0, "nModified": 0, "ok": 1})", 0, 0, 0},
        {R"({"n": 3, "nModified": 2, "ok": 1})", 3, 2, 0},
        {R"({"n": {"$numberLong": "3"}, "nModified": 2.0, "ok": 1})", 3, 2, 0},
        {R"({"n": 1, "nModified": 0, "upserted": [{"index": 0, "_id": "k"}], "ok": 1})", 0, 0, 1},
        {R"({"n": 1, "nModified": 0, "upserted": [{"index": 0, "_id": null}], "ok": 1})", 0, 0, 1},
        {R"({"n": 1, "nModified": 1, "upserted": [], "ok": 1})", 1, 1, 0},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.reply);
        const auto done = update_operation::read(answered(r.reply), any_write()).value();
        EXPECT_EQ(done.matched_count, r.matched);
        EXPECT_EQ(done.modified_count, r.modified);
        EXPECT_EQ(done.upserted_count, r.upserted);
        EXPECT_EQ(done.upserted_id.has_value(), r.upserted == 1);
        EXPECT_TRUE(done.acknowledged);
    }
    const auto done = update_operation::read(answered(table[3].reply), any_write()).value();
    EXPECT_EQ(done.upserted_id->get<std::string>().value(), "k");
}

TEST(write_reply, delete_result_has_the_deleted_count)
{
    EXPECT_EQ(
        delete_operation::read(answered(R"({"n": 4, "ok": 1})"), any_write()).value().deleted_count,
        4);
}

TEST(write_reply, find_and_modify_gives_the_document_or_nothing)
{
    const auto found = find_one_and_update_operation::read(
        answered(R"({"lastErrorObject": {"n": 1}, "value": {"_id": 1}, "ok": 1})"), any_write());
    ASSERT_TRUE(found.value());
    EXPECT_EQ(shown(**found), normal(R"({"_id": 1})"));
    EXPECT_FALSE(
        find_one_and_update_operation::read(answered(R"({"value": null, "ok": 1})"), any_write())
            .value());
    EXPECT_FALSE(
        find_one_and_update_operation::read(answered(R"({"ok": 1})"), any_write()).value());
}

TEST(write_reply, a_refused_statement_is_a_write_error)
{
    const char* const reply = R"({"n": 0, "ok": 1, "errorLabels": ["Odd"], "writeErrors": [
        {"index": 0, "code": 121, "errmsg": "Document failed validation",
         "errInfo": {"failingDocumentId": 1}}]})";
    const auto check = [](const error& why) {
        EXPECT_EQ(why.code(), error_code(121, server_category()));
        EXPECT_EQ(why.message(), "Document failed validation");
        EXPECT_TRUE(why.has_label("Odd"));
        const auto* more = write_failure_in(why);
        ASSERT_NE(more, nullptr);
        ASSERT_EQ(more->write_errors.size(), 1u);
        EXPECT_EQ(more->write_errors[0].index, 0);
        EXPECT_EQ(more->write_errors[0].code, 121);
        EXPECT_EQ(more->write_errors[0].message, "Document failed validation");
        EXPECT_EQ(shown(more->write_errors[0].details), normal(R"({"failingDocumentId": 1})"));
        EXPECT_TRUE(more->write_concern_errors.empty());
        EXPECT_EQ(more->reply.find("n").get<int>().value(), 0);
    };
    const auto inserted = insert_one_operation::read(answered(reply), an_insert("{}"));
    ASSERT_FALSE(inserted);
    check(inserted.error());
    const auto updated = update_operation::read(answered(reply), any_write());
    ASSERT_FALSE(updated);
    check(updated.error());
    const auto deleted = delete_operation::read(answered(reply), any_write());
    ASSERT_FALSE(deleted);
    check(deleted.error());
}

TEST(write_reply, a_refused_write_to_many_documents_may_be_half_done)
{
    const char* const refused = R"({"n": 0, "ok": 1, "writeErrors": [
        {"index": 0, "code": 11000, "errmsg": "E11000 duplicate key"}]})";
    const char* const unsafe = R"({"n": 0, "ok": 1, "writeErrors": [{"index": 0, "code": 11000}],
        "writeConcernError": {"code": 64, "errmsg": "slow"}})";
    const auto change = doc("$inc", doc("x", 1));
    const auto here = a_space();
    for (const char* const reply : {refused, unsafe}) {
        SCOPED_TRACE(reply);
        const auto half = [&](auto read, const result<command>& sent) {
            return write_failure_in(read(answered(reply), sent.value()).error())->partly_done;
        };
        EXPECT_TRUE(
            half(update_operation::read, built(here, update_operation{doc(), change, {}, true})));
        EXPECT_FALSE(
            half(update_operation::read, built(here, update_operation{doc(), change, {}})));
        EXPECT_TRUE(half(delete_operation::read, built(here, delete_operation{doc(), {}, true})));
        EXPECT_FALSE(half(delete_operation::read, built(here, delete_operation{doc(), {}})));
        EXPECT_FALSE(half(insert_one_operation::read, an_insert("{}")));
    }
}

/// Done, but not as safely as it should be: the executor gives it as an error with the reply.
const char* const not_safe = R"({"n": 1, "ok": 1, "errorLabels": ["RetryableWriteError"],
    "writeConcernError": {"code": 91, "codeName": "ShutdownInProgress", "errmsg": "shutting down",
                          "errInfo": {"w": 2}}})";

TEST(write_reply, write_concern_error_is_a_write_error_with_its_history)
{
    const auto check = [](const error& why) {
        EXPECT_EQ(why.code(), error_code(91, server_category()));
        EXPECT_EQ(why.message(), "shutting down");
        EXPECT_EQ(why.context("codeName"), "ShutdownInProgress");
        EXPECT_EQ(why.context("server"), "a:27017");
        EXPECT_TRUE(why.has_label("RetryableWriteError"));
        EXPECT_EQ(why.history().size(), 1u);
        const auto* more = write_failure_in(why);
        ASSERT_NE(more, nullptr);
        EXPECT_TRUE(more->write_errors.empty());
        ASSERT_EQ(more->write_concern_errors.size(), 1u);
        EXPECT_EQ(more->write_concern_errors[0].code, 91);
        EXPECT_EQ(more->write_concern_errors[0].code_name, "ShutdownInProgress");
        EXPECT_EQ(more->write_concern_errors[0].message, "shutting down");
        EXPECT_EQ(shown(more->write_concern_errors[0].details), normal(R"({"w": 2})"));
        EXPECT_TRUE(more->reply.find("writeConcernError"));
    };
    const auto inserted = insert_one_operation::read(answered(not_safe), an_insert("{}"));
    ASSERT_FALSE(inserted);
    check(inserted.error());
    const auto updated = update_operation::read(answered(not_safe), any_write());
    ASSERT_FALSE(updated);
    check(updated.error());
    const auto deleted = delete_operation::read(answered(not_safe), any_write());
    ASSERT_FALSE(deleted);
    check(deleted.error());
    const auto found = find_one_and_update_operation::read(answered(not_safe), any_write());
    ASSERT_FALSE(found);
    check(found.error());
}

TEST(write_reply, write_error_takes_precedence_over_writeConcernError)
{
    const auto done = update_operation::read(answered(R"({"n": 0, "ok": 1,
        "writeErrors": [{"index": 0, "code": 11000, "errmsg": "E11000 duplicate key"}],
        "writeConcernError": {"code": 64, "codeName": "WriteConcernTimeout", "errmsg": "slow"}})"),
                                             any_write());
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code(), error_code(11000, server_category()));
    EXPECT_EQ(done.error().message(), "E11000 duplicate key");
    EXPECT_EQ(done.error().context("codeName"), "DuplicateKey") << "not the other one's";
    EXPECT_EQ(done.error().context("server"), "a:27017");
    EXPECT_EQ(done.error().history().size(), 1u);
    const auto* more = write_failure_in(done.error());
    ASSERT_NE(more, nullptr);
    EXPECT_EQ(more->write_errors.size(), 1u);
    EXPECT_EQ(more->write_concern_errors.size(), 1u);
}

TEST(write_reply, a_refused_command_stays_what_it_is)
{
    const char* const reply = R"({"ok": 0, "code": 11000, "codeName": "DuplicateKey",
        "errmsg": "E11000", "keyPattern": {"x": 1}})";
    const auto found = find_one_and_update_operation::read(answered(reply), any_write());
    ASSERT_FALSE(found);
    const auto* refusal = dynamic_cast<const holdfast::mongo::server_failure*>(
        found.error().detail());
    ASSERT_NE(refusal, nullptr);
    EXPECT_EQ(shown(refusal->reply.find("keyPattern").as_document()), normal(R"({"x": 1})"));
    EXPECT_EQ(found.error().history().size(), 1u);

    const error lost{errc::no_server, "no server"};
    EXPECT_EQ(update_operation::read(lost, any_write()).error().message(), "no server");
    EXPECT_EQ(delete_operation::read(lost, any_write()).error().message(), "no server");
    EXPECT_EQ(insert_one_operation::read(lost, an_insert("{}")).error().message(), "no server");
}

TEST(write_reply, first_refusal_is_found_in_replies_to_many_writes)
{
    struct row {
        const char* reply;
        int code;
    };
    const row table[] = {
        {R"({"n": 2, "ok": 1})", 0},
        {R"({"n": 2, "writeErrors": [], "ok": 1})", 0},
        {R"({"n": 0, "writeErrors": [{"index": 1, "code": 11000}, {"index": 2, "code": 121}]})",
         11000},
        {R"({"n": 0, "writeErrors": [{"index": 1}]})", 8},
        {R"({"n": 0, "writeErrors": "none"})", 0},
        {R"({"nErrors": 0, "cursor": {"firstBatch": [{"ok": 1, "idx": 0}]}})", 0},
        {R"({"nErrors": 1, "cursor": {"firstBatch": [{"ok": 1, "idx": 0},
             {"ok": 0, "idx": 1, "code": 11000}]}})",
         11000},
        {R"({"nErrors": 1, "cursor": {"firstBatch": [{"ok": 1, "idx": 0}]}})", 8},
        {R"({"nErrors": 1})", 8},
    };
    for (const row& r : table) {
        const error_code found = first_refusal(json(r.reply));
        EXPECT_EQ(found.value(), r.code) << r.reply;
        EXPECT_EQ(found.failed(), r.code != 0) << r.reply;
        if (found.failed()) {
            EXPECT_EQ(found.category(), server_category()) << r.reply;
        }
    }
}

}  // namespace
}  // namespace holdfast::core::mongo::write_reply_test
