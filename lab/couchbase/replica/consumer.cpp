#include "lab/couchbase/replica/consumer.hpp"

#include "lab/couchbase/replica/peer_frames.hpp"

#include <utility>

namespace holdfast::lab::couchbase {

namespace {

using core::couchbase::frame;

constexpr std::size_t most_peer_buckets = 1000;

/// A copy that this connection may change.
struct copy_target {
    bucket* in = nullptr;
    vbucket* at = nullptr;  // null: refused
};

bool is_copy(const vbucket& at, int source)
{
    const auto state = at.current_state();
    return (state == vbucket::state::replica || state == vbucket::state::pending) &&
           !at.chain().empty() && at.chain().front() == source;
}

copy_target find_copy(node& on, const kv_client& client, peer_place place)
{
    const auto name = client.peer_buckets.find(place.bucket);
    bucket* const in = name == client.peer_buckets.end() ? nullptr : on.find_bucket(name->second);
    vbucket* const at = in ? in->find(place.vbucket) : nullptr;
    if (!at || !is_copy(*at, *client.peer))
        return {};
    return {in, at};
}

bool name_bucket(node& on, kv_client& client, const frame& from)
{
    using core::couchbase::as_text;
    if (client.peer_buckets.size() == most_peer_buckets)
        return false;
    const std::string name{as_text(from.key())};
    const bucket* const in = on.find_bucket(name);
    if (in && in->layout.uuid == as_text(from.value()))
        client.peer_buckets[from.header.opaque] = name;
    else
        client.peer_buckets.erase(from.header.opaque);
    return true;
}

void begin_stream(const copy_target& to, stream_begin begin)
{
    to.in->incoming.erase(to.at->id());
    if (!begin.anew) {
        to.at->adopt_history(std::move(begin.log));
        return;
    }
    vbucket made{to.at->id(), 0, vbucket::state::replica};
    made.adopt_history(std::move(begin.log));
    to.in->incoming.emplace(to.at->id(), std::move(made));
}

void put_in_place(const copy_target& to, vbucket made)
{
    made.set_state(to.at->current_state());
    made.set_chain(to.at->chain());
    *to.at = std::move(made);
}

peer_numbers numbers_of(const vbucket& at)
{
    return {at.consistent_seqno(), at.persisted_seqno()};
}

void end_snapshot(node& on, const copy_target& to, std::uint64_t seqno)
{
    const auto incoming = to.in->incoming.find(to.at->id());
    if (incoming != to.in->incoming.end()) {
        incoming->second.end_snapshot(seqno);
        put_in_place(to, std::move(incoming->second));
        to.in->incoming.erase(incoming);
    } else {
        to.at->end_snapshot(seqno);
    }
    on.progressed();
}

}  // namespace

bool take_peer_message(node& on, kv_client& client, const frame& from, bson::byte_buffer& out)
{
    const kv_opcode what = from.header.opcode;
    if (what == peer_bucket)
        return name_bucket(on, client, from);
    const peer_place place{from.header.opaque, from.vbucket()};
    const copy_target to = find_copy(on, client, place);
    if (!to.at) {
        write_peer_plain(out, peer_refuse, place);
        return true;
    }
    if (what == peer_ask_copy) {
        write_copy_state(out, place,
                         {to.at->uuid(), to.at->high_seqno(), to.at->consistent_seqno()});
        return true;
    }
    if (what == peer_begin) {
        auto begin = read_peer_begin(from);
        if (begin)
            begin_stream(to, *std::move(begin));
        return begin.has_value();
    }
    if (what == peer_snapshot_end) {
        const auto numbers = read_peer_numbers(from);
        if (!numbers)
            return false;
        end_snapshot(on, to, numbers->seqno);
        write_peer_numbers(out, peer_ack, place, numbers_of(*to.at));
        return true;
    }
    if (what != peer_mutation && what != peer_prepare && what != peer_abort)
        return false;
    auto made = read_change(from);
    if (!made)
        return false;
    const auto incoming = to.in->incoming.find(place.vbucket);
    (incoming == to.in->incoming.end() ? *to.at : incoming->second).apply(*std::move(made));
    return true;
}

void acknowledge_again(node& on, const kv_client& client, bson::byte_buffer& out)
{
    for (const auto& [number, name] : client.peer_buckets) {
        bucket* const in = on.find_bucket(name);
        if (!in)
            continue;
        for (const auto& [id, at] : in->vbuckets) {
            if (is_copy(at, *client.peer) && at.consistent_seqno() != 0)
                write_peer_numbers(out, peer_ack, {number, id}, numbers_of(at));
        }
    }
}

}  // namespace holdfast::lab::couchbase
