#pragma once
#include <cstdint>

namespace holdfast::core::couchbase {

/// The commands of the memcached protocol that the retry rules speak of. Any byte is a value of it.
enum class kv_opcode : std::uint8_t {
    get = 0x00,
    upsert = 0x01,
    insert = 0x02,
    replace = 0x03,
    remove = 0x04,
    increment = 0x05,
    decrement = 0x06,
    noop = 0x0a,
    append = 0x0e,
    prepend = 0x0f,
    touch = 0x1c,
    get_and_touch = 0x1d,
    dcp_first = 0x50,
    dcp_last = 0x6f,
    get_replica = 0x83,
    observe_seqno = 0x91,
    observe_cas = 0x92,
    get_and_lock = 0x94,
    unlock = 0x95,
    get_meta = 0xa0,
    get_cluster_config = 0xb5,  // carrier config; without a bucket, global config
    get_collections_manifest = 0xba,
    get_collection_id = 0xbb,
    subdoc_get = 0xc5,
    subdoc_exists = 0xc6,
    subdoc_upsert = 0xc8,
    subdoc_multi_lookup = 0xd0,
    subdoc_multi_mutation = 0xd1,
    subdoc_get_count = 0xd2,
};

/// The block of numbers that the protocol keeps for DCP.
constexpr bool is_dcp(kv_opcode command) noexcept
{
    return command >= kv_opcode::dcp_first && command <= kv_opcode::dcp_last;
}

/// The statuses that this library knows by name. Any sixteen bits are a value of it.
enum class kv_status : std::uint16_t {
    success = 0x00,
    not_found = 0x01,
    exists = 0x02,
    too_big = 0x03,
    invalid = 0x04,
    not_stored = 0x05,
    delta_bad_value = 0x06,
    not_my_vbucket = 0x07,
    no_bucket = 0x08,
    locked = 0x09,
    not_locked = 0x0e,
    auth_stale = 0x1f,
    auth_error = 0x20,
    auth_continue = 0x21,
    range_error = 0x22,
    no_access = 0x24,
    not_initialized = 0x25,
    rate_limited_ingress = 0x30,
    rate_limited_egress = 0x31,
    rate_limited_connections = 0x32,
    rate_limited_commands = 0x33,
    scope_size_limit = 0x34,
    unknown_frame_info = 0x80,
    unknown_command = 0x81,
    out_of_memory = 0x82,
    not_supported = 0x83,
    internal = 0x84,
    busy = 0x85,
    temporary_failure = 0x86,
    xattr_invalid = 0x87,
    unknown_collection = 0x88,
    unknown_scope = 0x8c,
    durability_invalid_level = 0xa0,
    durability_impossible = 0xa1,
    sync_write_in_progress = 0xa2,
    sync_write_ambiguous = 0xa3,
    sync_write_re_commit_in_progress = 0xa4,
    subdoc_path_not_found = 0xc0,
    subdoc_path_mismatch = 0xc1,
    subdoc_path_invalid = 0xc2,
    subdoc_path_too_big = 0xc3,
    subdoc_doc_too_deep = 0xc4,
    subdoc_cannot_insert = 0xc5,
    subdoc_not_json = 0xc6,
    subdoc_number_range = 0xc7,
    subdoc_delta_invalid = 0xc8,
    subdoc_path_exists = 0xc9,
    subdoc_value_too_deep = 0xca,
    subdoc_invalid_combination = 0xcb,
    subdoc_multi_path_failure = 0xcc,
    subdoc_success_deleted = 0xcd,
    subdoc_multi_path_failure_deleted = 0xd3,
};

}  // namespace holdfast::core::couchbase
