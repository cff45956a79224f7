// Whatever a peer sends on a key-value connection: frames, framing extras, prefixes of keys,
// compressed values. Nothing may crash, and views must lie within the bytes they are of.
#include "core/couchbase/wire/frame_info.hpp"
#include "core/couchbase/wire/frame_reader.hpp"
#include "core/couchbase/wire/frame_writer.hpp"
#include "core/couchbase/wire/value.hpp"
#include "require.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <variant>
#include <vector>

namespace {

using namespace holdfast;
using namespace holdfast::core::couchbase;
using bytes = std::span<const std::uint8_t>;

constexpr std::size_t limit = 1 << 20;  // so that no input allocates what it merely claims

bool lies_within(bytes inner, bytes outer)
{
    return inner.data() >= outer.data() &&
           inner.data() + inner.size() <= outer.data() + outer.size();
}

/// A key splits into a prefix and a rest that are exactly what they were made of.
void check_key(bytes key)
{
    const auto split = split_collection_key(key);
    if (!split)
        return;
    const collection_prefix prefix{split->collection};
    REQUIRE(prefix.bytes().size() + split->key.size() == key.size());
    REQUIRE(std::ranges::equal(prefix.bytes(), key.first(prefix.bytes().size())));
}

void check_infos(bytes framing)
{
    static_cast<void>(parse_response_infos(framing).has_value());
    const auto request = parse_request_infos(framing);
    if (request.status != kv_status::success ||
        request.infos.impersonate_user.size() > max_impersonated_user)
        return;
    const frame_info_bytes again{request.infos};
    const auto read = parse_request_infos(again.bytes());
    REQUIRE(read.status == kv_status::success && read.infos == request.infos);
}

void check_value(bytes value)
{
    bson::byte_buffer out;
    const auto plain = decompress_value(value, out, limit);
    REQUIRE(out.capacity() <= 2 * limit);
    if (!plain)
        return;
    const std::vector<std::uint8_t> kept(plain->begin(), plain->end());
    bson::byte_buffer packed;
    bson::byte_buffer unpacked;
    if (!append_compressed(packed, kept))
        return;
    const auto again = decompress_value(packed.bytes(), unpacked, limit);
    REQUIRE(again.has_value() && std::ranges::equal(*again, kept));
}

void check_frame(const frame& read)
{
    for (const bytes part : {read.framing(), read.extras(), read.key(), read.value()})
        REQUIRE(lies_within(part, read.bytes));
    REQUIRE(frame_header_size + read.framing().size() + read.extras().size() + read.key().size() +
                read.value().size() ==
            read.bytes.size());
    check_key(read.key());
    check_infos(read.framing());
    check_value(read.value());
    static_cast<void>(parse_features(read.value()).has_value());
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
            REQUIRE(!next_frame(rest, limit).has_value() && !next.error().message().empty());
            return;
        }
        if (const auto* const whole = std::get_if<frame>(&*next)) {
            const auto expected = next_frame(rest, limit);
            REQUIRE(expected && std::holds_alternative<frame>(*expected));
            const bytes same = std::get<frame>(*expected).bytes;
            REQUIRE(std::ranges::equal(whole->bytes, same));
            check_frame(*whole);
            rest = rest.subspan(same.size());
            continue;
        }
        const std::size_t needed = std::get<need_more>(*next).bytes;
        REQUIRE(needed > 0 && needed <= limit + frame_header_size);
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

/// Lengths are rarely right by chance, so the same bytes are tried with a body length that is.
std::vector<std::uint8_t> with_true_length(bytes input)
{
    std::vector<std::uint8_t> whole(input.begin(), input.end());
    if (whole.size() < frame_header_size)
        return whole;
    const auto body = static_cast<std::uint32_t>(whole.size() - frame_header_size);
    for (std::size_t i = 0; i < 4; ++i)
        whole[8 + i] = static_cast<std::uint8_t>(body >> (8 * (3 - i)));
    return whole;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0)
        return 0;
    const bytes input{data + 1, size - 1};
    check_stream(input, std::size_t{1} + *data);
    check_stream(with_true_length(input), std::size_t{1} + *data);
    check_key(input);
    check_infos(input);
    check_value(input);
    return 0;
}
