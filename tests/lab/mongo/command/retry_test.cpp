#include "lab/mongo/command/test_node.hpp"

namespace holdfast::lab::retry_test {
namespace {

// A command of one session, with a number.
std::string numbered(std::string_view command, int number)
{
    std::string text{command};
    text.pop_back();
    text += R"(, "lsid": {"id": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==",
        "subType": "04"}}}, "txnNumber": {"$numberLong": ")" +
            std::to_string(number) + "\"}}";
    return text;
}

TEST(lab_retryable_writes, an_insert_is_carried_out_once)
{
    test_node server{"8.2", true};
    const auto insert = numbered(R"({"insert": "c", "documents": [{"_id": 1}, {"_id": 2}]})", 1);
    server.expect(insert, R"({"n": 2, "ok": 1})");
    ASSERT_TRUE(server.wrote.has_value());
    server.expect(insert, R"({"n": 2, "ok": 1, "retriedStmtIds": [0, 1]})");
    EXPECT_TRUE(server.wrote.has_value());  // also a repetition waits for its write concern
    server.expect(R"({"count": "c"})", R"({"n": 2})");
    server.expect(numbered(R"({"insert": "c", "documents": [{"_id": 1}]})", 2),
                  R"({"n": 0, "writeErrors": [{"code": 11000}]})");
    server.expect_error(insert, 225);
}

TEST(lab_retryable_writes, an_update_is_carried_out_once)
{
    test_node server{"8.2", true};
    server.run(R"({"insert": "c", "documents": [{"_id": 1, "x": 1}]})");
    const auto update = numbered(
        R"({"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"x": 1}}},
            {"q": {"_id": 9}, "u": {"$set": {"x": 1}}, "upsert": true}]})",
        1);
    server.expect(update, R"({"n": 2, "nModified": 1, "upserted": [{"index": 1, "_id": 9}]})");
    server.expect(update, R"({"n": 2, "nModified": 1, "upserted": [{"index": 1, "_id": 9}],
        "retriedStmtIds": [0, 1]})");
    server.expect(R"({"find": "c", "filter": {"_id": 1}})",
                  R"({"cursor": {"firstBatch": [{"x": 2}]}})");
}

TEST(lab_retryable_writes, statement_that_changed_nothing_is_executed_again)
{
    test_node server{"8.2", true};
    const auto remove = numbered(R"({"delete": "c", "deletes": [{"q": {"_id": 1}, "limit": 1}]})",
                                 1);
    server.expect(remove, R"({"n": 0})");
    server.run(R"({"insert": "c", "documents": [{"_id": 1}]})");
    server.expect(remove, R"({"n": 1})");
    server.expect(remove, R"({"n": 1, "retriedStmtIds": [0]})");
}

TEST(lab_retryable_writes, find_and_modify_gives_the_same_document_again)
{
    test_node server{"8.2", true};
    server.run(R"({"insert": "c", "documents": [{"_id": 1, "x": 1}, {"_id": 2}]})");
    const auto before = numbered(
        R"({"findAndModify": "c", "query": {"_id": 1}, "update": {"$inc": {"x": 1}}})", 1);
    server.expect(before, R"({"value": {"_id": 1, "x": 1}})");
    server.expect(before, R"({"value": {"_id": 1, "x": 1}, "retriedStmtId": 0,
        "lastErrorObject": {"n": 1, "updatedExisting": true}})");
    const auto after = numbered(R"({"findAndModify": "c", "query": {"_id": 1},
        "update": {"$inc": {"x": 1}}, "new": true})",
                                2);
    server.expect(after, R"({"value": {"_id": 1, "x": 3}})");
    server.expect(after, R"({"value": {"_id": 1, "x": 3}, "retriedStmtId": 0})");
    const auto removed = numbered(R"({"findAndModify": "c", "query": {"_id": 2}, "remove": true})",
                                  3);
    server.expect(removed, R"({"value": {"_id": 2}, "lastErrorObject": {"n": 1}})");
    server.expect(removed, R"({"value": {"_id": 2}, "lastErrorObject": {"n": 1},
        "retriedStmtId": 0})");
    const auto upserted = numbered(R"({"findAndModify": "c", "query": {"_id": 5},
        "update": {"x": 1}, "upsert": true})",
                                   4);
    server.expect(upserted, R"({"value": null, "lastErrorObject": {"n": 1, "upserted": 5}})");
    server.expect(upserted, R"({"value": null, "retriedStmtId": 0, "lastErrorObject": {"n": 1,
        "updatedExisting": false, "upserted": 5}})");
}

