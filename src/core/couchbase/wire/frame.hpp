#pragma once
#include "core/couchbase/wire/datatype.hpp"
#include "core/couchbase/wire/kv_protocol.hpp"
#include "holdfast/error.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace holdfast::core::couchbase {

/// The first byte of a frame. The two "alt" forms have framing extras, and a key of at most 255
/// bytes.
enum class kv_magic : std::uint8_t {
    alt_client_request = 0x08,
    alt_client_response = 0x18,
    client_request = 0x80,
    client_response = 0x81,  // the server's answer to it
    server_request = 0x82,
    server_response = 0x83,  // the client's answer to it
};

/// Whether a frame can begin with this byte.
constexpr bool is_magic(std::uint8_t byte) noexcept
{
    switch (static_cast<kv_magic>(byte)) {
    case kv_magic::alt_client_request:
    case kv_magic::alt_client_response:
    case kv_magic::client_request:
    case kv_magic::client_response:
    case kv_magic::server_request:
    case kv_magic::server_response:
        return true;
    }
    return false;
}

constexpr bool is_alt(kv_magic magic) noexcept
{
    return magic == kv_magic::alt_client_request || magic == kv_magic::alt_client_response;
}

constexpr bool is_response(kv_magic magic) noexcept
{
    return magic == kv_magic::client_response || magic == kv_magic::alt_client_response ||
           magic == kv_magic::server_response;
}

inline constexpr std::size_t frame_header_size = 24;

/// The largest document that a server stores, and what may surround it in a body.
inline constexpr std::size_t max_value_size = 20 * 1024 * 1024;
inline constexpr std::size_t max_body_size = max_value_size + 1024;

/// The fixed part of a frame. Its sizes fit one another: framing, extras and key lie within
/// the body.
struct frame_header {
    kv_magic magic = kv_magic::client_request;
    kv_opcode opcode = kv_opcode::noop;
    kv_datatype datatype = kv_datatype::raw;
    std::uint16_t vbucket_or_status = 0;
    std::size_t framing_size = 0;
    std::size_t extras_size = 0;
    std::size_t key_size = 0;
    std::size_t body_size = 0;
    std::uint32_t opaque = 0;
    std::uint64_t cas = 0;

    friend bool operator==(const frame_header&, const frame_header&) = default;
};

/// The header at the start of `bytes`, which may go on after it. That its body is within the limit
/// is known before anything is allocated for it. Errors are errc::decoding_failure, with the byte
/// that is wrong as context "offset".
result<frame_header> parse_frame_header(std::span<const std::uint8_t> bytes,
                                        std::size_t body_limit = max_body_size);

/// One whole frame, as views of the bytes that it was read from.
struct frame {
    frame_header header;
    std::span<const std::uint8_t> bytes;  // the header, too

    /// Of a response.
    kv_status status() const noexcept { return static_cast<kv_status>(header.vbucket_or_status); }
    /// Of a client's request.
    std::uint16_t vbucket() const noexcept { return header.vbucket_or_status; }
    /// Of a server's request.
    kv_server_opcode server_opcode() const noexcept
    {
        return static_cast<kv_server_opcode>(header.opcode);
    }

    std::span<const std::uint8_t> framing() const noexcept
    {
        return bytes.subspan(frame_header_size, header.framing_size);
    }
    std::span<const std::uint8_t> extras() const noexcept
    {
        return bytes.subspan(frame_header_size + header.framing_size, header.extras_size);
    }
    std::span<const std::uint8_t> key() const noexcept
    {
        return bytes.subspan(value_offset() - header.key_size, header.key_size);
    }
    std::span<const std::uint8_t> value() const noexcept { return bytes.subspan(value_offset()); }

private:
    std::size_t value_offset() const noexcept
    {
        return frame_header_size + header.framing_size + header.extras_size + header.key_size;
    }
};

/// The frame at the start of `bytes`, if it is there as a whole and nothing is wrong with its
/// header: at a third of the cost of next_frame(), which says what there is otherwise. Else false,
/// and `into` may have changed.
bool load_whole_frame(std::span<const std::uint8_t> bytes, std::size_t body_limit,
                      frame& into) noexcept;

/// Keys and values that are text.
inline std::string_view as_text(std::span<const std::uint8_t> bytes) noexcept
{
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline std::span<const std::uint8_t> as_octets(std::string_view text) noexcept
{
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace holdfast::core::couchbase
