#pragma once
#include "core/mongo/wire/compression.hpp"
#include "core/mongo/wire/frame_reader.hpp"
#include "core/mongo/wire/message.hpp"
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/error.hpp"

#include <optional>
#include <string_view>

namespace holdfast::lab::mongo {

/// A message as it arrived, unpacked.
struct incoming {
    core::mongo::message message = {};
    std::optional<core::mongo::wire_compressor> packed_with = {};
    bool legacy = false;  // OP_QUERY
    bool secondary_ok = false;  // said by a legacy message in its flags
    std::string_view database = {};  // of a legacy message: others say it in the body
};

/// Whatever a client may send. A compressed message is unpacked into `unpacked`; else all views go
/// into the frame. An error is no command at all, and the end of the connection.
result<incoming> read_incoming(const core::mongo::frame& from, bson::byte_buffer& unpacked);

/// Checks every element of all documents, so that no handler meets a malformed one, and the depth
/// and size of each. 22 InvalidBSON, 15 Overflow, 10334 BSONObjectTooLarge.
result<void> check_documents(const core::mongo::message& what);

}  // namespace holdfast::lab::mongo
