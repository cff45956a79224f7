#pragma once
#include "core/couchbase/wire/kv_protocol.hpp"

#include <array>
#include <cstdint>

namespace holdfast::core::couchbase {

// Nothing is idempotent unless it stands here. A request that was not considered when this was
// written is not repeated once it is on its way, which at worst is a pity.

/// Not here, although they read: get-and-touch and get-and-lock, which also change the document.
inline constexpr kv_opcode idempotent_kv_commands[] = {
    kv_opcode::get,
    kv_opcode::get_replica,
    kv_opcode::noop,
    kv_opcode::observe_cas,
    kv_opcode::observe_seqno,
    kv_opcode::get_cluster_config,
    kv_opcode::get_collections_manifest,
    kv_opcode::get_collection_id,
    kv_opcode::subdoc_get,
    kv_opcode::subdoc_exists,
    kv_opcode::subdoc_get_count,
    kv_opcode::subdoc_multi_lookup,
};

/// By opcode: asked for every request.
inline constexpr std::array<bool, 256> is_idempotent_kv_command = [] {
    std::array<bool, 256> is{};
    for (const kv_opcode command : idempotent_kv_commands)
        is[static_cast<std::uint8_t>(command)] = true;
    return is;
}();

constexpr bool is_idempotent(kv_opcode command) noexcept
{
    return is_idempotent_kv_command[static_cast<std::uint8_t>(command)];
}

}  // namespace holdfast::core::couchbase
