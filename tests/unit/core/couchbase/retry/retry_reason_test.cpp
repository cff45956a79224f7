#include "holdfast/couchbase/retry_reason.hpp"

#include "core/couchbase/retry/orchestrator.hpp"
#include "support/verifies.hpp"

#include <set>
#include <string>

namespace holdfast::couchbase::retry_reason_test {
namespace {

struct reason_row {
    const char* id;
    retry_reason reason;
    const char* name;
    bool non_idempotent, always;
};

// The table of the RFC, typed a second time from its text.
constexpr reason_row reasons[] = {
    {"CR-048", retry_reason::unknown, "UNKNOWN", false, false},
    {"CR-049", retry_reason::socket_not_available, "SOCKET_NOT_AVAILABLE", true, false},
    {"CR-050", retry_reason::service_not_available, "SERVICE_NOT_AVAILABLE", true, false},
    {"CR-051", retry_reason::node_not_available, "NODE_NOT_AVAILABLE", true, false},
    {"CR-052", retry_reason::kv_not_my_vbucket, "KV_NOT_MY_VBUCKET", true, true},
    {"CR-053", retry_reason::kv_collection_outdated, "KV_COLLECTION_OUTDATED", true, true},
    {"CR-054", retry_reason::kv_error_map_retry_indicated, "KV_ERROR_MAP_RETRY_INDICATED", true,
     false},
    {"CR-058", retry_reason::kv_locked, "KV_LOCKED", true, false},
    {"CR-058", retry_reason::kv_temporary_failure, "KV_TEMPORARY_FAILURE", true, false},
    {"CR-058", retry_reason::kv_sync_write_in_progress, "KV_SYNC_WRITE_IN_PROGRESS", true, false},
    {"CR-058", retry_reason::kv_sync_write_re_commit_in_progress,
     "KV_SYNC_WRITE_RE_COMMIT_IN_PROGRESS", true, false},
    {"CR-057", retry_reason::service_response_code_indicated, "SERVICE_RESPONSE_CODE_INDICATED",
     true, false},
    {"CR-055", retry_reason::socket_closed_while_in_flight, "SOCKET_CLOSED_WHILE_IN_FLIGHT", false,
     false},
    {"CR-056", retry_reason::circuit_breaker_open, "CIRCUIT_BREAKER_OPEN", true, false},
    {"CR-058", retry_reason::query_prepared_statement_failure, "QUERY_PREPARED_STATEMENT_FAILURE",
     true, false},
    {"CR-058", retry_reason::query_index_not_found, "QUERY_INDEX_NOT_FOUND", true, false},
    {"CR-058", retry_reason::analytics_temporary_failure, "ANALYTICS_TEMPORARY_FAILURE", true,
     false},
    {"CR-058", retry_reason::search_too_many_requests, "SEARCH_TOO_MANY_REQUESTS", true, false},
    {"CR-058", retry_reason::views_temporary_failure, "VIEWS_TEMPORARY_FAILURE", true, false},
    {"CR-059", retry_reason::views_no_active_partition, "VIEWS_NO_ACTIVE_PARTITION", true, true},
    {"CR-060", retry_reason::authentication_error, "AUTHENTICATION_ERROR", true, false},
    {"CR-060", retry_reason::tls_error, "TLS_ERROR", true, false},
    {"CR-060", retry_reason::bucket_access_error, "BUCKET_ACCESS_ERROR", true, false},
    {"CR-060", retry_reason::scope_not_found, "SCOPE_NOT_FOUND", true, false},
    {"CR-060", retry_reason::collection_not_found, "COLLECTION_NOT_FOUND", true, false},
};

TEST(retry_reason, every_reason_has_its_name_and_both_flags)
{
    VERIFIES("CR-047");
    ASSERT_EQ(std::size(reasons), retry_reason_count);
    for (const reason_row& row : reasons) {
        SCOPED_TRACE(row.name);
        VERIFIES_ROW(row.id);
        EXPECT_EQ(name_of(row.reason), row.name);
        EXPECT_EQ(allows_non_idempotent_retry(row.reason), row.non_idempotent);
        EXPECT_EQ(always_retry(row.reason), row.always);
    }
}

TEST(retry_reason, out_of_range_value_is_unknown)
{
    for (const int number : {static_cast<int>(retry_reason_count), 200, 255}) {
        const auto odd = static_cast<retry_reason>(number);
        EXPECT_EQ(name_of(odd), "UNKNOWN");
        EXPECT_FALSE(allows_non_idempotent_retry(odd));
        EXPECT_FALSE(always_retry(odd));
    }
}

TEST(retry_reason, reason_set_keeps_each_once_in_insertion_order)
{
    VERIFIES("CR-013");
    retry_reason_set met;
    EXPECT_TRUE(met.empty());
    for (const retry_reason one : {retry_reason::kv_locked, retry_reason::kv_not_my_vbucket,
                                   retry_reason::kv_locked, retry_reason::kv_locked})
        met.insert(one);
    const std::vector<retry_reason> expected{retry_reason::kv_locked,
                                             retry_reason::kv_not_my_vbucket};
    EXPECT_EQ(std::vector(met.begin(), met.end()), expected);
    EXPECT_TRUE(met.contains(retry_reason::kv_locked));
    EXPECT_FALSE(met.contains(retry_reason::unknown));
    EXPECT_FALSE(met.empty());
}

TEST(retry_reason, reason_set_holds_all_reasons)
{
    retry_reason_set met;
    for (int number = 255; number >= 0; --number)
        met.insert(static_cast<retry_reason>(number));
    EXPECT_EQ(met.size(), retry_reason_count);
}

struct error_row { retry_reason reason; errc code; };

TEST(retry_reason, every_reason_maps_to_its_error_or_request_canceled)
{
    using enum retry_reason;
    const error_row named[] = {
        {service_not_available, errc::service_not_available},
        {kv_collection_outdated, errc::collection_not_found},
        {kv_locked, errc::document_locked},
        {kv_temporary_failure, errc::temporary_failure},
        {kv_sync_write_in_progress, errc::durable_write_in_progress},
        {kv_sync_write_re_commit_in_progress, errc::durable_write_re_commit_in_progress},
        {query_prepared_statement_failure, errc::prepared_statement_failure},
        {query_index_not_found, errc::index_not_found},
        {analytics_temporary_failure, errc::temporary_failure},
        {authentication_error, errc::authentication_failure},
        {tls_error, errc::generic_failure},
        {bucket_access_error, errc::generic_failure},
        {scope_not_found, errc::scope_not_found},
        {collection_not_found, errc::collection_not_found},
    };
    for (const reason_row& row : reasons) {
        SCOPED_TRACE(row.name);
        const auto found = std::ranges::find(named, row.reason, &error_row::reason);
        const errc expected = found == std::end(named) ? errc::request_canceled : found->code;
        const error why = core::couchbase::error_for(row.reason, "detail");
        EXPECT_EQ(why.code(), expected);
        EXPECT_EQ(why.message(), "detail");
    }
}

TEST(couchbase_errc, names_and_numbers_match_the_sdk_rfc)
{
    const std::pair<errc, int> shared[] = {
        {errc::request_canceled, 2},       {errc::authentication_failure, 6},
        {errc::temporary_failure, 7},      {errc::cas_mismatch, 9},
        {errc::collection_not_found, 11},  {errc::ambiguous_timeout, 13},
        {errc::unambiguous_timeout, 14},   {errc::scope_not_found, 16},
        {errc::document_locked, 103},      {errc::prepared_statement_failure, 203},
        {errc::index_exists, 18},          {errc::encoding_failure, 19},
        {errc::document_irretrievable, 102}, {errc::xattr_unknown_macro, 124},
        {errc::xattr_no_access, 130},      {errc::mutation_token_outdated, 133},
        {errc::link_exists, 308},          {errc::consistency_mismatch, 402},
        {errc::bucket_not_flushable, 607}, {errc::unknown_host, 1003},
    };
    for (const auto& [code, number] : shared)
        EXPECT_EQ(error_code{code}.value(), number);
    EXPECT_STREQ(category().name(), "couchbase");
    EXPECT_EQ(error_code{errc::document_locked}.message(), "the document is locked");
    EXPECT_EQ(category().message(1), "unknown failure");

    std::set<std::string> messages;
    for (int number = 2; number <= 1003; ++number) {
        const auto text = category().message(number);
        const bool is_new = text == "unknown failure" || messages.insert(text).second;
        EXPECT_TRUE(is_new) << text;
    }
    EXPECT_EQ(messages.size(), 75u);
}

}  // namespace
}  // namespace holdfast::couchbase::retry_reason_test
