#include "lab/couchbase/search/search_service.hpp"

#include "lab/couchbase/cluster/http_in_sim.hpp"
#include "lab/couchbase/mgmt/commands.hpp"
#include "lab/couchbase/mgmt/management.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

namespace holdfast::lab::couchbase::search_service_test {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

/// Two nodes, both with search and data; an index of the default collection.
class lab_couchbase_search_service : public testing::Test {
protected:
    void SetUp() override
    {
        EXPECT_EQ(request("PUT", "/api/index/i", definition).at("status"), "ok");
    }
    std::shared_ptr<dialled_port> send(const std::string& method, const std::string& path,
                                       const std::string& body = {}, std::size_t node = 0)
    {
        return ask(lab, lab.made->address(node, "fts"), method, path, body);
    }
    json::value request(const std::string& method, const std::string& path,
                        const std::string& body = {}, std::size_t node = 0)
    {
        return json::parse(send(method, path, body, node)->body());
    }
    /// A document in its vbucket's node; gives the mutation token.
    index_position put(const std::string& id, const std::string& value, std::uint16_t vbucket = 7,
                       std::uint32_t collection = 0)
    {
        sent_request one = cluster_in_sim::set(vbucket, id, value);
        one.collection = collection;
        const got_reply reply = lab.link(lab.owner(vbucket)).ask(one);
        EXPECT_EQ(reply.status, kv_status::success);
        const vbucket_ptr at = source(vbucket);
        return {at->uuid(), at->high_seqno()};
    }
    using vbucket_ptr = couchbase::vbucket*;
    vbucket_ptr source(std::uint16_t id)
    {
        return lab.made->at(lab.owner(id)).buckets.at("travel").find(id);
    }
    static std::string all(const std::string& more = {})
    {
        return R"({"query":{"match_all":{}})" + more + "}";
    }
    static std::string at_plus(std::uint16_t vbucket, index_position position, int timeout = 5000)
    {
        return all(R"(,"ctl":{"timeout":)" + std::to_string(timeout) +
                   R"(,"consistency":{"level":"at_plus","vectors":{"i":{")" +
                   std::to_string(vbucket) + "/" + std::to_string(position.uuid) + R"(":)" +
                   std::to_string(position.seqno) + "}}}}");
    }
    std::int64_t hits(const std::string& body = all(), std::size_t node = 0)
    {
        return request("POST", "/api/index/i/query", body, node)
            .at("total_hits")
            .to_number<std::int64_t>();
    }
    void command(const std::string& line) { EXPECT_TRUE(carry_out_now(*lab.made, line)) << line; }

    const std::string definition =
        R"({"type":"fulltext-index","name":"i","sourceType":"gocbcore","sourceName":"travel"})";
    cluster_in_sim lab{2, 1, 1, [](cluster_options& options) {
                           options.services = {{"mgmt", make_management, {}},
                                               {"fts", make_search_service, {}}};
                       }};
};

TEST_F(lab_couchbase_search_service, ping_is_answered)
{
    EXPECT_EQ(send("GET", "/api/ping")->status(), 200);
    EXPECT_EQ(send("GET", "/api/nothing")->status(), 404);
    const auto refused = dial(lab, lab.made->address(0, "fts"),
                              "GET /api/ping HTTP/1.1\r\nConnection: close\r\n\r\n");
    EXPECT_EQ(refused->status(), 401);
}

TEST_F(lab_couchbase_search_service, reply_has_the_shape_of_real_ones)
{
    (void)put("a", R"({"name":"x"})");
    (void)put("b", R"({"name":"y"})", 8);
    (void)put("c", "no json", 9);
    const json::value found = request("POST", "/api/index/i/query", all(R"(,"size":1)"));
    EXPECT_EQ(found.at("status"), json::parse(R"({"total":1,"failed":0,"successful":1})"));
    EXPECT_EQ(found.at("request").at("size").to_number<int>(), 1);
    EXPECT_EQ(found.at("total_hits").to_number<int>(), 2);
    EXPECT_TRUE(found.at("max_score").is_double());
    EXPECT_EQ(found.at("took").to_number<int>(), 0);
    EXPECT_TRUE(found.at("facets").is_null());
    const json::object& hit = found.at("hits").at(0).as_object();
    EXPECT_EQ(hit.at("id"), "a");
    EXPECT_TRUE(hit.at("index").as_string().starts_with("i_"));
    EXPECT_FALSE(request("POST", "/api/index/i/query", all(R"(,"showrequest":false)"))
                     .as_object()
                     .contains("request"));
    EXPECT_EQ(hits(all(), 1), 2);  // the other node has the same definitions and data
}

