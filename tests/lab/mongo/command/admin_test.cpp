#include "lab/mongo/command/test_node.hpp"

namespace holdfast::lab::admin_test {
namespace {

struct row {
    std::string_view command;
    std::string_view reply;
};

void run_rows(test_node& server, std::initializer_list<row> rows)
{
    for (const row& one : rows)
        server.expect(one.command, one.reply);
}

TEST(lab_admin, server_info_commands_report_version_and_host)
{
    test_node server;
    run_rows(
        server,
        {
            {R"({"ping": 1})", R"({"ok": 1})"},
            {R"({"buildInfo": 1})",
             R"({"version": "8.2.0", "versionArray": [8, 2, 0, 0], "bits": 64,
            "maxBsonObjectSize": 16777216})"},
            {R"({"buildinfo": 1})", R"({"version": "8.2.0"})"},
            {R"({"hostInfo": 1})", R"({"system": {"hostname": "localhost"}})"},
            {R"({"serverStatus": 1, "tcmalloc": 0})", R"({"process": "mongod", "version": "8.2.0",
            "connections": {}, "storageEngine": {}, "ok": 1})"},
            {R"({"getCmdLineOpts": 1, "$db": "admin"})", R"({"argv": ["holdfast", "lab"]})"},
            {R"({"getLog": "startupWarnings", "$db": "admin"})", R"({"log": []})"},
            {R"({"getLog": "*", "$db": "admin"})", R"({"names": ["global", "startupWarnings"]})"},
            {R"({"whatsmyuri": 1})", R"({"you": ""})"},
            {R"({"listCommands": 1})", R"({"commands": {"insert": {"adminOnly": false,
            "apiVersions": ["1"]}, "distinct": {"apiVersions": []}}})"},
            {R"({"connPoolStats": 1})", R"({"totalInUse": 0})"},
            {R"({"features": 1})", R"({"ok": 1})"},
            {R"({"currentOp": 1, "$db": "admin"})", R"({"inprog": [{"type": "op"}]})"},
            {R"({"killOp": 1, "op": 5, "$db": "admin"})", R"({"info": "attempting to kill op"})"},
            {R"({"fsync": 1, "$db": "admin"})", R"({"numFiles": 1})"},
            {R"({"logRotate": 1, "$db": "admin"})", R"({"ok": 1})"},
            {R"({"profile": 0})", R"({"was": 0, "slowms": 100})"},
            {R"({"profile": 5})", R"({"code": 2})"},
            {R"({"top": 1, "$db": "admin"})", R"({"totals": {}})"},
            {R"({"nothing": 1})", R"({"ok": 0, "code": 59, "codeName": "CommandNotFound"})"},
        });
}

TEST(lab_admin, get_parameter_returns_server_parameters)
{
    test_node server;
    run_rows(
        server,
        {
            {R"({"getParameter": 1, "featureCompatibilityVersion": 1, "requireApiVersion": 1,
            "$db": "admin"})",
             R"({"featureCompatibilityVersion": {"version": "8.2"}, "requireApiVersion": false})"},
            {R"({"getParameter": "*", "$db": "admin"})",
             R"({"enableTestCommands": true, "ingressRequestRateLimiterEnabled": false,
             "authenticationMechanisms": ["MONGODB-X509", "SCRAM-SHA-1", "SCRAM-SHA-256"]})"},
            {R"({"getParameter": {"showDetails": true}, "quiet": 1, "$db": "admin"})",
             R"({"quiet": {"value": false, "settableAtRuntime": true}})"},
            {R"({"getParameter": 1, "nonsense": 1, "$db": "admin"})",
             R"({"code": 72, "errmsg": "no option found to get"})"},
            {R"({"setParameter": 1, "requireApiVersion": true, "$db": "admin"})",
             R"({"was": false, "ok": 1})"},
            {R"({"getParameter": 1, "requireApiVersion": 1, "$db": "admin"})",
             R"({"requireApiVersion": true})"},
            {R"({"setParameter": 1, "nonsense": 1, "$db": "admin"})", R"({"code": 72})"},
            {R"({"setParameter": 1, "enableTestCommands": 0, "$db": "admin"})", R"({"code": 20})"},
            {R"({"setParameter": 1, "logLevel": "much", "$db": "admin"})", R"({"code": 2})"},
            {R"({"setParameter": 1, "$db": "admin"})", R"({"code": 72})"},
            {R"({"getParameter": 1, "quiet": 1})", R"({"code": 13})"},
        });
}

