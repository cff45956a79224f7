// Failures of statements: the query service and analytics.
#include "core/couchbase/retry/classify_http.hpp"
#include "support/verifies.hpp"

namespace holdfast::core::couchbase::classify_statement_test {
namespace {

std::string body_with(std::int64_t code, std::string_view message = "text")
{
    return R"({"requestID": "r", "errors": [{"code": )" + std::to_string(code) + R"(, "msg": ")" +
           std::string{message} + R"("}], "status": "fatal"})";
}

using enum retry_reason;

struct code_row {
    const char* id;
    std::int64_t code;
    std::optional<retry_reason> reason;
    errc error;
};

constexpr code_row query_codes[] = {
    {"CR-086", 4040, query_prepared_statement_failure, errc::prepared_statement_failure},
    {"CR-086", 4050, query_prepared_statement_failure, errc::prepared_statement_failure},
    {"CR-086", 4070, query_prepared_statement_failure, errc::prepared_statement_failure},
    {"CR-086", 4041, std::nullopt, errc::planning_failure},
    {"CR-086", 4060, std::nullopt, errc::prepared_statement_failure},
    {"CR-086", 4080, std::nullopt, errc::prepared_statement_failure},
    {"CR-086", 4090, std::nullopt, errc::prepared_statement_failure},
    {"CR-087", 5000, std::nullopt, errc::internal_server_failure},
    // The neighbours of single codes.
    {"CR-080", 4039, std::nullopt, errc::planning_failure},
    {"CR-080", 4049, std::nullopt, errc::planning_failure},
    {"CR-080", 4051, std::nullopt, errc::planning_failure},
    {"CR-080", 4059, std::nullopt, errc::planning_failure},
    {"CR-080", 4061, std::nullopt, errc::planning_failure},
    {"CR-080", 4069, std::nullopt, errc::planning_failure},
    {"CR-080", 4071, std::nullopt, errc::planning_failure},
    {"CR-080", 4079, std::nullopt, errc::planning_failure},
    {"CR-080", 4081, std::nullopt, errc::planning_failure},
    {"CR-080", 4089, std::nullopt, errc::planning_failure},
    {"CR-080", 4091, std::nullopt, errc::planning_failure},
    {"CR-080", 4299, std::nullopt, errc::planning_failure},
    {"CR-080", 4300, std::nullopt, errc::index_exists},
    {"CR-080", 4301, std::nullopt, errc::planning_failure},
    {"CR-080", 1064, std::nullopt, errc::generic_failure},
    {"CR-080", 1065, std::nullopt, errc::invalid_argument},
    {"CR-080", 1066, std::nullopt, errc::generic_failure},
    {"CR-080", 1080, std::nullopt, errc::ambiguous_timeout},
    {"CR-080", 2119, std::nullopt, errc::generic_failure},
    {"CR-080", 2120, std::nullopt, errc::authentication_failure},
    {"CR-080", 2121, std::nullopt, errc::generic_failure},
    {"CR-080", 12003, std::nullopt, errc::index_failure},
    {"CR-080", 12005, std::nullopt, errc::index_failure},
    {"CR-080", 12008, std::nullopt, errc::index_failure},
    {"CR-080", 12010, std::nullopt, errc::index_failure},
    {"CR-080", 12015, std::nullopt, errc::index_failure},
    {"CR-080", 12017, std::nullopt, errc::index_failure},
    {"CR-080", 13013, std::nullopt, errc::generic_failure},
    {"CR-080", 13015, std::nullopt, errc::generic_failure},
    {"CR-080", 1190, std::nullopt, errc::generic_failure},
    {"CR-080", 1191, std::nullopt, errc::rate_limited},
    {"CR-080", 1194, std::nullopt, errc::rate_limited},
    {"CR-080", 1195, std::nullopt, errc::generic_failure},
    {"CR-080", 2999, std::nullopt, errc::generic_failure},
    {"CR-080", 3000, std::nullopt, errc::parsing_failure},
    {"CR-080", 3999, std::nullopt, errc::parsing_failure},
    {"CR-080", 4000, std::nullopt, errc::planning_failure},
    {"CR-080", 4999, std::nullopt, errc::planning_failure},
    {"CR-080", 5999, std::nullopt, errc::internal_server_failure},
    {"CR-080", 6000, std::nullopt, errc::generic_failure},
    {"CR-080", 9999, std::nullopt, errc::generic_failure},
    {"CR-080", 10000, std::nullopt, errc::authentication_failure},
    {"CR-080", 10999, std::nullopt, errc::authentication_failure},
    {"CR-080", 11000, std::nullopt, errc::generic_failure},
    {"CR-080", 12000, std::nullopt, errc::index_failure},
    {"CR-080", 12004, std::nullopt, errc::index_not_found},
    {"CR-080", 12009, std::nullopt, errc::dml_failure},
    {"CR-080", 12016, std::nullopt, errc::index_not_found},
    {"CR-080", 12999, std::nullopt, errc::index_failure},
    {"CR-080", 13000, std::nullopt, errc::generic_failure},
    {"CR-080", 13014, std::nullopt, errc::authentication_failure},
    {"CR-080", 14000, std::nullopt, errc::index_failure},
    {"CR-080", 14999, std::nullopt, errc::index_failure},
    {"CR-080", 15000, std::nullopt, errc::generic_failure},
    {"CR-080", -1, std::nullopt, errc::generic_failure},
};

