#include "lab/mongo/command/test_node.hpp"
#include "lab/mongo/router/router_commands.hpp"

// What servers of one version do and those of another do not.
namespace holdfast::lab::older_and_newer_test {
namespace {

struct refused_write {
    std::string_view command;
    int code;  // 0: it is carried out
};

class dollars : public testing::TestWithParam<std::string_view> {
protected:
    dollars() : server{GetParam()}
    {
        server.run(R"({"insert": "c", "documents": [{"_id": 1}, {"_id": 2, "kept": {"$b": 1}}]})");
    }

    static int code_of(const bson::document& reply)
    {
        const bson::element top = reply["code"];
        const bson::element inside = reply.find_path("writeErrors.0.code");
        return (top ? top : inside).get<std::int32_t>().value_or(0);
    }

    test_node server;
};

TEST_P(dollars, an_update_stores_them_inside_only_since_5_0)
{
    const int old = GetParam() == "4.2" ? 52 : 0;
    const refused_write rows[] = {
        {R"({"update": "c", "updates": [{"q": {"_id": 1}, "u": {"_id": 1, "a": {"$b": 1}}}]})",
         old},
        {R"({"update": "c", "updates": [{"q": {"_id": 1},
            "u": {"_id": 1, "a": [{"b": {"$c": 1}}]}}]})",
         old},
        {R"({"update": "c", "updates": [{"q": {"_id": 7},
            "u": {"a": {"$b": 1}}, "upsert": true}]})",
         old},
        {R"({"findAndModify": "c", "query": {"_id": 1}, "update": {"_id": 1, "a": {"$b": 1}}})",
         old},
        {R"({"findAndModify": "c", "query": {"_id": 8}, "update": {"a": {"$b": 1}},
            "upsert": true})",
         old},
        {R"({"update": "c", "updates": [{"q": {"_id": 1}, "u": {"a.b": 1}}]})", 0},
        {R"({"update": "c", "updates": [{"q": {"_id": 1}, "u": {"a": {"b.c": 1}}}]})", 0},
        {R"({"update": "c", "updates": [{"q": {"_id": 1},
            "u": {"a": {"$ref": "c", "$id": 1, "$db": "db"}}}]})",
         0},
        {R"({"update": "c", "updates": [{"q": {"_id": 2}, "u": {"$set": {"other": 1}}}]})", 0},
        {R"({"update": "c", "updates": [{"q": {"_id": 1}, "u": {"a": 1, "$b": 1}}]})", 52},
        {R"({"insert": "c", "documents": [{"_id": 10, "a": {"$b": 1}}]})", 0},
        {R"({"insert": "c", "documents": [{"_id": 11, "$a": 1}]})", old == 0 ? 0 : 2},
        {R"({"insert": "c", "documents": [{"_id": {"$a": 1}}]})", 52},
    };
    for (const refused_write& row : rows) {
        const bson::document reply = server.run(row.command);
        EXPECT_EQ(code_of(reply), row.code) << row.command << "\n got " << *bson::to_json(reply);
    }
    server.expect(R"({"find": "c", "filter": {"_id": 2}})",
                  R"({"cursor": {"firstBatch": [{"_id": 2, "kept": {"$b": 1}, "other": 1}]}})");
}

INSTANTIATE_TEST_SUITE_P(versions, dollars, testing::Values("4.2", "8.2"),
                         [](const auto& given) { return given.param == "4.2" ? "old" : "new"; });

TEST(lab_nonce, getnonce_is_answered_before_6_2)
{
    test_node old{"4.2"};
    const bson::document first = old.run(R"({"getnonce": 1})");
    const std::string nonce{first["nonce"].get<std::string>().value_or("")};
    EXPECT_EQ(nonce.size(), 16U) << *bson::to_json(first);
    EXPECT_EQ(nonce.find_first_not_of("0123456789abcdef"), nonce.npos) << nonce;
    EXPECT_NE(old.run(R"({"getnonce": 1})")["nonce"].get<std::string>().value_or(""), nonce);
    test_node{"6.1"}.expect(R"({"getnonce": 1})", R"({"ok": 1})");
    test_node{"8.2"}.expect_error(R"({"getnonce": 1})", 59);
}

