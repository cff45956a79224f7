// Which replies of services are followed by another request: all by bytes on a wire.
#include "client/couchbase/service_retries.hpp"

#include "core/couchbase/retry/strategy.hpp"
#include "support/verifies.hpp"

#include <chrono>
#include <string>

namespace holdfast::couchbase_service_retries_test {
namespace {

using namespace std::chrono_literals;
using couchbase::errc;
using couchbase::retry_reason;
using lab::couchbase::http_reply;
using proof::answers_in_order;
using proof::observing_strategy;
using proof::outcome;
using proof::reply_of;
using proof::reply_with_code;
using proof::reply_with_rows;

class couchbase_service_retries : public proof::service_retries {};

struct coded_row {
    const char* id;
    http_reply reply;
    const char* reason;  // of a retry; null: there is none
    errc code;  // if there is none
};

TEST_F(couchbase_service_retries, query_codes_are_retried_or_end_the_query)
{
    const coded_row table[] = {
        {"CR-086",
         reply_with_code(4040, "No such prepared statement"),
         "QUERY_PREPARED_STATEMENT_FAILURE",
         {}},
        {"CR-086",
         reply_with_code(4050, "Unrecognizable prepared statement"),
         "QUERY_PREPARED_STATEMENT_FAILURE",
         {}},
        {"CR-086",
         reply_with_code(4070, "Unable to decode prepared statement"),
         "QUERY_PREPARED_STATEMENT_FAILURE",
         {}},
        {"CR-086", reply_with_code(4041, "another"), nullptr, errc::planning_failure},
        {"CR-087",
         reply_with_code(5000, "Internal Error- queryport.indexNotFound"),
         "QUERY_INDEX_NOT_FOUND",
         {}},
        {"CR-087", reply_with_code(5000, "Internal Error"), nullptr, errc::internal_server_failure},
        {"CR-057",
         reply_with_code(13010, "in a moment", R"(,"retry":true)"),
         "SERVICE_RESPONSE_CODE_INDICATED",
         {}},
        {"CR-057", reply_with_code(13010, "never", R"(,"retry":false)"), nullptr,
         errc::generic_failure},
    };
    for (const coded_row& row : table) {
        VERIFIES_ROW_BY_TRAFFIC(row.id);
        asked->asked.clear();
        scene.forget_seen();
        scene.answer("n1ql", answers_in_order({row.reply, reply_with_rows({"1"})}));
        const outcome got = query();
        EXPECT_EQ(got.good, row.reason != nullptr) << row.reply.body << got.story;
        EXPECT_EQ(scene.asked("n1ql"), row.reason != nullptr ? 2u : 1u) << row.reply.body;
        if (row.reason == nullptr) {
            EXPECT_EQ(got.code, row.code) << got.story;
            EXPECT_TRUE(asked->asked.empty()) << row.reply.body;
            continue;
        }
        ASSERT_EQ(asked->asked.size(), 1u);
        EXPECT_EQ(name_of(asked->asked[0].reason), row.reason);
        EXPECT_EQ(asked->asked[0].operation, "query");
    }
}

TEST_F(couchbase_service_retries, analytics_codes_are_retried_or_end_the_query)
{
    const coded_row table[] = {
        {"CR-088", reply_with_code(23000, "unavailable"), "ANALYTICS_TEMPORARY_FAILURE", {}},
        {"CR-088", reply_with_code(23003, "rebalance"), "ANALYTICS_TEMPORARY_FAILURE", {}},
        {"CR-088", reply_with_code(23007, "queue full"), "ANALYTICS_TEMPORARY_FAILURE", {}},
        {"CR-088", reply_with_code(23001, "another"), nullptr, errc::generic_failure},
    };
    for (const coded_row& row : table) {
        VERIFIES_ROW_BY_TRAFFIC(row.id);
        asked->asked.clear();
        scene.forget_seen();
        scene.answer("cbas", answers_in_order({row.reply, reply_with_rows({"1"})}));
        const outcome got = analytics();
        EXPECT_EQ(got.good, row.reason != nullptr) << row.reply.body << got.story;
        EXPECT_EQ(scene.asked("cbas"), row.reason != nullptr ? 2u : 1u) << row.reply.body;
        EXPECT_EQ(asked->asked.size(), row.reason != nullptr ? 1u : 0u);
        for (const auto& one : asked->asked)
            EXPECT_EQ(name_of(one.reason), row.reason);
    }
}

TEST_F(couchbase_service_retries, search_that_is_busy_is_retried_and_one_over_its_limit_is_not)
{
    struct row {
        int status;
        const char* text;
        bool retried;
        errc code;
    };
    const row table[] = {
        {429, "the server is busy", true, {}},
        {429, "num_concurrent_requests exceeded", false, errc::rate_limited},
        {429, "num_queries_per_min exceeded", false, errc::rate_limited},
        {429, "ingress_mib_per_min exceeded", false, errc::rate_limited},
        {429, "egress_mib_per_min exceeded", false, errc::rate_limited},
        {400, "num_fts_indexes exceeded", false, errc::quota_limited},
        {400, "wrong", false, errc::generic_failure},
        {500, "broken", false, errc::internal_server_failure},
    };
    for (const row& one : table) {
        VERIFIES_ROW_BY_TRAFFIC("CR-089");
        asked->asked.clear();
        scene.forget_seen();
        const std::string body = R"({"error":")" + std::string{one.text} +
                                 R"(","request":{"query":"num_concurrent_requests"},)" +
                                 R"("status":"fail"})";
        scene.answer("fts", answers_in_order({reply_of(one.status, body), reply_of(200, no_hits)}));
        const outcome got = search();
        EXPECT_EQ(got.good, one.retried) << one.text << got.story;
        EXPECT_EQ(scene.asked("fts"), one.retried ? 2u : 1u) << one.text;
        EXPECT_EQ(asked->was_asked_for(retry_reason::search_too_many_requests), one.retried);
        EXPECT_EQ(got.code, one.retried ? error_code{} : one.code) << got.story;
    }
}

