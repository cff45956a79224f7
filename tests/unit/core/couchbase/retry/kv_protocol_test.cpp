#include "core/couchbase/retry/kv_protocol.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::couchbase {
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
        {kv_opcode::append, 0x0e},
        {kv_opcode::prepend, 0x0f},
        {kv_opcode::touch, 0x1c},
        {kv_opcode::get_and_touch, 0x1d},
        {kv_opcode::dcp_first, 0x50},
        {kv_opcode::dcp_last, 0x6f},
        {kv_opcode::get_replica, 0x83},
        {kv_opcode::observe_seqno, 0x91},
        {kv_opcode::observe_cas, 0x92},
        {kv_opcode::get_and_lock, 0x94},
        {kv_opcode::unlock, 0x95},
        {kv_opcode::get_meta, 0xa0},
        {kv_opcode::get_cluster_config, 0xb5},
        {kv_opcode::get_collections_manifest, 0xba},
        {kv_opcode::get_collection_id, 0xbb},
        {kv_opcode::subdoc_get, 0xc5},
        {kv_opcode::subdoc_exists, 0xc6},
        {kv_opcode::subdoc_upsert, 0xc8},
        {kv_opcode::subdoc_multi_lookup, 0xd0},
        {kv_opcode::subdoc_multi_mutation, 0xd1},
        {kv_opcode::subdoc_get_count, 0xd2},
    };
    for (const row& r : table)
        EXPECT_EQ(static_cast<int>(r.command), r.number);
}

}  // namespace
}  // namespace holdfast::core::couchbase
