#pragma once
#include "holdfast/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::lab::couchbase::n1ql {

/// The numbers that the query service answers with, as far as the lab uses them by name.
enum class query_code : std::int32_t {
    read_only = 1000,
    unsupported_method = 1010,
    unrecognized_value = 1030,
    bad_value = 1040,
    missing_value = 1050,
    multiple_values = 1060,
    unrecognized_parameter = 1065,
    type_mismatch = 1070,
    timeout = 1080,
    client_id = 1110,
    media_type = 1120,
    bad_scan_vector = 1140,
    syntax = 3000,
    ambiguous_reference = 3080,
    no_index = 4000,
    no_such_prepared = 4040,
    unrecognized_prepared = 4050,
    prepared_decoding = 4070,
    prepared_mismatch = 4080,
    not_an_aggregate = 4210,
    index_exists = 4300,
    internal = 5000,
    evaluation = 5010,
    key_type = 5070,
    memory_quota = 5500,
    wrong_login = 10000,
    namespace_not_found = 12002,
    keyspace_not_found = 12003,
    primary_index_not_found = 12004,
    bulk_get = 12008,
    dml = 12009,
    index_not_found = 12016,
    bucket_not_found = 12020,
    scope_not_found = 12021,
    no_credentials = 13014,
};

/// What went wrong with a document, inside of query_code::dml.
enum class dml_reason : std::int32_t {
    none = 0,
    cas_mismatch = 12033,
    document_exists = 17012,
    document_not_found = 17014,
    document_locked = 17018,
};

/// An error whose code is that number.
error refuse(query_code code, std::string message);
error refuse(std::int32_t code, std::string message);
error refuse_change(dml_reason reason, std::string message);

/// The number of an error that refuse() has made; query_code::internal for all others.
std::int32_t code_of(const error& of) noexcept;
dml_reason reason_of(const error& of);
/// Whether servers call such an error one that may be tried again.
bool is_worth_a_retry(std::int32_t code) noexcept;

}  // namespace holdfast::lab::couchbase::n1ql
