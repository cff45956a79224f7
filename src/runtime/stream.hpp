#pragma once
#include "holdfast/error.hpp"
#include "runtime/alarm.hpp"
#include "runtime/awaitable.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace holdfast::runtime {

/// What a read or a write came to. Bytes may have been moved although there is an error only if the
/// error came after them; a read never reports both.
struct io_result {
    error_code why = {};
    std::size_t bytes = 0;
};

/// Bytes to and from a peer, in order. One coroutine reads and one writes at a time, and they may
/// be the same; only cancel() may be called by anybody. Destroying a stream closes it; nothing may
/// be pending then.
///
/// All worlds use the same codes, so that the code above is the same in each of them:
///   asio::error::eof                  the peer has sent all it wanted to send
///   errc::connection_reset and other  the connection is gone
///   errc::timed_out                   the time given to expires_at() has come
///   errc::operation_canceled          cancel(), or the cancellation of the operation
/// After a time-out or a cancelled operation the stream is as it was: no byte is lost, and it can
/// be used again once expires_at() has moved the time.
class stream {
public:
    virtual ~stream() = default;

    /// Waits for at least one byte and reads what is there. `into` must not be empty.
    virtual awaitable<io_result> read_some(std::span<std::uint8_t> into) = 0;

    /// What read_some() comes to, if the thread may be blocked for it, as that of a blocking stream
    /// may: at the cost of a plain call. Nothing if not.
    virtual std::optional<io_result> read_now(std::span<std::uint8_t> into)
    {
        (void)into;
        return std::nullopt;
    }

    /// Hands over as many bytes as go without waiting, which mostly is all of them, at the cost of
    /// a plain call. errc::operation_would_block if none go; then wait for writable(), and offer
    /// the same bytes again. A blocking stream waits here until all are gone.
    virtual io_result write_now(std::span<const std::uint8_t> bytes) = 0;

    /// Waits until write_now() is worth another try.
    virtual awaitable<error_code> writable() = 0;

    /// Whether bytes that were offered to write_now(), and that it did not count, may leave all the
    /// same: those that TLS has encrypted cannot be taken back.
    virtual bool keeps_uncounted() const noexcept { return false; }

    /// From now on nothing waits longer than that; what is pending ends too. `never`: no limit.
    virtual void expires_at(time_point when) = 0;

    /// Ends what is pending with errc::operation_canceled, and all that is tried later. From any
    /// thread, any number of times.
    virtual void cancel() noexcept = 0;

    /// Whether the peer has closed the connection, or it broke, as far as this is known without
    /// waiting: for a stream that was not used for long. Nothing may be pending.
    virtual bool peer_has_closed() noexcept { return false; }

    /// Who is at the other end, for people: "127.0.0.1:27017".
    virtual std::string peer() const = 0;

    /// This end likewise; empty if it is not known, and for a Unix socket.
    virtual std::string local() const { return {}; }
};

using stream_ptr = std::unique_ptr<stream>;

/// Writes all of it, waiting where it must. For what is not worth a plain write_now() first.
awaitable<error_code> write_all(stream& to, std::span<const std::uint8_t> bytes);

/// Waits for connections. cancel() may be called by anybody; destroying it closes it.
class listener {
public:
    virtual ~listener() = default;

    /// The next connection. An error only if there will be no more, by cancel() or otherwise.
    virtual awaitable<result<stream_ptr>> accept() = 0;
    virtual void cancel() noexcept = 0;

    /// The port that was chosen, if 0 was asked for; 0 for a Unix socket.
    virtual std::uint16_t port() const noexcept = 0;
};

using listener_ptr = std::unique_ptr<listener>;

}  // namespace holdfast::runtime
