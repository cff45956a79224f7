#include "lab/couchbase/query/query_service.hpp"

#include "lab/couchbase/query/query_in_sim.hpp"

#include <gtest/gtest.h>

namespace holdfast::lab::couchbase::query_service_test {
namespace {

using lab_couchbase_query = query_in_sim;

TEST_F(lab_couchbase_query, reply_has_the_members_of_a_server_in_its_order)
{
    const auto got = query("SELECT 'x' AS s, 1 AS n",
                           R"(,"client_context_id":"me","profile":"timings")");
    EXPECT_EQ(got.status, 200);
    EXPECT_EQ(got.text_of("clientContextID"), "me");
    EXPECT_EQ(got.text_of("requestID").size(), 36U);
    EXPECT_EQ(got.text_of("signature"), R"({"s":"string","n":"number"})");
    EXPECT_EQ(got.rows(), R"({"s":"x","n":1})");
    EXPECT_EQ(got.state(), "success");
    const auto& metrics = got.body.at("metrics").as_object();
    EXPECT_EQ(metrics.at("resultCount").as_int64(), 1);
    EXPECT_EQ(metrics.at("resultSize").as_int64(), 15);
    EXPECT_EQ(metrics.at("elapsedTime").as_string(), "0s");
    std::size_t last = 0;
    for (const char* const member :
         {"requestID", "clientContextID", "signature", "results", "status", "metrics", "profile"}) {
        const std::size_t at = got.text.find('"' + std::string{member} + '"');
        EXPECT_GT(at, last) << member;
        last = at;
    }
    const auto bare = query("SELECT 1", R"(,"metrics":false,"signature":false)");
    EXPECT_FALSE(bare.body.contains("metrics") || bare.body.contains("signature"));
}

TEST_F(lab_couchbase_query, documents_are_those_of_all_data_nodes)
{
    for (int n = 0; n != 20; ++n)
        put("k" + std::to_string(n), "{\"n\":" + std::to_string(n) + "}");
    EXPECT_EQ(rows("SELECT RAW COUNT(*) FROM travel"), "20");
    EXPECT_EQ(rows("SELECT RAW SUM(n) FROM travel WHERE META().id LIKE 'k1_'"), "145");
    EXPECT_EQ(rows("INSERT INTO travel VALUES ('new', {'n': 100}) RETURNING META().id"),
              R"({"id":"new"})");
    EXPECT_EQ(stored("new"), R"({"n":100})");
    EXPECT_EQ(rows("UPDATE travel USE KEYS 'k3' SET n = n + 0.5 RETURNING RAW n"), "3.5");
    EXPECT_EQ(stored("k3"), R"({"n":3.5})");
    EXPECT_EQ(rows("DELETE FROM travel WHERE n > 10"), "");
    EXPECT_EQ(stored("k11"), "");
    EXPECT_EQ(rows("SELECT RAW COUNT(*) FROM travel"), "11");
    put("blob", "no json");
    EXPECT_EQ(rows("SELECT * FROM travel USE KEYS 'blob'"), R"({"travel":"<binary (7 b)>"})");
    lab.settle();
}

TEST_F(lab_couchbase_query, changed_documents_reach_the_replicas)
{
    (void)rows("UPSERT INTO travel VALUES ('a', 1)");
    lab.settle();
    const std::uint16_t vbucket = vbucket_of_key("a", 16);
    const auto copy = lab.link(lab.replica(vbucket))
                          .ask(cluster_in_sim::get(vbucket, "a", kv_opcode::get_replica));
    EXPECT_EQ(copy.value, "1");
}

TEST_F(lab_couchbase_query, keyspaces_are_meant_by_path_or_by_context)
{
    ASSERT_TRUE(command("scope travel inventory"));
    ASSERT_TRUE(command("collection travel inventory airline"));
    (void)rows("INSERT INTO default:`travel`.`inventory`.`airline` VALUES ('a', {'n': 1})");
    const std::string context = R"(,"query_context":"default:`travel`.`inventory`")";
    EXPECT_EQ(rows("SELECT n FROM airline", context), R"({"n":1})");
    EXPECT_EQ(rows("SELECT n FROM inventory.airline", R"(,"query_context":"default:travel")"),
              R"({"n":1})");
    EXPECT_EQ(rows("SELECT RAW COUNT(*) FROM travel"), "0");
    EXPECT_EQ(rows("SELECT RAW path FROM system:keyspaces"),
              R"("default:travel" "default:travel.inventory.airline")");
    struct {
        const char* statement;
        std::string more;
        std::int64_t code;
        int status;
    } const table[] = {
        {"SELECT * FROM nowhere", "", 12003, 424},
        {"SELECT * FROM nothing", context, 12003, 424},
        {"SELECT * FROM airline", R"(,"query_context":"default:travel.gone")", 12021, 500},
        {"SELECT * FROM other:travel", "", 12002, 424},
        {"SELECT * FROM a.b", "", 12003, 424},
        {"SELECT * FROM system:nothing", "", 12003, 424},
        {"SELECT 1", R"(,"query_context":"..")", 1040, 400},
    };
    for (const auto& row : table) {
        SCOPED_TRACE(row.statement);
        const auto got = query(row.statement, row.more);
        EXPECT_EQ(got.code(), row.code);
        EXPECT_EQ(got.status, row.status);
        EXPECT_EQ(got.state(), "fatal");
        EXPECT_FALSE(got.body.contains("results"));
    }
}

TEST_F(lab_couchbase_query, wrong_requests_are_refused_with_the_numbers_of_a_server)
{
    struct {
        std::string body;
        std::int64_t code;
        int status;
    } const table[] = {
        {R"({"statement":"SLECT 1"})", 3000, 400},
        {R"({"statement":"SELECT 1","foo":1})", 1065, 400},
        {R"({"statement":1})", 1070, 400},
        {R"({"statement":"SELECT 1","readonly":"x"})", 1070, 400},
        {R"({"statement":"SELECT 1","timeout":"10"})", 1040, 400},
        {R"({"statement":"SELECT 1","args":1})", 1070, 400},
        {R"({"statement":"SELECT 1","scan_consistency":"x"})", 1030, 400},
        {R"({"statement":"SELECT 1","scan_consistency":"at_plus"})", 1050, 400},
        {R"({"statement":"SELECT 1","scan_vectors":{"b":{"1":[1]}}})", 1140, 400},
        {R"({"prepared":{}})", 4050, 500},
        {R"({"client_context_id":"a"})", 1050, 400},
        {R"({"statement":"SELECT 1","client_context_id":"a\"b"})", 1110, 400},
        {"[]", 1040, 400},
        {"", 1040, 400},
    };
    for (const auto& row : table) {
        SCOPED_TRACE(row.body);
        const auto got = send(0, row.body);
        EXPECT_EQ(got.code(), row.code);
        EXPECT_EQ(got.status, row.status);
        EXPECT_EQ(got.state(), "fatal");
    }
    const std::string place = lab.made->address(0, "n1ql");
    EXPECT_EQ(ask(lab, place, "PUT", "/query/service", "{}")->status(), 405);
    EXPECT_EQ(ask(lab, place, "GET", "/nothing")->status(), 404);
    EXPECT_EQ(ask(lab, place, "GET", "/admin/ping")->status(), 200);
}

TEST_F(lab_couchbase_query, forms_and_urls_ask_as_json_does)
{
    const std::string place = lab.made->address(0, "n1ql");
    const auto by_url = ask(lab, place, "GET",
                            "/query/service?statement=SELECT%20RAW%20$1%20%7C%7C%20$x&args=%5B%22a%"
                            "22%5D&$x=%22b%22");
    EXPECT_EQ(read_answer(*by_url).rows(), R"("ab")");
    std::string form = http_text("POST", "/query/service", "statement=SELECT+1&readonly=true");
    form.replace(form.find("application/json"), 16, "application/x-www-form-urlencoded");
    EXPECT_EQ(read_answer(*dial(lab, place, form)).rows(), R"({"$1":1})");
    const auto written = ask(lab, place, "GET", "/query/service?statement=DELETE%20FROM%20travel");
    EXPECT_EQ(read_answer(*written).code(), 1000);
}

TEST_F(lab_couchbase_query, readonly_request_changes_nothing)
{
    put("a", "1");
    const auto got = query("DELETE FROM travel", R"(,"readonly":true)");
    EXPECT_EQ(got.code(), 1000);
    EXPECT_EQ(got.status, 403);
    EXPECT_EQ(stored("a"), "1");
    EXPECT_EQ(rows("SELECT RAW COUNT(*) FROM travel", R"(,"readonly":true)"), "1");
}

TEST_F(lab_couchbase_query, logins_and_rights_are_checked)
{
    const auto as = [&](const std::string& login, const std::string& statement) {
        std::string text = http_text("POST", "/query/service", body_of(statement, ""));
        const std::string header = "Authorization: Basic YWRhOmxvdmVsYWNl\r\n";
        text.replace(text.find(header), header.size(), login);
        return dial(lab, lab.made->address(0, "n1ql"), text);
    };
    const auto none = as("", "SELECT 1");
    EXPECT_EQ(none->status(), 401);
    EXPECT_NE(none->bytes.find("WWW-Authenticate: Basic"), std::string::npos);
    EXPECT_EQ(read_answer(*none).code(), 10000);
    EXPECT_EQ(as("Authorization: Basic YWRhOngx\r\n", "SELECT 1")->status(), 401);
    ASSERT_TRUE(command("bucket other"));
    ASSERT_TRUE(command("user bob secret other"));
    const std::string bob = "Authorization: Basic Ym9iOnNlY3JldA==\r\n";
    EXPECT_EQ(read_answer(*as(bob, "SELECT RAW COUNT(*) FROM other")).rows(), "0");
    const auto refused = read_answer(*as(bob, "SELECT * FROM travel"));
    EXPECT_EQ(refused.status, 401);
    EXPECT_EQ(refused.code(), 13014);
    EXPECT_NE(refused.message().find("User does not have credentials"), std::string::npos);
    EXPECT_EQ(read_answer(*as(bob, "SELECT RAW name FROM system:keyspaces")).rows(), R"("other")");
}

TEST_F(lab_couchbase_query, change_that_fails_gives_its_reason)
{
    put("a", "1");
    const auto exists = query("INSERT INTO travel VALUES ('a', 2)");
    EXPECT_EQ(exists.status, 200);
    EXPECT_EQ(exists.state(), "errors");
    EXPECT_EQ(exists.rows(), "");
    EXPECT_EQ(exists.code(), 12009);
    const auto& reason = exists.body.at("errors").at(0).at("reason").as_object();
    EXPECT_EQ(reason.at("code").as_int64(), 17012);
    EXPECT_FALSE(exists.body.at("errors").at(0).at("retry").as_bool());
    const auto halfway = query("INSERT INTO travel VALUES ('b', 1), ('a', 2) RETURNING RAW 1");
    EXPECT_EQ(halfway.status, 200);
    EXPECT_EQ(halfway.rows(), "1");
    EXPECT_EQ(halfway.code(), 12009);
    const std::uint16_t vbucket = vbucket_of_key("a", 16);
    (void)lab.link(lab.owner(vbucket))
        .ask({.opcode = kv_opcode::get_and_lock, .key = "a", .vbucket = vbucket, .collection = 0});
    EXPECT_EQ(query("UPDATE travel USE KEYS 'a' SET n = 1").code(), 12009);
}

TEST_F(lab_couchbase_query, indexes_are_of_the_cluster_and_can_be_demanded)
{
    put("a", "1");
    EXPECT_EQ(rows("CREATE PRIMARY INDEX ON travel USING GSI WITH {\"defer_build\": true}"), "");
    const auto again = query("CREATE PRIMARY INDEX ON travel", "", 1);
    EXPECT_EQ(again.code(), 4300);
    EXPECT_EQ(again.status, 409);
    EXPECT_EQ(again.text_of("signature"), "null");
    EXPECT_EQ(again.rows(), "");
    EXPECT_EQ(rows("SELECT RAW state FROM system:indexes"), R"("deferred")");
    ASSERT_TRUE(command("require-index on"));
    const auto refused = query("SELECT * FROM travel");
    EXPECT_EQ(refused.code(), 4000);
    EXPECT_EQ(refused.status, 404);
    EXPECT_EQ(rows("SELECT RAW travel FROM travel USE KEYS 'a'"), "1");
    EXPECT_EQ(rows("BUILD INDEX ON travel (`#primary`)"), "");
    EXPECT_EQ(rows("SELECT RAW travel FROM travel"), "1");
    EXPECT_EQ(query("DROP INDEX nothing ON travel").code(), 12016);
    ASSERT_TRUE(command("drop-bucket travel"));
    EXPECT_EQ(rows("SELECT RAW name FROM system:indexes"), "");
}

}  // namespace
}  // namespace holdfast::lab::couchbase::query_service_test
