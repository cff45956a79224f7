#include "core/mongo/wire/legacy_query.hpp"

#include "holdfast/bson/element.hpp"

#include <string>
#include <string_view>

namespace holdfast::core::mongo {

namespace {

constexpr std::int32_t secondary_ok = 1 << 2;
constexpr std::string_view collection = "admin.$cmd";
constexpr std::int32_t exactly_one = -1;  // a negative number also closes the cursor

constexpr std::size_t reply_count_at = header_size + 4 + 8 + 4;
constexpr std::size_t reply_head_size = reply_count_at + 4;
constexpr std::uint32_t cursor_not_found = 1 << 0;

}  // namespace

legacy_query_builder::legacy_query_builder(bson::byte_buffer& out, request_id request)
    : out_{&out}, start_{write_head(out, request)}, command_{out}
{
}

std::size_t legacy_query_builder::write_head(bson::byte_buffer& out, request_id request)
{
    const std::size_t start = out.size();
    start_header(out, request, {}, op_code::query);
    bson::layout::store(out.grow(4), secondary_ok);
    std::uint8_t* const to = out.grow(collection.size() + 1);
    *bson::layout::store_bytes(to, collection.data(), collection.size()) = 0;
    bson::layout::store(out.grow(4), std::int32_t{0});  // documents to skip
    bson::layout::store(out.grow(4), exactly_one);
    return start;
}

result<std::span<const std::uint8_t>> legacy_query_builder::finish()
{
    auto closed = command_.finish();
    if (!closed)
        return std::move(closed).error();
    auto patched = patch_length(*out_, start_, max_message_size);
    if (!patched)
        return std::move(patched).error();
    return out_->bytes().subspan(start_);
}

result<message> parse_legacy_reply(const message_header& header,
                                   std::span<const std::uint8_t> bytes)
{
    if (bytes.size() < reply_head_size)
        return wire_error(errc::malformed_message, bytes.size(),
                          "the message ends before its first document");
    if ((bson::load<std::uint32_t>(bytes.data() + header_size) & cursor_not_found) != 0)
        return wire_error(errc::unsupported_message, header_size,
                          "the answer is about a cursor, and none was asked for");
    const auto count = bson::load<std::int32_t>(bytes.data() + reply_count_at);
    if (count != 1)
        return wire_error(errc::malformed_message, reply_count_at,
                          "expected one document, found " + std::to_string(count));
    const auto body = bson::view::parse(bytes.subspan(reply_head_size));
    if (!body)
        return wire_error(errc::malformed_message, reply_head_size, body.error().message());
    return message{header, {}, *body, {}};
}

}  // namespace holdfast::core::mongo
