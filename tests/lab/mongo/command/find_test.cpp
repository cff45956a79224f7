#include "lab/mongo/command/test_node.hpp"

namespace holdfast::lab::find_test {
namespace {

struct row {
    std::string_view command;
    std::string_view reply;
};

class lab_find : public testing::Test {
protected:
    void SetUp() override
    {
        server.run(R"({"insert": "c", "documents": [
            {"_id": 1, "x": 11, "t": ["a", "b"]}, {"_id": 2, "x": 22, "t": ["b"]},
            {"_id": 3, "x": 33}, {"_id": 4, "x": 44, "n": {"k": 1}},
            {"_id": 5, "x": 55, "n": {"k": 2}}]})");
    }
    void expect_all(std::initializer_list<row> rows)
    {
        for (const row& one : rows)
            server.expect(one.command, one.reply);
    }
    std::int64_t id_of(const bson::document& reply)
    {
        return reply.find_path("cursor.id").get<std::int64_t>().value_or(-1);
    }
    bson::document more(std::int64_t id, std::string_view rest = "{}")
    {
        bson::byte_buffer bytes;
        bson::builder out{bytes};
        out.add("getMore", id).add("collection", "c").merge(json(rest));
        return server.run(*out.finish());
    }

    test_node server;
};

TEST_F(lab_find, filters_sorts_and_shapes)
{
    expect_all({
        {R"({"find": "c", "filter": {"_id": 2}})", R"({"cursor": {"firstBatch": [{"x": 22}]}})"},
        {R"({"find": "c", "filter": {"_id": 2.0}})", R"({"cursor": {"firstBatch": [{"x": 22}]}})"},
        {R"({"find": "c", "filter": {"_id": 9}})", R"({"cursor": {"firstBatch": [], "id": 0}})"},
        {R"({"find": "c", "filter": {"_id": {"$in": [1, 3]}}})",
         R"({"cursor": {"firstBatch": [{"_id": 1}, {"_id": 3}]}})"},
        {R"({"find": "c", "filter": {"x": {"$gt": 20}}, "sort": {"x": -1}, "limit": 2})",
         R"({"cursor": {"firstBatch": [{"_id": 5}, {"_id": 4}], "id": 0}})"},
        {R"({"find": "c", "sort": {"_id": 1}, "skip": 3})",
         R"({"cursor": {"firstBatch": [{"_id": 4}, {"_id": 5}]}})"},
        {R"({"find": "c", "skip": 4})", R"({"cursor": {"firstBatch": [{"_id": 5}]}})"},
        {R"({"find": "c", "sort": {"$natural": -1}, "limit": 1})",
         R"({"cursor": {"firstBatch": [{"_id": 5}]}})"},
        {R"({"find": "c", "filter": {"_id": 1}, "projection": {"x": 1, "_id": 0}})",
         R"({"cursor": {"firstBatch": [{"x": 11}]}})"},
        {R"({"find": "c", "filter": {"t": "b"}, "sort": {"_id": 1}})",
         R"({"cursor": {"firstBatch": [{"_id": 1}, {"_id": 2}]}})"},
        {R"({"find": "c", "filter": {"_id": 1}, "showRecordId": true})",
         R"({"cursor": {"firstBatch": [{"_id": 1, "$recordId": 1}]}})"},
        {R"({"find": "none"})", R"({"cursor": {"firstBatch": [], "id": 0, "ns": "db.none"}})"},
        {R"({"find": "c", "filter": {"$expr": {"$eq": ["$_id", "$$id"]}}, "let": {"id": 4}})",
         R"({"cursor": {"firstBatch": [{"_id": 4}]}})"},
        {R"({"find": "c", "filter": null, "limit": 1})",
         R"({"cursor": {"firstBatch": [{"_id": 1}]}})"},
    });
    const auto shaped = server.run(
        R"({"find": "c", "filter": {"_id": 1}, "projection": {"x": 1, "_id": 0}})");
    EXPECT_FALSE(shaped.find_path("cursor.firstBatch.0._id"));
}

