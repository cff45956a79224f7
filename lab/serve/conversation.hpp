#pragma once
#include "holdfast/error.hpp"
#include "runtime/awaitable.hpp"
#include "runtime/wait.hpp"
#include "runtime/world.hpp"

#include <cstdint>
#include <functional>
#include <span>

namespace holdfast::lab {

/// What a conversation cannot do by itself.
enum class need : std::uint8_t {
    bytes,     // read into unread(), then received()
    writable,  // wait until the stream is writable
    news,      // wait for acceptor.news() beyond seen(), until wake_at(); then woken()
    time,      // wait until wake_at(); then woken()
    later,     // await answer_later(), then answered()
    nothing,   // it is over: close the connection
};

/// The server's side of one connection, in any protocol. A state machine without a coroutine of its
/// own: all that can be done at once is done in one call of advance(), so that an ordinary request
/// costs no coroutine frame. The port's loop does what it needs.
class conversation {
public:
    virtual ~conversation() = default;

    /// Goes on as far as it can. Replies are written to `to`.
    virtual need advance(runtime::stream& to) = 0;

    virtual std::span<std::uint8_t> unread() = 0;
    virtual void received(std::size_t count) noexcept = 0;

    virtual std::uint64_t seen() const noexcept = 0;
    virtual time_point wake_at() const noexcept = 0;
    virtual void woken(runtime::wait_end end) = 0;

    virtual runtime::awaitable<result<void>> answer_later() = 0;
    virtual void answered(result<void> outcome) = 0;

    /// Given before the first advance(). A call of it has advance() called soon, also while the
    /// port reads or waits for a time. For what the server sends without being asked.
    virtual void set_waker(std::function<void()> waker) { (void)waker; }
    /// When advance() is to be called at the latest, although no byte has arrived.
    virtual time_point read_until() const noexcept { return runtime::never; }

    /// Whether what it waits for may take long, so that the port has to look meanwhile whether the
    /// client is still there.
    virtual bool waits_long() const noexcept = 0;
    /// Whether the other side is a server of the same cluster: see open_port::close_connections.
    virtual bool internal() const noexcept = 0;
    /// The connection has ended. Called once, and only while the server behind the port exists.
    virtual void closed() = 0;
};

}  // namespace holdfast::lab
