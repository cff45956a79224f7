#include "shell/http/connection.hpp"

#include "shell/http/errc.hpp"

#include <boost/asio/error.hpp>

#include <string>
#include <utility>

namespace holdfast::shell::http {

connection::connection(runtime::stream_ptr over, response_limits limits)
    : stream_{std::move(over)}, reader_{limits}
{
}

exchange_failure connection::failed(const error_code& why, const char* doing)
{
    // Before the first byte has left, the connection is as good as before.
    const bool by_choice = why == boost::system::errc::timed_out ||
                           why == boost::system::errc::operation_canceled;
    stage_ = by_choice && !sent_ ? stage::idle : stage::broken;
    failure_kind is = failure_kind::lost;
    if (why == boost::system::errc::timed_out)
        is = failure_kind::timed_out;
    else if (why == boost::system::errc::operation_canceled)
        is = failure_kind::cancelled;
    error cause{why, std::string{doing} + ": " + why.message()};
    return exchange_failure{is, std::move(cause), sent_, reader_.has_begun()};
}

/// What the peer has sent is no reply, or only the beginning of one.
exchange_failure connection::refused(error why)
{
    stage_ = stage::broken;
    const failure_kind is = why.code() == errc::cut_off ? failure_kind::lost
                                                        : failure_kind::refused;
    return exchange_failure{is, std::move(why), sent_, reader_.has_begun()};
}

runtime::awaitable<std::optional<exchange_failure>> connection::send(
    std::span<const std::uint8_t> bytes)
{
    while (!bytes.empty()) {
        const runtime::io_result gone = stream_->write_now(bytes);
        bytes = bytes.subspan(gone.bytes);
        sent_ = sent_ || gone.bytes != 0 || stream_->keeps_uncounted();
        error_code why = gone.why;
        if (why == boost::system::errc::operation_would_block)
            why = co_await stream_->writable();
        if (why)
            co_return failed(why, "sending the request failed");
    }
    co_return std::nullopt;
}

runtime::awaitable<std::optional<exchange_failure>> connection::read_more()
{
    const runtime::io_result got = co_await stream_->read_some(reader_.writable());
    if (got.why == boost::asio::error::eof)
        reader_.peer_closed();
    else if (got.why)
        co_return failed(got.why, "reading the reply failed");
    reader_.received(got.bytes);
    co_return std::nullopt;
}

runtime::awaitable<std::optional<exchange_failure>> connection::read_head()
{
    for (;;) {
        auto step = reader_.next();
        if (!step)
            co_return refused(std::move(step).error());
        if (std::holds_alternative<head_read>(*step))
            co_return std::nullopt;
        auto broken = co_await read_more();
        if (broken)
            co_return broken;
    }
}

runtime::awaitable<std::optional<exchange_failure>> connection::begin(
    std::span<const std::uint8_t> request, std::optional<std::uint64_t> body_limit,
    time_point until)
{
    stage_ = stage::exchanging;
    sent_ = false;
    reader_.restart(body_limit);
    stream_->expires_at(until);
    auto unsent = co_await send(request);
    if (unsent && (unsent->is != failure_kind::lost || !unsent->in_flight))
        co_return unsent;
    auto unread = co_await read_head();
    // A server that refuses a request before it has read all of it has replied, and closed.
    if (unsent && unread)
        co_return unsent;
    co_return unread;
}

std::optional<body_step> connection::piece_at_hand()
{
    auto step = reader_.next();
    if (!step)
        return body_step{refused(std::move(step).error())};
    if (const auto* const piece = std::get_if<body_piece>(&*step))
        return body_step{*piece};
    if (std::holds_alternative<needs_bytes>(*step))
        return std::nullopt;
    was_used_ = true;
    stage_ = reader_.keeps_alive() ? stage::idle : stage::broken;
    return body_step{body_piece{}};
}

runtime::awaitable<body_step> connection::next_piece()
{
    for (;;) {
        auto step = piece_at_hand();
        if (step)
            co_return *std::move(step);
        auto broken = co_await read_more();
        if (broken)
            co_return body_step{*std::move(broken)};
    }
}

}  // namespace holdfast::shell::http
