#pragma once
#include "holdfast/error.hpp"

#include <string>
#include <string_view>

namespace holdfast::lab {

/// The numbers that a MongoDB server answers with, as far as the lab uses them by name.
enum class server_code : int {
    internal_error = 1,
    bad_value = 2,
    no_such_key = 4,
    host_unreachable = 6,
    unknown_error = 8,
    failed_to_parse = 9,
    unauthorized = 13,
    type_mismatch = 14,
    overflow = 15,
    invalid_length = 16,
    protocol_error = 17,
    authentication_failed = 18,
    illegal_operation = 20,
    namespace_not_found = 26,
    index_not_found = 27,
    path_not_viable = 28,
    roles_not_related = 32,
    conflicting_update_operators = 40,
    cursor_not_found = 43,
    namespace_exists = 48,
    max_time_ms_expired = 50,
    user_already_exists = 51003,
    dollar_prefixed_field_name = 52,
    invalid_id_field = 53,
    empty_field_name = 56,
    dotted_field_name = 57,
    command_not_found = 59,
    write_concern_failed = 64,
    multiple_errors_occurred = 65,
    immutable_field = 66,
    cannot_create_index = 67,
    index_already_exists = 68,
    invalid_options = 72,
    invalid_namespace = 73,
    node_not_found = 74,
    write_concern_timeout = 75,
    unknown_repl_write_concern = 79,
    index_options_conflict = 85,
    index_key_specs_conflict = 86,
    network_timeout = 89,
    shutdown_in_progress = 91,
    operation_failed = 96,
    unsatisfiable_write_concern = 100,
    cursor_in_use = 143,
    command_not_supported_on_view = 166,
    document_validation_failure = 121,
    read_concern_majority_not_enabled = 148,
    incomplete_transaction_history = 217,
    transaction_too_old = 225,
    no_such_transaction = 251,
    transaction_committed = 256,
    operation_not_supported_in_transaction = 263,
    exceeded_time_limit = 262,
    command_not_supported = 115,
    command_failed = 125,
    not_a_replica_set = 76,
    primary_stepped_down = 189,
    snapshot_unavailable = 246,
    invalid_resume_token = 260,
    change_stream_fatal_error = 280,
    query_exceeded_memory_limit = 292,
    unrecognized_expression = 168,
    api_version_error = 322,
    api_strict_error = 323,
    api_deprecation_error = 324,
    mechanism_unavailable = 334,
    cannot_convert_index_to_unique = 359,
    ingress_request_rate_limit_exceeded = 462,
    not_writable_primary = 10107,
    bson_object_too_large = 10334,
    duplicate_key = 11000,
    interrupted_at_shutdown = 11600,
    interrupted = 11601,
    interrupted_due_to_repl_state_change = 11602,
    not_primary_no_secondary_ok = 13435,
    not_primary_or_secondary = 13436,
    undefined_variable = 17276,
    unknown_field = 40415,
    missing_field = 40414,
    unrecognized_stage = 40324,
};

/// "NotWritablePrimary", or "Location40324" for a number that has no name.
std::string code_name(int code);

/// The category of all errors that the lab answers with; an error's value is the number above.
const boost::system::error_category& server_category() noexcept;

/// The answer "no". `message` is what the client's user reads: MongoDB's own words where drivers or
/// people know them.
error refuse(server_code code, std::string message);
error refuse(int code, std::string message);

}  // namespace holdfast::lab