TEST_F(lab_find, uses_hints_and_bounds)
{
    server.expect(R"({"createIndexes": "c", "indexes": [{"key": {"x": -1}, "name": "x_-1"}]})",
                  R"({"numIndexesBefore": 1, "numIndexesAfter": 2,
                      "createdCollectionAutomatically": false})");
    expect_all({
        {R"({"find": "c", "hint": "x_-1", "limit": 1})",
         R"({"cursor": {"firstBatch": [{"_id": 5}]}})"},
        {R"({"find": "c", "hint": {"_id": 1}, "min": {"_id": 2}, "max": {"_id": 4}})",
         R"({"cursor": {"firstBatch": [{"_id": 2}, {"_id": 3}]}})"},
        {R"({"find": "c", "hint": {"_id": 1}, "returnKey": true, "limit": 1})",
         R"({"cursor": {"firstBatch": [{"_id": 1}]}})"},
        {R"({"find": "c", "filter": {"x": 33}})", R"({"cursor": {"firstBatch": [{"_id": 3}]}})"},
    });
    server.expect_error(R"({"find": "c", "hint": "none"})", 2,
                        "hint provided does not correspond to an existing index");
    server.expect_error(R"({"find": "c", "min": {"_id": 2}})", 51173);
    server.expect(R"({"update": "c", "updates": [{"q": {}, "u": {"$set": {"a": 1}},
        "hint": "none"}]})",
                  R"({"writeErrors": [{"code": 2}]})");
}

TEST_F(lab_find, find_returns_batches_of_batch_size)
{
    const auto first = server.run(R"({"find": "c", "batchSize": 2})");
    EXPECT_TRUE(contains(first, json(R"({"cursor": {"firstBatch": [{"_id": 1}, {"_id": 2}]}})")));
    const auto id = id_of(first);
    ASSERT_GT(id, 0);
    EXPECT_TRUE(contains(more(id, R"({"batchSize": 2})"),
                         json(R"({"cursor": {"nextBatch": [{"_id": 3}, {"_id": 4}]}})")));
    const auto last = more(id);
    EXPECT_TRUE(contains(last, json(R"({"cursor": {"id": 0, "nextBatch": [{"_id": 5}],
        "ns": "db.c"}})")));
    const auto gone = more(id);
    EXPECT_EQ(gone["code"].get<std::int32_t>().value_or(0), 43);
    EXPECT_EQ(gone["errmsg"].get<std::string>().value_or(""),
              "cursor id " + std::to_string(id) + " not found");
}

TEST_F(lab_find, cursor_ends_when_the_limit_is_reached)
{
    server.expect(R"({"find": "c", "batchSize": 2, "limit": 2})", R"({"cursor": {"id": 0}})");
    server.expect(R"({"find": "c", "batchSize": 2, "singleBatch": true})",
                  R"({"cursor": {"id": 0, "firstBatch": [{"_id": 1}, {"_id": 2}]}})");
    const auto none = server.run(R"({"find": "c", "batchSize": 0})");
    EXPECT_TRUE(contains(none, json(R"({"cursor": {"firstBatch": []}})")));
    EXPECT_GT(id_of(none), 0);
    const auto rest = server.run(R"({"find": "c", "batchSize": 3, "limit": 4})");
    EXPECT_TRUE(contains(more(id_of(rest), R"({"batchSize": 1})"),
                         json(R"({"cursor": {"id": 0, "nextBatch": [{"_id": 4}]}})")));
}

TEST_F(lab_find, cursors_survive_writes_and_end_with_their_collection)
{
    const auto id = id_of(server.run(R"({"find": "c", "batchSize": 1})"));
    server.run(R"({"delete": "c", "deletes": [{"q": {"_id": {"$in": [1, 2]}}, "limit": 0}]})");
    server.run(R"({"insert": "c", "documents": [{"_id": 6}]})");
    EXPECT_TRUE(contains(more(id, R"({"batchSize": 1})"),
                         json(R"({"cursor": {"nextBatch": [{"_id": 3}]}})")));
    EXPECT_TRUE(contains(more(id), json(R"({"cursor": {"id": 0,
        "nextBatch": [{"_id": 4}, {"_id": 5}, {"_id": 6}]}})")));
    const auto other = id_of(server.run(R"({"find": "c", "batchSize": 1})"));
    server.run(R"({"drop": "c"})");
    EXPECT_EQ(more(other)["code"].get<std::int32_t>().value_or(0), 43);
    // Dropped behind the back of the commands, as a secondary does it.
    server.run(R"({"insert": "c", "documents": [{"_id": 1}, {"_id": 2}]})");
    const auto third = id_of(server.run(R"({"find": "c", "batchSize": 1})"));
    server.on.data->data().drop("db.c");
    EXPECT_EQ(more(third)["code"].get<std::int32_t>().value_or(0), 175);
}

