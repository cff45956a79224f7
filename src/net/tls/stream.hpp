#pragma once
#include "net/tls/engine.hpp"
#include "runtime/stream.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <utility>

namespace holdfast::net {

/// TLS over another stream, by the same contract. Reader and writer may be on different threads,
/// as on every stream, but OpenSSL does not allow that: hence the mutex, which is never held while
/// anybody waits.
///
/// A cut inside a record is connection_reset. Between records it is eof, also if the peer did not
/// send close_notify: many servers never do, and messages that have a length need no such sign.
class tls_stream final : public runtime::stream {
public:
    tls_stream(runtime::stream_ptr over, SSL_CTX& context, tls_side side);
    tls_stream(const tls_stream&) = delete;
    tls_stream& operator=(const tls_stream&) = delete;
    ~tls_stream() override;

    tls_engine& engine() noexcept { return engine_; }

    /// Before anything else, and once. What the stream underneath said, if it was that; otherwise
    /// the engine knows how it went.
    runtime::awaitable<error_code> shake_hands(bool& done);

    runtime::awaitable<runtime::io_result> read_some(std::span<std::uint8_t> into) override;

    /// What has been encrypted cannot be taken back. So if its ciphertext does not fit underneath,
    /// those bytes count as not written and are owed: when the caller offers them again, as he has
    /// to, only the ciphertext is sent.
    runtime::io_result write_now(std::span<const std::uint8_t> bytes) override;
    runtime::awaitable<error_code> writable() override { return under_->writable(); }
    bool keeps_uncounted() const noexcept override { return true; }
    void expires_at(time_point when) override { under_->expires_at(when); }
    void cancel() noexcept override { under_->cancel(); }
    bool peer_has_closed() noexcept override { return under_->peer_has_closed(); }
    std::string peer() const override { return under_->peer(); }
    std::string local() const override { return under_->local(); }

    /// Goes on over `change(what is underneath)`. Nothing may be pending.
    void replace_under(runtime::stream_ptr (*change)(runtime::stream_ptr))
    {
        under_ = change(std::move(under_));
    }

private:
    error_code send_output();
    runtime::awaitable<error_code> send_all_output();
    void note_first_bytes(std::span<const std::uint8_t> bytes);

    runtime::stream_ptr under_;
    std::mutex mutex_;  // for the engine, save its input
    tls_engine engine_;
    std::size_t owed_ = 0;
    tls_side side_;
};

}  // namespace holdfast::net
