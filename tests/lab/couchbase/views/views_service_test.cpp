#include "lab/couchbase/views/views_service.hpp"

#include "lab/couchbase/cluster/http_in_sim.hpp"
#include "lab/couchbase/mgmt/commands.hpp"
#include "lab/couchbase/mgmt/management.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

namespace holdfast::lab::couchbase::views_service_test {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

class lab_couchbase_views : public testing::Test {
protected:
    void SetUp() override
    {
        EXPECT_EQ(send("PUT", "/travel/_design/d", definition)->status(), 201);
    }
    std::shared_ptr<dialled_port> send(const std::string& method, const std::string& path,
                                       const std::string& body = {}, std::size_t node = 0)
    {
        return ask(lab, lab.made->address(node, "capi"), method, path, body);
    }
    json::value view(const std::string& query = {}, const std::string& name = "v")
    {
        return json::parse(send("GET", "/travel/_design/d/_view/" + name + query)->body());
    }
    std::string ids(const std::string& query = {})
    {
        std::string text;
        const json::value reply = view(query);
        for (const json::value& one : reply.at("rows").as_array())
            text += std::string{one.at("id").as_string()} + " ";
        return text;
    }
    void put(const std::string& id, const std::string& value, std::uint16_t vbucket)
    {
        sim_link& to = lab.link(lab.owner(vbucket));
        EXPECT_EQ(to.ask(cluster_in_sim::set(vbucket, id, value)).status, kv_status::success);
    }
    void command(const std::string& line) { EXPECT_TRUE(carry_out_now(*lab.made, line)) << line; }

    const std::string definition =
        R"({"views":{"v":{"map":"function (doc, meta) { emit(meta.id, doc.n); }"},
            "n":{"map":"function (doc, meta) { emit(doc.n, null); }","reduce":"_count"}}})";
    cluster_in_sim lab{2, 0, 1, [](cluster_options& options) {
                           options.services = {{"mgmt", make_management, {}},
                                               {"capi", make_views_service, {}}};
                       }};
};

TEST_F(lab_couchbase_views, all_documents_are_given_in_the_shape_of_real_replies)
{
    EXPECT_EQ(send("GET", "/")->status(), 200);
    EXPECT_EQ(view(), json::parse(R"({"total_rows":0,"rows":[]})"));
    put("b", R"({"n":2})", 7);
    put("a", R"({"n":1})", 8);
    put("c", "no json", 9);
    EXPECT_EQ(view("?limit=2"), json::parse(R"({"total_rows":3,"rows":[
        {"id":"a","key":"a","value":1},{"id":"b","key":"b","value":2}]})"));
    EXPECT_EQ(view("?key=%22c%22").at("rows").at(0).at("value"), nullptr);
    EXPECT_EQ(view("", "n"), json::parse(R"({"rows":[{"key":null,"value":3}]})"));
    const auto keys = send("POST", "/travel/_design/d/_view/v?", R"({"keys":["b","a"]})");
    EXPECT_EQ(json::parse(keys->body()).at("rows").at(0).at("id"), "b");
    EXPECT_EQ(send("GET", "/travel/_design/d/_view/v", "", 1)->body(),
              send("GET", "/travel/_design/d/_view/v")->body());
}

TEST_F(lab_couchbase_views, wrong_requests_are_answered_as_by_real_servers)
{
    struct row {
        const char* method;
        const char* path;
        int status;
        const char* text;
    };
    const row table[] = {
        {"GET", "/travel/_design/none/_view/v", 404, "Design document _design/none not found"},
        {"GET", "/travel/_design/d/_view/none", 404, "{not_found,\\n            "},
        {"GET", "/none/_design/d/_view/v", 404, "no_couchbase_bucket_exists"},
        {"GET", "/travel/_design/d/_view/v?skip=x", 400, "query_parse_error"},
        {"GET", "/travel/_design/d/_view/v?skip=%zz", 400, "query_parse_error"},
        {"PUT", "/travel/_design/d/_view/v", 405, "method_not_allowed"},
        {"POST", "/travel/_design/d", 405, "method_not_allowed"},
        {"GET", "/travel/_other/d", 404, "missing"},
        {"GET", "/travel", 404, "missing"},
    };
    for (const row& one : table) {
        const auto got = send(one.method, one.path);
        EXPECT_EQ(got->status(), one.status) << one.path;
        EXPECT_NE(got->body().find(one.text), std::string::npos) << one.path << got->body();
    }
    const auto refused = dial(lab, lab.made->address(0, "capi"),
                              "GET /travel/_design/d HTTP/1.1\r\nConnection: close\r\n\r\n");
    EXPECT_EQ(refused->status(), 401);
}

