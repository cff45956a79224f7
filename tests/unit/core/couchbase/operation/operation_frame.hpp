#pragma once
#include "core/couchbase/operation/kv_order.hpp"
#include "core/couchbase/wire/frame_writer.hpp"
#include "support/octets.hpp"

#include <string_view>

namespace holdfast::core::couchbase {

/// The request of an order as it would be sent to vbucket 0x0102 of the default collection, with
/// the opaque 0x0a0b0c0d.
inline proof::octets frame_of(const kv_order& order)
{
    bson::byte_buffer out;
    const auto start = write_request(out, {.opcode = order.opcode,
                                           .opaque = 0x0a0b0c0d,
                                           .vbucket = 0x0102,
                                           .cas = order.cas,
                                           .datatype = order.datatype,
                                           .infos = order.infos,
                                           .extras = order.extras.bytes(),
                                           .collection = default_collection,
                                           .key = order.key,
                                           .value = order.value.bytes()});
    return start ? proof::copy_of(out.bytes()) : proof::octets{};
}

inline bson::byte_buffer buffer_of(std::string_view text)
{
    bson::byte_buffer buffer;
    text.copy(reinterpret_cast<char*>(buffer.grow(text.size())), text.size());
    return buffer;
}

}  // namespace holdfast::core::couchbase
