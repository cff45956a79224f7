#include "core/couchbase/retry/classify_http.hpp"

#include "core/couchbase/retry/text_match.hpp"
#include "support/verifies.hpp"

#include <set>

namespace holdfast::core::couchbase::classify_http_test {
namespace {

TEST(classify_search, status_429_is_retried_unless_a_quota_is_exceeded)
{
    VERIFIES("CR-089");
    constexpr auto too_many = retry_reason::search_too_many_requests;
    struct row { int status; const char* body; std::optional<retry_reason> reason; errc code; };
    const row table[] = {
        {429, R"({"error": "too busy", "status": "fail"})", too_many, errc::request_canceled},
        {429, "", too_many, errc::request_canceled},
        {429, "<html>", too_many, errc::request_canceled},
        {429, R"({"error": "num_concurrent_requests, value >= limit"})", {}, errc::rate_limited},
        {429, R"({"error": "num_queries_per_min, value >= limit"})", {}, errc::rate_limited},
        {429, R"({"error": "ingress_mib_per_min >= limit"})", {}, errc::rate_limited},
        {429, R"({"error": "egress_mib_per_min >= limit"})", {}, errc::rate_limited},
        // What the user has searched for is no limit.
        {429, R"({"error": "busy", "request": {"q": "num_queries_per_min"}})", too_many,
         errc::request_canceled},
        {400,
         R"({"error": "num_fts_indexes (active + pending) >= limit"})",
         {},
         errc::quota_limited},
        {400, R"({"error": "err: index not found"})", {}, errc::index_not_found},
        {400, R"({"error": "parse error"})", {}, errc::generic_failure},
        {400, R"({"error": "no planPIndexes for indexName: x"})", {}, errc::index_not_ready},
        {500, R"({"error": "no planPIndexes for indexName: x"})", {}, errc::index_not_ready},
        {400,
         R"({"error": "err: bleve: pindex_consistency mismatched partition, uuid"})",
         {},
         errc::consistency_mismatch},
        {412,
         R"({"error": "err: bleve: pindex_consistency mismatched partition, uuid"})",
         {},
         errc::consistency_mismatch},
        {401, "", {}, errc::authentication_failure},
        {403, "", {}, errc::authentication_failure},
        {402, "", {}, errc::generic_failure},
        {499, "", {}, errc::generic_failure},
        {500, R"({"error": "index not found"})", {}, errc::internal_server_failure},
        {503, "", {}, errc::internal_server_failure},
        {428, "", {}, errc::generic_failure},
        {430, "", {}, errc::generic_failure},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.body);
        const classification meant = classify_search(r.status, r.body);
        EXPECT_EQ(meant.reason, r.reason);
        EXPECT_EQ(meant.code, r.code);
    }
    EXPECT_EQ(classify_search(500, R"({"error": "boom"})").message, "HTTP status 500: boom");
}

struct view_row { const char* id; int status; retry_reason reason; };

TEST(classify_view, every_status_has_its_retry_reason)
{
    constexpr auto temporary = retry_reason::views_temporary_failure;
    const view_row table[] = {
        {"CR-090", 302, retry_reason::views_no_active_partition},
        {"CR-091", 300, temporary}, {"CR-091", 301, temporary}, {"CR-091", 303, temporary},
        {"CR-091", 307, temporary}, {"CR-091", 401, temporary}, {"CR-091", 408, temporary},
        {"CR-091", 409, temporary}, {"CR-091", 412, temporary}, {"CR-091", 416, temporary},
        {"CR-091", 417, temporary}, {"CR-091", 501, temporary}, {"CR-091", 502, temporary},
        {"CR-091", 503, temporary}, {"CR-091", 504, temporary}, {"CR-093", 500, temporary},
    };
    std::set<int> listed;
    for (const view_row& row : table) {
        SCOPED_TRACE(row.status);
        VERIFIES_ROW(row.id);
        listed.insert(row.status);
        EXPECT_EQ(classify_view(row.status, "").reason, row.reason);
    }
    EXPECT_EQ(listed.size(), 16u);
    for (int status = 0; status <= 700; ++status)
        EXPECT_EQ(classify_view(status, "").reason.has_value(), listed.contains(status)) << status;
    EXPECT_EQ(std::size(views_temporary_failures), 14u);
}

// As a server wrote it: the line was broken inside of the text, and padded.
constexpr std::string_view broken_line =
    R"({"error": "not_found", "reason": "Error opening view `v`, from set `s`, design document)"
    R"( `_design/d`: {not_found,\n                                        missing_named_view}"})";