TEST(lab_admin, limits_the_rate_of_requests)
{
    test_node server;
    run_rows(server, {
                         {R"({"setParameter": 1, "ingressRequestAdmissionRatePerSec": 1,
            "ingressRequestAdmissionBurstCapacitySecs": 2.0,
            "ingressRequestRateLimiterEnabled": true, "$db": "admin"})",
                          R"({"ok": 1})"},
                         {R"({"ping": 1})", R"({"ok": 1})"},
                         {R"({"ping": 1})", R"({"ok": 1})"},
                         {R"({"ping": 1})", R"({"ok": 0, "code": 462})"},
                     });
    server.world.run_for(std::chrono::seconds{1});
    run_rows(
        server,
        {
            {R"({"ping": 1})", R"({"ok": 1})"},
            {R"({"setParameter": 1, "ingressRequestRateLimiterEnabled": false, "$db": "admin"})",
             R"({"was": true})"},
            {R"({"ping": 1})", R"({"ok": 1})"},
            {R"({"ping": 1})", R"({"ok": 1})"},
        });
    EXPECT_FALSE(server.on.connections.enabled());
    server.run(R"({"setParameter": 1, "ingressConnectionEstablishmentRateLimiterEnabled": true,
        "ingressConnectionEstablishmentRatePerSec": 1,
        "ingressConnectionEstablishmentBurstCapacitySecs": 1, "$db": "admin"})");
    EXPECT_TRUE(server.on.connections.enabled());
    EXPECT_TRUE(server.on.connections.admit(server.on.now()));
    EXPECT_FALSE(server.on.connections.admit(server.on.now()));
}

TEST(lab_admin, sets_the_base_backoff_of_overload_errors)
{
    test_node server;
    server.expect(R"({"setParameter": 1, "externalClientBaseBackoffMS": 50, "$db": "admin"})",
                  R"({"was": 0, "ok": 1})");
    EXPECT_EQ(server.on.base_backoff_ms, 50);
    server.run(R"({"setParameter": 1, "externalClientBaseBackoffMS": 0, "$db": "admin"})");
    EXPECT_EQ(server.on.base_backoff_ms, 0);
}

TEST(lab_admin, refuses_what_is_outside_the_strict_api)
{
    test_node server;
    const auto strict = [](std::string_view command) {
        std::string text{command};
        return text.insert(text.size() - 1, R"(, "apiVersion": "1", "apiStrict": true)");
    };
    const auto aggregate = [](std::string_view pipeline) {
        return R"({"aggregate": 1, "cursor": {}, "pipeline": )" + std::string{pipeline} + "}";
    };
    server.expect(aggregate(R"([{"$listLocalSessions": {}}])"), R"({"ok": 1})");
    for (const std::string_view refused :
         {R"([{"$listLocalSessions": {}}])", R"([{"$match": {}}, {"$currentOp": {}}])",
          R"([{"$facet": {"a": [{"$indexStats": {}}]}}])",
          R"([{"$unionWith": {"coll": "c", "pipeline": [{"$planCacheStats": {}}]}}])",
          R"([{"$collStats": {"count": {}, "latencyStats": {}}}])"})
        server.expect_error(strict(aggregate(refused)), 323, "is not allowed with");
    server.expect_error(strict(R"({"aggregate": "c", "pipeline": [], "explain": true})"), 323,
                        "BSON field 'aggregate.explain' is not allowed with apiStrict:true.");
    server.expect_error(strict(R"({"find": "c", "tailable": true})"), 323, "find.tailable");
    server.expect(strict(R"({"aggregate": "c", "cursor": {}, "pipeline": [{"$match": {}},
        {"$facet": {"a": [{"$limit": 1}]}}]})"),
                  R"({"ok": 1})");
    server.expect_error(strict(aggregate(R"([{"$guess": 1}])")), 40324);
}

TEST(lab_admin, start_session_is_listed_and_refreshed)
{
    test_node server;
    const auto made = server.run(R"({"startSession": 1})");
    EXPECT_EQ(made["timeoutMinutes"].as_int32(), 30);
    const bson::element id = made.find_path("id.id");
    ASSERT_EQ(id.type(), bson::type::binary);
    const auto session = bson::doc("id", id);
    server.run(R"({"insert": "c", "documents": [{"_id": 1}, {"_id": 2}]})");
    const auto open = server.run(bson::doc("find", "c", "batchSize", 1, "lsid", session));
    EXPECT_EQ(server.on.cursors.size(), 1U);
    EXPECT_EQ(server.on.sessions().size(), 1U);
    server.expect(R"({"aggregate": 1, "pipeline": [{"$listLocalSessions": {}}], "cursor": {}})",
                  R"({"cursor": {"firstBatch": [{"_id": {}}]}})");
    EXPECT_TRUE(contains(server.run(bson::doc("refreshSessions", bson::list(session))),
                         json(R"({"ok": 1})")));
    EXPECT_TRUE(
        contains(server.run(bson::doc("endSessions", bson::list(session))), json(R"({"ok": 1})")));
    EXPECT_EQ(server.on.cursors.size(), 0U);
    EXPECT_EQ(server.on.sessions().size(), 0U);
    (void)server.run(bson::doc("find", "c", "batchSize", 1, "lsid", session));
    server.expect(R"({"killAllSessions": [], "$db": "admin"})", R"({"ok": 1})");
    EXPECT_EQ(server.on.cursors.size(), 0U);
    run_rows(server, {
                         {R"({"killAllSessionsByPattern": [], "$db": "admin"})", R"({"ok": 1})"},
                         {R"({"endSessions": 1})", R"({"code": 14})"},
                         {R"({"endSessions": [1]})", R"({"code": 14})"},
                         {R"({"killSessions": []})", R"({"ok": 1})"},
                     });
}