TEST(classify_query, every_error_code_has_its_retry_reason)
{
    for (const code_row& row : query_codes) {
        SCOPED_TRACE(row.code);
        VERIFIES_ROW(row.id);
        const classification meant = classify_query(body_with(row.code));
        EXPECT_EQ(meant.reason, row.reason);
        EXPECT_EQ(meant.code, row.error);
        EXPECT_EQ(meant.message, "code " + std::to_string(row.code) + ": text");
    }
    EXPECT_EQ(std::size(query_retry_rules), 3u);
}

TEST(classify_query, code_5000_with_index_not_found_text_is_retried)
{
    VERIFIES("CR-087");
    const auto body = body_with(5000, R"(Internal Error- \"queryport.indexNotFound\")");
    EXPECT_EQ(classify_query(body).reason, retry_reason::query_index_not_found);
    EXPECT_EQ(classify_query(body).code, errc::index_not_found);
    EXPECT_EQ(classify_query(body, {.prepared_failures = 99}).reason,
              retry_reason::query_index_not_found);
    EXPECT_FALSE(classify_query(body_with(5001, "queryport.indexNotFound")).reason);
    EXPECT_FALSE(classify_query(body_with(5000, "queryport.indexnotfound")).reason);
}

TEST(classify_query, code_4040_for_a_missing_keyspace_is_not_retried)
{
    const classification meant = classify_query(body_with(4040, "Keyspace weets does not exist"));
    EXPECT_FALSE(meant.reason);
    EXPECT_EQ(meant.code, errc::planning_failure);
    EXPECT_TRUE(classify_query(body_with(4040, "No such prepared statement: keyspace")).reason);
    EXPECT_TRUE(classify_query(body_with(4050, "Keyspace gone")).reason);
    EXPECT_TRUE(classify_query(R"({"errors": [{"code": 4040}]})").reason);
}

TEST(classify_query, code_4050_is_retried_at_most_four_times)
{
    for (std::uint32_t failures = 0; failures <= 3; ++failures)
        EXPECT_TRUE(classify_query(body_with(4050), {.prepared_failures = failures}).reason);
    EXPECT_FALSE(classify_query(body_with(4050), {.prepared_failures = 4}).reason);
    EXPECT_FALSE(classify_query(body_with(4050), {.prepared_failures = 0xffff'ffff}).reason);
}

TEST(classify_query, error_that_the_service_marks_for_a_retry_is_retried)
{
    VERIFIES("CR-057");
    const auto marked = [](int code, std::string_view mark, std::string_view text = "text") {
        return R"({"errors": [{"code": )" + std::to_string(code) + R"(, "msg": ")" +
               std::string{text} + R"(", "retry": )" + std::string{mark} + "}]}";
    };
    constexpr auto indicated = retry_reason::service_response_code_indicated;
    EXPECT_EQ(classify_query(marked(99999, "true")).reason, indicated);
    EXPECT_EQ(classify_query(marked(12009, "true")).reason, indicated);
    EXPECT_FALSE(classify_query(marked(99999, "false")).reason);
    EXPECT_FALSE(classify_query(marked(99999, "\"true\"")).reason);
    EXPECT_FALSE(classify_query(marked(99999, "1")).reason);
    // An index that does not exist is marked as well.
    EXPECT_FALSE(classify_query(marked(12016, "true")).reason);
    EXPECT_EQ(classify_query(marked(12017, "true")).reason, indicated);
    // What has a reason of its own keeps it, and a keyspace may come back.
    EXPECT_EQ(classify_query(marked(4050, "true")).reason,
              retry_reason::query_prepared_statement_failure);
    EXPECT_EQ(classify_query(marked(4040, "true", "Keyspace x does not exist")).reason, indicated);
    EXPECT_FALSE(classify_analytics(marked(99999, "true")).reason);
}