TEST(classify_view, status_404_is_retried_while_the_design_document_is_missing)
{
    VERIFIES("CR-092");
    struct row { const char* body; bool again; };
    const row table[] = {
        {R"({"error":"not_found","reason":"missing"})", true},
        {R"({"error": "not_found", "reason": "missing"})", true},
        {"{\"error\" :\n  \"not_found\",\n  \"reason\" :\n\t\"missing\"\r\n}", true},
        {R"({"error":"not_found","reason":"deleted"})", false},
        {R"({"error":"not_found","reason":"missing_named_view"})", false},
        {R"({"error":"missing","reason":"x"})", false},
        {R"({"reason":"mis sing"})", false},
        {"", false},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.body);
        const classification meant = classify_view(404, r.body);
        EXPECT_EQ(meant.reason.has_value(), r.again);
        EXPECT_EQ(meant.code, errc::view_not_found);
    }
    EXPECT_EQ(classify_view(404, table[0].body).reason, retry_reason::views_temporary_failure);
    EXPECT_FALSE(classify_view(404, broken_line).reason);
    EXPECT_FALSE(classify_view(405, table[0].body).reason);
}

TEST(classify_view, status_500_is_retried_unless_the_view_is_missing)
{
    VERIFIES("CR-093");
    struct row { std::string_view body; bool again; };
    const row table[] = {
        {"", true},
        {R"({"error":"internal","reason":"timeout"})", true},
        {R"({"error":"x","reason":"{not_found, missing_named_view}"})", false},
        {R"({"error":"x","reason":"{not_found,missing_named_view}"})", false},
        {R"({"error":"x","reason":"{ not_found,\t\r\n missing_named_view }"})", false},
        {broken_line, false},
        {R"({"problem":"{not_found, missing_named_view}"})", true},
        {R"({"error":"missing_named_view"})", true},
        {R"({"error":"{not_found, missing_named_views}"})", true},
        {R"({"error":"{not_found missing_named_view}"})", true},
        {R"({"error":"badarg"})", false},
        {R"({"error":"x badarg x"})", true},
        {R"({"problem":"badarg"})", true},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.body);
        const classification meant = classify_view(500, r.body);
        EXPECT_EQ(meant.reason.has_value(), r.again);
        EXPECT_EQ(meant.code, errc::internal_server_failure);
    }
    EXPECT_TRUE(classify_view(503, R"({"error":"badarg"})").reason);  // a rule for 500 alone
}

TEST(classify_management, no_status_is_retried)
{
    for (int status = 300; status < 600; ++status)
        EXPECT_FALSE(classify_management(status, "body").reason);
    EXPECT_EQ(classify_management(401, "").code, errc::authentication_failure);
    EXPECT_EQ(classify_management(429, "").code, errc::rate_limited);
    EXPECT_EQ(classify_management(500, "").code, errc::internal_server_failure);
    EXPECT_EQ(classify_management(404, "gone").message, "HTTP status 404: gone");
    EXPECT_EQ(classify_management(404, "").message, "HTTP status 404");
    EXPECT_EQ(classify_management(404, std::string(9999, 'x')).message.size(), 17u + 200u);
}

TEST(text_match, contains_tokens_allows_white_space_between_them)
{
    const std::string_view ab[] = {"a", "b"};
    for (const char* text : {"ab", "a b", "xa \t\r\n bx", R"(a\n\r\tb)", "aab", "a ab", "a\\n b"})
        EXPECT_TRUE(contains_tokens(text, ab)) << text;
    for (const char* text : {"", "a", "b", "ba", "a,b", R"(a\xb)", R"(a\)", R"(a\\b)"})
        EXPECT_FALSE(contains_tokens(text, ab)) << text;
    EXPECT_TRUE(contains_tokens("anything", {}));
}

TEST(text_match, contains_ignoring_case_ignores_ascii_case_only)
{
    EXPECT_TRUE(contains_ignoring_case("A KeySpace", "keyspace"));
    EXPECT_TRUE(contains_ignoring_case("keyspace", "keyspace"));
    EXPECT_TRUE(contains_ignoring_case("AZ", "az"));
    EXPECT_FALSE(contains_ignoring_case("@[", "`{"));
    EXPECT_FALSE(contains_ignoring_case("keyspac", "keyspace"));
    EXPECT_FALSE(contains_ignoring_case("", "keyspace"));
    EXPECT_TRUE(contains_ignoring_case("", ""));
}

}  // namespace
}  // namespace holdfast::core::couchbase::classify_http_test