TEST(lab_admin, knows_sums_of_map_reduce_by_their_pattern)
{
    test_node server;
    constexpr std::string_view adds =
        R"("reduce": {"$code": "function sum(key, all) { return all.reduce((a, x) => a + x); }"})";
    const auto command = [&](std::string_view map, std::string_view more) {
        return R"({"mapReduce": "c", "map": {"$code": ")" + std::string{map} + R"("}, )" +
               std::string{adds} + R"(, "out": {"inline": 1})" + std::string{more} + "}";
    };
    server.expect(R"({"insert": "c", "documents": [{"_id": 1, "x": 10}, {"_id": 2, "x": 20},
        {"_id": 3, "x": 30}]})",
                  R"({"n": 3})");
    server.expect(command("function f() { return emit(0, this.x + 1) }", ""),
                  R"({"results": [{"_id": 0, "value": 63}], "ok": 1})");
    server.expect(command("function() { emit(-5, this.x); }", R"(, "query": {"_id": {"$gt": 1}})"),
                  R"({"results": [{"_id": -5, "value": 50}], "ok": 1})");
    server.expect(
        command("function() { emit(5, this.x); }", R"(, "sort": {"_id": -1}, "limit": 1)"),
        R"({"results": [{"_id": 5, "value": 30}], "ok": 1})");
    for (const char* const map :
         {"function() { emit(this.x, 1) }", "function() { emit(0, this.x * 2) }", "emit(0, this.x)",
          "function() { emit(0, this.x) } more", "function() { emit(0, this.) }", "function(", ""})
        server.expect_error(command(map, ""), 115, "runs no JavaScript");
    server.expect_error(command("function() { emit(0, this.x) }", R"(, "finalize": "f")"), 115);
    server.expect_error(command("function() { emit(0, this.x) }", R"(, "nonsense": 1)"), 40415);
}

TEST(lab_admin, unsupported_commands_are_refused_with_their_code)
{
    test_node server{"8.2", true};
    run_rows(server,
             {
                 {R"({"createSearchIndexes": "c", "indexes": []})", R"({"ok": 0, "code": 31082})"},
                 {R"({"mapReduce": "c"})", R"({"ok": 0, "code": 115})"},
             });
    server.expect_error(R"({"listSearchIndexes": "c"})", 31082, "Atlas");
    server.expect_error(R"({"commitTransaction": 1, "$db": "admin"})", 125,
                        "commitTransaction must be run within a transaction");
    server.expect_error(R"({"abortTransaction": 1, "$db": "admin"})", 125,
                        "abortTransaction must be run within a transaction");
    server.expect_error(R"({"abortTransaction": 1, "autocommit": false, "$db": "admin"})", 263,
                        "Transactions are not supported");
    const auto stream = server.run(R"({"aggregate": "c", "pipeline": [{"$changeStream": {}}],
        "cursor": {}})");
    EXPECT_EQ(stream["ok"].as_double(), 0);
}

struct refusal {
    std::string_view version;
    std::string_view command;
    int code;
    std::string_view message;
};