TEST_F(lab_couchbase_search_service, wrong_search_is_answered_as_by_real_ones)
{
    const auto missing = send("POST", "/api/index/none/query", all());
    EXPECT_EQ(missing->status(), 400);
    EXPECT_NE(missing->body().find("index not found"), std::string::npos);
    EXPECT_EQ(json::parse(missing->body()).at("status"), "fail");
    const auto wrong = send("POST", "/api/index/i/query", R"({"query":{"dance":1}})");
    EXPECT_EQ(wrong->status(), 400);
    EXPECT_NE(wrong->body().find("unknown query type"), std::string::npos);
    EXPECT_EQ(json::parse(wrong->body()).at("request").at("query").at("dance"), 1);
    EXPECT_EQ(send("POST", "/api/index/i/query", "{")->status(), 400);
}

TEST_F(lab_couchbase_search_service, indexes_are_defined_shown_changed_counted_and_dropped)
{
    const json::value shown = request("GET", "/api/index/i");
    EXPECT_EQ(shown.at("indexDef").at("sourceName"), "travel");
    const std::string uuid{shown.at("indexDef").at("uuid").as_string()};
    const auto again = send("PUT", "/api/index/i", definition);
    EXPECT_EQ(again->status(), 400);
    EXPECT_NE(again->body().find("index with the same name already exists"), std::string::npos);
    std::string change = definition;
    change.insert(1, R"("uuid":")" + uuid + R"(",)");
    EXPECT_NE(request("PUT", "/api/index/i", change).at("uuid"), json::string{uuid});
    EXPECT_EQ(send("PUT", "/api/index/i", change)->status(), 400);  // it is not that one any more
    (void)put("a", "{}");
    EXPECT_EQ(request("GET", "/api/index/i/count").at("count").to_number<int>(), 1);
    EXPECT_TRUE(
        request("GET", "/api/index").at("indexDefs").at("indexDefs").as_object().contains("i"));
    EXPECT_EQ(request("DELETE", "/api/index/i").at("status"), "ok");
    for (const char* const method : {"GET", "DELETE"})
        EXPECT_EQ(send(method, "/api/index/i")->status(), 400) << method;
    EXPECT_EQ(send("GET", "/api/index/i/count")->status(), 400);
    for (const char* const wrong :
         {"{", R"({"type":"fulltext-alias"})", R"({"type":"fulltext-index","sourceName":"none"})"})
        EXPECT_EQ(send("PUT", "/api/index/j", wrong)->status(), 400) << wrong;
}

TEST_F(lab_couchbase_search_service, index_goes_with_its_bucket)
{
    ASSERT_TRUE(lab.made->drop_bucket("travel"));
    ASSERT_TRUE(lab.made->create_bucket("travel", 1));
    EXPECT_EQ(send("GET", "/api/index/i")->status(), 400);
}

TEST_F(lab_couchbase_search_service, index_of_a_scope_searches_its_collections)
{
    EXPECT_EQ(lab.made->create_scope("travel", "s"), manifest_change::done);
    for (const char* const name : {"c", "d"})
        EXPECT_EQ(lab.made->create_collection("travel", "s", name), manifest_change::done);
    const auto id = [&](const char* path) {
        return lab.made->admin().collections("travel")->collection_id(path).id;
    };
    (void)put("one", "{}", 7, id("s.c"));
    (void)put("two", "{}", 7, id("s.d"));
    const std::string scoped = "/api/bucket/travel/scope/s/index";
    const std::string plain = R"({"type":"fulltext-index","name":"j"})";
    EXPECT_EQ(request("PUT", scoped + "/j", plain).at("name"), "travel.s.j");
    const auto count = [&](const std::string& body) {
        return request("POST", scoped + "/j/query", body).at("total_hits").to_number<int>();
    };
    EXPECT_EQ(count(all()), 2);
    EXPECT_EQ(count(all(R"(,"collections":["d"])")), 1);
    EXPECT_EQ(hits(), 0);
    EXPECT_EQ(request("PUT", scoped + "/k",
                      R"({"type":"fulltext-index","params":{"doc_config":{
                          "mode":"scope.collection.type_field"},"mapping":{"types":{
                          "s.c":{"enabled":true},"s.d":{"enabled":false}}}}})")
                  .at("status"),
              "ok");
    const json::value only = request("POST", scoped + "/k/query", all());
    EXPECT_EQ(only.at("hits").at(0).at("id"), "one");
    EXPECT_EQ(request("GET", scoped).at("indexDefs").at("indexDefs").as_object().size(), 2u);
    EXPECT_EQ(request("GET", "/api/index").at("indexDefs").at("indexDefs").as_object().size(), 3u);
    EXPECT_EQ(lab.made->drop_collection("travel", "s", "c"), manifest_change::done);
    EXPECT_EQ(count(all()), 1);
}

