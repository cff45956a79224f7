#include "core/mongo/wire/compression.hpp"

#include "core/compress/compressors.hpp"
#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/element.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace holdfast::core::mongo {

namespace {

constexpr std::size_t original_code_at = header_size;
constexpr std::size_t claimed_size_at = header_size + 4;
constexpr std::size_t compressor_at = header_size + 8;
constexpr std::size_t payload_at = header_size + 9;

constexpr std::array never_compressed = std::to_array<std::string_view>({
    "hello",
    "isMaster",
    "ismaster",
    "saslStart",
    "saslContinue",
    "getnonce",
    "authenticate",
    "createUser",
    "updateUser",
    "copydbSaslStart",
    "copydbgetnonce",
    "copydb",
});

constexpr std::array negotiable = {wire_compressor::snappy, wire_compressor::zlib,
                                   wire_compressor::zstd};

/// What stands between the header of an OP_COMPRESSED and its payload.
struct compressed_head {
    op_code original;
    std::size_t claimed_size;  // of the original message without its header
    wire_compressor with;
};

result<compressed_head> parse_head(std::span<const std::uint8_t> message, std::size_t limit)
{
    if (message.size() < payload_at)
        return wire_error(errc::malformed_message, message.size(),
                          "the message ends before its compressed part");
    const auto original = static_cast<op_code>(
        bson::load<std::int32_t>(message.data() + original_code_at));
    if (original != op_code::msg && original != op_code::reply && original != op_code::query)
        return wire_error(errc::unsupported_message, original_code_at,
                          "the compressed message is not of a kind that can be compressed");
    const auto claimed = bson::load<std::int32_t>(message.data() + claimed_size_at);
    if (claimed <= 0)  // a message has at least its flags
        return wire_error(errc::malformed_message, claimed_size_at,
                          "the uncompressed size is " + std::to_string(claimed));
    if (header_size + static_cast<std::size_t>(claimed) > limit)
        return wire_error(errc::message_too_large, claimed_size_at,
                          "the uncompressed size " + std::to_string(claimed) +
                              " is beyond the limit of " + std::to_string(limit));
    if (message[compressor_at] > static_cast<std::uint8_t>(wire_compressor::zstd))
        return wire_error(errc::unsupported_message, compressor_at,
                          "unknown compressor " + std::to_string(message[compressor_at]));
    return compressed_head{original, static_cast<std::size_t>(claimed),
                           wire_compressor{message[compressor_at]}};
}

/// Nothing for `noop`, which copies.
std::optional<core::compressor> algorithm_of(wire_compressor which) noexcept
{
    switch (which) {
    case wire_compressor::noop:
        return std::nullopt;
    case wire_compressor::snappy:
        return core::compressor::snappy;
    case wire_compressor::zlib:
        return core::compressor::zlib;
    case wire_compressor::zstd:
        return core::compressor::zstd;
    }
    return std::nullopt;
}

/// The size of what was appended to `out`, or nothing on failure.
std::optional<std::size_t> append_compressed(compression with, std::span<const std::uint8_t> body,
                                             bson::byte_buffer& out)
{
    const auto algorithm = algorithm_of(with.with);
    const std::size_t bound = algorithm ? compressed_bound(*algorithm, body.size()) : body.size();
    std::uint8_t* const to = out.grow(bound);
    if (algorithm)
        return compress_into(*algorithm, body, {to, bound}, with.zlib_level);
    std::ranges::copy(body, to);
    return body.size();
}

/// True if the payload decompresses to exactly as many bytes as `to` has.
bool decompress_payload(wire_compressor with, std::span<const std::uint8_t> payload,
                        std::span<std::uint8_t> to) noexcept
{
    if (const auto algorithm = algorithm_of(with))
        return decompress_into(*algorithm, payload, to);
    if (payload.size() != to.size())
        return false;
    std::ranges::copy(payload, to.begin());
    return true;
}

}  // namespace

std::string_view name_of(wire_compressor which) noexcept
{
    switch (which) {
    case wire_compressor::noop:
        return "noop";
    case wire_compressor::snappy:
        return "snappy";
    case wire_compressor::zlib:
        return "zlib";
    case wire_compressor::zstd:
        return "zstd";
    }
    return "unknown";
}

std::optional<wire_compressor> compressor_named(std::string_view name) noexcept
{
    const auto* const found = std::ranges::find_if(
        negotiable, [&](wire_compressor which) { return name_of(which) == name; });
    return found == negotiable.end() ? std::nullopt : std::optional{*found};
}

std::optional<wire_compressor> choose_compressor(std::span<const wire_compressor> ours,
                                                 std::span<const wire_compressor> theirs) noexcept
{
    for (const wire_compressor which : ours) {
        if (std::ranges::find(theirs, which) != theirs.end())
            return which;
    }
    return std::nullopt;
}

bool may_compress(std::string_view command_name) noexcept
{
    return std::ranges::find(never_compressed, command_name) == never_compressed.end();
}

result<std::span<const std::uint8_t>> compress_message(std::span<const std::uint8_t> message,
                                                       compression compressor,
                                                       bson::byte_buffer& out, std::size_t limit)
{
    auto header = parse_whole(message);
    if (!header)
        return std::move(header).error();
    const auto body = message.subspan(header_size);
    const std::size_t start = out.size();
    start_header(out, header->request, header->response_to, op_code::compressed);
    std::uint8_t* to = out.grow(payload_at - header_size);
    to = bson::layout::store(to, static_cast<std::int32_t>(header->code));
    to = bson::layout::store(to, static_cast<std::int32_t>(body.size()));
    *to = static_cast<std::uint8_t>(compressor.with);

    const auto size = append_compressed(compressor, body, out);
    if (!size) {
        out.truncate(start);
        return error{errc::compression_failed,
                     std::string{name_of(compressor.with)} + " could not compress the message"};
    }
    out.truncate(start + payload_at + *size);
    auto patched = patch_length(out, start, limit);
    if (!patched) {
        out.truncate(start);
        return std::move(patched).error();
    }
    return out.bytes().subspan(start);
}

result<void> check_compressor(std::span<const std::uint8_t> message, wire_compressor negotiated,
                              std::size_t limit)
{
    const auto head = parse_head(message, limit);
    if (!head)
        return head.error();
    if (head->with == negotiated || head->with == wire_compressor::noop)
        return {};
    return wire_error(errc::unsupported_message, compressor_at,
                      "the message is compressed with " + std::string{name_of(head->with)} +
                          ", which was not negotiated");
}

result<std::span<const std::uint8_t>> decompress_message(std::span<const std::uint8_t> message,
                                                         bson::byte_buffer& out, std::size_t limit)
{
    auto header = parse_whole(message, limit);
    if (!header)
        return std::move(header).error();
    if (header->code != op_code::compressed)
        return wire_error(errc::unsupported_message, 12,
                          std::string{name_of(header->code)} + " is not compressed");
    auto head = parse_head(message, limit);
    if (!head)
        return std::move(head).error();

    const std::size_t start = out.size();
    start_header(out, header->request, header->response_to, head->original);
    std::uint8_t* const body = out.grow(head->claimed_size);
    if (!decompress_payload(head->with, message.subspan(payload_at), {body, head->claimed_size})) {
        out.truncate(start);
        return wire_error(errc::compression_failed, payload_at,
                          "the payload is not " + std::string{name_of(head->with)} + " data of " +
                              std::to_string(head->claimed_size) + " uncompressed bytes");
    }
    auto patched = patch_length(out, start, limit);
    if (!patched)
        return std::move(patched).error();
    return out.bytes().subspan(start);
}

}  // namespace holdfast::core::mongo
