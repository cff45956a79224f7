#pragma once
#include "core/couchbase/retry/classification.hpp"

#include <cstdint>
#include <string_view>

namespace holdfast::core::couchbase {

struct code_rule {
    std::int64_t code;
    retry_reason reason;
};

inline constexpr code_rule query_retry_rules[] = {
    {4040, retry_reason::query_prepared_statement_failure},
    {4050, retry_reason::query_prepared_statement_failure},
    {4070, retry_reason::query_prepared_statement_failure},
    // and 5000, if the message contains query_index_not_found_text
};
inline constexpr std::int64_t query_internal_error = 5000;
inline constexpr std::string_view query_index_not_found_text = "queryport.indexNotFound";
/// An error that the service itself marks with "retry":true is SERVICE_RESPONSE_CODE_INDICATED; but
/// this one carries the mark although the index does not exist.
inline constexpr std::int64_t query_retry_is_wrong = 12016;

inline constexpr code_rule analytics_retry_rules[] = {
    {23000, retry_reason::analytics_temporary_failure},
    {23003, retry_reason::analytics_temporary_failure},
    {23007, retry_reason::analytics_temporary_failure},
};

inline constexpr int search_too_many_requests = 429;

/// 302 stands in both lists of the RFC. It is the first one that means something.
inline constexpr int views_no_active_partition = 302;
inline constexpr int views_temporary_failures[] = {300, 301, 303, 307, 401, 408, 409,
                                                   412, 416, 417, 501, 502, 503, 504};

/// A node that keeps losing the plan of a statement must not keep us preparing for ever: after so
/// many failures of it have been answered by another preparation, the statement goes out as it is.
inline constexpr std::uint32_t max_prepared_failures = 3;

/// What is known of a statement that has failed.
struct failed_statement {
    /// It has failed so often with QUERY_PREPARED_STATEMENT_FAILURE before. Once it was sent
    /// unprepared as well, the same code says nothing about a plan, and ends it.
    std::uint32_t prepared_failures = 0;
    bool idempotent = false;  // it timed out at the server, and has changed nothing
};

/// The meaning of a failed answer, from its body; only the first error in it counts. A body that
/// cannot be read is errc::decoding_failure, and not retried.
classification classify_query(std::string_view body, const failed_statement& of = {});
classification classify_analytics(std::string_view body, const failed_statement& of = {});

/// For these two the HTTP status comes first.
classification classify_search(int status, std::string_view body);
classification classify_view(int status, std::string_view body);

/// A management answer is never retried.
classification classify_management(int status, std::string_view body);

}  // namespace holdfast::core::couchbase
