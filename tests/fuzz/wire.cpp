// Whatever a peer sends: frames, messages, compressed messages. Nothing may crash, and what is said
// of bytes must be true of them.
#include "core/mongo/wire/compression.hpp"
#include "core/mongo/wire/frame_reader.hpp"
#include "core/mongo/wire/message.hpp"
#include "core/mongo/wire/message_builder.hpp"
#include "holdfast/bson/validate.hpp"
#include "require.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <variant>
#include <vector>

namespace {

using namespace holdfast;
using namespace holdfast::core::mongo;
using bytes = std::span<const std::uint8_t>;

constexpr std::size_t limit = 1 << 20;  // so that no input allocates what it merely claims

bool lies_within(bytes inner, bytes outer)
{
    return inner.data() >= outer.data() &&
           inner.data() + inner.size() <= outer.data() + outer.size();
}

/// A message that was read and is written again reads the same, whatever the order of its sections.
void check_rewritten(const message& read)
{
    bson::byte_buffer out;
    message_builder builder{out, read.header.request, read.flags, read.header.response_to};
    builder.command().merge(read.body);
    for (const message_sequence& each : read.sequences) {
        auto sequence = builder.sequence(each.identifier);
        for (const bson::view document : each)
            sequence.add(document);
    }
    const auto written = builder.finish();
    REQUIRE(written.has_value());
    const auto again = parse_message(*written);
    REQUIRE(again.has_value() && again->body == read.body && again->flags == read.flags);
    auto one = read.sequences.begin();
    for (const message_sequence& other : again->sequences) {
        REQUIRE((*one).identifier == other.identifier);
        REQUIRE(std::ranges::equal((*one).bytes, other.bytes));
        ++one;
    }
    REQUIRE(one == read.sequences.end());
}

void check_message(bytes whole)
{
    const auto read = parse_reply(whole, limit);
    if (!read) {
        REQUIRE(!read.error().message().empty());
        return;
    }
    REQUIRE(read->header.length == whole.size());
    REQUIRE(lies_within(read->body.bytes(), whole));
    static_cast<void>(bson::validate(read->body.bytes()).has_value());
    for (const message_sequence& sequence : read->sequences) {
        REQUIRE(lies_within(sequence.bytes, whole));
        for (const bson::view document : sequence) {
            REQUIRE(lies_within(document.bytes(), sequence.bytes));
            static_cast<void>(bson::validate(document.bytes()).has_value());
        }
    }
    if (read->header.code == op_code::msg)
        check_rewritten(*read);
}

void check_compressed(bytes whole)
{
    bson::byte_buffer out;
    const auto plain = decompress_message(whole, out, limit);
    REQUIRE(out.capacity() <= 2 * limit);
    if (!plain)
        return;
    REQUIRE(parse_whole(*plain, limit).has_value());
    check_message(*plain);
    for (const auto with : {wire_compressor::noop, wire_compressor::snappy, wire_compressor::zlib,
                            wire_compressor::zstd}) {
        bson::byte_buffer packed;
        bson::byte_buffer unpacked;
        const auto message = compress_message(*plain, {with}, packed);
        REQUIRE(message.has_value());
        const auto again = decompress_message(*message, unpacked);
        REQUIRE(again.has_value() && std::ranges::equal(*again, *plain));
    }
}

/// The frames of a stream that comes in pieces are those of the stream as a whole.
void check_stream(bytes stream, std::size_t piece)
{
    frame_reader reader{limit};
    bytes rest = stream;  // what next_frame() has yet to see
    bytes unread = stream;
    for (;;) {
        const auto next = reader.next();
        if (!next) {
            REQUIRE(!next_frame(rest, limit).has_value());
            return;
        }
        if (const auto* whole = std::get_if<frame>(&*next)) {
            const auto expected = next_frame(rest, limit);
            REQUIRE(expected && std::holds_alternative<frame>(*expected));
            const bytes same = std::get<frame>(*expected).bytes;
            REQUIRE(std::ranges::equal(whole->bytes, same));
            rest = rest.subspan(same.size());
            continue;
        }
        const std::size_t needed = std::get<need_more>(*next).bytes;
        REQUIRE(needed > 0 && needed <= limit);
        if (unread.empty())
            return;
        const auto room = reader.writable();
        REQUIRE(room.size() >= needed && reader.capacity() <= 2 * limit);
        const std::size_t count = std::min({piece, room.size(), unread.size()});
        std::memcpy(room.data(), unread.data(), count);
        reader.received(count);
        unread = unread.subspan(count);
    }
}

/// Lengths are rarely right by chance, so the same bytes are tried with one that is.
std::vector<std::uint8_t> with_true_length(bytes input)
{
    std::vector<std::uint8_t> message(input.begin(), input.end());
    const auto length = static_cast<std::int32_t>(message.size());
    if (message.size() >= sizeof length)
        std::memcpy(message.data(), &length, sizeof length);
    return message;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0)
        return 0;
    const bytes input{data + 1, size - 1};
    const auto message = with_true_length(input);
    check_message(input);
    check_message(message);
    check_compressed(message);
    check_stream(input, std::size_t{1} + *data);
    return 0;
}
