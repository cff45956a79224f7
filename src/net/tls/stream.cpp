#include "net/tls/stream.hpp"

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::net {

using runtime::awaitable;
using runtime::io_result;
namespace asio = boost::asio;
namespace system_errc = boost::system::errc;

tls_stream::tls_stream(runtime::stream_ptr over, SSL_CTX& context, tls_side side)
    : under_{std::move(over)}, engine_{context, side}, side_{side}
{
}

tls_stream::~tls_stream()
{
    engine_.close();
    if (engine_.output().empty())
        return;
    under_->expires_at(time_point{});  // close_notify goes at once or not at all
    send_output();
}

awaitable<error_code> tls_stream::shake_hands(bool& done)
{
    done = false;
    tls_step step = engine_.shake_hands();
    for (; step == tls_step::needs_input; step = engine_.shake_hands()) {
        const error_code unsent = co_await send_all_output();
        if (unsent)
            co_return unsent;
        const auto state = co_await asio::this_coro::cancellation_state;
        if (state.cancelled() != asio::cancellation_type::none)
            co_return make_error_code(system_errc::operation_canceled);
        const auto space = engine_.space();
        const io_result came = co_await under_->read_some(space);
        if (came.why)
            co_return came.why;
        note_first_bytes(space.first(came.bytes));
        engine_.arrived(came.bytes);
    }
    done = step == tls_step::done;
    // An alert is sent if it can be. So are the tickets that end a server's handshake in TLS 1.3:
    // if it waited here until they are gone, a client that only writes would wait for ever.
    if (!done || (side_ == tls_side::server && engine_.speaks_1_3())) {
        send_output();
        co_return error_code{};
    }
    co_return co_await send_all_output();
}

awaitable<io_result> tls_stream::read_some(std::span<std::uint8_t> into)
{
    io_result got;
    for (bool first = true;; first = false) {
        tls_step step;
        {
            const std::scoped_lock lock{mutex_};
            step = engine_.decrypt(into, got.bytes);
            if (!engine_.output().empty())
                send_output();  // an answer to the peer; what does not go now goes next time
            if (step == tls_step::failed)
                got.why = engine_.failure();
        }
        if (step == tls_step::closed)
            got.why = asio::error::eof;
        if (step != tls_step::needs_input)
            co_return got;
        if (!first) {  // or Asio would notice a cancellation before the stream does, and throw
            const auto state = co_await asio::this_coro::cancellation_state;
            if (state.cancelled() != asio::cancellation_type::none) {
                got.why = make_error_code(system_errc::operation_canceled);
                co_return got;
            }
        }
        const io_result came = co_await under_->read_some(engine_.space());
        engine_.arrived(came.bytes);
        if (came.why) {
            const bool cut = came.why == asio::error::eof && engine_.inside_record();
            got.why = cut ? error_code{asio::error::connection_reset} : came.why;
            co_return got;
        }
    }
}

io_result tls_stream::write_now(std::span<const std::uint8_t> bytes)
{
    const std::scoped_lock lock{mutex_};
    io_result done;
    for (;;) {
        done.why = send_output();
        if (done.why)
            break;
        const std::size_t settled = std::min(owed_, bytes.size() - done.bytes);
        owed_ -= settled;
        done.bytes += settled;
        if (done.bytes == bytes.size())
            return done;
        const auto rest = bytes.subspan(done.bytes);
        const auto next = rest.first(std::min(rest.size(), tls_engine::max_plain));
        if (!engine_.encrypt(next)) {
            done.why = engine_.failure();
            break;
        }
        owed_ = next.size();
    }
    if (done.bytes > 0 && done.why == system_errc::operation_would_block)
        done.why = {};
    return done;
}

/// As much as goes without waiting.
error_code tls_stream::send_output()
{
    while (!engine_.output().empty()) {
        const io_result sent = under_->write_now(engine_.output());
        engine_.gone(sent.bytes);
        if (sent.why)
            return sent.why;
    }
    return {};
}

awaitable<error_code> tls_stream::send_all_output()
{
    error_code why = send_output();
    while (why == system_errc::operation_would_block) {
        const auto state = co_await asio::this_coro::cancellation_state;
        if (state.cancelled() != asio::cancellation_type::none)
            co_return make_error_code(system_errc::operation_canceled);
        why = co_await under_->writable();
        if (!why)
            why = send_output();
    }
    co_return why;
}

void tls_stream::note_first_bytes(std::span<const std::uint8_t> bytes)
{
    handshake_notes& notes = engine_.notes();
    for (const std::uint8_t byte : bytes) {
        if (notes.received < std::size(notes.first_bytes))
            notes.first_bytes[notes.received] = byte;
        ++notes.received;
    }
}

}  // namespace holdfast::net
