#pragma once
#include "runtime/stream.hpp"
#include "sim/connection.hpp"
#include "sim/random.hpp"
#include "sim/simulation.hpp"
#include "sim/timeline.hpp"
#include "sim/trace.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>

namespace holdfast::sim {

/// The wires between the machines and the TCP in their kernels. A kernel goes on while its process
/// stands still, and survives it unless the power fails.
class network {
public:
    network(std::uint64_t seed, timeline& time, trace& history);
    network(const network&) = delete;
    network& operator=(const network&) = delete;

    // The wires. A machine has one to itself as well, which set_all() leaves alone.
    void add(machine& which);
    link& between(const machine& from, const machine& to);
    const link& between(const machine& from, const machine& to) const;
    void set_all(const link& link_state);
    void set_cut(const machine& from, const machine& to, bool cut);
    void heal_all();

    // For processes. A dial notifies `news` when it has come to something.
    std::shared_ptr<connection> dial(incarnation& from, const std::string& address,
                                     std::uint16_t port, runtime::event& news);
    runtime::io_result write(connection& over, std::size_t side, std::span<const std::uint8_t> in);
    /// would_block if there is nothing yet.
    runtime::io_result read(connection& over, std::size_t side, std::span<std::uint8_t> into);
    void close(connection& which, std::size_t side);
    void close(const std::shared_ptr<backlog>& which);

    // Faults.
    void reset_between(const machine& one, const machine& other);
    /// A process has ended. Its peers get a reset, unless the kernel went with it.
    void lose(incarnation& process, bool notify_peer);
    /// Something can arrive again: what was swallowed is sent once more.
    void recover(const machine& from, const machine& to);
    void recover_all_to(const machine& which);
    void receive_buffer_changed(const machine& of);

    void happen(const occurrence& what);

    /// Open ends, not counting those that the other end only just begins to know.
    std::size_t open_ends() const noexcept;

private:
    struct wire {
        link link_state;
        random_source chance;
        time_point free_at{};  // when the last byte given to it will be on its way
    };
    wire& wire_from(const connection& over, std::size_t side);
    bool reaches(const connection& over, std::size_t side);

    void send(connection& over, std::size_t side, segment what);
    void send_reset(connection& over, std::size_t side, bool refused = false);
    void send_window(connection& over, std::size_t reader, bool again);
    void offer_window(connection& over, std::size_t reader);

    void segment_arrives(connection& over, std::size_t side);
    void deliver_first(connection& over, std::size_t side);
    void syn_arrives(connection& over);
    void syn_ack_arrives(connection& over);
    void ack_arrives(connection& over);
    void data_arrives(connection& over, std::size_t side, std::size_t length);
    void reset_arrives(connection& over, std::size_t side, bool refused);
    void window_arrives(connection& over, std::size_t reader, std::uint64_t limit);
    void recovers(connection& over, std::size_t side);

    void break_end(connection& which, std::size_t side, boost::system::errc::errc_t why);
    void lose_end(connection& which, std::size_t side, bool notify_peer);
    void leave_backlog(connection& which);
    void forget_if_done(connection& which);
    void plan_recovery(connection& over, std::size_t side, time_point when);

    std::uint64_t seed_;
    timeline& time_;
    trace& trace_;
    link all_;
    std::deque<machine*> machines_;  // by index
    std::deque<std::deque<wire>> wires_;  // from, to; a deque, because it grows and is pointed into
    wire nowhere_;
    std::map<std::uint64_t, std::shared_ptr<connection>> connections_;  // with an open end
    std::uint64_t dialled_ = 0;
};

}  // namespace holdfast::sim
