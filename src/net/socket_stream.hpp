#pragma once
#include "net/context_registry.hpp"
#include "net/socket_types.hpp"
#include "runtime/short_mutex.hpp"
#include "runtime/stream.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

namespace holdfast::net {

/// TCP with no delay for small writes and with keep-alive (nothing to do for a Unix socket); and no
/// socket is inherited by programs that the application starts.
void prepare_socket(stream_socket& which) noexcept;

/// A socket of Asio, made safe for an executor with several threads: it is started, cancelled and
/// closed under one small mutex. What ends all operations is remembered, so that an alarm or a
/// cancel() between two of them is not lost; whether it is so is looked up under the same mutex
/// under which an operation begins.
class socket_stream final : public runtime::stream, private runtime::alarm, private context_bound {
public:
    socket_stream(stream_socket from, std::string peer, std::shared_ptr<runtime::alarm_clock> clock,
                  std::shared_ptr<context_registry> at);
    ~socket_stream() override;

    /// For a socket that is not connected yet. `done` is called by the executor, even if the stream
    /// is destroyed before, but not if the executor is.
    void connect(const stream_endpoint& to, std::function<void(error_code)> done);

    runtime::awaitable<runtime::io_result> read_some(std::span<std::uint8_t> into) override;
    runtime::io_result write_now(std::span<const std::uint8_t> bytes) override;
    runtime::awaitable<error_code> writable() override;
    void expires_at(time_point when) override;
    void cancel() noexcept override;
    bool peer_has_closed() noexcept override;
    std::string peer() const override { return peer_; }
    std::string local() const override;

    /// Gives the socket away, to be closed by the caller; -1 if there is none any more.
    /// Nothing may be pending, and the stream is of no use afterwards.
    int release() noexcept;

private:
    struct start;
    template <class Handler>
    struct completion;

    void ring() noexcept override;
    void context_gone() noexcept override;
    void end_all(std::uint8_t because) noexcept;  // with the mutex held
    error_code why_ended() const noexcept;
    error_code as_our_error(const error_code& why) const noexcept;

    static constexpr std::uint8_t cancelled = 1;
    static constexpr std::uint8_t expired = 2;

    const int native_;
    std::atomic<std::uint8_t> ended_ = 0;  // changes under the mutex only
    mutable runtime::short_mutex mutex_;
    std::optional<stream_socket> socket_;  // none if the context has gone
    bool at_end_ = false;  // for the reader: Asio would wait for ever for news after the end
    std::atomic<time_point> deadline_ = runtime::never;
    /// Owned: a context that is destroyed may destroy the handlers that own the world before those
    /// that own the stream.
    const std::shared_ptr<runtime::alarm_clock> clock_;
    const std::string peer_;
};

}  // namespace holdfast::net
