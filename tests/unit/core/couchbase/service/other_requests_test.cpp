// Requests to analytics, search and views.
#include "core/couchbase/service/analytics.hpp"
#include "core/couchbase/service/search.hpp"
#include "core/couchbase/service/view.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/verifies.hpp"

#include <boost/json/parse.hpp>

namespace holdfast::core::couchbase::other_requests_test {
namespace {

namespace cb = holdfast::couchbase;
using namespace std::chrono_literals;
using namespace std::string_view_literals;
using boost::json::value;

value json(std::string_view text)
{
    return boost::json::parse(text);
}

service_request analytics_request_of(const cb::analytics_options& options,
                                     const statement_target& target = {})
{
    return make_analytics("SELECT \"1\"", options, target).value().request(5s);
}

TEST(analytics_body, unset_options_are_omitted)
{
    const service_request request = analytics_request_of({});
    EXPECT_EQ(json(request.body), json(R"({"statement":"SELECT \"1\"","timeout":"5000ms"})"));
    EXPECT_EQ(request.service, service_type::analytics);
    EXPECT_EQ(request.method, http_method::post);
    EXPECT_EQ(request.path, "/query/service");
    EXPECT_EQ(request.content_type, "application/json");
    EXPECT_TRUE(request.headers.empty());
}

TEST(analytics_body, options_are_members_and_priority_is_a_header)
{
    const auto parameters = cb::named("a", 1);
    const cb::raw_option raw[] = {{"mode", R"("deferred")"}, {"readonly", "false"}};
    const service_request request = analytics_request_of(
        {.parameters = parameters,
         .readonly = true,
         .priority = true,
         .scan_consistency = cb::scan_consistency::request_plus,
         .raw = raw},
        {"b", "s`", "id"});
    EXPECT_EQ(json(request.body),
              json(R"({"statement":"SELECT \"1\"","timeout":"5000ms","client_context_id":"id",
                       "query_context":"default:`b`.`s```","readonly":false,
                       "scan_consistency":"request_plus","$a":1,"mode":"deferred"})"));
    const std::vector<service_header> expected{{"Analytics-Priority", "-1"}};
    EXPECT_EQ(request.headers, expected);
}

TEST(analytics_body, request_is_idempotent_only_if_readonly)
{
    VERIFIES("CR-077");
    EXPECT_FALSE(analytics_request_of({}).idempotent);
    EXPECT_FALSE(analytics_request_of({.readonly = false}).idempotent);
    EXPECT_TRUE(analytics_request_of({.readonly = true}).idempotent);
}

TEST(analytics_body, what_no_server_could_take_is_refused)
{
    EXPECT_EQ(make_analytics("", {}, {}).error().code(), cb::errc::invalid_argument);
    const cb::raw_option raw[] = {{"a", "{"}};
    EXPECT_EQ(make_analytics("x", {.raw = raw}, {}).error().context("option"), "a");
    const cb::raw_option timeout[] = {{"timeout", R"("1h")"}};
    EXPECT_EQ(json(analytics_request_of({.raw = timeout}).body).at("timeout"), json(R"("1h")"));
}

value search_body(std::string_view request, const cb::search_options& options = {})
{
    const auto made = make_search({"i"}, request, options);
    EXPECT_TRUE(made) << made.error().message();
    return json(made->request(5s).body);
}

TEST(search_body, request_is_sent_with_the_time_that_is_left)
{
    VERIFIES("CR-078");
    const auto made = make_search({"i"}, R"( {"query": {"match": "inn"}, "size": 3} )", {}).value();
    const service_request request = made.request(1500ms);
    EXPECT_EQ(json(request.body),
              json(R"({"query":{"match":"inn"},"size":3,"ctl":{"timeout":1500}})"));
    EXPECT_EQ(json(made.request(0ms).body).at_pointer("/ctl/timeout").as_int64(), 1);
    EXPECT_EQ(request.service, service_type::search);
    EXPECT_EQ(request.method, http_method::post);
    EXPECT_TRUE(request.idempotent);
    EXPECT_EQ(request.path, "/api/index/i/query");
    EXPECT_EQ(request.content_type, "application/json");
}

TEST(search_body, names_in_the_path_are_escaped)
{
    const auto path = [](const search_target& target) {
        return make_search(target, "{}", {}).value().path;
    };
    EXPECT_EQ(path({"a/b c"}), "/api/index/a%2Fb%20c/query");
    EXPECT_EQ(path({"i", "b?", "s#"}), "/api/bucket/b%3F/scope/s%23/index/i/query");
    EXPECT_EQ(path({"i", "b", ""}), "/api/index/i/query");
}

TEST(search_body, options_replace_members_of_the_request)
{
    const std::string_view fields[] = {"a", "b\""};
    const std::string_view collections[] = {"c"};
    const std::string_view request =
        R"({"query":{},"size":1,"from":2,"explain":false,"fields":["x"],"sort":["-_score"]})";
    EXPECT_EQ(search_body(request, {.limit = 10,
                                    .skip = 0,
                                    .explain = true,
                                    .disable_scoring = true,
                                    .include_locations = true,
                                    .fields = fields,
                                    .collections = collections}),
              json(R"({"query":{},"size":10,"from":0,"explain":true,"score":"none",
                       "includeLocations":true,"fields":["a","b\""],"collections":["c"],
                       "sort":["-_score"],"ctl":{"timeout":5000}})"));
    const cb::raw_option raw[] = {{"size", "7"}, {"knn", "[]"}, {"sort", "null"}};
    EXPECT_EQ(search_body(request, {.limit = 10, .raw = raw}),
              json(R"({"query":{},"size":7,"from":2,"explain":false,"fields":["x"],"sort":null,
                       "knn":[],"ctl":{"timeout":5000}})"));
    EXPECT_EQ(search_body("{}"), json(R"({"ctl":{"timeout":5000}})"));
}

TEST(search_body, control_of_the_request_is_merged)
{
    cb::mutation_state seen;
    seen.add(cb::mutation_token{148745062697406, 8, 528, "b"});
    EXPECT_EQ(search_body(R"({"ctl":{"timeout":1,"partition_selection":"random","consistency":1}})",
                          {.consistent_with = &seen})
                  .at("ctl"),
              json(R"({"timeout":5000,"partition_selection":"random","consistency":{
                       "level":"at_plus","vectors":{"i":{"528/148745062697406":8}}}})"));
    EXPECT_EQ(search_body(R"({"ctl":{"consistency":{"level":"x"}}})").at("ctl"),
              json(R"({"timeout":5000,"consistency":{"level":"x"}})"));
    const cb::raw_option raw[] = {{"ctl", R"({"timeout":9})"}};
    EXPECT_EQ(search_body(R"({"ctl":{"a":1}})", {.consistent_with = &seen, .raw = raw}),
              json(R"({"ctl":{"timeout":9}})"));
    EXPECT_EQ(search_body(R"({"ctl":7})").at("ctl"), json(R"({"timeout":5000})"));
}

TEST(search_body, what_is_no_object_is_refused)
{
    for (const std::string_view request :
         {"", "[]", "{", "{} x", "null", "{\"a\":}", "{\"a\" 1}"}) {
        const auto made = make_search({"i"}, request, {});
        ASSERT_FALSE(made) << request;
        EXPECT_EQ(made.error().code(), cb::errc::invalid_argument);
        EXPECT_NE(made.error().message().find("not a JSON object"), std::string::npos);
    }
    EXPECT_EQ(make_search({""}, "{}", {}).error().code(), cb::errc::invalid_argument);
}

std::string view_path(const cb::view_options& options)
{
    return make_view({"b", "d", "v"}, options).value().path;
}

TEST(view_request, unset_options_are_omitted)
{
    VERIFIES("CR-078");
    const service_request request = make_view({"b", "d", "v"}, {}).value();
    EXPECT_EQ(request.path, "/b/_design/d/_view/v?stale=update_after&on_error=continue");
    EXPECT_EQ(request.service, service_type::views);
    EXPECT_EQ(request.method, http_method::get);
    EXPECT_TRUE(request.idempotent);
    EXPECT_TRUE(request.content_type.empty());
    EXPECT_TRUE(request.body.empty());
}

TEST(view_request, names_are_escaped_and_development_has_its_prefix)
{
    EXPECT_EQ(make_view({"b c", "d/e", "v?"}, {}).value().path.substr(0, 30),
              "/b%20c/_design/d%2Fe/_view/v%3F?stale"sv.substr(0, 30));
    const cb::view_options development{.from = cb::design_documents::development};
    EXPECT_TRUE(view_path(development).starts_with("/b/_design/dev_d/_view/v?"));
    EXPECT_TRUE(make_view({"b", "dev_d", "v"}, development)
                    .value()
                    .path.starts_with("/b/_design/dev_d/_view/v?"));
}

TEST(view_request, each_option_is_a_parameter)
{
    struct row { cb::view_options options; std::string_view expected; };
    const row table[] = {
        {{.scan_consistency = cb::view_consistency::not_bounded}, "stale=ok&on_error=continue"},
        {{.scan_consistency = cb::view_consistency::request_plus}, "stale=false&on_error=continue"},
        {{.limit = 1, .skip = 0}, "stale=update_after&limit=1&skip=0&on_error=continue"},
        {{.descending = true}, "stale=update_after&descending=true&on_error=continue"},
        {{.reduce = false}, "stale=update_after&reduce=false&on_error=continue"},
        {{.reduce = true, .group = true, .group_level = 2},
         "stale=update_after&reduce=true&group=true&group_level=2&on_error=continue"},
        {{.key = R"("a b")"}, "stale=update_after&key=%22a%20b%22&on_error=continue"},
        {{.start_key = "[1]",
          .start_key_document_id = "x&y",
          .end_key = "null",
          .end_key_document_id = "z",
          .inclusive_end = false},
         "stale=update_after&startkey=%5B1%5D&endkey=null&startkey_docid=x%26y&endkey_docid=z"
         "&inclusive_end=false&on_error=continue"},
        {{.stop_on_error = true, .debug = true}, "stale=update_after&on_error=stop&debug=true"},
    };
    for (const row& r : table)
        EXPECT_EQ(view_path(r.options), "/b/_design/d/_view/v?" + std::string{r.expected});
    const cb::raw_option raw[] = {{"stale", "ok"}, {"full_set", "true"}};
    EXPECT_EQ(view_path({.raw = raw}),
              "/b/_design/d/_view/v?on_error=continue&stale=ok&full_set=true");
}

TEST(view_request, many_keys_are_posted)
{
    VERIFIES("CR-078");
    const std::string_view keys[] = {R"("a")", "[1, 2]"};
    const service_request request = make_view({"b", "d", "v"}, {.keys = keys}).value();
    EXPECT_EQ(request.method, http_method::post);
    EXPECT_EQ(request.content_type, "application/json");
    EXPECT_EQ(json(request.body), json(R"({"keys":["a",[1,2]]})"));
    EXPECT_TRUE(request.idempotent);
}

TEST(view_request, what_is_no_key_is_refused)
{
    const std::string_view keys[] = {"1", "x"};
    struct row { cb::view_options options; std::string_view option; };
    const row table[] = {
        {{.key = "a"}, "key"},
        {{.key = "1 2"}, "key"},
        {{.start_key = "{"}, "startkey"},
        {{.end_key = "]"}, "endkey"},
        {{.keys = keys}, "keys"},
    };
    for (const row& r : table) {
        const auto made = make_view({"b", "d", "v"}, r.options);
        ASSERT_FALSE(made);
        EXPECT_EQ(made.error().code(), cb::errc::invalid_argument);
        EXPECT_EQ(made.error().context("option"), r.option);
    }
    for (const view_target& target :
         {view_target{"", "d", "v"}, view_target{"b", "", "v"}, view_target{"b", "d", ""}})
        EXPECT_EQ(make_view(target, {}).error().code(), cb::errc::invalid_argument);
}

}  // namespace
}  // namespace holdfast::core::couchbase::other_requests_test