TEST_F(lab_find, cursors_belong_to_a_namespace_and_a_session)
{
    constexpr std::string_view session = R"({"lsid": {"id": {"$binary": {
        "base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}}})";
    const auto id = id_of(server.run(R"({"find": "c", "batchSize": 1})"));
    const auto elsewhere = server.run(bson::doc("getMore", id, "collection", "d"));
    EXPECT_EQ(elsewhere["code"].get<std::int32_t>().value_or(0), 13);
    EXPECT_EQ(more(id, session)["code"].get<std::int32_t>().value_or(0), 50737);
    server.expect_error(R"({"getMore": 1, "collection": "c"})", 14, "expected type 'long'");
    EXPECT_EQ(more(id, R"({"maxTimeMS": 5})")["code"].get<std::int32_t>().value_or(0), 2);
    const auto killed = server.run(
        bson::doc("killCursors", "c", "cursors", bson::list(id, std::int64_t{5})));
    EXPECT_EQ(killed.find_path("cursorsKilled.0").as_int64(), id);
    EXPECT_EQ(killed.find_path("cursorsNotFound.0").as_int64(), 5);
}

TEST_F(lab_find, a_fail_point_meets_get_more)
{
    const auto id = id_of(server.run(R"({"find": "c", "batchSize": 1})"));
    server.expect(R"({"configureFailPoint": "failGetMoreAfterCursorCheckout", "$db": "admin",
        "mode": {"times": 1}, "data": {"errorCode": 6}})",
                  R"({"ok": 1})");
    EXPECT_EQ(more(id)["code"].get<std::int32_t>().value_or(0), 6);
    EXPECT_TRUE(contains(more(id), json(R"({"ok": 1})")));
}

TEST_F(lab_find, tails_capped_collections)
{
    server.expect_error(R"({"find": "c", "tailable": true})", 2,
                        "tailable cursor requested on non capped collection");
    server.expect_error(R"({"find": "c", "awaitData": true})", 9);
    server.run(R"({"drop": "c"})");
    server.expect(R"({"create": "c", "capped": true, "size": 4096})", R"({"ok": 1})");
    server.expect(R"({"find": "c", "tailable": true})", R"({"cursor": {"id": 0}})");
    server.run(R"({"insert": "c", "documents": [{"_id": 1}]})");
    const auto id = id_of(server.run(R"({"find": "c", "tailable": true, "awaitData": true})"));
    ASSERT_GT(id, 0);
    const time_point before = server.on.now();
    EXPECT_TRUE(contains(more(id, R"({"maxTimeMS": 50})"),
                         json(R"({"cursor": {"nextBatch": []}, "ok": 1})")));
    EXPECT_EQ(server.on.now() - before, std::chrono::milliseconds{50});
    server.run(R"({"insert": "c", "documents": [{"_id": 2}]})");
    server.waited = 0;
    const auto next = more(id);
    EXPECT_TRUE(contains(next, json(R"({"cursor": {"nextBatch": [{"_id": 2}]}})")));
    EXPECT_EQ(server.waited, 0);
    EXPECT_EQ(id_of(next), id);
}

TEST_F(lab_find, where_with_sleep_delays_the_reply)
{
    server.run(R"({"delete": "c", "deletes": [{"q": {"_id": {"$gt": 1}}, "limit": 0}]})");
    const time_point before = server.on.now();
    server.expect(R"({"find": "c", "filter": {"$where": "sleep(2000) || true"}})",
                  R"({"cursor": {"firstBatch": [{"_id": 1}]}})");
    EXPECT_EQ(server.on.now() - before, std::chrono::milliseconds{2000});
    server.expect_error(R"({"find": "c", "filter": {"$where": "sleep(2000) || true"},
        "maxTimeMS": 10})",
                        50);
}

