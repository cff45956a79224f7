#include "core/mongo/wire/message_header.hpp"

#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/element.hpp"

#include <algorithm>
#include <limits>

namespace holdfast::core::mongo {

namespace {

bool is_known(op_code code)
{
    switch (code) {
    case op_code::reply:
    case op_code::query:
    case op_code::compressed:
    case op_code::msg:
        return true;
    }
    return false;
}

std::int32_t number_at(std::span<const std::uint8_t> bytes, std::size_t offset) noexcept
{
    return bson::load<std::int32_t>(bytes.data() + offset);
}

}  // namespace

std::string_view name_of(op_code code) noexcept
{
    switch (code) {
    case op_code::reply:
        return "OP_REPLY";
    case op_code::query:
        return "OP_QUERY";
    case op_code::compressed:
        return "OP_COMPRESSED";
    case op_code::msg:
        return "OP_MSG";
    }
    return "an unknown operation";
}

error wire_error(errc what, std::size_t offset, std::string_view why)
{
    const std::string at = std::to_string(offset);
    return error{what, "wire message, offset " + at + ": " + std::string{why}}.with_context(
        "offset", at);
}

bool load_header(std::span<const std::uint8_t> bytes, std::size_t limit,
                 message_header& into) noexcept
{
    if (bytes.size() < header_size) [[unlikely]]
        return false;
    into.length = number_at(bytes, 0) < 0 ? 0 : static_cast<std::size_t>(number_at(bytes, 0));
    into.request = request_id{number_at(bytes, 4)};
    into.response_to = request_id{number_at(bytes, 8)};
    into.code = static_cast<op_code>(number_at(bytes, 12));
    return into.length >= header_size && into.length <= limit && is_known(into.code);
}

result<message_header> parse_header(std::span<const std::uint8_t> bytes, std::size_t limit)
{
    message_header header;
    if (load_header(bytes, limit, header)) [[likely]]
        return header;
    if (bytes.size() < header_size)
        return wire_error(errc::malformed_message, bytes.size(),
                          "a header has 16 bytes, here are " + std::to_string(bytes.size()));
    const std::string length = std::to_string(number_at(bytes, 0));
    if (header.length < header_size)
        return wire_error(errc::malformed_message, 0,
                          "the length " + length + " is less than that of a header");
    if (header.length > limit)
        return wire_error(errc::message_too_large, 0,
                          "the length " + length + " is beyond the limit of " +
                              std::to_string(limit));
    return wire_error(errc::unsupported_message, 12,
                      "the operation " + std::to_string(number_at(bytes, 12)) + " is unknown");
}

result<message_header> parse_whole(std::span<const std::uint8_t> message, std::size_t limit)
{
    auto header = parse_header(message, limit);
    if (header && header->length != message.size()) [[unlikely]]
        return wire_error(errc::malformed_message, 0,
                          "the length is " + std::to_string(header->length) + ", but there are " +
                              std::to_string(message.size()) + " bytes");
    return header;
}

void start_header(bson::byte_buffer& out, request_id request, request_id response_to, op_code code)
{
    std::uint8_t* to = out.grow(header_size);
    to = bson::layout::store(to, std::int32_t{0});
    to = bson::layout::store(to, request.value());
    to = bson::layout::store(to, response_to.value());
    bson::layout::store(to, static_cast<std::int32_t>(code));
}

result<void> patch_length(bson::byte_buffer& out, std::size_t start, std::size_t limit)
{
    constexpr std::size_t field_limit = std::numeric_limits<std::int32_t>::max();
    const std::size_t length = out.size() - start;
    if (length > std::min(limit, field_limit))
        return error{errc::message_too_large, "a message of " + std::to_string(length) +
                                                  " bytes, the limit is " + std::to_string(limit)};
    bson::layout::store(out.data() + start, static_cast<std::int32_t>(length));
    return {};
}

}  // namespace holdfast::core::mongo
