#include "core/couchbase/wire/frame.hpp"

#include "core/couchbase/wire/big_endian.hpp"
#include "holdfast/couchbase/errc.hpp"

#include <string>

namespace holdfast::core::couchbase {

namespace {

error frame_error(std::size_t offset, std::string_view what)
{
    return error{holdfast::couchbase::errc::decoding_failure, "KV frame: " + std::string{what}}
        .with_context("offset", std::to_string(offset));
}

error unknown_magic(std::uint8_t byte)
{
    constexpr char digits[] = "0123456789abcdef";
    return frame_error(0, std::string{"no frame begins with the byte 0x"} + digits[byte >> 4] +
                              digits[byte & 0xf] +
                              "; the peer may not speak the key-value protocol, or only with TLS");
}

void load_header(const std::uint8_t* bytes, frame_header& header) noexcept
{
    header.magic = static_cast<kv_magic>(bytes[0]);
    header.opcode = static_cast<kv_opcode>(bytes[1]);
    const bool is_alternative = is_alt(header.magic);
    header.framing_size = is_alternative ? bytes[2] : 0;
    header.key_size = is_alternative ? bytes[3] : load_big<std::uint16_t>(bytes + 2);
    header.extras_size = bytes[4];
    header.datatype = static_cast<kv_datatype>(bytes[5]);
    header.vbucket_or_status = load_big<std::uint16_t>(bytes + 6);
    header.body_size = load_big<std::uint32_t>(bytes + 8);
    header.opaque = load_big<std::uint32_t>(bytes + 12);
    header.cas = load_big<std::uint64_t>(bytes + 16);
}

}  // namespace

bool load_whole_frame(std::span<const std::uint8_t> bytes, std::size_t body_limit,
                      frame& into) noexcept
{
    if (bytes.size() < frame_header_size || !is_magic(bytes[0]))
        return false;
    frame_header& header = into.header;
    load_header(bytes.data(), header);
    const std::size_t inner = header.framing_size + header.extras_size + header.key_size;
    if (header.body_size > body_limit || inner > header.body_size ||
        bytes.size() - frame_header_size < header.body_size)
        return false;
    into.bytes = bytes.first(frame_header_size + header.body_size);
    return true;
}

result<frame_header> parse_frame_header(std::span<const std::uint8_t> bytes, std::size_t body_limit)
{
    if (!bytes.empty() && !is_magic(bytes[0])) [[unlikely]]
        return unknown_magic(bytes[0]);
    if (bytes.size() < frame_header_size) [[unlikely]]
        return frame_error(bytes.size(),
                           "a header has 24 bytes, here are " + std::to_string(bytes.size()));
    frame_header header;
    load_header(bytes.data(), header);
    if (header.body_size > body_limit) [[unlikely]]
        return frame_error(8, "a body of " + std::to_string(header.body_size) +
                                  " bytes is beyond the limit of " + std::to_string(body_limit));
    const std::size_t inner = header.framing_size + header.extras_size + header.key_size;
    if (inner > header.body_size) [[unlikely]]
        return frame_error(2, "framing extras, extras and key have " + std::to_string(inner) +
                                  " bytes, and the body only " + std::to_string(header.body_size));
    return header;
}

}  // namespace holdfast::core::couchbase
