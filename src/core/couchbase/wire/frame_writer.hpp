#pragma once
#include "core/couchbase/wire/frame.hpp"
#include "core/couchbase/wire/frame_info.hpp"
#include "core/couchbase/wire/leb128.hpp"
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/error.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace holdfast::core::couchbase {

/// A request as views of what it is made of.
struct request_frame {
    kv_opcode opcode = kv_opcode::noop;
    std::uint32_t opaque = 0;
    std::uint16_t vbucket = 0;
    std::uint64_t cas = 0;
    kv_datatype datatype = kv_datatype::raw;
    /// Whether the value may be compressed; the datatype's bit is then set by what came of it.
    bool may_compress = false;
    request_infos infos = {};  // any of them makes it an "alt" request
    std::span<const std::uint8_t> extras = {};
    std::optional<collection_id> collection = {};  // its prefix is part of the key
    std::string_view key = {};
    std::span<const std::uint8_t> value = {};
};

/// A server's answer.
struct reply_frame {
    kv_opcode opcode = kv_opcode::noop;
    std::uint32_t opaque = 0;
    kv_status status = kv_status::success;
    std::uint64_t cas = 0;
    kv_datatype datatype = kv_datatype::raw;
    response_infos infos = {};  // any of them makes it an "alt" response
    std::span<const std::uint8_t> extras = {};
    std::string_view key = {};
    std::span<const std::uint8_t> value = {};
};

/// What a server asks of a client: a new configuration is announced so.
struct server_request_frame {
    kv_server_opcode opcode = kv_server_opcode::clustermap_change_notification;
    std::uint32_t opaque = 0;
    kv_datatype datatype = kv_datatype::raw;
    std::span<const std::uint8_t> extras = {};
    std::string_view key = {};
    std::span<const std::uint8_t> value = {};
};

/// Each writes one frame at the end of `out`; the value is copied there once, and nowhere else.
/// Fails with errc::invalid_argument if a key or extras do not fit their fields, and with
/// errc::value_too_large if the body is beyond the limit; nothing is written then. Gives where the
/// frame begins.
result<std::size_t> write_request(bson::byte_buffer& out, const request_frame& frame,
                                  std::size_t body_limit = max_body_size);
result<std::size_t> write_reply(bson::byte_buffer& out, const reply_frame& frame,
                                std::size_t body_limit = max_body_size);
result<std::size_t> write_server_request(bson::byte_buffer& out, const server_request_frame& frame,
                                         std::size_t body_limit = max_body_size);
/// A client's answer to a server's request.
void write_server_response(bson::byte_buffer& out, kv_server_opcode opcode, std::uint32_t opaque,
                           kv_status status);

/// For a value that is written straight into `out` behind a frame without one: takes all that
/// follows the header as its body. On failure the frame is taken back.
result<void> close_frame(bson::byte_buffer& out, std::size_t start,
                         std::size_t body_limit = max_body_size);

}  // namespace holdfast::core::couchbase
