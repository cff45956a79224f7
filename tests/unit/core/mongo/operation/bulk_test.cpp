#include "core/mongo/operation/bulk.hpp"

#include "core/mongo/error/errc.hpp"
#include "support/sent_command.hpp"
#include "support/verifies.hpp"

#include <gtest/gtest.h>

namespace holdfast::bulk_test {
namespace {

using namespace core::mongo;
using bson::arr;
using bson::doc;
using holdfast::mongo::bulk_write_options;
using holdfast::mongo::bulk_writes;
using proof::allows;
using proof::json;
using proof::send;

const auto here = proof::space_of("db", "c");

result<std::unique_ptr<collection_writes>> try_make(const bulk_writes& work,
                                                    const bulk_write_options& options = {})
{
    proof::counted_ids ids;
    return collection_writes::make(here, work.list(), options, ids);
}

std::unique_ptr<collection_writes> make(const bulk_writes& work,
                                        const bulk_write_options& options = {})
{
    return try_make(work, options).value();
}

bulk_writes inserts(int count)
{
    bulk_writes work;
    for (int i = 0; i < count; ++i)
        work.insert_one(doc("_id", i));
    return work;
}

/// The names of all commands, with how many statements each has: "insert 2, update 1".
std::string commands(collection_writes& of, allows limits = {})
{
    std::string text;
    for (const command* next = of.next(); next != nullptr; next = of.next()) {
        const auto sent = send(*next, limits).value();
        const std::size_t count = sent.count("documents") + sent.count("updates") +
                                  sent.count("deletes");
        text += text.empty() ? "" : ", ";
        text += std::string{sent.body.begin()->key()} + " " + std::to_string(count);
        text += sent.eligible ? "" : " once";
        of.done(doc("n", static_cast<std::int32_t>(count), "ok", 1.0));
    }
    return text;
}

// ---- What is sent ----

TEST(bulk, ordered_writes_batch_consecutive_writes_of_a_kind)
{
    bulk_writes work;
    work.insert_one(doc("_id", 1)).insert_one(doc("_id", 2));
    work.update_one(doc("_id", 1), doc("$inc", doc("x", 1)));
    work.replace_one(doc("_id", 2), doc("x", 1)).insert_one(doc("_id", 3)).delete_one(doc("x", 1));
    EXPECT_EQ(commands(*make(work)), "insert 2, update 2, insert 1, delete 1");
}

TEST(bulk, unordered_writes_use_one_command_per_kind)
{
    bulk_writes work;
    work.delete_one(doc("x", 1)).insert_one(doc("_id", 1));
    work.update_one(doc("_id", 1), doc("$inc", doc("x", 1))).insert_one(doc("_id", 2));
    work.delete_one(doc("x", 2));
    EXPECT_EQ(commands(*make(work, {.ordered = false})), "insert 2, update 1, delete 2");
}

TEST(bulk, statements_are_sent_as_a_document_sequence)
{
    bulk_writes work;
    work.insert_one(doc("_id", 1, "x", 11)).insert_one(doc("x", 22, "_id", 2));
    const auto let = doc("v", 1);
    const auto writes = make(work, {.write_concern = holdfast::mongo::majority,
                                    .bypass_document_validation = true,
                                    .let = let,
                                    .comment = "why"});
    const command* const first = writes->next();
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(first->database, "db");
    EXPECT_EQ(first->kind, retry_kind::write);
    EXPECT_TRUE(first->eligible);
    const auto sent = send(*first).value();
    EXPECT_EQ(sent.body.view(), json(R"({"insert": "c", "ordered": true,
        "bypassDocumentValidation": true, "comment": "why", "writeConcern": {"w": "majority"},
        "$db": "db"})"));
    EXPECT_EQ(sent.in("documents"), R"({"_id":1,"x":11} {"x":22,"_id":2})");
}

TEST(bulk, statements_hold_only_the_options_that_are_set)
{
    const auto index = doc("_id", 1);
    const auto sort = doc("x", -1);
    const auto filters = arr(doc("i", 1));
    const auto language = doc("locale", "simple");
    const auto let = doc("v", 1);
    bulk_writes work;
    work.update_one(doc("a", 1), doc("$set", doc("b", 2)), {.upsert = true, .sort = sort.view()});
    work.update_many(doc("a", 2), arr(doc("$unset", "b")), {.array_filters = filters.view()});
    work.replace_one(doc("a", 3), doc("b", 4), {.collation = language.view(), .hint = index});
    work.delete_one(doc("a", 4), {.collation = language.view(), .hint = "_id_"});
    work.delete_many(doc("a", 5));
    const auto writes = make(work, {.bypass_document_validation = false, .let = let});
    const auto updates = send(*writes->next()).value();
    EXPECT_EQ(updates.body.view(), json(R"({"update": "c", "ordered": true,
        "bypassDocumentValidation": false, "let": {"v": 1}, "$db": "db"})"));
    const auto& list = updates.sequences.at("updates");
    ASSERT_EQ(list.size(), 3U);
    EXPECT_EQ(
        list[0],
        json(R"({"q": {"a": 1}, "u": {"$set": {"b": 2}}, "upsert": true, "sort": {"x": -1}})"));
    EXPECT_EQ(list[1], json(R"({"q": {"a": 2}, "u": [{"$unset": "b"}], "multi": true,
        "arrayFilters": [{"i": 1}]})"));
    EXPECT_EQ(list[2], json(R"({"q": {"a": 3}, "u": {"b": 4}, "collation": {"locale": "simple"},
        "hint": {"_id": 1}})"));
    writes->done(doc("n", 3, "nModified", 3, "ok", 1));
    const auto deletes = send(*writes->next()).value();
    EXPECT_EQ(deletes.body.view(),
              json(R"({"delete": "c", "ordered": true, "let": {"v": 1}, "$db": "db"})"));
    EXPECT_EQ(deletes.sequences.at("deletes")[0],
              json(R"({"q": {"a": 4}, "limit": 1, "collation": {"locale": "simple"},
        "hint": "_id_"})"));
    EXPECT_EQ(deletes.sequences.at("deletes")[1], json(R"({"q": {"a": 5}, "limit": 0})"));
}

TEST(bulk, generated_id_is_the_first_field)
{
    bulk_writes work;
    work.insert_one(doc("x", 1)).insert_one(doc("_id", 7)).insert_one(doc());
    const auto writes = make(work);
    const auto sent = send(*writes->next()).value();
    const auto& documents = sent.sequences.at("documents");
    EXPECT_EQ(documents[0], json(R"({"_id": {"$oid": "000000000000000000000001"}, "x": 1})"));
    EXPECT_EQ(documents[1], json(R"({"_id": 7})"));
    EXPECT_EQ(documents[2], json(R"({"_id": {"$oid": "000000000000000000000002"}})"));
    writes->done(doc("n", 3, "ok", 1));
    const auto done = writes->finish_inserts().value();
    EXPECT_EQ(done.inserted_count, 3);
    ASSERT_EQ(done.inserted_ids.size(), 3U);
    EXPECT_EQ(done.inserted_ids[0].get<bson::object_id>().value().bytes[11], 1);
    EXPECT_EQ(done.inserted_ids[1].get<std::int32_t>().value(), 7);
    EXPECT_EQ(done.inserted_ids[2].get<bson::object_id>().value().bytes[11], 2);
}

TEST(bulk, existing_id_is_found_at_any_position)
{
    const std::string long_key(20, 'k');
    for (const bson::document& one :
         {doc("_id", bson::null{}), doc("a", 1, "_id", true), doc("abcdefg", "x", "_id", 1),
          doc("abcdefgh", doc("_id", 1), "_id", bson::null{}), doc(long_key, 1.5, "_id", "x"),
          doc("r", bson::regex{"a", "i"}, "_id", 2), doc("a", arr(1, 2), "b", "", "_id", doc())}) {
        bulk_writes work;
        work.insert_one(one);
        EXPECT_EQ(send(*make(work)->next()).value().sequences.at("documents")[0], one);
    }
    for (const bson::document& one : {doc("_ix", 1), doc("a", doc("_id", 1)), doc("_id2", true),
                                      doc(long_key, "_id", "x", true),
                                      doc("r", bson::regex{"_id", ""}), doc("id", bson::null{})}) {
        bulk_writes work;
        work.insert_one(one);
        const auto sent = send(*make(work)->next()).value().sequences.at("documents")[0];
        EXPECT_EQ(sent.begin()->key(), "_id");
        EXPECT_EQ(sent.size(), one.size() + 17);
    }
}

TEST(bulk, batch_is_split_at_max_write_batch_size)
{
    EXPECT_EQ(commands(*make(inserts(5)), {.writes = 2}), "insert 2, insert 2, insert 1");
}

TEST(bulk, batch_is_split_at_max_message_size)
{
    const auto writes = make(inserts(20));
    const std::size_t all = send(*writes->next()).value().bytes.size();
    // Four bytes are kept free for a checksum.
    const auto exactly = static_cast<std::int32_t>(all + 4);
    EXPECT_EQ(commands(*make(inserts(20)), {.message = exactly}), "insert 20");
    EXPECT_EQ(commands(*make(inserts(20)), {.message = exactly - 1}), "insert 19, insert 1");
    const std::size_t one = doc("_id", 1).size();
    EXPECT_EQ(
        commands(*make(inserts(20)), {.message = exactly - static_cast<std::int32_t>(10 * one)}),
        "insert 10, insert 10");
}

TEST(bulk, retry_sends_the_same_bytes_on_another_connection)
{
    VERIFIES("RW-056");
    const auto writes = make(inserts(5));
    const command* const first = writes->next();
    const auto once = send(*first, {.writes = 3}).value();
    EXPECT_EQ(once.count("documents"), 3U);
    EXPECT_EQ(send(*first, {.writes = 5}).value().bytes, once.bytes);
    EXPECT_EQ(send(*first, {.writes = 1}).value().bytes, once.bytes);
    writes->done(doc("n", 3, "ok", 1));
    EXPECT_EQ(send(*writes->next()).value().count("documents"), 2U);
}

TEST(bulk, too_large_document_fails_its_whole_batch)
{
    bulk_writes work;
    work.insert_one(doc("_id", 1)).insert_one(doc("_id", std::string(200, 'x')));
    const auto writes = make(work);
    auto sent = send(*writes->next(), {.document = 100});
    ASSERT_FALSE(sent);
    writes->done(std::move(sent).error());
    EXPECT_EQ(writes->next(), nullptr);
    const auto done = writes->finish();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code(), core::mongo::errc::message_too_large);
    EXPECT_EQ(done.error().message(),
              "writes[1]: 215 bytes are more than the 100 that the server takes; nothing of its "
              "batch was sent");
    EXPECT_EQ(done.error().detail(), nullptr);  // nothing was sent at all
}

TEST(bulk, statement_may_exceed_the_document_limit_by_16_kib)
{
    bulk_writes work;
    work.delete_one(doc("_id", std::string(200, 'x')));
    EXPECT_TRUE(send(*make(work)->next(), {.document = 100}));
    bulk_writes larger;
    larger.delete_one(doc("_id", std::string(17'000, 'x')));
    EXPECT_FALSE(send(*make(larger)->next(), {.document = 100}));
}

// ---- Which commands may be repeated ----

TEST(bulk, multi_statement_command_has_no_txn_number)
{
    VERIFIES("RW-026");
    VERIFIES("RW-031");
    VERIFIES("RW-032");
    bulk_writes work;
    work.insert_one(doc("_id", 1));
    work.update_one(doc("_id", 1), doc("$inc", doc("x", 1)));
    work.update_many(doc(), doc("$inc", doc("x", 1)));
    work.delete_one(doc("_id", 1));
    work.insert_one(doc("_id", 2));
    work.delete_one(doc("_id", 1)).delete_many(doc());
    EXPECT_EQ(commands(*make(work)), "insert 1, update 2 once, delete 1, insert 1, delete 2 once");
}

TEST(bulk, each_batch_of_a_split_group_decides_on_its_own_txn_number)
{
    VERIFIES("RW-026");
    bulk_writes work;
    for (int i = 0; i < 5; ++i)
        work.delete_one(doc("_id", i));
    work.delete_many(doc());
    EXPECT_EQ(commands(*make(work), {.writes = 2}), "delete 2, delete 2, delete 2 once");
    EXPECT_EQ(commands(*make(work), {.writes = 4}), "delete 4, delete 2 once");
    EXPECT_EQ(commands(*make(work), {.writes = 5}), "delete 5, delete 1 once");
    EXPECT_EQ(commands(*make(work)), "delete 6 once");
}

TEST(bulk, unacknowledged_write_is_not_retryable)
{
    VERIFIES("RW-070");
    const auto writes = make(inserts(2), {.write_concern = holdfast::mongo::unacknowledged});
    const command* const first = writes->next();
    EXPECT_FALSE(first->eligible);
    EXPECT_FALSE(first->acknowledged);
    writes->done(doc("ok", 1));
    EXPECT_EQ(writes->next(), nullptr);
    const auto done = writes->finish().value();
    EXPECT_FALSE(done.acknowledged);
    EXPECT_TRUE(done.inserted_ids.empty());
}

TEST(bulk, unacknowledged_hint_requires_a_wire_version)
{
    bulk_writes work;
    work.update_one(doc(), doc("$set", doc("x", 1)), {.hint = "_id_"});
    work.delete_one(doc(), {.hint = "_id_"}).insert_one(doc("_id", 1));
    const auto writes = make(work, {.write_concern = holdfast::mongo::unacknowledged});
    EXPECT_EQ(writes->next()->need.wire_version, 8);
    writes->done(doc("ok", 1));
    EXPECT_EQ(writes->next()->need.wire_version, 9);
    writes->done(doc("ok", 1));
    EXPECT_EQ(writes->next()->need.wire_version, 0);
    EXPECT_EQ(make(work)->next()->need.wire_version, 0);
}

// ---- What makes no sense ----

TEST(bulk, invalid_writes_are_refused_before_sending)
{
    const auto description = [](const bulk_writes& work) {
        return std::string{try_make(work).error().message()};
    };
    EXPECT_NE(description({}).find("no writes were given"), std::string::npos);
    bulk_writes update;
    update.insert_one(doc("_id", 1)).update_one(doc(), doc("x", 1));
    EXPECT_EQ(description(update).find("writes[1]: update"), 0U);
    bulk_writes empty;
    empty.update_many(doc(), doc());
    EXPECT_EQ(description(empty).find("writes[0]: update"), 0U);
    bulk_writes replacement;
    replacement.replace_one(doc(), doc("$set", doc("x", 1)));
    EXPECT_EQ(description(replacement).find("writes[0]: replacement"), 0U);
    bulk_writes sorted;
    sorted.update_many(doc(), doc("$set", doc("x", 1)), {.sort = bson::view{}});
    EXPECT_EQ(description(sorted).find("writes[0]: sort"), 0U);

    holdfast::mongo::details::write_list list;
    list.insert(0, doc("_id", 1));
    list.fail(error{core::mongo::errc::invalid_option, "the first mistake"});
    list.fail(error{core::mongo::errc::invalid_option, "the second"});
    proof::counted_ids ids;
    EXPECT_EQ(collection_writes::make(here, list, {}, ids).error().message(), "the first mistake");
}

}  // namespace
}  // namespace holdfast::bulk_test
