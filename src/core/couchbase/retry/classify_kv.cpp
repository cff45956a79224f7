#include "core/couchbase/retry/classify_kv.hpp"

#include <algorithm>
#include <iterator>

namespace holdfast::core::couchbase {

namespace {

struct known_status {
    kv_status status;
    errc code;
    std::string_view name;
};

/// The error for a status that is not retried, or not any more.
constexpr known_status known_statuses[] = {
    {kv_status::not_found, errc::document_not_found, "document not found"},
    {kv_status::exists, errc::document_exists, "the document exists"},
    {kv_status::too_big, errc::value_too_large, "the value is too large"},
    {kv_status::invalid, errc::invalid_argument, "invalid request"},
    {kv_status::not_stored, errc::document_not_found, "not stored"},
    {kv_status::delta_bad_value, errc::delta_invalid, "not a number"},
    {kv_status::not_my_vbucket, errc::request_canceled, "not my vbucket"},
    {kv_status::no_bucket, errc::bucket_not_found, "no bucket selected"},
    {kv_status::locked, errc::document_locked, "the document is locked"},
    {kv_status::config_only, errc::request_canceled, "the bucket is not on this node"},
    {kv_status::not_locked, errc::document_not_locked, "the document is not locked"},
    {kv_status::auth_stale, errc::authentication_failure, "the authentication is stale"},
    {kv_status::auth_error, errc::authentication_failure, "authentication failed"},
    {kv_status::range_error, errc::invalid_argument, "out of range"},
    {kv_status::no_access, errc::authentication_failure, "no access"},
    {kv_status::not_initialized, errc::temporary_failure, "not initialized"},
    {kv_status::rate_limited_ingress, errc::rate_limited, "rate limit: network ingress"},
    {kv_status::rate_limited_egress, errc::rate_limited, "rate limit: network egress"},
    {kv_status::rate_limited_connections, errc::rate_limited, "rate limit: connections"},
    {kv_status::rate_limited_commands, errc::rate_limited, "rate limit: commands"},
    {kv_status::scope_size_limit, errc::quota_limited, "the scope is full"},
    {kv_status::unknown_frame_info, errc::invalid_argument, "unknown frame info"},
    {kv_status::unknown_command, errc::unsupported_operation, "unknown command"},
    {kv_status::out_of_memory, errc::temporary_failure, "out of memory"},
    {kv_status::not_supported, errc::unsupported_operation, "not supported"},
    {kv_status::internal, errc::internal_server_failure, "internal error"},
    {kv_status::busy, errc::temporary_failure, "busy"},
    {kv_status::temporary_failure, errc::temporary_failure, "temporary failure"},
    {kv_status::xattr_invalid, errc::invalid_argument, "invalid extended attribute"},
    {kv_status::unknown_collection, errc::collection_not_found, "unknown collection"},
    {kv_status::unknown_scope, errc::scope_not_found, "unknown scope"},
    {kv_status::durability_invalid_level, errc::durability_level_not_available,
     "invalid durability level"},
    {kv_status::durability_impossible, errc::durability_impossible, "durability impossible"},
    {kv_status::sync_write_in_progress, errc::durable_write_in_progress,
     "durable write in progress"},
    {kv_status::sync_write_ambiguous, errc::durability_ambiguous, "durable write ambiguous"},
    {kv_status::sync_write_re_commit_in_progress, errc::durable_write_re_commit_in_progress,
     "durable write is committed again"},
    {kv_status::subdoc_path_not_found, errc::path_not_found, "path not found"},
    {kv_status::subdoc_path_mismatch, errc::path_mismatch, "path mismatch"},
    {kv_status::subdoc_path_invalid, errc::path_invalid, "invalid path"},
    {kv_status::subdoc_path_too_big, errc::path_too_big, "path too big"},
    {kv_status::subdoc_doc_too_deep, errc::path_too_deep, "document too deep"},
    {kv_status::subdoc_cannot_insert, errc::value_invalid, "value cannot be inserted"},
    {kv_status::subdoc_not_json, errc::document_not_json, "document is not JSON"},
    {kv_status::subdoc_number_range, errc::number_too_big, "number out of range"},
    {kv_status::subdoc_delta_invalid, errc::delta_invalid, "invalid delta"},
    {kv_status::subdoc_path_exists, errc::path_exists, "path exists"},
    {kv_status::subdoc_value_too_deep, errc::value_too_deep, "value too deep"},
    {kv_status::subdoc_invalid_combination, errc::invalid_argument, "invalid combination"},
    {kv_status::subdoc_multi_path_failure, errc::generic_failure, "some paths failed"},
    {kv_status::subdoc_multi_path_failure_deleted, errc::generic_failure,
     "some paths of a deleted document failed"},
    {kv_status::subdoc_xattr_invalid_flag_combination, errc::invalid_argument,
     "flags of an extended attribute that exclude each other"},
    {kv_status::subdoc_xattr_invalid_key_combination, errc::xattr_invalid_key_combo,
     "more than one extended attribute"},
    {kv_status::subdoc_xattr_unknown_macro, errc::xattr_unknown_macro, "unknown macro"},
    {kv_status::subdoc_xattr_unknown_virtual_attribute, errc::xattr_unknown_virtual_attribute,
     "unknown virtual attribute"},
    {kv_status::subdoc_xattr_cannot_modify_virtual_attribute,
     errc::xattr_cannot_modify_virtual_attribute, "a virtual attribute cannot be changed"},
    {kv_status::subdoc_xattr_invalid_order, errc::invalid_argument,
     "paths of extended attributes must come first"},
    {kv_status::subdoc_xattr_unknown_virtual_attribute_macro, errc::xattr_unknown_macro,
     "unknown macro of a virtual attribute"},
    {kv_status::subdoc_can_only_revive_deleted_documents, errc::cannot_revive_living_document,
     "only a deleted document can be revived"},
    {kv_status::subdoc_deleted_document_cannot_have_value, errc::invalid_argument,
     "a deleted document cannot have a body"},
    {kv_status::subdoc_field_not_binary, errc::path_mismatch, "the attribute is not binary"},
};

const known_status* find_known(kv_status status)
{
    const auto row = std::ranges::find(known_statuses, status, &known_status::status);
    return row == std::end(known_statuses) ? nullptr : row;
}

std::string in_hex(kv_status status)
{
    constexpr char digits[] = "0123456789abcdef";
    const auto number = static_cast<unsigned>(status);
    std::string text = "0x";
    for (int shift = number > 0xff ? 12 : 4; shift >= 0; shift -= 4)
        text += digits[(number >> shift) & 0xf];
    return text;
}

classification from_map(kv_status status, const kv_error_map* map)
{
    const error_map_entry* const entry = map ? map->find(status) : nullptr;
    if (!entry)
        return {{}, errc::generic_failure, "unknown status " + in_hex(status)};
    classification found{{},
                         errc::generic_failure,
                         "status " + in_hex(status) + ", " + entry->name + ": " +
                             entry->description};
    found.fetch_config = entry->fetch_config;
    if (entry->indicates_retry())
        found.reason = retry_reason::kv_error_map_retry_indicated;
    return found;
}

/// Only an insert asks for a document that is not there; to all others "exists" means that it is
/// not the one they have seen. (An insert by sub-document mutation looks like any other one from
/// here, and is renamed by the operation.)
bool is_cas_mismatch(kv_opcode command, kv_status status)
{
    return (command != kv_opcode::insert && status == kv_status::exists) ||
           (command == kv_opcode::unlock && status == kv_status::locked);
}

bool asks_for_id(kv_opcode command)
{
    return command == kv_opcode::get_collection_id || command == kv_opcode::get_scope_id;
}

/// A CAS that no longer fits a lock, and a name that does not exist, are answers: to ask again
/// would only delay them. DCP has its own ways to go on.
bool is_excepted(kv_opcode command, kv_status status)
{
    return is_dcp(command) || (command == kv_opcode::unlock && status == kv_status::locked) ||
           (asks_for_id(command) &&
            (status == kv_status::unknown_collection || status == kv_status::unknown_scope));
}

}  // namespace

bool is_known(kv_status status)
{
    return status == kv_status::success || status == kv_status::auth_continue ||
           status == kv_status::subdoc_success_deleted || find_known(status);
}

classification classify_kv(kv_opcode command, kv_status status, const kv_error_map* map)
{
    if (!is_known(status)) {
        classification found = from_map(status, map);
        if (is_dcp(command))
            found.reason.reset();
        return found;
    }
    const known_status* const known = find_known(status);
    if (!known)
        return {};  // no failure at all
    classification found{
        {}, known->code, "status " + in_hex(status) + ": " + std::string{known->name}};
    found.fetch_config = status == kv_status::config_only;
    if (is_cas_mismatch(command, status))
        found.code = errc::cas_mismatch;
    if (is_excepted(command, status))
        return found;
    const auto rule = std::ranges::find(kv_retry_rules, status, &kv_retry_rule::status);
    if (rule != std::end(kv_retry_rules))
        found.reason = rule->reason;
    return found;
}

}  // namespace holdfast::core::couchbase
