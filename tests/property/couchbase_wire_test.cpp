// Frames of the key-value protocol: what was written is read again, in whatever pieces it arrives.
#include "check.hpp"
#include "choices.hpp"
#include "core/couchbase/wire/frame_reader.hpp"
#include "core/couchbase/wire/frame_writer.hpp"
#include "core/couchbase/wire/server_duration.hpp"
#include "core/couchbase/wire/value.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace holdfast::property::couchbase_wire_test {
namespace {

using namespace core::couchbase;

std::string any_text(choices& c, std::size_t limit)
{
    std::string text(c.below(limit + 1), static_cast<char>(c.byte()));
    if (!text.empty())
        text[c.below(text.size())] = static_cast<char>(c.byte());
    return text;
}

/// Everything that a request or a reply can hold, with the texts that its views point to.
struct any_frame {
    explicit any_frame(choices& c)
        : extras{any_text(c, 255)}, key{any_text(c, 250)}, value{any_text(c, 3000)}, user{"user"}
    {
        request.opcode = static_cast<kv_opcode>(c.byte());
        request.opaque = static_cast<std::uint32_t>(c.scattered());
        request.vbucket = static_cast<std::uint16_t>(c.scattered());
        request.cas = c.scattered();
        request.datatype = without(static_cast<kv_datatype>(c.byte()), kv_datatype::snappy);
        request.may_compress = c.one_in(2);
        request.infos.durability = static_cast<kv_durability>(c.below(4));
        if (request.infos.durability != kv_durability::none && c.one_in(2))
            request.infos.durability_timeout_ms = static_cast<std::uint16_t>(1 + c.scattered() %
                                                                                     65'534);
        request.infos.preserve_expiry = c.one_in(2);
        request.infos.barrier = c.one_in(4);
        if (c.one_in(4))
            request.infos.impersonate_user = user;
        if (c.one_in(2))
            request.collection = static_cast<collection_id>(c.scattered() >> c.below(64));
        reply.opcode = request.opcode;
        reply.opaque = request.opaque;
        reply.status = static_cast<kv_status>(c.scattered());
        reply.cas = request.cas;
        reply.datatype = request.datatype;
        if (c.one_in(2))
            reply.infos.server_duration = decode_server_duration(
                static_cast<std::uint16_t>(3 + c.below(60'000)));
        if (c.one_in(4))
            reply.infos.read_units = static_cast<std::uint16_t>(c.scattered());
        request.extras = reply.extras = as_octets(extras);
        request.key = reply.key = key;
        request.value = reply.value = as_octets(value);
    }
    any_frame(const any_frame&) = delete;
    any_frame& operator=(const any_frame&) = delete;

    std::string extras, key, value, user;
    request_frame request;
    reply_frame reply;
};

/// The short way reads what the long one reads, and nothing else.
void check_short_way(std::span<const std::uint8_t> bytes, std::size_t body_limit)
{
    frame read;
    const bool is_whole = load_whole_frame(bytes, body_limit, read);
    const auto known = next_frame(bytes, body_limit);
    const frame* const whole = known ? std::get_if<frame>(&*known) : nullptr;
    RC_ASSERT(is_whole == (whole != nullptr));
    if (whole)
        RC_ASSERT(read.header == whole->header && read.bytes.data() == whole->bytes.data() &&
                  read.bytes.size() == whole->bytes.size());
}

void check_request(const request_frame& sent, const frame& read)
{
    RC_ASSERT(read.header.magic ==
              (sent.infos.empty() ? kv_magic::client_request : kv_magic::alt_client_request));
    RC_ASSERT(read.header.opcode == sent.opcode && read.header.opaque == sent.opaque);
    RC_ASSERT(read.vbucket() == sent.vbucket && read.header.cas == sent.cas);
    const auto infos = parse_request_infos(read.framing());
    RC_ASSERT(infos.status == kv_status::success && infos.infos == sent.infos);
    RC_ASSERT(as_text(read.extras()) == as_text(sent.extras));
    if (sent.collection) {
        const auto key = split_collection_key(read.key());
        RC_ASSERT(key && key->collection == *sent.collection && as_text(key->key) == sent.key);
    } else {
        RC_ASSERT(as_text(read.key()) == sent.key);
    }
    if (!has(read.header.datatype, kv_datatype::snappy)) {
        RC_ASSERT(as_text(read.value()) == as_text(sent.value));
        return;
    }
    RC_ASSERT(sent.may_compress && read.value().size() * 100 <= sent.value.size() * 83);
    bson::byte_buffer plain;
    RC_ASSERT(as_text(decompress_value(read.value(), plain).value()) == as_text(sent.value));
}

void check_reply(const reply_frame& sent, const frame& read)
{
    RC_ASSERT(read.header.magic ==
              (sent.infos.empty() ? kv_magic::client_response : kv_magic::alt_client_response));
    RC_ASSERT(read.header.opcode == sent.opcode && read.header.opaque == sent.opaque);
    RC_ASSERT(read.status() == sent.status && read.header.cas == sent.cas);
    RC_ASSERT(parse_response_infos(read.framing()).value() == sent.infos);
    RC_ASSERT(as_text(read.extras()) == as_text(sent.extras));
    RC_ASSERT(as_text(read.key()) == sent.key && as_text(read.value()) == as_text(sent.value));
}

TEST(couchbase_wire, requests_and_replies_survive_writing_and_reading)
{
    check([] {
        const auto bytes = *any_choices();
        choices c{bytes};
        const any_frame sent{c};
        bson::byte_buffer out;
        const auto at = write_request(out, sent.request);
        const bool too_long = !sent.request.infos.empty() &&
                              sent.key.size() > 255 - max_collection_prefix;
        RC_ASSERT(at.has_value() || too_long);
        if (at) {
            check_request(sent.request, std::get<frame>(next_frame(out.bytes()).value()));
            const std::size_t size = out.size();
            check_short_way(out.bytes(), max_body_size);
            check_short_way(out.bytes().first(c.below(size)), max_body_size);
            check_short_way(out.bytes(), c.below(size));
            out.data()[c.below(12)] = c.byte();
            check_short_way(out.bytes(), max_body_size);
        }
        out.clear();
        write_reply(out, sent.reply).value();
        check_reply(sent.reply, std::get<frame>(next_frame(out.bytes()).value()));
    });
}

/// Frames that are pipelined and cut anywhere come out one by one, as they were.
TEST(couchbase_wire, frames_are_independent_of_the_pieces_they_arrive_in)
{
    check(
        [] {
            const auto bytes = *any_choices();
            choices c{bytes};
            bson::byte_buffer stream;
            std::vector<std::size_t> ends;
            while (!c.used_up() && ends.size() < 20) {
                any_frame next{c};
                // Some are large, so that the end of the reader's buffer is met.
                const std::string large(c.one_in(3) ? 30'000 : 0, 'x');
                if (!large.empty())
                    next.reply.value = as_octets(large);
                write_reply(stream, next.reply).value();
                ends.push_back(stream.size());
            }
            // Not by choices: they are used up by now, and all pieces would be single bytes.
            std::size_t piece_size = c.byte();
            frame_reader reader;
            std::size_t given = 0;
            std::size_t at = 0;
            for (std::size_t count = 0; count < ends.size();) {
                auto next = reader.next().value();
                if (const frame* const whole = std::get_if<frame>(&next)) {
                    RC_ASSERT(as_text(whole->bytes) ==
                              as_text(stream.bytes().subspan(at, ends[count] - at)));
                    at = ends[count++];
                    continue;
                }
                const std::size_t needed = std::get<need_more>(next).bytes;
                RC_ASSERT(needed > 0 && given + needed <= stream.size());
                piece_size = (piece_size * 1'664'525 + 1'013'904'223) % 4'294'967'291;
                const auto room = reader.writable();
                RC_ASSERT(room.size() >= needed);
                const std::size_t piece = std::min(
                    {1 + piece_size % 9000, room.size(), stream.size() - given});
                std::memcpy(room.data(), stream.data() + given, piece);
                reader.received(piece);
                given += piece;
            }
            RC_ASSERT(at == stream.size() && reader.pending() == given - at);
        },
        property_count() / 10);
}

}  // namespace
}  // namespace holdfast::property::couchbase_wire_test
