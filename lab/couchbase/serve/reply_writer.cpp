#include "lab/couchbase/serve/reply_writer.hpp"

#include "core/couchbase/wire/frame_writer.hpp"
#include "core/couchbase/wire/value.hpp"

#include <algorithm>
#include <chrono>

namespace holdfast::lab::couchbase {

namespace {

/// A reply of several values may be larger than any of them.
constexpr std::size_t largest_reply = 16 * core::couchbase::max_body_size;

// Places in the header of a frame.
constexpr std::size_t magic_at = 0;
constexpr std::size_t key_size_at = 2;
constexpr std::size_t datatype_at = 5;
constexpr std::size_t body_size_at = 8;

struct notification {
    config_revision revision;
    bool with_body;
};

void write_notification(const node& on, kv_client& client, bson::byte_buffer& out,
                        std::uint32_t opaque, const notification& what)
{
    const auto in = on.buckets.find(client.bucket);
    core::couchbase::server_request_frame made;
    made.opaque = opaque;
    kv_extras numbers;
    if (on.push.short_extras)
        numbers.add(static_cast<std::uint32_t>(what.revision.rev));
    else
        numbers.add(static_cast<std::uint64_t>(what.revision.epoch))
            .add(static_cast<std::uint64_t>(what.revision.rev));
    made.extras = numbers.bytes();
    made.key = client.bucket;
    std::string body;
    if (what.with_body) {
        cluster_members members = on.members;
        members.revision = what.revision;
        const asker by{on.id, on.options.hosts};
        body = in == on.buckets.end() ? configuration_text(members, by)
                                      : configuration_text(members, in->second.layout, by);
        made.datatype = client.has(kv_feature::json) ? kv_datatype::json : kv_datatype::raw;
        made.value = core::couchbase::as_octets(body);
        client.sent_revision = std::max(client.sent_revision, what.revision);
    }
    (void)core::couchbase::write_server_request(out, made);
}

}  // namespace

void write_reply(bson::byte_buffer& out, const kv_client& client, const reply_address& to,
                 const kv_reply& reply, time_point now)
{
    core::couchbase::reply_frame made;
    made.opcode = to.opcode;
    made.opaque = to.opaque;
    if (client.has(kv_feature::tracing) && made.opcode != kv_opcode::hello)
        made.infos.server_duration = std::chrono::duration_cast<std::chrono::microseconds>(
            now - to.arrived);
    for (const auto& [name, value] : reply.statistics) {
        made.key = name;
        made.value = core::couchbase::as_octets(value);
        (void)core::couchbase::write_reply(out, made);
    }
    made.key = {};
    made.status = reply.status;
    made.cas = reply.cas;
    made.extras = reply.extras.bytes();
    made.value = core::couchbase::as_octets(reply.value);
    if (reply.json && client.has(kv_feature::json))
        made.datatype = kv_datatype::json;
    bson::byte_buffer packed;
    if (reply.may_compress && client.has(kv_feature::snappy) &&
        core::couchbase::append_compressed(packed, made.value)) {
        made.value = packed.bytes();
        made.datatype = made.datatype | kv_datatype::snappy;
    }
    if (core::couchbase::write_reply(out, made, largest_reply))
        return;
    made.status = kv_status::too_big;
    made.extras = {};
    made.value = {};
    made.datatype = kv_datatype::raw;
    (void)core::couchbase::write_reply(out, made);
}

void damage_frame(bson::byte_buffer& out, std::size_t begin, frame_damage what)
{
    using core::couchbase::store_big;
    std::uint8_t* const frame = out.data() + begin;
    switch (what) {
    case frame_damage::none:
        break;
    case frame_damage::wrong_magic:
        frame[magic_at] = 0x42;
        break;
    case frame_damage::huge_body:
        store_big(frame + body_size_at, std::uint32_t{0x80000000});
        break;
    case frame_damage::long_key:
        frame[magic_at] = static_cast<std::uint8_t>(core::couchbase::kv_magic::client_response);
        store_big(frame + key_size_at, std::uint16_t{0xffff});
        break;
    case frame_damage::bad_framing:
        // One info of 15 bytes is announced where there is one byte.
        out.truncate(begin + core::couchbase::frame_header_size);
        frame[magic_at] = static_cast<std::uint8_t>(core::couchbase::kv_magic::alt_client_response);
        frame[key_size_at] = 1;
        frame[key_size_at + 1] = 0;
        frame[key_size_at + 2] = 0;
        store_big(frame + body_size_at, std::uint32_t{1});
        *out.grow(1) = 0x0e;
        break;
    case frame_damage::unknown_datatype:
        frame[datatype_at] = 0x40;
        break;
    }
}

void write_notifications(const node& on, kv_client& client, bson::byte_buffer& out,
                         std::uint32_t opaque)
{
    const bool brief = client.has(kv_feature::clustermap_change_notification_brief);
    const bool full = client.has(kv_feature::clustermap_change_notification);
    if (!on.push.enabled || !client.has(kv_feature::duplex) || (!brief && !full))
        return;
    const bool with_body = full && !brief && !on.push.brief;
    config_revision older = on.members.revision;
    older.rev = std::max<std::int64_t>(older.rev - 1, 0);
    const notification old_one{older, with_body};
    const notification new_one{on.push.older_only ? older : on.members.revision, with_body};
    for (int n = 0; n < on.push.copies; ++n)
        write_notification(on, client, out, opaque, new_one);
    if (on.push.then_older)
        write_notification(on, client, out, opaque, old_one);
}

}  // namespace holdfast::lab::couchbase