TEST_F(couchbase_service_retries, statuses_of_views_mean_now_or_never)
{
    struct row {
        const char* id;
        int status;
        const char* body;
        const char* reason;
    };
    const row table[] = {
        {"CR-091", 300, "{}", "VIEWS_TEMPORARY_FAILURE"},
        {"CR-091", 301, "{}", "VIEWS_TEMPORARY_FAILURE"},
        {"CR-091", 303, "{}", "VIEWS_TEMPORARY_FAILURE"},
        {"CR-091", 307, "{}", "VIEWS_TEMPORARY_FAILURE"},
        {"CR-091", 401, "{}", "VIEWS_TEMPORARY_FAILURE"},
        {"CR-091", 408, "{}", "VIEWS_TEMPORARY_FAILURE"},
        {"CR-091", 409, "{}", "VIEWS_TEMPORARY_FAILURE"},
        {"CR-091", 412, "{}", "VIEWS_TEMPORARY_FAILURE"},
        {"CR-091", 416, "{}", "VIEWS_TEMPORARY_FAILURE"},
        {"CR-091", 417, "{}", "VIEWS_TEMPORARY_FAILURE"},
        {"CR-091", 501, "{}", "VIEWS_TEMPORARY_FAILURE"},
        {"CR-091", 502, "{}", "VIEWS_TEMPORARY_FAILURE"},
        {"CR-091", 503, "{}", "VIEWS_TEMPORARY_FAILURE"},
        {"CR-091", 504, "{}", "VIEWS_TEMPORARY_FAILURE"},
        {"CR-091", 400, "{}", nullptr},
        {"CR-091", 405, "{}", nullptr},
        {"CR-092", 404, R"({"error":"not_found","reason":"missing"})", "VIEWS_TEMPORARY_FAILURE"},
        {"CR-092", 404, R"({"error":"not_found","reason":"deleted"})", nullptr},
        {"CR-093", 500, "{}", "VIEWS_TEMPORARY_FAILURE"},
        {"CR-093", 500, R"({"error":"timeout","reason":"badly"})", "VIEWS_TEMPORARY_FAILURE"},
        {"CR-093", 500, R"({"error":"x","reason":"{not_found, missing_named_view}"})", nullptr},
        {"CR-093", 500,
         "{\"error\":\"case_clause\",\"reason\":\"{not_found,\\n              "
         "missing_named_view}\"}",
         nullptr},
        {"CR-093", 500, R"({"error":"badarg"})", nullptr},
    };
    for (const row& one : table) {
        VERIFIES_ROW_BY_TRAFFIC(one.id);
        asked->asked.clear();
        scene.forget_seen();
        scene.answer("capi",
                     answers_in_order({reply_of(one.status, one.body), reply_of(200, no_rows)}));
        const outcome got = view();
        EXPECT_EQ(got.good, one.reason != nullptr) << one.status << one.body << got.story;
        EXPECT_EQ(scene.asked("capi"), one.reason != nullptr ? 2u : 1u) << one.status << one.body;
        for (const auto& question : asked->asked)
            EXPECT_EQ(name_of(question.reason), one.reason) << one.status;
        EXPECT_EQ(asked->asked.empty(), one.reason == nullptr) << one.status;
    }
}

TEST_F(couchbase_service_retries, view_without_an_active_partition_is_retried_without_a_question)
{
    VERIFIES_BY_TRAFFIC("CR-059");
    VERIFIES_BY_TRAFFIC("CR-090");
    scene.answer("capi",
                 answers_in_order({reply_of(302, ""), reply_of(302, ""), reply_of(200, no_rows)}));
    const auto refuses = std::make_shared<observing_strategy>(
        std::make_shared<core::couchbase::strict_fail_fast_strategy>());
    const couchbase::retry_strategy_ptr own = refuses;
    const outcome got = view({.strategy = &own});
    EXPECT_TRUE(got.good) << got.story;
    EXPECT_EQ(scene.asked("capi"), 3u);
    EXPECT_TRUE(refuses->asked.empty());
}

}  // namespace
}  // namespace holdfast::couchbase_service_retries_test
