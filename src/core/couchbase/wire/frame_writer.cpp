#include "core/couchbase/wire/frame_writer.hpp"

#include "core/couchbase/wire/big_endian.hpp"
#include "core/couchbase/wire/value.hpp"
#include "holdfast/couchbase/errc.hpp"

#include <cassert>
#include <cstring>
#include <limits>
#include <string>

namespace holdfast::core::couchbase {

namespace {

using holdfast::couchbase::errc;

constexpr std::size_t datatype_offset = 5;
constexpr std::size_t body_size_offset = 8;

/// All but the value, for any of the magics.
struct frame_parts {
    kv_magic magic = kv_magic::client_request;
    std::uint8_t opcode = 0;
    kv_datatype datatype = kv_datatype::raw;
    std::uint16_t vbucket_or_status = 0;
    std::uint32_t opaque = 0;
    std::uint64_t cas = 0;
    std::span<const std::uint8_t> framing = {};
    std::span<const std::uint8_t> extras = {};
    std::span<const std::uint8_t> prefix = {};  // of the key
    std::span<const std::uint8_t> key = {};

    std::size_t key_size() const noexcept { return prefix.size() + key.size(); }
    std::size_t inner_size() const noexcept { return framing.size() + extras.size() + key_size(); }
};

error too_large(std::size_t body, std::size_t limit)
{
    return error{errc::value_too_large, "a KV frame with a body of " + std::to_string(body) +
                                            " bytes; the limit is " + std::to_string(limit)};
}

result<void> check_sizes(const frame_parts& parts, std::size_t value, std::size_t body_limit)
{
    const std::size_t longest_key = is_alt(parts.magic) ? 0xff : 0xffff;
    if (parts.key_size() > longest_key)
        return error{errc::invalid_argument, "a key of " + std::to_string(parts.key_size()) +
                                                 " bytes; a frame of this kind holds at most " +
                                                 std::to_string(longest_key)};
    if (parts.extras.size() > 0xff)
        return error{errc::invalid_argument, "extras of " + std::to_string(parts.extras.size()) +
                                                 " bytes; a frame holds at most 255"};
    constexpr std::size_t field_limit = std::numeric_limits<std::uint32_t>::max();
    const std::size_t limit = std::min(body_limit, field_limit);
    if (value > limit || parts.inner_size() > limit - value)
        return too_large(parts.inner_size() + value, limit);
    return {};
}

std::uint8_t* store_bytes(std::uint8_t* to, std::span<const std::uint8_t> bytes) noexcept
{
    if (!bytes.empty())
        std::memcpy(to, bytes.data(), bytes.size());
    return to + bytes.size();
}

std::uint8_t* store_parts(std::uint8_t* to, const frame_parts& parts, std::size_t value) noexcept
{
    *to++ = static_cast<std::uint8_t>(parts.magic);
    *to++ = parts.opcode;
    if (is_alt(parts.magic)) {
        *to++ = static_cast<std::uint8_t>(parts.framing.size());
        *to++ = static_cast<std::uint8_t>(parts.key_size());
    } else {
        to = store_big(to, static_cast<std::uint16_t>(parts.key_size()));
    }
    *to++ = static_cast<std::uint8_t>(parts.extras.size());
    *to++ = static_cast<std::uint8_t>(parts.datatype);
    to = store_big(to, parts.vbucket_or_status);
    to = store_big(to, static_cast<std::uint32_t>(parts.inner_size() + value));
    to = store_big(to, parts.opaque);
    to = store_big(to, parts.cas);
    to = store_bytes(to, parts.framing);
    to = store_bytes(to, parts.extras);
    to = store_bytes(to, parts.prefix);
    return store_bytes(to, parts.key);
}

result<std::size_t> write_whole(bson::byte_buffer& out, const frame_parts& parts,
                                std::span<const std::uint8_t> value, std::size_t body_limit)
{
    if (auto fits = check_sizes(parts, value.size(), body_limit); !fits) [[unlikely]]
        return std::move(fits).error();
    const std::size_t start = out.size();
    std::uint8_t* const to = out.grow(frame_header_size + parts.inner_size() + value.size());
    store_bytes(store_parts(to, parts, value.size()), value);
    return start;
}

result<std::size_t> write_compressed(bson::byte_buffer& out, const frame_parts& parts,
                                     std::span<const std::uint8_t> value, std::size_t body_limit)
{
    if (auto fits = check_sizes(parts, value.size(), body_limit); !fits) [[unlikely]]
        return std::move(fits).error();
    const std::size_t start = out.size();
    store_parts(out.grow(frame_header_size + parts.inner_size()), parts, 0);
    if (append_compressed(out, value))
        out.data()[start + datatype_offset] |= static_cast<std::uint8_t>(kv_datatype::snappy);
    if (auto closed = close_frame(out, start, body_limit); !closed) [[unlikely]]
        return std::move(closed).error();
    return start;
}

/// The usual request: nothing to compress, no frame infos, and sizes that fit any limit. False if
/// it is another; nothing is written then. This is on the way of every operation, and the general
/// way costs three times as much.
bool write_plain(bson::byte_buffer& out, const request_frame& frame, std::size_t body_limit)
{
    if (frame.may_compress || !frame.infos.empty())
        return false;
    const collection_id id = frame.collection.value_or(default_collection);
    const std::size_t prefix_size = frame.collection ? prefix_size_of(id) : 0;
    const std::size_t key_size = prefix_size + frame.key.size();
    const std::size_t inner = frame.extras.size() + key_size;
    if (key_size > 0xff || frame.extras.size() > 0xff || inner > body_limit ||
        frame.value.size() > body_limit - inner ||
        body_limit > std::numeric_limits<std::uint32_t>::max()) [[unlikely]]
        return false;
    std::uint8_t* to = out.grow(frame_header_size + inner + frame.value.size());
    const auto extras_size = static_cast<std::uint64_t>(frame.extras.size());
    const auto magic = static_cast<std::uint64_t>(kv_magic::client_request);
    to = store_big(to, magic << 56 | static_cast<std::uint64_t>(frame.opcode) << 48 |
                           static_cast<std::uint64_t>(key_size) << 32 | extras_size << 24 |
                           static_cast<std::uint64_t>(frame.datatype) << 16 | frame.vbucket);
    to = store_big(to, static_cast<std::uint64_t>(inner + frame.value.size()) << 32 | frame.opaque);
    to = store_big(to, frame.cas);
    to = store_bytes(to, frame.extras);
    if (prefix_size != 0)
        to = store_prefix(to, id);
    to = store_bytes(to, as_octets(frame.key));
    store_bytes(to, frame.value);
    return true;
}

}  // namespace

result<std::size_t> write_request(bson::byte_buffer& out, const request_frame& frame,
                                  std::size_t body_limit)
{
    if (const std::size_t start = out.size(); write_plain(out, frame, body_limit)) [[likely]]
        return start;
    frame_parts parts{.opcode = static_cast<std::uint8_t>(frame.opcode),
                      .datatype = frame.datatype,
                      .vbucket_or_status = frame.vbucket,
                      .opaque = frame.opaque,
                      .cas = frame.cas,
                      .extras = frame.extras,
                      .key = as_octets(frame.key)};
    const collection_prefix prefix{frame.collection.value_or(default_collection)};
    if (frame.collection)
        parts.prefix = prefix.bytes();
    const auto write = frame.may_compress ? write_compressed : write_whole;
    if (frame.infos.empty()) [[likely]]
        return write(out, parts, frame.value, body_limit);
    if (frame.infos.impersonate_user.size() > max_impersonated_user)
        return error{errc::invalid_argument,
                     "the user to be impersonated has a name of more than " +
                         std::to_string(max_impersonated_user) + " bytes"};
    const frame_info_bytes framing{frame.infos};
    parts.magic = kv_magic::alt_client_request;
    parts.framing = framing.bytes();
    return write(out, parts, frame.value, body_limit);
}

result<std::size_t> write_reply(bson::byte_buffer& out, const reply_frame& frame,
                                std::size_t body_limit)
{
    const frame_info_bytes framing{frame.infos};
    const auto magic = frame.infos.empty() ? kv_magic::client_response
                                           : kv_magic::alt_client_response;
    return write_whole(out,
                       {.magic = magic,
                        .opcode = static_cast<std::uint8_t>(frame.opcode),
                        .datatype = frame.datatype,
                        .vbucket_or_status = static_cast<std::uint16_t>(frame.status),
                        .opaque = frame.opaque,
                        .cas = frame.cas,
                        .framing = framing.bytes(),
                        .extras = frame.extras,
                        .key = as_octets(frame.key)},
                       frame.value, body_limit);
}

result<std::size_t> write_server_request(bson::byte_buffer& out, const server_request_frame& frame,
                                         std::size_t body_limit)
{
    return write_whole(out,
                       {.magic = kv_magic::server_request,
                        .opcode = static_cast<std::uint8_t>(frame.opcode),
                        .datatype = frame.datatype,
                        .opaque = frame.opaque,
                        .extras = frame.extras,
                        .key = as_octets(frame.key)},
                       frame.value, body_limit);
}

void write_server_response(bson::byte_buffer& out, kv_server_opcode opcode, std::uint32_t opaque,
                           kv_status status)
{
    const frame_parts parts{.magic = kv_magic::server_response,
                            .opcode = static_cast<std::uint8_t>(opcode),
                            .vbucket_or_status = static_cast<std::uint16_t>(status),
                            .opaque = opaque};
    store_parts(out.grow(frame_header_size), parts, 0);
}

result<void> close_frame(bson::byte_buffer& out, std::size_t start, std::size_t body_limit)
{
    assert(start + frame_header_size <= out.size());
    constexpr std::size_t field_limit = std::numeric_limits<std::uint32_t>::max();
    const std::size_t limit = std::min(body_limit, field_limit);
    const std::size_t body = out.size() - start - frame_header_size;
    if (body > limit) [[unlikely]] {
        out.truncate(start);
        return too_large(body, limit);
    }
    store_big(out.data() + start + body_size_offset, static_cast<std::uint32_t>(body));
    return {};
}

}  // namespace holdfast::core::couchbase
