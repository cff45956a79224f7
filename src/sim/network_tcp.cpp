// How segments travel, and what the kernels make of them.
#include "sim/machine.hpp"
#include "sim/network.hpp"

#include <utility>

namespace holdfast::sim {
namespace {

using boost::system::errc::connection_refused;
using boost::system::errc::connection_reset;

constexpr int resends_max = 15;  // as a kernel has it, which then gives up; we let it pass

}  // namespace

network::wire& network::wire_from(const connection& over, std::size_t side)
{
    const machine* const from = over.ends[side].at;
    const machine* const to = over.ends[other(side)].at;
    if (from == nullptr || to == nullptr)
        return nowhere_;
    return wires_[from->index()][to->index()];
}

bool network::reaches(const connection& over, std::size_t side)
{
    const machine* const to = over.ends[other(side)].at;
    return to != nullptr && to->has_power() && !wire_from(over, side).link_state.cut;
}

void network::send(connection& over, std::size_t side, segment what)
{
    wire& by = wire_from(over, side);
    flow& out = over.flows[side];
    what.swallowed = by.link_state.cut;
    what.breaks = by.chance.happens(by.link_state.reset);

    time_point arrival = time_.now();
    if (by.link_state.bytes_per_ms > 0) {
        const std::uint64_t nanoseconds = what.length * 1'000'000 / by.link_state.bytes_per_ms;
        const duration takes = std::chrono::nanoseconds{nanoseconds};
        arrival = by.free_at = std::max(arrival, by.free_at) + takes;
    }
    arrival += by.chance.between(by.link_state.latency_min, by.link_state.latency_max);
    for (int n = 0; n < resends_max && by.chance.happens(by.link_state.loss); ++n) {
        arrival += by.link_state.resend;
        what.sent_again = true;
    }
    out.last_arrival = std::max(out.last_arrival, arrival);
    out.on_the_way.push_back(what);
    time_.plan(out.last_arrival, {.kind = occurrence_kind::segment,
                                  .side = static_cast<std::uint8_t>(side),
                                  .about = over.shared_from_this()});
}

/// A reset is not sent again: if it is swallowed, the other end hears of it when it next writes.
void network::send_reset(connection& over, std::size_t side, bool refused)
{
    if (over.ends[other(side)].is_gone())
        return;
    wire& by = wire_from(over, side);
    if (by.link_state.cut)
        return;
    flow& out = over.flows[side];
    out.last_arrival = std::max(
        out.last_arrival,
        time_.now() + by.chance.between(by.link_state.latency_min, by.link_state.latency_max));
    time_.plan(out.last_arrival, {.kind = occurrence_kind::reset,
                                  .side = static_cast<std::uint8_t>(side),
                                  .number = refused,
                                  .about = over.shared_from_this()});
}

/// The reader has made room. As kernels do, it says so only when it is worth a segment.
void network::offer_window(connection& over, std::size_t reader)
{
    flow& in = over.flows[other(reader)];
    const std::size_t buffer = over.ends[reader].at->receive_buffer();
    const std::uint64_t offer = in.consumed + buffer;
    if (offer <= in.advertised || offer - in.advertised < std::max<std::size_t>(buffer / 2, 1))
        return;
    in.advertised = offer;
    if (!over.ends[other(reader)].is_gone())
        send_window(over, reader, false);
}

void network::send_window(connection& over, std::size_t reader, bool again)
{
    wire& by = wire_from(over, reader);
    flow& in = over.flows[other(reader)];
    in.window_swallowed = by.link_state.cut;
    if (by.link_state.cut)
        return;
    duration takes = by.chance.between(by.link_state.latency_min, by.link_state.latency_max);
    if (again || by.chance.happens(by.link_state.loss))
        takes += by.link_state.resend;
    time_.plan(time_.now() + takes, {.kind = occurrence_kind::window,
                                     .side = static_cast<std::uint8_t>(reader),
                                     .number = in.advertised,
                                     .about = over.shared_from_this()});
}

void network::happen(const occurrence& what)
{
    connection& about = *what.about;
    switch (what.kind) {
    case occurrence_kind::script:
        break;
    case occurrence_kind::segment:
        return segment_arrives(about, what.side);
    case occurrence_kind::reset:
        return reset_arrives(about, what.side, what.number != 0);
    case occurrence_kind::window:
        return window_arrives(about, what.side, what.number);
    case occurrence_kind::recovery:
        return recovers(about, what.side);
    }
}

void network::segment_arrives(connection& over, std::size_t side)
{
    flow& out = over.flows[side];
    const bool sender_lost = over.ends[side].state == end_state::lost;
    const bool arrives = !out.stalled && !out.on_the_way.front().swallowed && reaches(over, side);
    if (out.dead || (sender_lost && (!arrives || out.on_the_way.front().sent_again))) {
        out.dead = true;
        return;
    }
    if (arrives)
        return deliver_first(over, side);
    trace_.add(traced::swallowed, over.ends[side].at->index(), {over.id}, [&] {
        return over.ends[side].at->name() + " #" + std::to_string(over.id) + " unanswered";
    });
    out.stalled = true;
    ++out.missed;
    if (!out.recovering && reaches(over, side))  // it was sent into a cut that has healed since
        plan_recovery(over, side, time_.now() + wire_from(over, side).link_state.resend);
}

void network::plan_recovery(connection& over, std::size_t side, time_point when)
{
    over.flows[side].recovering = true;
    time_.plan(when, {.kind = occurrence_kind::recovery,
                      .side = static_cast<std::uint8_t>(side),
                      .about = over.shared_from_this()});
}

void network::recovers(connection& over, std::size_t side)
{
    flow& out = over.flows[side];
    out.recovering = false;
    out.dead |= over.ends[side].state == end_state::lost;  // no process is left to send it again
    if (out.dead || !reaches(over, side))
        return;
    trace_.add(traced::recovered, over.ends[side].at->index(), {over.id, out.missed}, [&] {
        return over.ends[side].at->name() + " #" + std::to_string(over.id) + " sends " +
               std::to_string(out.missed) + " again";
    });
    out.stalled = false;
    for (std::size_t n = std::exchange(out.missed, 0); n > 0 && !out.dead; --n)
        deliver_first(over, side);
}

void network::deliver_first(connection& over, std::size_t side)
{
    flow& out = over.flows[side];
    const segment first = out.on_the_way.front();
    out.on_the_way.pop_front();
    if (first.breaks) {
        break_end(over, client_side, connection_reset);
        break_end(over, server_side, connection_reset);
        return;
    }
    const connection_end& to = over.ends[other(side)];
    const bool is_fin = first.kind == segment_kind::fin;
    if (to.state == end_state::lost || (to.state == end_state::closed && !is_fin))
        return send_reset(over, other(side));  // its kernel does not know this connection
    switch (first.kind) {
    case segment_kind::syn:
        return syn_arrives(over);
    case segment_kind::syn_ack:
        return syn_ack_arrives(over);
    case segment_kind::ack:
        return ack_arrives(over);
    case segment_kind::data:
        return data_arrives(over, side, first.length);
    case segment_kind::fin:
        break;
    }
    trace_.add(traced::finished, to.at->index(), {over.id},
               [&] { return to.at->name() + " #" + std::to_string(over.id) + " end of data"; });
    out.finished = true;
    to.wake_reader();
}

void network::syn_arrives(connection& over)
{
    connection_end& server = over.ends[server_side];
    if (over.ends[client_side].is_gone())
        return;
    incarnation* const process = server.at->process();
    const auto at = process != nullptr ? process->listening_at(over.port) : nullptr;
    if (!at || at->pending >= backlog::limit || (at->loopback_only && !over.loopback))
        return send_reset(over, server_side, true);
    server.state = end_state::syn_received;
    server.of = process;
    over.waiting_at = at;
    ++at->pending;
    flow& in = over.flows[client_side];
    in.limit = in.advertised = server.at->receive_buffer();
    send(over, server_side, {.kind = segment_kind::syn_ack});
}

void network::syn_ack_arrives(connection& over)
{
    connection_end& client = over.ends[client_side];
    if (client.state != end_state::dialling || client.broken)
        return;
    client.state = end_state::open;
    trace_.add(traced::connected, client.at->index(), {over.id},
               [&] { return client.at->name() + " #" + std::to_string(over.id) + " connected"; });
    send(over, client_side, {.kind = segment_kind::ack});
    if (client.dialler != nullptr)
        client.dialler->notify();
}

void network::ack_arrives(connection& over)
{
    connection_end& server = over.ends[server_side];
    if (server.state != end_state::syn_received)
        return;
    server.state = end_state::open;
    trace_.add(traced::accepted, server.at->index(), {over.id}, [&] {
        return server.at->name() + " #" + std::to_string(over.id) + " from " +
               over.ends[client_side].at->name();
    });
    over.waiting_at->ready.push_back(over.shared_from_this());
    over.waiting_at->news.notify();
}

void network::data_arrives(connection& over, std::size_t side, std::size_t length)
{
    flow& out = over.flows[side];
    const connection_end& to = over.ends[other(side)];
    if (to.broken)
        return;
    trace_.add(traced::received, to.at->index(), {over.id, length}, [&] {
        return to.at->name() + " #" + std::to_string(over.id) + " receives " +
               std::to_string(length) + " bytes";
    });
    out.arrived += length;
    to.wake_reader();
}

void network::reset_arrives(connection& over, std::size_t side, bool refused)
{
    if (reaches(over, side))
        break_end(over, other(side), refused ? connection_refused : connection_reset);
}

void network::window_arrives(connection& over, std::size_t reader, std::uint64_t limit)
{
    const std::size_t writer = other(reader);
    flow& out = over.flows[writer];
    if (!reaches(over, reader)) {
        out.window_swallowed = true;
        return;
    }
    trace_.add(traced::window, over.ends[writer].at->index(), {over.id, limit}, [&] {
        return over.ends[writer].at->name() + " #" + std::to_string(over.id) + " may write";
    });
    out.limit = std::max(out.limit, limit);
    over.ends[writer].wake_writer();
}

}  // namespace holdfast::sim