TEST_F(lab_find, counts_and_lists_values)
{
    expect_all({
        {R"({"count": "c", "query": {"x": {"$gt": 20}}})", R"({"n": 4})"},
        {R"({"count": "c", "skip": 1, "limit": 3})", R"({"n": 3})"},
        {R"({"count": "none"})", R"({"n": 0})"},
        {R"({"distinct": "c", "key": "t"})", R"({"values": ["a", "b"]})"},
        {R"({"distinct": "c", "key": "n.k", "query": {"_id": {"$gt": 4}}})", R"({"values": [2]})"},
        {R"({"distinct": "none", "key": "t"})", R"({"values": []})"},
    });
    server.run(R"({"insert": "mixed", "documents": [{"_id": 1, "x": 7}, {"_id": 2, "x": "b"},
        {"_id": 3, "x": [3, "a", 7.0]}, {"_id": 4, "x": null}]})");
    server.expect(R"({"distinct": "mixed", "key": "x"})", R"({"values": [null, 3, 7, "a", "b"]})");
    server.expect_error(R"({"distinct": "c"})", 40414);
    server.expect_error(R"({"count": "c", "skip": -1})", 51024);
}

TEST_F(lab_find, aggregates)
{
    expect_all({
        {R"({"aggregate": "c", "pipeline": [{"$match": {"x": {"$gt": 20}}},
            {"$group": {"_id": null, "sum": {"$sum": "$x"}}}], "cursor": {}})",
         R"({"cursor": {"firstBatch": [{"_id": null, "sum": 154}], "id": 0, "ns": "db.c"}})"},
        {R"({"aggregate": 1, "pipeline": [{"$documents": [{"a": 1}]}], "cursor": {}})",
         R"({"cursor": {"firstBatch": [{"a": 1}], "ns": "db.$cmd.aggregate"}})"},
        {R"({"aggregate": "c", "pipeline": [{"$match": {"_id": 1}}, {"$project": {"v": "$$k"}}],
            "let": {"k": 7}, "cursor": {}})",
         R"({"cursor": {"firstBatch": [{"v": 7}]}})"},
        {R"({"aggregate": "c", "pipeline": [], "explain": true})", R"({"queryPlanner": {}})"},
    });
    const auto first = server.run(
        R"({"aggregate": "c", "pipeline": [], "cursor": {"batchSize": 2}})");
    EXPECT_TRUE(contains(more(id_of(first)), json(R"({"cursor": {"id": 0,
        "nextBatch": [{"_id": 3}, {"_id": 4}, {"_id": 5}]}})")));
    server.expect_error(R"({"aggregate": "c", "pipeline": []})", 9, "'cursor' option is required");
    server.expect_error(R"({"aggregate": "c", "pipeline": [{"$foo": 1}], "cursor": {}})", 40324);
    server.expect_error(R"({"aggregate": 2, "pipeline": [], "cursor": {}})", 9);
}

TEST_F(lab_find, writes_results_of_pipelines)
{
    expect_all({
        {R"({"aggregate": "c", "pipeline": [{"$match": {"_id": {"$lt": 3}}},
            {"$project": {"x": 1}}, {"$out": "o"}], "cursor": {}})",
         R"({"cursor": {"firstBatch": [], "id": 0}})"},
        {R"({"find": "o"})", R"({"cursor": {"firstBatch": [{"_id": 1, "x": 11},
            {"_id": 2, "x": 22}]}})"},
        {R"({"aggregate": "c", "pipeline": [{"$match": {"_id": {"$in": [2, 3]}}},
            {"$project": {"y": "$x"}}, {"$merge": {"into": "o"}}], "cursor": {}})",
         R"({"cursor": {"firstBatch": []}})"},
        {R"({"find": "o", "sort": {"_id": 1}})", R"({"cursor": {"firstBatch": [{"_id": 1, "x": 11},
            {"_id": 2, "x": 22, "y": 22}, {"_id": 3, "y": 33}]}})"},
        {R"({"aggregate": "c", "pipeline": [{"$match": {"_id": 3}}, {"$merge": {"into": "o",
            "whenMatched": [{"$set": {"y": {"$add": ["$y", "$$new.x"]}}}]}}], "cursor": {}})",
         R"({"ok": 1})"},
        {R"({"find": "o", "filter": {"_id": 3}})", R"({"cursor": {"firstBatch": [{"y": 66}]}})"},
        {R"({"aggregate": "c", "pipeline": [{"$match": {"_id": 1}}, {"$merge": {"into": "o",
            "whenMatched": "fail"}}], "cursor": {}})",
         R"({"ok": 0, "code": 11000})"},
        {R"({"aggregate": "c", "pipeline": [{"$match": {"_id": 5}}, {"$merge": {"into": "o",
            "whenNotMatched": "fail"}}], "cursor": {}})",
         R"({"ok": 0, "code": 13113})"},
        {R"({"aggregate": "c", "pipeline": [{"$out": "o"}], "cursor": {},
            "readConcern": {"level": "linearizable"}})",
         R"({"ok": 0, "code": 72, "codeName": "InvalidOptions"})"},
        {R"({"aggregate": "c", "pipeline": [{"$merge": {"into": "o", "on": "x"}}],
            "cursor": {}})",
         R"({"ok": 0, "code": 51183})"},
    });
}

