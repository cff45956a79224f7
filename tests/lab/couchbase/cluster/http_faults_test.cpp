#include "lab/couchbase/cluster/http_in_sim.hpp"
#include "lab/couchbase/mgmt/commands.hpp"
#include "lab/couchbase/mgmt/fault_json.hpp"
#include "lab/couchbase/mgmt/management.hpp"

#include <gtest/gtest.h>

namespace holdfast::lab::couchbase::http_faults_test {
namespace {

using namespace std::chrono_literals;

class lab_couchbase_http_faults : public testing::Test {
protected:
    /// As it comes by HTTP and as a command.
    void set(const std::string& text)
    {
        const auto read = read_fault(text);
        ASSERT_TRUE(read) << read.error().message();
        const auto done = lab.made->faults().set("f", read->what);
        ASSERT_TRUE(done) << done.error().message();
    }
    bool refused(const std::string& text)
    {
        const auto read = read_fault(text);
        return !read || !lab.made->faults().set("f", read->what);
    }
    std::shared_ptr<dialled_port> to(const std::string& service, const std::string& method = "GET",
                                     const std::string& path = "/", const std::string& body = {},
                                     std::size_t node = 0)
    {
        return ask(lab, lab.made->address(node, service), method, path, body);
    }
    std::int64_t hits() { return lab.made->faults().hits("f"); }

    cluster_in_sim lab{2, 0, 1, [](cluster_options& options) {
                           options.services = {{"mgmt", make_management, {}}};
                           for (const char* const name : {"capi", "n1ql", "cbas", "fts"})
                               options.services.push_back(counting_service::offer(name));
                       }};
};

TEST_F(lab_couchbase_http_faults, request_fits_by_service_path_method_and_body)
{
    set(R"({"service":"query","method":"POST","path_prefix":"/query","contains":"SELECT",
            "status":503,"body":"x"})");
    EXPECT_EQ(to("n1ql", "POST", "/query/service", "SELECT 1")->status(), 503);
    EXPECT_EQ(to("n1ql", "POST", "/query/service", "INSERT")->status(), 200);
    EXPECT_EQ(to("n1ql", "GET", "/query/service", "SELECT 1")->status(), 200);
    EXPECT_EQ(to("n1ql", "POST", "/admin/ping", "SELECT 1")->status(), 200);
    EXPECT_EQ(to("cbas", "POST", "/query/service", "SELECT 1")->status(), 200);
    EXPECT_EQ(hits(), 1);
    set(R"({"service":"search","nodes":[1],"status":429})");
    EXPECT_EQ(to("fts")->status(), 200);
    EXPECT_EQ(to("fts", "GET", "/", "", 1)->status(), 429);
}

TEST_F(lab_couchbase_http_faults, answers_come_in_their_order_on_all_nodes_together)
{
    set(R"({"service":"fts","answers":[{"status":429,"body":"one"},{"status":400,"body":"two"}]})");
    EXPECT_EQ(to("fts")->body(), "one");
    EXPECT_EQ(to("fts", "GET", "/", "", 1)->body(), "two");
    EXPECT_EQ(to("fts")->body(), "1");
    EXPECT_EQ(hits(), 2);
    set(R"({"service":"fts","times":3,"answers":[{"body":"one"},{"body":"two"}]})");
    std::string all;
    for (int n = 0; n != 4; ++n)
        all += to("fts")->body() + " ";
    EXPECT_EQ(all, "one two two 2 ");
}

TEST_F(lab_couchbase_http_faults, delayed_answers_keep_their_order)
{
    set(R"({"service":"fts","delay":200,"answers":[{"body":"one"},{"body":"two"}]})");
    const auto first = to("fts");
    const auto second = to("fts");
    lab.net.run_for(500ms);
    EXPECT_EQ(first->body() + second->body(), "onetwo");
}

TEST_F(lab_couchbase_http_faults, answer_has_a_content_type_and_headers)
{
    set(R"({"service":"views","answers":[{"status":302,"content_type":"text/plain",
            "headers":["Location: http://n1:8092/","Retry-After:1"]}]})");
    const std::string text = to("capi")->bytes;
    EXPECT_TRUE(text.starts_with("HTTP/1.1 302 Found\r\n"));
    EXPECT_NE(text.find("\r\nContent-Type: text/plain\r\n"), std::string::npos);
    EXPECT_NE(text.find("\r\nLocation: http://n1:8092/\r\n"), std::string::npos);
    EXPECT_NE(text.find("\r\nRetry-After: 1\r\n"), std::string::npos);
}

TEST_F(lab_couchbase_http_faults, function_answers_with_what_it_makes_of_the_request)
{
    couchbase_fault what{.service = "query"};
    what.generate = [](const couchbase_request& asked) {
        couchbase_answer made{.status = 202};
        made.body = std::to_string(asked.node) + std::string{asked.method} +
                    std::string{asked.path} + std::string{asked.query} + std::string{asked.body};
        return made;
    };
    ASSERT_TRUE(lab.made->faults().set("f", what));
    const auto got = to("n1ql", "POST", "/a?b=c", "d", 1);
    EXPECT_EQ(got->status(), 202);
    EXPECT_EQ(got->body(), "1POST/ab=cd");
}