TEST(classify_query, failed_change_has_the_error_of_its_cause)
{
    struct row { std::string_view error; errc expected; };
    const row table[] = {
        {R"({"code":12009,"msg":"x","reason":{"code":12033}})", errc::cas_mismatch},
        {R"({"code":12009,"msg":"x","reason":{"code":17012}})", errc::document_exists},
        {R"({"code":12009,"msg":"x","reason":{"code":17014}})", errc::document_not_found},
        {R"({"code":12009,"msg":"x","reason":{"code":17013}})", errc::dml_failure},
        {R"({"code":12009,"msg":"x","reason":"17014"})", errc::dml_failure},
        {R"({"code":12009,"msg":"x","reason":{}})", errc::dml_failure},
        {R"({"code":12009,"msg":"... CAS mismatch ..."})", errc::cas_mismatch},
        {R"({"code":12010,"msg":"CAS mismatch","reason":{"code":12033}})", errc::index_failure},
        {R"({"code":5000,"msg":"GSI CreatePrimaryIndex() - Index #primary already exists."})",
         errc::index_exists},
        {R"({"code":5000,"msg":"GSI index by_name not found."})", errc::index_not_found},
        {R"({"code":5000,"msg":"Bucket already exists"})", errc::internal_server_failure},
        {R"({"code":5000,"msg":"Function not found"})", errc::internal_server_failure},
        {R"({"code":5000,"msg":"Limit for number of indexes that can be created per scope has )"
         R"(been reached. Limit : 5"})",
         errc::quota_limited},
        {R"({"code":5001,"msg":"index already exists"})", errc::internal_server_failure},
        {R"({"code":1065,"msg":"Unrecognized parameter in request: query_context"})",
         errc::feature_not_available},
        {R"({"code":1065,"msg":"Unrecognized parameter in request: preserve_expiry"})",
         errc::feature_not_available},
        {R"({"code":1065,"msg":"Unrecognized parameter in request: use_replica"})",
         errc::feature_not_available},
        {R"({"code":1065,"msg":"Unrecognized parameter in request: foo"})", errc::invalid_argument},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.error);
        const auto meant = classify_query(R"({"errors":[)" + std::string{r.error} + "]}");
        EXPECT_EQ(meant.code, r.expected);
        EXPECT_FALSE(meant.reason);
    }
}

TEST(classify_query, timeout_at_the_server_is_ambiguous_unless_the_statement_is_idempotent)
{
    const failed_statement idempotent{.idempotent = true};
    EXPECT_EQ(classify_query(body_with(1080)).code, errc::ambiguous_timeout);
    EXPECT_EQ(classify_query(body_with(1080), idempotent).code, errc::unambiguous_timeout);
    EXPECT_EQ(classify_analytics(body_with(21002)).code, errc::ambiguous_timeout);
    EXPECT_EQ(classify_analytics(body_with(21002), idempotent).code, errc::unambiguous_timeout);
    EXPECT_EQ(classify_query(body_with(21002), idempotent).code, errc::generic_failure);
    EXPECT_EQ(classify_analytics(body_with(1080), idempotent).code, errc::generic_failure);
}

TEST(classify_query, error_has_code_message_and_cause_of_the_service_as_context)
{
    const auto body = R"({"errors":[{"code":12009,"msg":"oh","reason":{"code":17014}}]})";
    const error made = classify_query(body).as_error();
    EXPECT_EQ(made.code(), errc::document_not_found);
    EXPECT_EQ(made.message(), "code 12009: oh");
    EXPECT_EQ(made.context("service_code"), "12009");
    EXPECT_EQ(made.context("service_message"), "oh");
    EXPECT_EQ(made.context("service_reason"), "17014");
    EXPECT_EQ(classify_analytics(body_with(24000)).as_error().context("service_code"), "24000");
    const auto long_text = classify_query(body_with(3000, std::string(9999, 'x')));
    EXPECT_LT(long_text.message.size(), 5000u);
}

TEST(classify_query, plan_beside_the_errors_may_be_nested_deeply)
{
    const std::string deep = std::string(80, '[') + std::string(80, ']');
    EXPECT_EQ(classify_query(R"({"profile":)" + deep + R"(,"errors":[{"code":3000}]})").code,
              errc::parsing_failure);
}