TEST(lab_metadata, check_metadata_consistency_is_known_to_routers_since_7_0)
{
    test_node{}.expect_error(R"({"checkMetadataConsistency": 1})", 59);
    test_node old{"6.0"};
    old.on.add_commands(mongo::router_commands());
    old.expect_error(R"({"checkMetadataConsistency": 1})", 59);
    test_node server;
    server.on.add_commands(mongo::router_commands());
    server.expect(R"({"checkMetadataConsistency": 1})",
                  R"({"cursor": {"id": 0, "ns": "db.$cmd.aggregate", "firstBatch": []}})");
    server.expect(R"({"checkMetadataConsistency": "c", "cursor": {"batchSize": 1},
        "checkIndexes": true})",
                  R"({"cursor": {"id": 0, "ns": "db.c", "firstBatch": []}})");
    server.expect_error(R"({"checkMetadataConsistency": 2})", 9);
    server.expect_error(R"({"checkMetadataConsistency": 1, "nonsense": 1})", 40415);
}

TEST(lab_merge, duplicate_key_error_names_the_key)
{
    test_node server;
    server.run(R"({"insert": "c", "documents": [{"_id": 1, "x": 1}, {"_id": 2, "x": 1}]})");
    server.expect(R"({"aggregate": 1, "pipeline": [{"$documents": [{"_id": 2, "x": 5}]},
        {"$merge": {"into": "c", "whenMatched": "fail"}}], "cursor": {}})",
                  R"({"ok": 0, "code": 11000, "codeName": "DuplicateKey",
                      "keyPattern": {"_id": 1}, "keyValue": {"_id": 2}})");
    server.run(R"({"createIndexes": "d", "indexes": [{"key": {"k": 1}, "name": "k_1",
        "unique": true}]})");
    server.run(R"({"insert": "d", "documents": [{"_id": 1, "k": 7}]})");
    server.expect(R"({"aggregate": 1, "pipeline": [{"$documents": [{"_id": 2, "k": 7}]},
        {"$merge": {"into": "d", "on": "k", "whenMatched": "fail"}}], "cursor": {}})",
                  R"({"ok": 0, "code": 11000, "keyPattern": {"k": 1}, "keyValue": {"k": 7}})");
    server.expect(R"({"find": "c", "sort": {"_id": 1}})",
                  R"({"cursor": {"firstBatch": [{"_id": 1, "x": 1}, {"_id": 2, "x": 1}]}})");
}

TEST(lab_return_key, return_key_has_the_fields_of_the_serving_index)
{
    test_node server;
    server.run(R"({"insert": "c", "documents": [{"_id": 1, "x": 7, "y": 1},
        {"_id": 2, "x": 5, "y": 2}]})");
    server.run(R"({"createIndexes": "c", "indexes": [{"key": {"x": 1, "y": -1}, "name": "xy"}]})");
    struct row {
        std::string_view rest;
        std::string_view batch;
    };
    const row all[] = {
        {R"("sort": {"_id": 1}, "showRecordId": true)", R"([{"_id": 1}, {"_id": 2}])"},
        {R"("sort": {"_id": -1})", R"([{"_id": 2}, {"_id": 1}])"},
        {R"("sort": {"x": 1})", R"([{"x": 5, "y": 2}, {"x": 7, "y": 1}])"},
        {R"("sort": {"x": -1, "y": 1})", R"([{"x": 7, "y": 1}, {"x": 5, "y": 2}])"},
        {R"("sort": {"x": 1, "y": 1})", R"([{}, {}])"},
        {R"("sort": {"y": 1})", R"([{}, {}])"},
        {R"("filter": {"_id": 2})", R"([{"_id": 2}])"},
        {R"("filter": {"x": 5})", R"([{"x": 5, "y": 2}])"},
        {R"("hint": "xy")", R"([{"x": 5, "y": 2}, {"x": 7, "y": 1}])"},
        {R"("filter": {})", R"([{}, {}])"},
    };
    for (const row& one : all) {
        const std::string find = R"({"find": "c", "returnKey": true, )" + std::string{one.rest} +
                                 "}";
        const bson::document reply = server.run(find);
        const bson::document wanted = json(R"({"b": )" + std::string{one.batch} + "}");
        EXPECT_TRUE(equal(reply.find_path("cursor.firstBatch"), wanted["b"]))
            << find << "\n got " << *bson::to_json(reply);
    }
}

