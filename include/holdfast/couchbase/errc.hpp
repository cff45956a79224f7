#pragma once
#include "holdfast/error.hpp"

#include <type_traits>

namespace holdfast::couchbase {

/// Errors of a Couchbase request. Names and numbers are those that all Couchbase SDKs
/// share (their RFC 0058), so that what was learnt with one of them, or stands in a runbook, is
/// true here too. The numbers from 1000 on are ours.
enum class errc {
    request_canceled = 2,  // sent, or about to be, and will not be tried again
    invalid_argument = 3,
    service_not_available = 4,
    internal_server_failure = 5,
    authentication_failure = 6,
    temporary_failure = 7,
    parsing_failure = 8,
    cas_mismatch = 9,
    bucket_not_found = 10,
    collection_not_found = 11,
    unsupported_operation = 12,
    ambiguous_timeout = 13,  // a mutation was sent and its outcome is unknown
    unambiguous_timeout = 14,  // nothing was changed
    feature_not_available = 15,
    scope_not_found = 16,
    index_not_found = 17,
    decoding_failure = 20,
    rate_limited = 21,
    quota_limited = 22,

    document_not_found = 101,
    document_locked = 103,
    value_too_large = 104,
    document_exists = 105,
    durability_level_not_available = 107,
    durability_impossible = 108,
    durability_ambiguous = 109,
    durable_write_in_progress = 110,
    durable_write_re_commit_in_progress = 111,
    path_not_found = 113,
    path_mismatch = 114,
    path_invalid = 115,
    path_too_big = 116,
    path_too_deep = 117,
    value_too_deep = 118,
    value_invalid = 119,
    document_not_json = 120,
    number_too_big = 121,
    delta_invalid = 122,
    path_exists = 123,
    document_not_locked = 131,

    planning_failure = 201,
    index_failure = 202,
    prepared_statement_failure = 203,
    dml_failure = 204,

    compilation_failure = 301,
    job_queue_full = 302,

    view_not_found = 501,

    generic_failure = 1000,  // where other SDKs throw their plain CouchbaseException
    retry_strategy_failure = 1001,  // a user's strategy threw, or never answered
};

const boost::system::error_category& category() noexcept;

inline error_code make_error_code(errc e) noexcept
{
    return {static_cast<int>(e), category()};
}

}  // namespace holdfast::couchbase

template <>
struct boost::system::is_error_code_enum<holdfast::couchbase::errc> : std::true_type {};