TEST_F(lab_find, looks_through_views)
{
    expect_all({
        {R"({"create": "v", "viewOn": "c", "pipeline": [{"$match": {"x": {"$gt": 30}}}]})",
         R"({"ok": 1})"},
        {R"({"create": "w", "viewOn": "v", "pipeline": [{"$project": {"x": 1}}]})", R"({"ok": 1})"},
        {R"({"find": "v", "filter": {"_id": {"$lt": 5}}, "sort": {"_id": -1}, "limit": 1,
            "projection": {"x": 1}})",
         R"({"cursor": {"firstBatch": [{"_id": 4, "x": 44}],
            "ns": "db.v"}})"},
        {R"({"find": "w", "filter": {"_id": 3}})",
         R"({"cursor": {"firstBatch": [{"_id": 3, "x": 33}]}})"},
        {R"({"count": "v"})", R"({"n": 3})"},
        {R"({"distinct": "v", "key": "x"})", R"({"values": [33, 44, 55]})"},
        {R"({"aggregate": "w", "pipeline": [{"$count": "n"}], "cursor": {}})",
         R"({"cursor": {"firstBatch": [{"n": 3}]}})"},
        {R"({"insert": "v", "documents": [{"_id": 9}]})", R"({"ok": 0, "code": 166})"},
        {R"({"createIndexes": "v", "indexes": [{"key": {"x": 1}, "name": "x"}]})",
         R"({"ok": 0, "code": 166})"},
        {R"({"listCollections": 1, "filter": {"type": "view"}, "nameOnly": true})",
         R"({"cursor": {"firstBatch": [{"name": "v", "type": "view"},
             {"name": "w", "type": "view"}]}})"},
    });
    server.expect_error(R"({"create": "x", "pipeline": []})", 72);
}

TEST_F(lab_find, explains)
{
    server.run(R"({"createIndexes": "c", "indexes": [{"key": {"x": 1}, "name": "x_1"}]})");
    expect_all({
        {R"({"explain": {"find": "c", "filter": {"n": 1}}, "verbosity": "queryPlanner"})",
         R"({"queryPlanner": {"namespace": "db.c", "winningPlan": {"stage": "COLLSCAN"}}})"},
        {R"({"explain": {"find": "c", "filter": {"_id": 1}}})",
         R"({"queryPlanner": {"winningPlan": {"stage": "IDHACK"}},
             "executionStats": {"nReturned": 1}})"},
        {R"({"explain": {"find": "c", "filter": {"x": 11}}})",
         R"({"queryPlanner": {"winningPlan": {"stage": "FETCH", "inputStage":
             {"stage": "IXSCAN"}}}})"},
        {R"({"explain": {"find": "none"}})",
         R"({"queryPlanner": {"winningPlan": {"stage": "EOF"}}})"},
    });
    server.expect_error(R"({"explain": {"find": "c"}, "verbosity": "loud"})", 2);
    server.expect_error(R"({"explain": {"ping": 1}})", 59);
}

TEST_F(lab_find, respects_collations)
{
    server.run(R"({"insert": "c", "documents": [{"_id": "ping"}, {"_id": "PING"}]})");
    server.expect(R"({"find": "c", "filter": {"_id": "PING"}, "collation": {"locale": "en_US",
        "strength": 2}})",
                  R"({"cursor": {"firstBatch": [{"_id": "ping"}, {"_id": "PING"}]}})");
    server.expect(R"({"find": "c", "filter": {"_id": "PING"}})",
                  R"({"cursor": {"firstBatch": [{"_id": "PING"}]}})");
    server.expect(R"({"delete": "c", "deletes": [{"q": {"_id": "PING"}, "limit": 0,
        "collation": {"locale": "en_US", "strength": 2}}]})",
                  R"({"n": 2})");
}

}  // namespace
}  // namespace holdfast::lab::find_test
