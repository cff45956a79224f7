#pragma once
#include "holdfast/bson/byte_buffer.hpp"
#include "lab/couchbase/kv/exchange.hpp"
#include "runtime/world.hpp"

#include <cstdint>

namespace holdfast::lab::couchbase {

/// What a reply answers.
struct reply_address {
    kv_opcode opcode = kv_opcode::noop;
    std::uint32_t opaque = 0;
    time_point arrived = {};
};

/// Appends the frames of a reply, in the form that the client has agreed to.
void write_reply(bson::byte_buffer& out, const kv_client& client, const reply_address& to,
                 const kv_reply& reply, time_point now);

/// Breaks the frame that begins there.
void damage_frame(bson::byte_buffer& out, std::size_t begin, frame_damage what);

/// Announces the node's configuration to a client, as the node's push policy has it.
void write_notifications(const node& on, kv_client& client, bson::byte_buffer& out,
                         std::uint32_t opaque);

}  // namespace holdfast::lab::couchbase
