#pragma once
#include "runtime/suspension.hpp"
#include "runtime/wait.hpp"
#include "sim/timeline.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace holdfast::sim {

class incarnation;
class machine;
struct backlog;

/// The two ends of a connection, and the two flows by the end that sends.
inline constexpr std::size_t client_side = 0;
inline constexpr std::size_t server_side = 1;
constexpr std::size_t other(std::size_t side)
{
    return 1 - side;
}

enum class segment_kind : std::uint8_t { syn, syn_ack, ack, data, fin };

struct segment {
    segment_kind kind = segment_kind::data;
    bool swallowed = false;  // the link was cut when it was sent
    bool sent_again = false;  // lost at first: it arrives only if its sender lives on
    bool breaks = false;      // the connection breaks instead
    std::size_t length = 0;
};

/// Bytes in order, taken from the front.
class byte_queue {
public:
    void append(std::span<const std::uint8_t> more)
    {
        if (taken_ > bytes_.size() / 2) {
            bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(taken_));
            taken_ = 0;
        }
        bytes_.insert(bytes_.end(), more.begin(), more.end());
    }
    void take(std::span<std::uint8_t> into) noexcept
    {
        std::memcpy(into.data(), bytes_.data() + taken_, into.size());
        drop(into.size());
    }
    void drop(std::size_t count) noexcept
    {
        taken_ += count;
        if (taken_ == bytes_.size()) {
            bytes_.clear();
            taken_ = 0;
        }
    }

private:
    std::vector<std::uint8_t> bytes_;
    std::size_t taken_ = 0;
};

/// What one end sends to the other. Its segments arrive in order: one occurrence of the timeline is
/// planned for each, and takes the first.
struct flow {
    std::deque<segment> on_the_way;
    byte_queue bytes;  // on the way, or arrived and not read yet
    std::size_t arrived = 0;  // so many of them can be read
    bool finished = false;  // the sender has closed, and all before that has arrived
    time_point last_arrival{};  // nothing overtakes

    // The window, in bytes since the beginning.
    std::uint64_t sent = 0;
    std::uint64_t limit = 0;  // as far as the sender knows he may go
    std::uint64_t consumed = 0;  // what the receiver's process has read
    std::uint64_t advertised = 0;  // as far as the receiver has said
    bool window_swallowed = false;  // it has said so in vain

    // A cut link, or a host without power.
    bool stalled = false;  // the first segment was swallowed, and none can arrive before it
    bool recovering = false;  // it will be sent again
    std::size_t missed = 0;  // segments whose occurrence has passed in vain
    bool dead = false;  // what is missing will never come
};

enum class end_state : std::uint8_t {
    none,  // the server's, before it has heard of the connection
    dialling,  // the client's, before it has an answer
    syn_received,  // the server's, before the client has answered its answer
    open,
    closed,  // by its process; its kernel still sends what it was given
    lost,  // with its process: its kernel does not know it
};

struct connection_end {
    end_state state = end_state::none;
    machine* at = nullptr;  // null for an address without a machine
    incarnation* of = nullptr;
    error_code broken = {};

    // Who waits; each wait has a suspension of its own, and the old one stays until the next.
    std::shared_ptr<runtime::suspension> reader = nullptr;
    std::shared_ptr<runtime::suspension> writer = nullptr;
    runtime::event* dialler = nullptr;

    bool is_gone() const noexcept
    {
        return state == end_state::none || state == end_state::closed || state == end_state::lost;
    }
    void wake_reader() const noexcept
    {
        if (reader)
            reader->end(runtime::wait_end::notified);
    }
    void wake_writer() const noexcept
    {
        if (writer)
            writer->end(runtime::wait_end::notified);
    }
};

struct connection : std::enable_shared_from_this<connection> {
    std::uint64_t id = 0;  // in the order in which they were begun
    std::string address;  // as dialled
    std::uint16_t port = 0;
    bool loopback = false;
    connection_end ends[2];
    flow flows[2];
    std::shared_ptr<backlog> waiting_at = nullptr;  // until the server has accepted it
};

/// What a listener shares with its kernel.
struct backlog {
    explicit backlog(runtime::world& in) : news{in} {}

    static constexpr std::size_t limit = 128;

    std::uint16_t port = 0;
    bool loopback_only = false;
    bool cancelled = false;
    std::size_t pending = 0;  // SYN received, or ready
    std::deque<std::shared_ptr<connection>> ready;
    runtime::event news;
};

}  // namespace holdfast::sim