TEST_F(lab_couchbase_search_service, at_plus_waits_until_the_index_has_the_change)
{
    (void)put("a", "{}");
    EXPECT_EQ(hits(), 1);
    command("hold-index 0 on");
    const index_position token = put("b", "{}");
    EXPECT_EQ(hits(), 1);
    const auto late = send("POST", "/api/index/i/query", at_plus(7, token));
    EXPECT_EQ(late->bytes, "");
    EXPECT_EQ(hits(at_plus(7, token), 1), 2);  // the other node is not behind
    command("hold-index 0 off");
    lab.net.run_for(20ms);
    EXPECT_EQ(json::parse(late->body()).at("total_hits").to_number<int>(), 2);
    EXPECT_GT(json::parse(late->body()).at("took").to_number<std::int64_t>(), 100'000'000);
}

TEST_F(lab_couchbase_search_service, index_that_lags_has_changes_later)
{
    command("index-lag all 1000");
    const index_position token = put("a", "{}");
    EXPECT_EQ(hits(), 0);
    const auto late = send("POST", "/api/index/i/query", at_plus(7, token));
    lab.net.run_for(500ms);
    EXPECT_EQ(late->bytes, "");
    lab.net.run_for(600ms);
    EXPECT_EQ(json::parse(late->body()).at("total_hits").to_number<int>(), 1);
}

TEST_F(lab_couchbase_search_service, at_plus_that_takes_too_long_is_answered_without_hits)
{
    command("hold-index 0 on");
    const index_position token = put("a", "{}");
    const auto late = send("POST", "/api/index/i/query", at_plus(7, token, 300));
    lab.net.run_for(250ms);
    const json::value reply = json::parse(late->body());
    EXPECT_EQ(late->status(), 200);
    EXPECT_EQ(reply.at("status").at("failed").to_number<int>(), 1);
    EXPECT_TRUE(reply.at("hits").is_null());
}

TEST_F(lab_couchbase_search_service, tokens_survive_a_failover_unless_their_change_is_lost)
{
    const index_position kept = put("a", "{}");
    lab.settle();
    lab.made->hold_replication(lab.owner(7), true);
    const index_position lost = put("b", "{}");
    const std::size_t gone = lab.owner(7);
    ASSERT_TRUE(lab.made->fail_over(gone));
    EXPECT_EQ(hits(at_plus(7, kept), 1 - gone), 1);
    const auto refused = send("POST", "/api/index/i/query", at_plus(7, lost), 1 - gone);
    EXPECT_EQ(refused->status(), 400);
    EXPECT_NE(refused->body().find("pindex_consistency mismatched partition"), std::string::npos);
    EXPECT_EQ(send("POST", "/api/index/i/query", at_plus(1023, {5, 1}), 1 - gone)->status(), 400);
}

TEST_F(lab_couchbase_search_service, client_that_does_not_wait_ends_the_search)
{
    command("hold-index 0 on");
    const index_position token = put("a", "{}");
    const std::size_t before = lab.made->connections(0);
    const auto late = dial(lab, lab.made->address(0, "fts"),
                           http_text("POST", "/api/index/i/query", at_plus(7, token)), 1s);
    EXPECT_EQ(lab.made->connections(0), before + 1);
    lab.net.run_for(2s);
    EXPECT_TRUE(late->over && late->bytes.empty());
    EXPECT_EQ(lab.made->connections(0), before);
}

TEST_F(lab_couchbase_search_service, user_needs_the_right_to_the_bucket)
{
    ASSERT_TRUE(lab.made->create_bucket("other"));
    ASSERT_TRUE(lab.made->set_user("eve", "apple", {"other"}));
    const auto as_eve = [&](const std::string& method, const std::string& path) {
        const std::string body = all();
        return dial(lab, lab.made->address(0, "fts"),
                    method + " " + path + " HTTP/1.1\r\nConnection: close\r\n" +
                        "Authorization: Basic ZXZlOmFwcGxl\r\nContent-Length: " +
                        std::to_string(body.size()) + "\r\n\r\n" + body);
    };
    EXPECT_EQ(as_eve("POST", "/api/index/i/query")->status(), 403);
    EXPECT_EQ(as_eve("DELETE", "/api/index/i")->status(), 403);
    EXPECT_EQ(as_eve("GET", "/api/index")->body().find("travel"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::lab::couchbase::search_service_test