TEST(lab_retryable_writes, multi_document_write_takes_no_txn_number)
{
    test_node server{"8.2", true};
    server.expect(numbered(R"({"update": "c", "updates": [{"q": {}, "u": {"$set": {"x": 1}},
        "multi": true}]})",
                           1),
                  R"({"writeErrors": [{"code": 72,
        "errmsg": "Cannot use (or request) retryable writes with multi=true"}]})");
    server.expect(numbered(R"({"delete": "c", "deletes": [{"q": {}, "limit": 0}]})", 2),
                  R"({"writeErrors": [{"code": 72,
        "errmsg": "Cannot use (or request) retryable writes with limit=0"}]})");
    server.expect(numbered(R"({"bulkWrite": 1, "$db": "admin", "nsInfo": [{"ns": "db.c"}],
        "ordered": false, "ops": [{"delete": 0, "filter": {}, "multi": true}, {"update": 0,
        "filter": {}, "updateMods": {"$set": {"x": 1}}, "multi": true}]})",
                           3),
                  R"({"nErrors": 2, "cursor": {"firstBatch": [
        {"code": 72, "errmsg": "Cannot use retryable writes with multi=true"},
        {"code": 72, "errmsg": "Cannot use retryable writes with multi=true"}]}})");
    test_node alone;
    alone.expect_error(numbered(R"({"insert": "c", "documents": [{"_id": 1}]})", 1), 20,
                       "Transaction numbers are only allowed on a replica set member or mongos");
}

TEST(lab_retryable_writes, bulk_write_is_carried_out_once)
{
    test_node server{"8.2", true};
    const auto bulk = numbered(R"({"bulkWrite": 1, "$db": "admin", "nsInfo": [{"ns": "db.a"}],
        "ops": [{"insert": 0, "document": {"_id": 1}}, {"update": 0, "filter": {"_id": 1},
        "updateMods": {"$inc": {"x": 1}}}]})",
                               1);
    server.expect(bulk, R"({"nInserted": 1, "nModified": 1})");
    server.expect(bulk, R"({"nInserted": 1, "nModified": 1, "retriedStmtIds": [0, 1]})");
    server.expect(R"({"find": "a"})", R"({"cursor": {"firstBatch": [{"_id": 1, "x": 1}]}})");
}

TEST(lab_fail_points, a_transactional_write_is_committed_and_its_reply_is_lost)
{
    test_node server{"8.2", true};
    server.expect(R"({"configureFailPoint": "onPrimaryTransactionalWrite", "$db": "admin",
        "mode": {"times": 1}})",
                  R"({"ok": 1})");
    const auto insert = numbered(R"({"insert": "c", "documents": [{"_id": 1}]})", 1);
    server.run(insert);
    EXPECT_TRUE(server.closed);
    server.expect(insert, R"({"n": 1, "retriedStmtIds": [0]})");
    EXPECT_FALSE(server.closed);
}

TEST(lab_fail_points, a_transactional_write_fails_before_it_is_committed)
{
    test_node server{"8.2", true};
    server.expect(R"({"configureFailPoint": "onPrimaryTransactionalWrite", "$db": "admin",
        "mode": {"times": 1}, "data": {"failBeforeCommitExceptionCode": 1,
        "closeConnection": false}})",
                  R"({"ok": 1})");
    const auto insert = numbered(R"({"insert": "c", "documents": [{"_id": 1}]})", 1);
    server.expect(insert, R"({"n": 0, "writeErrors": [{"index": 0, "code": 1}]})");
    EXPECT_FALSE(server.closed);
    server.expect(insert, R"({"n": 1})");
}

TEST(lab_secondary, secondary_refuses_writes_and_reads_without_read_preference)
{
    test_node server{"8.2", true};
    server.run(R"({"insert": "c", "documents": [{"_id": 1}]})");
    server.primary->primary = false;
    server.expect_error(R"({"insert": "c", "documents": [{"_id": 2}]})", 10107);
    server.expect_error(R"({"find": "c"})", 13435);
    server.expect(R"({"find": "c", "$readPreference": {"mode": "secondary"}})",
                  R"({"cursor": {"firstBatch": [{"_id": 1}]}})");
    server.expect_error(R"({"aggregate": "c", "pipeline": [{"$out": "d"}], "cursor": {},
        "$readPreference": {"mode": "secondary"}})",
                        10107);
}

TEST(lab_snapshot, reads_the_past)
{
    test_node server{"8.2", true};
    server.run(R"({"insert": "c", "documents": [{"_id": 1, "x": 1}]})");
    const auto first = server.run(
        R"({"find": "c", "filter": {"_id": 1}, "readConcern": {"level": "snapshot"}})");
    const bson::element at = first.find_path("cursor.atClusterTime");
    ASSERT_EQ(at.type(), bson::type::timestamp) << *bson::to_json(first);
    server.run(R"({"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"x": 2}}}]})");
    server.run(R"({"insert": "c", "documents": [{"_id": 2}]})");
    const auto concern = bson::doc("level", "snapshot", "atClusterTime", at.as_timestamp());
    const auto again = server.run(bson::doc("find", "c", "readConcern", concern));
    EXPECT_TRUE(contains(again, json(R"({"cursor": {"firstBatch": [{"_id": 1, "x": 1}]}})")))
        << *bson::to_json(again);
    const auto counted = server.run(bson::doc("aggregate", "c", "pipeline",
                                              bson::list(bson::object("$count", "n")), "cursor",
                                              bson::object(), "readConcern", concern));
    EXPECT_TRUE(contains(counted, json(R"({"cursor": {"firstBatch": [{"n": 1}]}})")));
    const auto values = server.run(bson::doc("distinct", "c", "key", "x", "readConcern", concern));
    EXPECT_TRUE(contains(values, json(R"({"values": [1]})"))) << *bson::to_json(values);
    EXPECT_EQ(values["atClusterTime"].type(), bson::type::timestamp);
}

}  // namespace
}  // namespace holdfast::lab::retry_test
