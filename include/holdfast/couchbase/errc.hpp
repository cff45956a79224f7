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
    index_exists = 18,
    encoding_failure = 19,
    decoding_failure = 20,
    rate_limited = 21,
    quota_limited = 22,

    document_not_found = 101,
    document_irretrievable = 102,  // no copy could be read
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
    xattr_unknown_macro = 124,
    xattr_invalid_key_combo = 126,
    xattr_unknown_virtual_attribute = 127,
    xattr_cannot_modify_virtual_attribute = 128,
    xattr_no_access = 130,
    document_not_locked = 131,
    cannot_revive_living_document = 132,
    mutation_token_outdated = 133,

    planning_failure = 201,
    index_failure = 202,
    prepared_statement_failure = 203,
    dml_failure = 204,

    compilation_failure = 301,
    job_queue_full = 302,
    dataset_not_found = 303,
    dataverse_not_found = 304,
    dataset_exists = 305,
    dataverse_exists = 306,
    link_not_found = 307,
    link_exists = 308,

    index_not_ready = 401,
    consistency_mismatch = 402,

    view_not_found = 501,
    design_document_not_found = 502,

    collection_exists = 601,
    scope_exists = 602,
    user_not_found = 603,
    bucket_exists = 605,
    bucket_not_flushable = 607,

    generic_failure = 1000,  // where other SDKs throw their plain CouchbaseException
    retry_strategy_failure = 1001,  // a user's strategy threw, or never answered
    closed = 1002,                  // the cluster was closed
    unknown_host = 1003,            // no seed has an address
};

const boost::system::error_category& category() noexcept;

inline error_code make_error_code(errc e) noexcept
{
    return {static_cast<int>(e), category()};
}

}  // namespace holdfast::couchbase

template <>
struct boost::system::is_error_code_enum<holdfast::couchbase::errc> : std::true_type {};
