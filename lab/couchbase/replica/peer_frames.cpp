#include "lab/couchbase/replica/peer_frames.hpp"

#include "core/couchbase/wire/big_endian.hpp"
#include "core/couchbase/wire/frame_writer.hpp"

#include <charconv>

namespace holdfast::lab::couchbase {

namespace {

using core::couchbase::as_octets;
using core::couchbase::as_text;
using core::couchbase::big_endian_reader;
using core::couchbase::frame;
using core::couchbase::kv_extras;

constexpr std::string_view hello_name = "lab-peer ";
constexpr std::size_t longest_log = 64;
/// A document has its extended attributes beside its value.
constexpr std::size_t largest_message = 2 * core::couchbase::max_body_size;

enum change_bits : std::uint8_t { is_json = 1, is_compressed = 2, is_deleted = 4 };

core::couchbase::request_frame start(kv_opcode what, peer_place at)
{
    core::couchbase::request_frame made;
    made.opcode = what;
    made.opaque = at.bucket;
    made.vbucket = at.vbucket;
    return made;
}

void append_number(std::string& to, std::uint64_t number)
{
    kv_extras bytes;
    bytes.add(number);
    to += as_text(bytes.bytes());
}

kv_opcode opcode_of(change::kind what)
{
    switch (what) {
    case change::kind::document:
        return peer_mutation;
    case change::kind::prepare:
        return peer_prepare;
    case change::kind::abort:
        break;
    }
    return peer_abort;
}

}  // namespace

std::string peer_hello(int node, std::string_view cluster_key)
{
    return std::string{hello_name} + std::to_string(node) + ' ' + std::string{cluster_key};
}

std::optional<int> read_peer_hello(std::string_view text, std::string_view cluster_key)
{
    if (cluster_key.empty() || !text.starts_with(hello_name))
        return std::nullopt;
    text.remove_prefix(hello_name.size());
    int number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (problem != std::errc{} || number < 0 || text != ' ' + std::string{cluster_key})
        return std::nullopt;
    return number;
}

void write_peer_bucket(bson::byte_buffer& out, std::uint32_t number, std::string_view name,
                       std::string_view uuid)
{
    auto made = start(peer_bucket, {number, 0});
    made.key = name;
    made.value = as_octets(uuid);
    (void)core::couchbase::write_request(out, made);
}

void write_peer_plain(bson::byte_buffer& out, kv_opcode what, peer_place at)
{
    (void)core::couchbase::write_request(out, start(what, at));
}

void write_copy_state(bson::byte_buffer& out, peer_place at, const copy_state& state)
{
    auto made = start(peer_copy_state, at);
    kv_extras numbers;
    numbers.add(state.uuid).add(state.high).add(state.consistent);
    made.extras = numbers.bytes();
    (void)core::couchbase::write_request(out, made);
}

std::optional<copy_state> read_copy_state(const frame& from)
{
    big_endian_reader extras{from.extras()};
    const auto uuid = extras.take<std::uint64_t>();
    const auto high = extras.take<std::uint64_t>();
    const auto consistent = extras.take<std::uint64_t>();
    if (!consistent)
        return std::nullopt;
    return copy_state{*uuid, *high, *consistent};
}

void write_peer_begin(bson::byte_buffer& out, peer_place at, bool anew,
                      const std::vector<failover_entry>& log)
{
    auto made = start(peer_begin, at);
    kv_extras flags;
    flags.add(std::uint8_t{anew});
    made.extras = flags.bytes();
    std::string entries;
    for (const failover_entry& one : log) {
        append_number(entries, one.uuid);
        append_number(entries, one.seqno);
    }
    made.value = as_octets(entries);
    (void)core::couchbase::write_request(out, made);
}

std::optional<stream_begin> read_peer_begin(const frame& from)
{
    const auto flag = big_endian_reader{from.extras()}.take<std::uint8_t>();
    if (!flag)
        return std::nullopt;
    stream_begin made;
    made.anew = *flag != 0;
    big_endian_reader entries{from.value()};
    while (!entries.empty() && made.log.size() != longest_log) {
        const auto uuid = entries.take<std::uint64_t>();
        const auto seqno = entries.take<std::uint64_t>();
        if (!seqno)
            return std::nullopt;
        made.log.push_back({*uuid, *seqno});
    }
    return made;
}

void write_change(bson::byte_buffer& out, peer_place at, const change& what)
{
    const document& content = what.content;
    auto made = start(opcode_of(what.what), at);
    made.cas = content.cas;
    kv_extras numbers;
    const auto modified = std::chrono::duration_cast<std::chrono::nanoseconds>(
        content.modified.time_since_epoch());
    numbers.add(content.seqno)
        .add(content.revision)
        .add(content.flags)
        .add(content.expiry)
        .add(static_cast<std::uint64_t>(modified.count()))
        .add(static_cast<std::uint8_t>((content.json ? is_json : 0) |
                                       (content.compressed ? is_compressed : 0) |
                                       (content.deleted ? is_deleted : 0)))
        .add(static_cast<std::uint8_t>(what.level));
    made.extras = numbers.bytes();
    made.collection = what.key.collection;
    made.key = what.key.name;
    kv_extras size;
    size.add(static_cast<std::uint32_t>(content.xattrs.size()));
    std::string body{as_text(size.bytes())};
    body += content.xattrs;
    body += content.value;
    made.value = as_octets(body);
    (void)core::couchbase::write_request(out, made, largest_message);
}

std::optional<change> read_change(const frame& from)
{
    const auto split = core::couchbase::split_collection_key(from.key());
    big_endian_reader extras{from.extras()};
    const auto seqno = extras.take<std::uint64_t>();
    const auto revision = extras.take<std::uint64_t>();
    const auto flags = extras.take<std::uint32_t>();
    const auto expiry = extras.take<std::uint32_t>();
    const auto modified = extras.take<std::uint64_t>();
    const auto bits = extras.take<std::uint8_t>();
    const auto level = extras.take<std::uint8_t>();
    big_endian_reader body{from.value()};
    const auto xattrs_size = body.take<std::uint32_t>();
    const auto xattrs = xattrs_size ? body.take_bytes(*xattrs_size) : std::nullopt;
    if (!split || !level || !xattrs)
        return std::nullopt;
    change made;
    const kv_opcode opcode = from.header.opcode;
    made.what = opcode == peer_mutation  ? change::kind::document
                : opcode == peer_prepare ? change::kind::prepare
                                         : change::kind::abort;
    made.key = {split->collection, std::string{as_text(split->key)}};
    made.level = kv_durability{*level};
    document& content = made.content;
    content.cas = from.header.cas;
    content.seqno = *seqno;
    content.revision = *revision;
    content.flags = *flags;
    content.expiry = *expiry;
    content.modified = wall_time{std::chrono::duration_cast<wall_time::duration>(
        std::chrono::nanoseconds{static_cast<std::int64_t>(*modified)})};
    content.json = (*bits & is_json) != 0;
    content.compressed = (*bits & is_compressed) != 0;
    content.deleted = (*bits & is_deleted) != 0;
    content.xattrs = as_text(*xattrs);
    content.value = as_text(body.rest());
    return made;
}

void write_peer_numbers(bson::byte_buffer& out, kv_opcode what, peer_place at,
                        const peer_numbers& numbers)
{
    auto made = start(what, at);
    kv_extras extras;
    extras.add(numbers.seqno).add(numbers.persisted);
    made.extras = extras.bytes();
    (void)core::couchbase::write_request(out, made);
}

std::optional<peer_numbers> read_peer_numbers(const frame& from)
{
    big_endian_reader extras{from.extras()};
    const auto seqno = extras.take<std::uint64_t>();
    const auto persisted = extras.take<std::uint64_t>();
    if (!persisted)
        return std::nullopt;
    return peer_numbers{*seqno, *persisted};
}

}  // namespace holdfast::lab::couchbase
