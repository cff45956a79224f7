#include "core/couchbase/wire/kv_protocol.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::couchbase::kv_protocol_test {
namespace {

/// Servers know the numbers only, so each is written down a second time.
TEST(kv_opcode, values_match_the_protocol_numbers)
{
    struct row { kv_opcode command; int number; };
    const row table[] = {
        {kv_opcode::get, 0x00},
        {kv_opcode::upsert, 0x01},
        {kv_opcode::insert, 0x02},
        {kv_opcode::replace, 0x03},
        {kv_opcode::remove, 0x04},
        {kv_opcode::increment, 0x05},
        {kv_opcode::decrement, 0x06},
        {kv_opcode::noop, 0x0a},
        {kv_opcode::version, 0x0b},
        {kv_opcode::append, 0x0e},
        {kv_opcode::prepend, 0x0f},
        {kv_opcode::stat, 0x10},
        {kv_opcode::touch, 0x1c},
        {kv_opcode::get_and_touch, 0x1d},
        {kv_opcode::hello, 0x1f},
        {kv_opcode::sasl_list_mechanisms, 0x20},
        {kv_opcode::sasl_auth, 0x21},
        {kv_opcode::sasl_step, 0x22},
        {kv_opcode::dcp_first, 0x50},
        {kv_opcode::dcp_last, 0x6f},
        {kv_opcode::get_replica, 0x83},
        {kv_opcode::select_bucket, 0x89},
        {kv_opcode::observe_seqno, 0x91},
        {kv_opcode::observe_cas, 0x92},
        {kv_opcode::get_and_lock, 0x94},
        {kv_opcode::unlock, 0x95},
        {kv_opcode::get_meta, 0xa0},
        {kv_opcode::get_cluster_config, 0xb5},
        {kv_opcode::get_random_key, 0xb6},
        {kv_opcode::get_collections_manifest, 0xba},
        {kv_opcode::get_collection_id, 0xbb},
        {kv_opcode::get_scope_id, 0xbc},
        {kv_opcode::subdoc_get, 0xc5},
        {kv_opcode::subdoc_exists, 0xc6},
        {kv_opcode::subdoc_dict_add, 0xc7},
        {kv_opcode::subdoc_upsert, 0xc8},
        {kv_opcode::subdoc_delete, 0xc9},
        {kv_opcode::subdoc_replace, 0xca},
        {kv_opcode::subdoc_array_push_last, 0xcb},
        {kv_opcode::subdoc_array_push_first, 0xcc},
        {kv_opcode::subdoc_array_insert, 0xcd},
        {kv_opcode::subdoc_array_add_unique, 0xce},
        {kv_opcode::subdoc_counter, 0xcf},
        {kv_opcode::subdoc_multi_lookup, 0xd0},
        {kv_opcode::subdoc_multi_mutation, 0xd1},
        {kv_opcode::subdoc_get_count, 0xd2},
        {kv_opcode::subdoc_replace_body_with_xattr, 0xd3},
        {kv_opcode::range_scan_create, 0xda},
        {kv_opcode::range_scan_continue, 0xdb},
        {kv_opcode::range_scan_cancel, 0xdc},
        {kv_opcode::get_error_map, 0xfe},
    };
    for (const row& r : table)
        EXPECT_EQ(static_cast<int>(r.command), r.number);
    EXPECT_EQ(static_cast<int>(kv_server_opcode::clustermap_change_notification), 0x01);
}

TEST(kv_feature, values_match_the_protocol_numbers)
{
    struct row { kv_feature feature; int number; };
    const row table[] = {
        {kv_feature::tcp_nodelay, 0x03},
        {kv_feature::mutation_seqno, 0x04},
        {kv_feature::xattr, 0x06},
        {kv_feature::xerror, 0x07},
        {kv_feature::select_bucket, 0x08},
        {kv_feature::snappy, 0x0a},
        {kv_feature::json, 0x0b},
        {kv_feature::duplex, 0x0c},
        {kv_feature::clustermap_change_notification, 0x0d},
        {kv_feature::unordered_execution, 0x0e},
        {kv_feature::tracing, 0x0f},
        {kv_feature::alt_request, 0x10},
        {kv_feature::sync_replication, 0x11},
        {kv_feature::collections, 0x12},
        {kv_feature::snappy_everywhere, 0x13},
        {kv_feature::preserve_ttl, 0x14},
        {kv_feature::vattr, 0x15},
        {kv_feature::create_as_deleted, 0x17},
        {kv_feature::subdoc_document_macro_support, 0x18},
        {kv_feature::subdoc_replace_body_with_xattr, 0x19},
        {kv_feature::report_unit_usage, 0x1a},
        {kv_feature::non_blocking_throttling, 0x1b},
        {kv_feature::subdoc_replica_read, 0x1c},
        {kv_feature::config_with_known_version, 0x1d},
        {kv_feature::dedupe_not_my_vbucket_clustermap, 0x1e},
        {kv_feature::clustermap_change_notification_brief, 0x1f},
        {kv_feature::multiple_xattr, 0x20},
        {kv_feature::binary_xattr, 0x21},
    };
    for (const row& r : table)
        EXPECT_EQ(static_cast<int>(r.feature), r.number);
}

TEST(kv_status, values_beyond_the_retry_rules_match_the_protocol_numbers)
{
    struct row { kv_status status; int number; };
    const row table[] = {
        {kv_status::would_throttle, 0x0c},
        {kv_status::config_only, 0x0d},
        {kv_status::cas_value_invalid, 0x0f},
        {kv_status::rollback, 0x23},
        {kv_status::bucket_size_limit, 0x35},
        {kv_status::bucket_resident_ratio_too_low, 0x36},
        {kv_status::bucket_data_size_too_big, 0x37},
        {kv_status::bucket_disk_space_too_low, 0x38},
        {kv_status::bucket_paused, 0x50},
        {kv_status::cancelled, 0x51},
        {kv_status::range_scan_cancelled, 0xa5},
        {kv_status::range_scan_more, 0xa6},
        {kv_status::range_scan_complete, 0xa7},
        {kv_status::vbucket_uuid_not_equal, 0xa8},
        {kv_status::subdoc_xattr_invalid_flag_combination, 0xce},
        {kv_status::subdoc_xattr_invalid_key_combination, 0xcf},
        {kv_status::subdoc_xattr_unknown_macro, 0xd0},
        {kv_status::subdoc_xattr_unknown_virtual_attribute, 0xd1},
        {kv_status::subdoc_xattr_cannot_modify_virtual_attribute, 0xd2},
        {kv_status::subdoc_xattr_invalid_order, 0xd4},
        {kv_status::subdoc_xattr_unknown_virtual_attribute_macro, 0xd5},
        {kv_status::subdoc_can_only_revive_deleted_documents, 0xd6},
        {kv_status::subdoc_deleted_document_cannot_have_value, 0xd7},
        {kv_status::subdoc_field_not_binary, 0xd8},
    };
    for (const row& r : table)
        EXPECT_EQ(static_cast<int>(r.status), r.number);
}

}  // namespace
}  // namespace holdfast::core::couchbase::kv_protocol_test