TEST(lab_fields, field_names_and_types_are_checked_one_by_one)
{
    const refusal rows[] = {
        {"8.2", R"({"find": "c", "x": 1})", 40415, "BSON field 'find.x' is an unknown field."},
        {"8.2", R"({"insert": "c"})", 40414,
         "BSON field 'insert.documents' is missing but a required field"},
        {"8.2", R"({"insert": "c", "documents": "x"})", 14,
         "BSON field 'insert.documents' is the wrong type 'string', expected type 'array'"},
        {"8.2", R"({"insert": "c", "documents": [1]})", 14,
         "BSON field 'insert.documents.0' is the wrong type 'int', expected type 'object'"},
        {"8.2", R"({"insert": "c", "documents": [{}], "ordered": "x"})", 14,
         "expected types '[bool, long, int, decimal, double]'"},
        {"8.2", R"({"find": "c", "filter": 1})", 14,
         "BSON field 'find.filter' is the wrong type 'int', expected type 'object'"},
        {"8.2", R"({"find": "c", "limit": "a"})", 14, "find.limit"},
        {"8.2", R"({"find": "c", "skip": -1})", 51024, ">= 0"},
        {"8.2", R"({"find": "c", "limit": -1})", 51024, ">= 0"},
        {"8.2", R"({"find": "c", "filter": {}, "filter": {}})", 40413, "duplicate"},
        {"8.2", R"({"update": "c", "updates": [{"q": {}, "u": {}, "z": 1}]})", 40415,
         "'update.updates.z' is an unknown field"},
        {"8.2", R"({"update": "c", "updates": [{"u": {}}]})", 40414, "update.updates.q"},
        {"8.2", R"({"find": "c", "autocommit": false})", 263, ""},
        {"8.2", R"({"ping": 1, "foo": 1})", 40415, "'ping.foo'"},
        {"8.2", R"({"aggregate": "c", "pipeline": [], "cursor": {"x": 1}})", 40415, "cursor.x"},
        {"4.4", R"({"find": "c", "let": {}})", 9, "Unrecognized field 'let'"},
        {"4.4", R"({"aggregate": "c", "pipeline": [], "let": {}, "cursor": {}})", 9,
         "unrecognized field 'let'"},
        {"4.4", R"({"update": "c", "updates": [{"q": {}, "u": {}}], "let": {}})", 40415,
         "'update.let' is an unknown field"},
        {"4.4", R"({"delete": "c", "deletes": [{"q": {}, "limit": 0}], "let": {}})", 40415,
         "'delete.let' is an unknown field"},
        {"4.4", R"({"findAndModify": "c", "update": {}, "let": {}})", 40415,
         "field 'let' is an unknown field"},
        {"4.2", R"({"delete": "c", "deletes": [{"q": {}, "limit": 0, "hint": "_id_"}]})", 40415,
         "delete.deletes.hint"},
        {"4.2", R"({"findAndModify": "c", "update": {}, "hint": "_id_"})", 40415, "hint"},
        {"4.2", R"({"insert": "c", "documents": [{}], "comment": "x"})", 40415, "comment"},
        {"4.2", R"({"find": "c", "comment": {"k": 1}})", 9, "comment"},
        {"8.2", R"({"find": "c", "apiVersion": "1", "apiStrict": true, "filter": 1})", 14, ""},
        {"8.2", R"({"distinct": "c", "key": "a", "apiVersion": "1", "apiStrict": true})", 323, ""},
    };
    for (const refusal& row : rows) {
        test_node server{row.version};
        server.expect_error(row.command, row.code, row.message);
    }
    test_node newer;
    newer.expect(R"({"insert": "c", "documents": [{"_id": 1}], "comment": {"k": 1}, "rawData": true,
        "$clusterTime": {"clusterTime": {"$timestamp": {"t": 1, "i": 1}}}, "ordered": 1})",
                 R"({"n": 1})");
}

// Whatever the fields hold, there is an answer.
TEST(lab_fields, field_of_any_type_gets_a_reply)
{
    constexpr std::string_view values[] = {"1",
                                           "-1.5",
                                           "\"x\"",
                                           "{}",
                                           "[]",
                                           "null",
                                           "true",
                                           R"({"$minKey": 1})",
                                           R"({"$undefined": true})",
                                           R"({"$numberDecimal": "NaN"})",
                                           R"({"$numberLong": "-9223372036854775808"})",
                                           "1e300",
                                           R"([{"a": [[[1]]]}])",
                                           R"({"$oid": "000000000000000000000000"})"};
    test_node server{"8.2", true};
    server.run(R"({"insert": "c", "documents": [{"_id": 1, "x": [1, 2]}]})");
    constexpr std::string_view names[] = {
        "filter",    "query",     "q",           "sort",         "projection", "hint",
        "skip",      "limit",     "batchSize",   "cursor",       "pipeline",   "update",
        "updates",   "deletes",   "documents",   "indexes",      "index",      "key",
        "collation", "let",       "ops",         "nsInfo",       "cursors",    "collection",
        "to",        "validator", "mode",        "remove",       "fields",     "size",
        "max",       "min",       "readConcern", "writeConcern", "lsid"};
    int answers = 0;
    for (const mongo::command* const one : server.on.commands()) {
        for (const std::string_view first : values) {
            std::string text = "{\"" + std::string{one->name} + "\": " + std::string{first} +
                               ", \"$db\": \"admin\"}";
            answers += server.run(text).find("ok") ? 1 : 0;
        }
        for (const std::string_view name : names) {
            for (const std::string_view held : values) {
                std::string text = "{\"" + std::string{one->name} + "\": \"c\", \"" +
                                   std::string{name} + "\": " + std::string{held} + "}";
                answers += server.run(text).find("ok") ? 1 : 0;
            }
        }
    }
    EXPECT_GT(answers, 10'000);
}

}  // namespace
}  // namespace holdfast::lab::admin_test
