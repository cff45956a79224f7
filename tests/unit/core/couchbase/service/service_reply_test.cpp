#include "core/couchbase/service/service_reply.hpp"

#include "core/couchbase/rows/row_splitter.hpp"
#include "support/verifies.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace holdfast::core::couchbase::service_reply_test {
namespace {

namespace cb = holdfast::couchbase;
using namespace std::chrono_literals;
using enum service_type;

struct expected_failure {
    errc code;
    std::optional<retry_reason> reason = {};
};

TEST(service_reply, reply_without_errors_is_a_success)
{
    struct row { service_type service; int status; std::string_view body; };
    const row table[] = {
        {query, 200, R"({"status":"success"})"},
        {query, 200, R"({"status":"success","errors":[]})"},
        {query, 200, R"({"status":"success","errors":null,"warnings":[{"code":1}]})"},
        {query, 200, R"({"status":"completed"})"},
        {query, 200, R"({"status":"something new"})"},
        {query, 200, "{}"},
        {analytics, 200, R"({"status":"success"})"},
        {search, 200, R"({"status":{"failed":6,"errors":{"p":"deadline"}},"hits":[]})"},
        {views, 200, R"({"total_rows":0,"rows":[],"errors":[{"from":"n","reason":"r"}]})"},
        {management, 200, ""},
        {management, 202, ""},
    };
    for (const row& r : table)
        EXPECT_FALSE(failure_in({r.service, r.status, r.body})) << r.body;
}

TEST(service_reply, errors_behind_the_rows_are_a_failure)
{
    struct row { service_type service; std::string_view metadata; errc code; };
    const row table[] = {
        {query, R"({"results":[],"errors":[{"code":5010,"msg":"x"}],"status":"errors"})",
         errc::internal_server_failure},
        {query, R"({"errors":[{"code":1080}],"status":"timeout"})", errc::ambiguous_timeout},
        {query, R"({"status":"timeout"})", errc::ambiguous_timeout},
        {query, R"({"status":"stopped"})", errc::generic_failure},
        {query, R"({"status":"aborted"})", errc::generic_failure},
        {query, R"({"status":"closed"})", errc::generic_failure},
        {query, R"({"status":"fatal"})", errc::generic_failure},
        {query, R"({"status":"errors"})", errc::generic_failure},
        {query, R"({"errors":[{}]})", errc::decoding_failure},
        {analytics, R"({"errors":[{"code":24000}],"status":"fatal"})", errc::parsing_failure},
        {search, R"({"error":"boom","status":"fail"})", errc::generic_failure},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.metadata);
        const auto failed = failure_in({r.service, 200, r.metadata});
        ASSERT_TRUE(failed);
        EXPECT_EQ(failed->code, r.code);
        EXPECT_FALSE(failed->message.empty());
        EXPECT_EQ(failed->as_error().context("http_status"), "200");
    }
    EXPECT_EQ(failure_in({query, 200, R"({"status":"timeout"})"}, {.idempotent = true})->code,
              errc::unambiguous_timeout);
}

TEST(service_reply, each_service_is_classified_by_its_own_rules)
{
    struct row { service_type service; int status; std::string_view body; expected_failure is; };
    const row table[] = {
        {query,
         404,
         R"({"errors":[{"code":4040}]})",
         {errc::prepared_statement_failure, retry_reason::query_prepared_statement_failure}},
        {analytics,
         503,
         R"({"errors":[{"code":23000}]})",
         {errc::temporary_failure, retry_reason::analytics_temporary_failure}},
        {search, 429, "{}", {errc::request_canceled, retry_reason::search_too_many_requests}},
        {views, 302, "", {errc::generic_failure, retry_reason::views_no_active_partition}},
        {management, 503, "busy", {errc::internal_server_failure}},
        {management, 302, "", {errc::generic_failure}},
        {management, 429, "", {errc::rate_limited}},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.body);
        const auto failed = failure_in({r.service, r.status, r.body});
        ASSERT_TRUE(failed);
        EXPECT_EQ(failed->code, r.is.code);
        EXPECT_EQ(failed->reason, r.is.reason);
        EXPECT_EQ(failed->as_error().context("http_status"), std::to_string(r.status));
    }
    EXPECT_FALSE(failure_in({query, 404, R"({"errors":[{"code":4040}]})"}, {.prepared_failures = 4})
                     ->reason);
}

TEST(service_reply, status_counts_where_the_body_is_not_that_of_the_service)
{
    struct row { int status; std::string_view body; errc code; };
    const row table[] = {
        {401, "", errc::authentication_failure},
        {403, "<html>", errc::authentication_failure},
        {503, "upstream connect error", errc::internal_server_failure},
        {404, "", errc::generic_failure},
        {400, R"({"errors":[]})", errc::generic_failure},
    };
    for (const row& r : table)
        for (const service_type service : {query, analytics}) {
            SCOPED_TRACE(r.status);
            const auto failed = failure_in({service, r.status, r.body});
            ASSERT_TRUE(failed);
            EXPECT_EQ(failed->code, r.code);
            EXPECT_FALSE(failed->reason);
        }
}

