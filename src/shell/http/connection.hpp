#pragma once
#include "runtime/stream.hpp"
#include "shell/http/response_reader.hpp"
#include "shell/pool/pooled_connection.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <variant>

namespace holdfast::shell::http {

enum class failure_kind : std::uint8_t {
    no_connection,  // was to be had: the error is the pool's, or of connecting
    lost,           // the connection broke, or was closed
    refused,        // the reply is none that can be used
    timed_out,
    cancelled,
};

/// Why there is no reply, or no more of it.
struct exchange_failure {
    failure_kind is = failure_kind::lost;
    error why;
    bool in_flight = false;  // something of the request may have reached the peer
    bool replied = false;    // something of the reply has come
};

/// The next piece of a body; without bytes at its end.
using body_step = std::variant<body_piece, exchange_failure>;

/// One connection, for one exchange at a time. After an exchange that was not read to its end it
/// cannot be used again.
class connection final : public pooled_connection {
public:
    explicit connection(runtime::stream_ptr over, response_limits limits = {});

    /// Sends a request, and waits for the head of its reply. Nothing: it is there. `until` holds
    /// for the body as well.
    runtime::awaitable<std::optional<exchange_failure>> begin(
        std::span<const std::uint8_t> request, std::optional<std::uint64_t> body_limit,
        time_point until);

    const response_head& head() const noexcept { return reader_.head(); }

    /// Reads no more than one buffer at a time, and only when all before was given out. A piece is
    /// valid until the next call of either.
    runtime::awaitable<body_step> next_piece();
    /// The same for what was read already; nothing if there is need to read.
    std::optional<body_step> piece_at_hand();

    /// Whether another exchange may begin.
    bool is_idle() const noexcept { return stage_ == stage::idle; }
    bool was_used() const noexcept { return was_used_; }

    void cancel() noexcept override { stream_->cancel(); }
    bool peer_has_closed() noexcept override { return stream_->peer_has_closed(); }

private:
    enum class stage : std::uint8_t { idle, exchanging, broken };

    runtime::awaitable<std::optional<exchange_failure>> send(std::span<const std::uint8_t> bytes);
    runtime::awaitable<std::optional<exchange_failure>> read_head();
    runtime::awaitable<std::optional<exchange_failure>> read_more();
    exchange_failure failed(const error_code& why, const char* doing);
    exchange_failure refused(error why);

    const runtime::stream_ptr stream_;
    response_reader reader_;
    stage stage_ = stage::idle;
    bool was_used_ = false;  // for an exchange that came to its end
    bool sent_ = false;  // anything of the request, perhaps
};

}  // namespace holdfast::shell::http