TEST_F(lab_couchbase_views, design_documents_are_put_shown_listed_and_dropped)
{
    EXPECT_EQ(json::parse(send("GET", "/travel/_design/d")->body()), json::parse(definition));
    EXPECT_EQ(send("PUT", "/travel/_design/dev_d", "{}")->status(), 201);
    EXPECT_EQ(send("PUT", "/travel/_design/d", "{}")->status(), 201);
    EXPECT_EQ(send("PUT", "/travel/_design/e", R"({"views":{"v":{"map":"x"}}})")->status(), 400);
    const auto listed = ask(lab, lab.made->address(0, "mgmt"), "GET",
                            "/pools/default/buckets/travel/ddocs");
    const json::value all = json::parse(listed->body()).at("rows");
    ASSERT_EQ(all.as_array().size(), 2u);
    EXPECT_EQ(all.at(0).at("doc").at("meta"), json::parse(R"({"id":"_design/d","rev":"2-lab"})"));
    EXPECT_EQ(all.at(1).at("doc").at("meta").at("id"), "_design/dev_d");
    EXPECT_EQ(send("DELETE", "/travel/_design/d")->status(), 200);
    for (const char* const method : {"GET", "DELETE"})
        EXPECT_EQ(send(method, "/travel/_design/d")->status(), 404) << method;
    ASSERT_TRUE(lab.made->drop_bucket("travel"));
    ASSERT_TRUE(lab.made->create_bucket("travel"));
    EXPECT_EQ(send("GET", "/travel/_design/dev_d")->status(), 404);
}

TEST_F(lab_couchbase_views, stale_false_waits_for_all_changes)
{
    put("a", "{}", 7);
    EXPECT_EQ(ids(), "a ");
    command("hold-index 0 on");
    put("b", "{}", 8);
    for (const char* const query : {"", "?stale=ok", "?stale=update_after"})
        EXPECT_EQ(ids(query), "a ") << query;
    const auto late = send("GET", "/travel/_design/d/_view/v?stale=false");
    EXPECT_EQ(late->bytes, "");
    command("hold-index 0 off");
    lab.net.run_for(20ms);
    EXPECT_EQ(json::parse(late->body()).at("total_rows").to_number<int>(), 2);
    command("hold-index 0 on");
    put("c", "{}", 9);
    const auto never = send("GET", "/travel/_design/d/_view/v?stale=false");
    lab.net.run_for(61s);
    EXPECT_EQ(never->status(), 500);
}

TEST_F(lab_couchbase_views, node_that_does_not_answer_is_an_error_beside_the_rows_or_instead)
{
    std::uint16_t far = 0;
    while (lab.owner(far) != 1)
        ++far;
    std::uint16_t near = 0;
    while (lab.owner(near) != 0)
        ++near;
    put("far", "{}", far);
    put("near", "{}", near);
    EXPECT_EQ(ids(), "far near ");
    const std::string place = lab.made->address(1, "capi");
    lab.crash(1);
    const json::value partial = view();
    EXPECT_EQ(partial.at("total_rows").to_number<int>(), 1);
    EXPECT_EQ(partial.at("rows").at(0).at("id"), "near");
    EXPECT_EQ(partial.at("errors").at(0).at("from"),
              json::string{"http://" + place + "/_view_merge/"});
    EXPECT_EQ(send("GET", "/travel/_design/d/_view/v?on_error=stop")->status(), 500);
    lab.restart(1);
    EXPECT_EQ(ids(), "far near ");
    EXPECT_FALSE(view().as_object().contains("errors"));
}

}  // namespace
}  // namespace holdfast::lab::couchbase::views_service_test