TEST(service_reply, rows_are_in_the_array_of_the_service)
{
    EXPECT_EQ(rows_array_of(query), "results");
    EXPECT_EQ(rows_array_of(analytics), "results");
    EXPECT_EQ(rows_array_of(search), "hits");
    EXPECT_EQ(rows_array_of(views), "rows");
    EXPECT_EQ(rows_array_of(management), "");
    EXPECT_TRUE(has_rows(200));
    for (const int status : {100, 199, 201, 302, 400, 500})
        EXPECT_FALSE(has_rows(status));
}

TEST(service_metadata, of_a_query_is_read_without_what_is_unexpected)
{
    const auto found = read_query_metadata(R"({
        "requestID": "r\u00e9", "clientContextID": "c", "signature": {"*": "*"}, "results": [],
        "status": "success", "profile": {"phaseTimes": {"a": "1ms"}}, "unknown": [1],
        "warnings": [{"code": 7, "msg": "slow", "x": 1}, {"msg": "w"}, 3],
        "metrics": {"elapsedTime": "1.5ms", "executionTime": "837.425\u00b5s", "resultCount": 1,
                    "resultSize": 2, "sortCount": 3, "mutationCount": 4, "errorCount": 5,
                    "warningCount": 6, "processedObjects": 7}})");
    const cb::query_metadata expected{.request_id = "r\xc3\xa9",
                                      .client_context_id = "c",
                                      .status = cb::query_status::success,
                                      .metrics = {1500us, 837'425ns, 1, 2, 3, 4, 5, 6, 7},
                                      .warnings = {{7, "slow"}, {0, "w"}, {}},
                                      .signature = raw_json{R"({"*": "*"})"},
                                      .profile = raw_json{R"({"phaseTimes": {"a": "1ms"}})"}};
    EXPECT_EQ(found, expected);
    EXPECT_EQ(read_query_metadata(R"({"requestID": 7, "status": [], "metrics": "x",
        "warnings": {}, "signature": null, "profile": null})"),
              cb::query_metadata{});
    EXPECT_EQ(read_query_metadata(R"({"metrics":{"elapsedTime":7,"resultCount":"9"}})"),
              cb::query_metadata{});
    EXPECT_EQ(read_query_metadata("no JSON"), cb::query_metadata{});
}

TEST(service_metadata, status_of_a_query_is_known_by_its_name)
{
    using enum cb::query_status;
    for (const cb::query_status status :
         {running, success, errors, completed, stopped, timeout, closed, fatal, aborted, unknown}) {
        const std::string name{name_of(status)};
        EXPECT_EQ(read_query_metadata(R"({"status":")" + name + R"("})").status, status);
    }
    EXPECT_EQ(name_of(success), "success");
    EXPECT_EQ(name_of(static_cast<cb::query_status>(99)), "unknown");
    EXPECT_EQ(read_query_metadata(R"({"status":"new"})").status, unknown);
}

TEST(service_metadata, lists_have_a_limit)
{
    std::string warnings, partitions, errors;
    for (int i = 0; i < 1000; ++i) {
        const std::string comma = i == 0 ? "" : ",";
        warnings += comma + R"({"code":1})";
        partitions += comma + "\"p" + std::to_string(i) + R"(":"m")";
        errors += comma + R"({"from":"f"})";
    }
    EXPECT_EQ(read_query_metadata(R"({"warnings":[)" + warnings + "]}").warnings.size(),
              max_metadata_entries);
    EXPECT_EQ(read_search_metadata(R"({"status":{"errors":{)" + partitions + "}}}").errors.size(),
              max_metadata_entries);
    EXPECT_EQ(read_view_metadata(R"({"errors":[)" + errors + "]}").errors.size(),
              max_metadata_entries);
}

TEST(service_metadata, of_a_search_has_hits_partitions_and_facets)
{
    const auto found = read_search_metadata(R"({
        "status": {"total": 6, "failed": 2, "successful": 4,
                   "errors": {"p\"1": "not available", "p2": 7}},
        "request": {"total_hits": 99}, "hits": [], "total_hits": 809, "max_score": 1.15,
        "took": 62511375, "facets": {"type": {"total": 7}}})");
    const cb::search_metadata expected{.total_hits = 809,
                                       .max_score = 1.15,
                                       .took = 62'511'375ns,
                                       .partitions = 6,
                                       .successful_partitions = 4,
                                       .failed_partitions = 2,
                                       .errors = {{"p\"1", "not available"}, {"p2", ""}},
                                       .facets = raw_json{R"({"type": {"total": 7}})"}};
    EXPECT_EQ(found, expected);
    EXPECT_EQ(read_search_metadata(R"({"status":"fail","hits":null,"facets":null})"),
              cb::search_metadata{});
    EXPECT_GT(read_search_metadata(R"({"took":18446744073709551615})").took, 1h);
}

TEST(service_metadata, of_a_view_has_rows_errors_and_what_was_asked_for)
{
    const auto found = read_view_metadata(R"({"total_rows": 7303, "rows": [],
        "errors": [{"from": "http://n/", "reason": "timeout"}], "debug_info": {"a": [1]}})");
    const cb::view_metadata expected{.total_rows = 7303,
                                     .errors = {{"http://n/", "timeout"}},
                                     .debug = raw_json{R"({"a": [1]})"}};
    EXPECT_EQ(found, expected);
    EXPECT_EQ(read_view_metadata("{}"), cb::view_metadata{});
}

}  // namespace
}  // namespace holdfast::core::couchbase::service_reply_test
