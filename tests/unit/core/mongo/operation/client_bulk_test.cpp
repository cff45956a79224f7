#include "core/mongo/operation/client_bulk.hpp"

#include "core/mongo/error/errc.hpp"
#include "support/sent_command.hpp"
#include "support/verifies.hpp"

#include <gtest/gtest.h>

namespace holdfast::client_bulk_test {
namespace {

using namespace core::mongo;
using bson::arr;
using bson::doc;
using holdfast::mongo::bulk_write_options;
using holdfast::mongo::client_bulk_writes;
using proof::allows;
using proof::failed_with;
using proof::failure_in;
using proof::json;
using proof::send;

const auto admin = proof::space_of("admin", "");

result<std::unique_ptr<client_writes>> try_make(const client_bulk_writes& work,
                                                const bulk_write_options& options = {})
{
    proof::counted_ids ids;
    return client_writes::make(admin, work, options, ids);
}

std::unique_ptr<client_writes> make(const client_bulk_writes& work,
                                    const bulk_write_options& options = {})
{
    return try_make(work, options).value();
}

client_bulk_writes inserts(int count)
{
    client_bulk_writes work;
    for (int i = 0; i < count; ++i)
        work.insert_one("db.coll", doc("_id", i));
    return work;
}

/// A reply without anything in its cursor.
bson::document inserted(int count)
{
    return doc("ok", 1, "cursor",
               doc("id", std::int64_t{0}, "firstBatch", arr(), "ns", "admin.$cmd.bulkWrite"),
               "nErrors", 0, "nInserted", count, "nMatched", 0, "nModified", 0, "nDeleted", 0,
               "nUpserted", 0);
}

// ---- What is sent ----

TEST(client_bulk, ops_refer_to_ns_info_by_index)
{
    client_bulk_writes work;
    work.insert_one("db0.coll0", doc("_id", 1)).insert_one("db0.coll0", doc("x", 2));
    work.update_one("db0.coll1", doc("_id", 1), doc("$inc", doc("x", 1)));
    work.delete_one("db1.coll2", doc("_id", 3));
    work.delete_many("db0.coll1", doc("_id", 2), {.hint = "_id_"});
    work.replace_one("db1.coll2", doc("_id", 4), doc("x", 45), {.upsert = true});
    work.update_many("db0.coll0", doc(), arr(doc("$unset", "x")));
    const auto let = doc("v", 1);
    const auto writes = make(work, {.bypass_document_validation = false,
                                    .let = let,
                                    .comment = "why",
                                    .verbose_results = true});
    const command* const first = writes->next();
    EXPECT_EQ(first->database, "admin");
    EXPECT_EQ(first->need.wire_version, 25);
    EXPECT_EQ(first->need.what, "bulkWrite");
    const auto sent = send(*first).value();
    EXPECT_EQ(sent.body.view(), json(R"({"bulkWrite": 1, "errorsOnly": false, "ordered": true,
        "bypassDocumentValidation": false, "let": {"v": 1}, "comment": "why", "$db": "admin"})"));
    const auto& ops = sent.sequences.at("ops");
    ASSERT_EQ(ops.size(), 7U);
    EXPECT_EQ(ops[0], json(R"({"insert": 0, "document": {"_id": 1}})"));
    EXPECT_EQ(ops[1], json(R"({"insert": 0, "document": {
        "_id": {"$oid": "000000000000000000000001"}, "x": 2}})"));
    EXPECT_EQ(ops[2], json(R"({"update": 1, "filter": {"_id": 1}, "updateMods": {"$inc": {"x": 1}},
        "multi": false})"));
    EXPECT_EQ(ops[3], json(R"({"delete": 2, "filter": {"_id": 3}, "multi": false})"));
    EXPECT_EQ(ops[4], json(R"({"delete": 1, "filter": {"_id": 2}, "multi": true,
        "hint": "_id_"})"));
    EXPECT_EQ(ops[5], json(R"({"update": 2, "filter": {"_id": 4}, "updateMods": {"x": 45},
        "multi": false, "upsert": true})"));
    EXPECT_EQ(ops[6], json(R"({"update": 0, "filter": {}, "updateMods": [{"$unset": "x"}],
        "multi": true})"));
    EXPECT_EQ(sent.in("nsInfo"), R"({"ns":"db0.coll0"} {"ns":"db0.coll1"} {"ns":"db1.coll2"})");
}

TEST(client_bulk, errors_only_is_true_unless_verbose_results)
{
    EXPECT_EQ(send(*make(inserts(1))->next()).value().body.view(),
              json(R"({"bulkWrite": 1, "errorsOnly": true, "ordered": true, "$db": "admin"})"));
}

TEST(client_bulk, batch_is_split_at_max_write_batch_size)
{
    const auto writes = make(inserts(5));
    for (const std::size_t count : {2U, 2U, 1U}) {
        const command* const next = writes->next();
        ASSERT_NE(next, nullptr);
        EXPECT_EQ(send(*next, {.writes = 2}).value().count("ops"), count);
        writes->done(inserted(static_cast<int>(count)));
        EXPECT_EQ(writes->more(), nullptr);
        EXPECT_EQ(writes->kill(), nullptr);
    }
    EXPECT_EQ(writes->next(), nullptr);
    EXPECT_EQ(writes->finish().value().inserted_count, 5);
}

/// The eleventh prose test of the CRUD specification, with its numbers: 43 bytes of the command, 21
/// of the first namespace, 58 of the last operation, 1000 of overhead.
TEST(client_bulk, ns_info_counts_towards_max_message_size)
{
    constexpr std::int32_t most = 4096;
    constexpr std::size_t filling = most - 1122;
    const auto with_last = [&](const std::string& space) {
        client_bulk_writes work;
        work.insert_one("db.coll", doc("a", std::string(filling - 57, 'b')));
        work.insert_one(space, doc("a", "b"));
        return work;
    };
    const auto same = make(with_last("db.coll"));
    EXPECT_EQ(send(*same->next(), {.message = most}).value().count("ops"), 2U);

    const std::string other = "db." + std::string(200, 'c');
    const auto split = make(with_last(other));
    const auto first = send(*split->next(), {.message = most}).value();
    EXPECT_EQ(first.count("ops"), 1U);
    EXPECT_EQ(first.in("nsInfo"), R"({"ns":"db.coll"})");
    split->done(inserted(1));
    const auto second = send(*split->next(), {.message = most}).value();
    ASSERT_EQ(second.count("ops"), 1U);
    EXPECT_EQ(second.sequences.at("ops")[0].find("insert").as_int32(), 0);
    EXPECT_EQ(second.in("nsInfo"), "{\"ns\":\"" + other + "\"}");

    client_bulk_writes one_more;
    one_more.insert_one("db.coll", doc("a", std::string(filling - 57 + 1, 'b')));
    one_more.insert_one("db.coll", doc("a", "b"));
    const auto writes = make(one_more);
    EXPECT_EQ(send(*writes->next(), {.message = most}).value().count("ops"), 1U);
}

TEST(client_bulk, retry_sends_the_same_bytes_on_another_connection)
{
    VERIFIES("RW-056");
    client_bulk_writes work;
    for (int i = 0; i < 6; ++i)
        work.insert_one("db.c" + std::to_string(i % 3), doc("_id", i));
    const auto writes = make(work);
    send(*writes->next(), {.writes = 1}).value();
    writes->done(inserted(1));
    const command* const second = writes->next();
    const auto once = send(*second, {.writes = 3}).value();
    EXPECT_EQ(once.in("nsInfo"), R"({"ns":"db.c1"} {"ns":"db.c2"} {"ns":"db.c0"})");
    EXPECT_EQ(send(*second, {.writes = 1}).value().bytes, once.bytes);
    EXPECT_EQ(send(*second).value().bytes, once.bytes);
}

TEST(client_bulk, multi_write_command_has_no_txn_number)
{
    client_bulk_writes work = inserts(4);
    work.delete_many("db.coll", doc());
    EXPECT_FALSE(make(work)->next()->eligible);
    EXPECT_TRUE(make(inserts(4))->next()->eligible);
    const auto writes = make(work);
    std::vector<bool> eligible;
    for (const command* next = writes->next(); next != nullptr; next = writes->next()) {
        const auto sent = send(*next, {.writes = 2}).value();
        eligible.push_back(sent.eligible);
        writes->done(inserted(static_cast<int>(sent.count("ops"))));
    }
    EXPECT_EQ(eligible, (std::vector<bool>{true, true, false}));
}

// ---- What makes no sense ----

TEST(client_bulk, invalid_writes_are_refused_before_sending)
{
    const auto text = [](const client_bulk_writes& work, const bulk_write_options& options = {}) {
        return std::string{try_make(work, options).error().message()};
    };
    EXPECT_NE(text({}).find("no writes were given"), std::string::npos);
    client_bulk_writes unnamed;
    unnamed.insert_one("coll", doc());
    EXPECT_NE(text(unnamed).find("'coll' is no namespace"), std::string::npos);
    client_bulk_writes update;
    update.update_one("db.coll", doc(), doc("x", 1));
    EXPECT_EQ(text(update).find("writes[0]: update"), 0U);
    const auto none_found = holdfast::mongo::unacknowledged;
    EXPECT_NE(
        text(inserts(1), {.write_concern = none_found, .ordered = false, .verbose_results = true})
            .find("Cannot request unacknowledged write concern and verbose results"),
        std::string::npos);
    EXPECT_NE(text(inserts(1), {.write_concern = none_found})
                  .find("Cannot request unacknowledged write concern and ordered writes"),
              std::string::npos);
}

TEST(client_bulk, operation_larger_than_a_message_is_refused)
{
    client_bulk_writes document;
    document.insert_one("db.coll", doc("a", std::string(3000, 'b')));
    client_bulk_writes space;
    space.insert_one("db." + std::string(3000, 'c'), doc("a", "b"));
    for (const client_bulk_writes& work : {document, space}) {
        const auto writes = make(work);
        auto sent = send(*writes->next(), {.message = 2000});
        ASSERT_FALSE(sent);
        writes->done(std::move(sent).error());
        EXPECT_EQ(writes->next(), nullptr);
        const auto done = writes->finish();
        ASSERT_FALSE(done);
        EXPECT_EQ(done.error().code(), core::mongo::errc::message_too_large);
        EXPECT_EQ(done.error().detail(), nullptr);
    }
}

TEST(client_bulk, document_size_is_checked_only_if_unacknowledged)
{
    const std::string large(300, 'b');
    client_bulk_writes insert;
    insert.insert_one("db.coll", doc("a", large));
    client_bulk_writes replacement;
    replacement.replace_one("db.coll", doc(), doc("a", large));
    client_bulk_writes filter;  // an operation may be larger than a document
    filter.delete_one("db.coll", doc("a", large));
    const bulk_write_options silent{.write_concern = holdfast::mongo::unacknowledged,
                                    .ordered = false};
    constexpr allows little{.document = 200};
    EXPECT_TRUE(send(*make(insert)->next(), little));
    EXPECT_FALSE(send(*make(insert, silent)->next(), little));
    EXPECT_FALSE(send(*make(replacement, silent)->next(), little));
    EXPECT_TRUE(send(*make(filter, silent)->next(), little));
}

TEST(client_bulk, unacknowledged_writes_send_every_batch)
{
    const auto writes = make(inserts(3),
                             {.write_concern = holdfast::mongo::unacknowledged, .ordered = false});
    for (const std::size_t count : {2U, 1U}) {
        const command* const next = writes->next();
        ASSERT_NE(next, nullptr);
        EXPECT_FALSE(next->acknowledged);
        EXPECT_FALSE(next->eligible);
        const auto sent = send(*next, {.writes = 2}).value();
        EXPECT_EQ(sent.count("ops"), count);
        EXPECT_EQ(sent.body.find("writeConcern").as_document(), json(R"({"w": 0})").view());
        writes->done(doc("ok", 1));
        EXPECT_EQ(writes->more(), nullptr);
    }
    EXPECT_EQ(writes->next(), nullptr);
    EXPECT_FALSE(writes->finish().value().acknowledged);
}

}  // namespace
}  // namespace holdfast::client_bulk_test
