#pragma once
#include "core/mongo/wire/message.hpp"
#include "core/mongo/wire/message_header.hpp"
#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/error.hpp"
#include "holdfast/id.hpp"

#include <cstdint>
#include <span>

namespace holdfast::core::mongo {

/// Writes an OP_QUERY against admin.$cmd at the end of a buffer: the form that every server,
/// however old, takes for the first hello of a connection. Nothing else is sent in this way.
class legacy_query_builder {
public:
    legacy_query_builder(bson::byte_buffer& out, request_id request);
    legacy_query_builder(const legacy_query_builder&) = delete;
    legacy_query_builder& operator=(const legacy_query_builder&) = delete;

    bson::builder& command() noexcept { return command_; }

    /// Closes the message and gives it as it lies in the buffer, valid until the buffer grows.
    result<std::span<const std::uint8_t>> finish();

private:
    static std::size_t write_head(bson::byte_buffer& out, request_id request);

    bson::byte_buffer* out_;
    std::size_t start_;
    bson::builder command_;
};

/// Reads an OP_REPLY whose header was read before: it must hold one document. For
/// parse_reply().
result<message> parse_legacy_reply(const message_header& header,
                                   std::span<const std::uint8_t> bytes);

}  // namespace holdfast::core::mongo