TEST(classify_query, only_the_first_error_decides)
{
    EXPECT_FALSE(classify_query(R"({"errors": [{"code": 1}, {"code": 4040}]})").reason);
    EXPECT_TRUE(classify_query(R"({"errors": [{"code": 4040}, {"code": 1}]})").reason);
}

TEST(classify_query, unparsable_body_is_not_retried)
{
    for (const std::string_view body :
         {"", "503 Service Unavailable", "{}", "[]", R"({"errors": {}})", R"({"errors": []})",
          R"({"errors": [4040]})", R"({"errors": [{"code": "4040"}]})",
          R"({"errors": [{"code": 4040.0}]})", R"({"errors": [{"code": 4040}])"})
        for (const classification& meant : {classify_query(body), classify_analytics(body)}) {
            SCOPED_TRACE(body);
            EXPECT_FALSE(meant.reason);
            EXPECT_EQ(meant.code, errc::decoding_failure);
            EXPECT_FALSE(meant.message.empty());
        }
}

constexpr code_row analytics_codes[] = {
    {"CR-088", 23000, analytics_temporary_failure, errc::temporary_failure},
    {"CR-088", 23003, analytics_temporary_failure, errc::temporary_failure},
    {"CR-088", 23007, analytics_temporary_failure, errc::job_queue_full},
    {"CR-088", 23001, std::nullopt, errc::generic_failure},
    {"CR-088", 22999, std::nullopt, errc::generic_failure},
    {"CR-088", 23002, std::nullopt, errc::generic_failure},
    {"CR-088", 23004, std::nullopt, errc::generic_failure},
    {"CR-088", 23006, std::nullopt, errc::generic_failure},
    {"CR-088", 23008, std::nullopt, errc::generic_failure},
    {"CR-080", 19999, std::nullopt, errc::generic_failure},
    {"CR-080", 20000, std::nullopt, errc::authentication_failure},
    {"CR-080", 20999, std::nullopt, errc::authentication_failure},
    {"CR-080", 21000, std::nullopt, errc::generic_failure},
    {"CR-080", 24000, std::nullopt, errc::parsing_failure},
    {"CR-080", 24001, std::nullopt, errc::compilation_failure},
    {"CR-080", 24005, std::nullopt, errc::compilation_failure},
    {"CR-080", 24006, std::nullopt, errc::link_not_found},
    {"CR-080", 24025, std::nullopt, errc::dataset_not_found},
    {"CR-080", 24034, std::nullopt, errc::dataverse_not_found},
    {"CR-080", 24039, std::nullopt, errc::dataverse_exists},
    {"CR-080", 24040, std::nullopt, errc::dataset_exists},
    {"CR-080", 24041, std::nullopt, errc::compilation_failure},
    {"CR-080", 24043, std::nullopt, errc::compilation_failure},
    {"CR-080", 24044, std::nullopt, errc::dataset_not_found},
    {"CR-080", 24045, std::nullopt, errc::dataset_not_found},
    {"CR-080", 24046, std::nullopt, errc::compilation_failure},
    {"CR-080", 24047, std::nullopt, errc::index_not_found},
    {"CR-080", 24048, std::nullopt, errc::index_exists},
    {"CR-080", 24055, std::nullopt, errc::link_exists},
    {"CR-080", 21002, std::nullopt, errc::ambiguous_timeout},
    {"CR-080", 21001, std::nullopt, errc::generic_failure},
    {"CR-080", 24999, std::nullopt, errc::compilation_failure},
    {"CR-080", 25000, std::nullopt, errc::internal_server_failure},
    {"CR-080", 25999, std::nullopt, errc::internal_server_failure},
    {"CR-080", 26000, std::nullopt, errc::generic_failure},
    {"CR-080", 4040, std::nullopt, errc::generic_failure},
};

TEST(classify_analytics, every_error_code_has_its_retry_reason)
{
    for (const code_row& row : analytics_codes) {
        SCOPED_TRACE(row.code);
        VERIFIES_ROW(row.id);
        const classification meant = classify_analytics(body_with(row.code));
        EXPECT_EQ(meant.reason, row.reason);
        EXPECT_EQ(meant.code, row.error);
    }
    EXPECT_EQ(std::size(analytics_retry_rules), 3u);
}

}  // namespace
}  // namespace holdfast::core::couchbase::classify_statement_test
