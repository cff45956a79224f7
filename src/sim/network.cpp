#include "sim/network.hpp"

#include "sim/machine.hpp"

#include <utility>

namespace holdfast::sim {
namespace {

constexpr link loopback{.latency_min = std::chrono::microseconds{10},
                        .latency_max = std::chrono::microseconds{30}};

bool is_between(const connection& which, const machine& one, const machine& another)
{
    const machine* const client = which.ends[client_side].at;
    const machine* const server = which.ends[server_side].at;
    return (client == &one && server == &another) || (client == &another && server == &one);
}

}  // namespace

network::network(std::uint64_t seed, timeline& time, trace& history)
    : seed_{seed},
      time_{time},
      trace_{history},
      nowhere_{.link_state = {.cut = true}, .chance = random_source{seed, chance_of_links}}
{
}

void network::add(machine& which)
{
    const std::size_t added = machines_.size();
    machines_.push_back(&which);
    wires_.emplace_back();
    for (std::size_t from = 0; from <= added; ++from) {
        for (std::size_t to = wires_[from].size(); to <= added; ++to) {
            const random_source chance{seed_, chance_of_links, pair_of(from + 1, to + 1)};
            wires_[from].push_back({.link_state = from == to ? loopback : all_, .chance = chance});
        }
    }
}

link& network::between(const machine& from, const machine& to)
{
    return wires_[from.index()][to.index()].link_state;
}

const link& network::between(const machine& from, const machine& to) const
{
    return wires_[from.index()][to.index()].link_state;
}

void network::set_all(const link& link_state)
{
    all_ = link_state;
    for (machine* from : machines_) {
        for (machine* to : machines_) {
            if (from == to)
                continue;
            between(*from, *to) = link_state;
            if (!link_state.cut)
                recover(*from, *to);
        }
    }
}

void network::set_cut(const machine& from, const machine& to, bool cut)
{
    if (std::exchange(between(from, to).cut, cut) == cut)
        return;
    trace_.add(traced::cut, from.index(), {to.index(), cut}, [&] {
        return from.name() + (cut ? " is cut off from " : " can reach ") + to.name();
    });
    if (!cut)
        recover(from, to);
}

void network::heal_all()
{
    for (machine* from : machines_) {
        for (machine* to : machines_)
            set_cut(*from, *to, false);
    }
    all_.cut = false;
}

std::shared_ptr<connection> network::dial(incarnation& from, const std::string& address,
                                          std::uint16_t port, runtime::event& news)
{
    const auto made = std::make_shared<connection>();
    made->id = ++dialled_;
    made->address = address;
    made->port = port;
    made->loopback = is_loopback(address);
    connection_end& client = made->ends[client_side];
    client = {.state = end_state::dialling, .at = &from.where(), .of = &from, .dialler = &news};
    made->ends[server_side].at = made->loopback ? client.at : nullptr;
    for (machine* candidate : machines_) {
        if (candidate->address() == address)
            made->ends[server_side].at = candidate;
    }
    flow& back = made->flows[server_side];
    back.limit = back.advertised = client.at->receive_buffer();
    connections_.emplace(made->id, made);
    trace_.add(traced::dialled, client.at->index(), {made->id, content_hash(address), port}, [&] {
        return client.at->name() + " dials " + runtime::to_string({address, port}) + " #" +
               std::to_string(made->id);
    });
    send(*made, client_side, {.kind = segment_kind::syn});
    return made;
}

runtime::io_result network::write(connection& over, std::size_t side,
                                  std::span<const std::uint8_t> in)
{
    if (over.ends[side].broken)
        return {over.ends[side].broken, 0};
    flow& out = over.flows[side];
    const std::uint64_t window = out.limit - out.sent;
    const std::size_t length = std::min<std::uint64_t>(in.size(), window);
    if (length == 0 && !in.empty())
        return {make_error_code(boost::system::errc::operation_would_block), 0};
    if (length > 0) {
        out.bytes.append(in.first(length));
        out.sent += length;
        const machine& from = *over.ends[side].at;
        trace_.add(
            traced::sent, from.index(), {over.id, length, content_hash(in.first(length))}, [&] {
                const machine& to = *over.ends[other(side)].at;
                return from.name() + " -> " + to.name() + ':' + std::to_string(over.port) + " #" +
                       std::to_string(over.id) + ' ' + std::to_string(length) + " bytes";
            });
        send(over, side, {.kind = segment_kind::data, .length = length});
    }
    return {{}, length};
}

runtime::io_result network::read(connection& over, std::size_t side, std::span<std::uint8_t> into)
{
    flow& in = over.flows[other(side)];
    const connection_end& end = over.ends[side];
    if (in.arrived > 0) {
        const std::size_t length = std::min(into.size(), in.arrived);
        in.bytes.take(into.first(length));
        in.arrived -= length;
        in.consumed += length;
        offer_window(over, side);
        return {{}, length};
    }
    if (in.finished)
        return {boost::asio::error::eof, 0};
    if (end.broken)
        return {end.broken, 0};
    return {make_error_code(boost::system::errc::operation_would_block), 0};
}

void network::close(connection& which, std::size_t side)
{
    connection_end& end = which.ends[side];
    end.dialler = nullptr;
    if (end.is_gone())
        return;
    const bool was_open = end.state == end_state::open && !end.broken;
    end.state = end_state::closed;
    if (was_open)
        send(which, side, {.kind = segment_kind::fin});
    forget_if_done(which);
}

void network::close(const std::shared_ptr<backlog>& which)
{
    const auto all = connections_;  // those that are turned away are forgotten
    for (const auto& [id, one] : all) {
        if (one->waiting_at == which)
            lose_end(*one, server_side, true);
    }
}

void network::reset_between(const machine& one, const machine& another)
{
    const auto all = connections_;  // some are forgotten
    for (const auto& [id, which] : all) {
        if (!is_between(*which, one, another))
            continue;
        break_end(*which, client_side, boost::system::errc::connection_reset);
        break_end(*which, server_side, boost::system::errc::connection_reset);
    }
}

void network::lose(incarnation& process, bool notify_peer)
{
    const auto all = connections_;  // some are forgotten
    for (const auto& [id, which] : all) {
        for (const std::size_t side : {client_side, server_side}) {
            const connection_end& end = which->ends[side];
            const bool only_kernel = end.state == end_state::closed && notify_peer;
            if (end.of == &process && !only_kernel)
                lose_end(*which, side, notify_peer);
        }
    }
}

void network::recover(const machine& from, const machine& to)
{
    for (const auto& [id, which] : connections_) {
        for (const std::size_t side : {client_side, server_side}) {
            if (which->ends[side].at != &from || which->ends[other(side)].at != &to)
                continue;
            flow& out = which->flows[side];
            wire& over = wire_from(*which, side);
            if (out.stalled && !out.recovering) {
                const duration latency = over.chance.between(over.link_state.latency_min,
                                                             over.link_state.latency_max);
                plan_recovery(*which, side, time_.now() + over.link_state.resend + latency);
            }
            if (which->flows[other(side)].window_swallowed)
                send_window(*which, side, true);
        }
    }
}

void network::recover_all_to(const machine& which)
{
    for (machine* from : machines_)
        recover(*from, which);
}

void network::receive_buffer_changed(const machine& of)
{
    for (const auto& [id, which] : connections_) {
        for (const std::size_t side : {client_side, server_side}) {
            if (which->ends[side].at == &of && which->ends[side].state == end_state::open)
                offer_window(*which, side);
        }
    }
}

std::size_t network::open_ends() const noexcept
{
    std::size_t count = 0;
    for (const auto& [id, which] : connections_) {
        for (const connection_end& end : which->ends)
            count += !end.is_gone() && end.state != end_state::syn_received;
    }
    return count;
}

void network::break_end(connection& which, std::size_t side, boost::system::errc::errc_t why)
{
    connection_end& end = which.ends[side];
    if (end.is_gone() || end.broken)
        return;
    trace_.add(traced::reset, end.at->index(), {which.id, static_cast<std::uint64_t>(why)}, [&] {
        return end.at->name() + " #" + std::to_string(which.id) +
               (why == boost::system::errc::connection_refused ? " refused" : " reset");
    });
    if (end.state == end_state::syn_received) {
        leave_backlog(which);
        end.state = end_state::lost;
        return forget_if_done(which);
    }
    end.broken = make_error_code(why);
    end.wake_reader();
    end.wake_writer();
    if (end.dialler != nullptr)
        end.dialler->notify();
}

void network::lose_end(connection& which, std::size_t side, bool notify_peer)
{
    connection_end& end = which.ends[side];
    if (end.state == end_state::lost)
        return;
    const bool was_known = !end.broken && end.state != end_state::closed;
    if (side == server_side)
        leave_backlog(which);
    end.state = end_state::lost;
    end.broken = make_error_code(boost::system::errc::connection_reset);
    end.dialler = nullptr;
    if (notify_peer && was_known)
        send_reset(which, side);
    forget_if_done(which);
}

void network::leave_backlog(connection& which)
{
    if (!which.waiting_at)
        return;
    --which.waiting_at->pending;
    std::erase_if(which.waiting_at->ready, [&](const auto& one) { return one.get() == &which; });
    which.waiting_at = nullptr;
}

void network::forget_if_done(connection& which)
{
    if (which.ends[client_side].is_gone() && which.ends[server_side].is_gone())
        connections_.erase(which.id);
}

}  // namespace holdfast::sim