TEST(lab_update_pipeline, unknown_stage_fails_the_whole_update)
{
    test_node server;
    server.run(R"({"insert": "c", "documents": [{"_id": 1}]})");
    server.expect_error(R"({"update": "c", "updates": [{"q": {}, "u": {"$set": {"a": 1}}},
        {"q": {}, "u": [{"$nonsense": true}]}]})",
                        40324);
    server.expect(R"({"count": "c", "query": {"a": 1}})", R"({"n": 0})");
}

TEST(lab_sleep, every_command_with_a_filter_waits)
{
    test_node server;
    server.run(R"({"insert": "c", "documents": [{"_id": 1}, {"_id": 2}]})");
    struct row {
        std::string_view command;
        int milliseconds;
        std::string_view reply;
    };
    const row all[] = {
        {R"({"update": "c", "updates": [{"q": {"$where": "sleep(2000) || true"},
            "u": {"$set": {"a": "bar"}}}]})",
         2000, R"({"n": 1, "nModified": 1})"},
        {R"({"update": "c", "updates": [{"q": {"$where": "sleep(100) || true"},
            "u": {"$set": {"a": "foo"}}, "multi": true}]})",
         200, R"({"n": 2, "nModified": 2})"},
        {R"({"update": "c", "updates": [{"q": {"$and": [{"_id": 1},
            {"$where": "sleep(10) || true"}]}, "u": {"$set": {"b": 1}}},
            {"q": {"$where": "sleep(5) || true"}, "u": {"$set": {"b": 2}}}]})",
         15, R"({"n": 2})"},
        {R"({"findAndModify": "c", "query": {"$where": "sleep(30) || true"},
            "update": {"$set": {"c": 1}}})",
         30, R"({"lastErrorObject": {"n": 1}})"},
        {R"({"bulkWrite": 1, "ops": [{"update": 0, "filter": {"$where": "sleep(40) || true"},
            "updateMods": {"$set": {"d": 1}}, "multi": true}], "nsInfo": [{"ns": "db.c"}],
            "$db": "admin"})",
         80, R"({"nMatched": 2})"},
        {R"({"count": "c", "query": {"$where": "sleep(50) || true"}})", 100, R"({"n": 2})"},
        {R"({"distinct": "c", "key": "_id", "query": {"$where": "sleep(60) || true"}})", 120,
         R"({"values": [1, 2]})"},
        {R"({"update": "none", "updates": [{"q": {"$where": "sleep(70) || true"},
            "u": {"$set": {"a": 1}}}]})",
         0, R"({"n": 0})"},
        {R"({"delete": "c", "deletes": [{"q": {"$where": "sleep(80) || true"}, "limit": 1}]})", 80,
         R"({"n": 1})"},
        {R"({"delete": "c", "deletes": [{"q": {"$where": "sleep(90) || true"}, "limit": 0}],
            "maxTimeMS": 10})",
         10, R"({"ok": 0, "code": 50})"},
    };
    for (const row& one : all) {
        const time_point before = server.on.now();
        server.expect(one.command, one.reply);
        EXPECT_EQ(server.on.now() - before, std::chrono::milliseconds{one.milliseconds})
            << one.command;
    }
    server.expect(R"({"count": "c"})", R"({"n": 1})");
    server.expect_error(R"({"aggregate": "c", "pipeline": [{"$match": {"$where":
        "sleep(1) || true"}}], "cursor": {}})",
                        2);
}

}  // namespace
}  // namespace holdfast::lab::older_and_newer_test