TEST_F(lab_couchbase_http_faults, replies_come_in_chunks_from_1_byte_to_64_kb)
{
    set(R"({"service":"fts","chunk_size":1,"body":"ab","status":200})");
    EXPECT_EQ(to("fts")->body(), "1\r\na\r\n1\r\nb\r\n0\r\n\r\n");
    ASSERT_TRUE(lab.made->faults().remove("f"));
    ASSERT_TRUE(carry_out_now(*lab.made, "http-chunks all 65536"));
    EXPECT_EQ(to("fts")->body(), "1\r\n1\r\n0\r\n\r\n");
    EXPECT_FALSE(carry_out_now(*lab.made, "http-chunks all 65537"));
    ASSERT_TRUE(carry_out_now(*lab.made, "http-chunks all 0"));
    EXPECT_EQ(to("fts")->body(), "2");
}

TEST_F(lab_couchbase_http_faults, what_makes_no_sense_is_refused)
{
    for (const char* const wrong :
         {R"({"service":"eventing"})", R"({"service":"kv"})", R"({"answers":[{"status":200}]})",
          R"({"contains":"x"})", R"({"method":"GET"})", R"({"chunk_size":1})",
          R"({"service":"fts","chunk_size":65537})",
          R"({"service":"fts","answers":[{"status":99}]})",
          R"({"service":"fts","answers":[{"headers":["no colon"]}]})",
          R"({"service":"fts","answers":[{"headers":["a: b\r\nc: d"]}]})",
          R"({"service":"fts","answers":[{"content_type":"a\nb"}]})",
          R"({"service":"fts","answers":[{"colour":1}]})", R"({"service":"fts","answers":[1]})"})
        EXPECT_TRUE(refused(wrong)) << wrong;
    EXPECT_TRUE(lab.made->faults().names().empty());
}

TEST_F(lab_couchbase_http_faults, f21_search_answers_429_with_and_without_a_limit_by_name)
{
    for (const std::string& text :
         {std::string{"too many requests"}, std::string{"limit: num_concurrent_requests"},
          std::string{"limit: num_queries_per_min"}, std::string{"limit: ingress_mib_per_min"},
          std::string{"limit: egress_mib_per_min"}}) {
        const std::string body = R"({"error":")" + text + R"(","status":"fail"})";
        couchbase_fault what{.service = "search", .path_prefix = "/api/index/", .method = "POST"};
        what.answers = {{.status = 429, .body = body}};
        ASSERT_TRUE(lab.made->faults().set("f", what));
        const auto got = to("fts", "POST", "/api/index/i/query", "{}");
        EXPECT_EQ(got->status(), 429);
        EXPECT_EQ(got->body(), body);
    }
    set(R"({"service":"search","method":"PUT","answers":[{"status":400,
            "body":"{\"error\":\"num_fts_indexes (active + pending)\",\"status\":\"fail\"}"}]})");
    EXPECT_EQ(to("fts", "PUT", "/api/index/i", "{}")->status(), 400);
}

TEST_F(lab_couchbase_http_faults, f22_views_answer_every_status_and_padded_bodies)
{
    for (const std::uint16_t status : {300, 301, 302, 303, 307, 400, 401, 404, 405, 408, 409, 412,
                                       416, 417, 500, 501, 502, 503, 504}) {
        couchbase_fault what{.service = "views", .status = status};
        ASSERT_TRUE(lab.made->faults().set("f", what));
        EXPECT_EQ(to("capi")->status(), status);
    }
    const std::string missing = R"("{not_found,\n                      missing_named_view}"})";
    for (const std::string& body :
         {R"({"error":"case_clause","reason":)" + missing,
          std::string{R"({"error":"error","reason":"{badarg,[]}"})"},
          std::string{R"({"error":"badarg","reason":"x"})"}, std::string{R"({"error":"timeout"})"},
          std::string{R"({"error":"not_found","reason":"missing"})"}}) {
        couchbase_fault what{.service = "views", .path_prefix = "/travel/_design/", .status = 500};
        what.body = body;
        ASSERT_TRUE(lab.made->faults().set("f", what));
        EXPECT_EQ(to("capi", "GET", "/travel/_design/d/_view/v")->body(), body);
    }
}

TEST_F(lab_couchbase_http_faults, f23_management_fails_and_is_cut_on_get_and_on_post)
{
    for (const char* const method : {"GET", "POST"}) {
        const std::string chosen = R"({"service":"management","path_prefix":"/pools/","method":")" +
                                   std::string{method} + R"(",)";
        const auto asked = [&] { return to("mgmt", method, "/pools/default/buckets", ""); };
        for (const int status : {500, 503}) {
            set(chosen + R"("status":)" + std::to_string(status) + "}");
            EXPECT_EQ(asked()->status(), status);
        }
        set(chosen + R"("close_connection":true})");
        const auto closed = asked();
        EXPECT_TRUE(closed->over && closed->bytes.empty());
        set(chosen + R"("cut_reply_at":20})");
        const auto cut = asked();
        EXPECT_TRUE(cut->over);
        EXPECT_EQ(cut->bytes.size(), 20u);
    }
    EXPECT_EQ(to("mgmt", "DELETE", "/pools/default/buckets/none")->status(), 404);
}

}  // namespace
}  // namespace holdfast::lab::couchbase::http_faults_test
