#include "shell/mongo/connection/connection.hpp"

#include "core/mongo/error/errc.hpp"
#include "core/pool/errc.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <cassert>
#include <new>
#include <string>
#include <utility>

namespace holdfast::shell::mongo {

using core::mongo::errc;
using core::mongo::frame;
using core::mongo::message;
using core::mongo::wire_compressor;

namespace {

/// As much of a stream of replies is skipped at a time for the newest one, so that what the system
/// keeps of older ones does not delay it.
constexpr std::size_t most_skipped = 1024 * 1024;

/// Nothing is broken: the caller does not wait any longer.
bool only_late(error_code why) noexcept
{
    return why == boost::system::errc::timed_out || why == boost::system::errc::operation_canceled;
}

/// A compressed reply, whose bytes lie in `room` afterwards.
result<message> parse_compressed(std::span<const std::uint8_t> bytes, wire_compressor negotiated,
                                 bson::byte_buffer& room, std::size_t limit)
{
    if (auto checked = core::mongo::check_compressor(bytes, negotiated, limit); !checked)
        return std::move(checked).error();
    room.clear();
    auto unpacked = core::mongo::decompress_message(bytes, room, limit);
    if (!unpacked)
        return std::move(unpacked).error();
    return core::mongo::parse_reply(*unpacked, limit);
}

}  // namespace

void connection::set_description(core::mongo::connection_description says,
                                 core::mongo::compression compressor)
{
    says_ = std::move(says);
    compression_ = compressor;
}

runtime::awaitable<result<message>> connection::round_trip(std::span<const std::uint8_t> request,
                                                           request_id id, std::string_view command)
{
    (void)send_now(request, command);
    step_ = exchange_step::sending;
    return rest_of_round_trip(id, command);
}

exchange_step connection::start(std::span<const std::uint8_t> request, request_id id,
                                std::string_view command)
{
    if (!send_now(request, command)) [[unlikely]]
        return step_ = reply_ ? exchange_step::replied : exchange_step::sending;
    look_for_reply(id);
    return receive_now(id, command);
}

exchange_step connection::resume(const runtime::io_result& got, request_id id,
                                 std::string_view command)
{
    assert(step_ == exchange_step::receiving);
    take_in(got, id, command);
    return receive_now(id, command);
}

/// Reads as long as this thread may be blocked for it.
exchange_step connection::receive_now(request_id id, std::string_view command)
{
    while (!reply_) {
        const std::optional<runtime::io_result> got = stream_->read_now(reader_.writable());
        if (!got)
            return step_ = exchange_step::receiving;
        take_in(*got, id, command);
    }
    return step_ = exchange_step::replied;
}

bool connection::send_now(std::span<const std::uint8_t> request, std::string_view command)
{
    phase_ = dispatch_phase::not_sent;
    reply_.reset();
    if (compression_.with != wire_compressor::noop && core::mongo::may_compress(command)) {
        auto packed = compressed(request);
        if (!packed) {
            reply_.emplace(std::move(packed).error());
            return false;
        }
        request = *packed;
    }
    const runtime::io_result sent = stream_->write_now(request);
    if (sent.bytes > 0)
        phase_ = dispatch_phase::in_flight;
    unsent_ = request.subspan(sent.bytes);
    not_written_ = sent.why;
    return unsent_.empty();
}

runtime::awaitable<result<message>> connection::rest_of_round_trip(request_id id,
                                                                   std::string_view command)
{
    assert(step_ == exchange_step::sending);
    if (reply_) [[unlikely]]  // the request could not be compressed
        co_return *std::exchange(reply_, std::nullopt);
    if (!unsent_.empty()) {
        error_code why = not_written_;
        if (!why || why == boost::system::errc::operation_would_block) {
            phase_ = dispatch_phase::in_flight;
            why = co_await runtime::write_all(*stream_, unsent_);
        }
        if (why)
            co_return broken(why, command);
    }
    look_for_reply(id);
    while (!reply_) {
        const runtime::io_result got = co_await stream_->read_some(reader_.writable());
        take_in(got, id, command);
    }
    co_return *std::exchange(reply_, std::nullopt);
}

void connection::look_for_reply(request_id id)
{
    frame whole;
    if (reader_.next_whole(whole)) [[likely]] {
        reply_.emplace(accept(whole, id));
        return;
    }
    auto next = reader_.next();  // how much is missing, or what is wrong
    if (!next) [[unlikely]]
        reply_.emplace(failed(std::move(next).error()));
}

void connection::take_in(const runtime::io_result& got, request_id id, std::string_view command)
{
    if (got.why) [[unlikely]] {
        if (only_late(got.why))
            owed_ = id;
        reply_.emplace(broken(got.why, command));
        return;
    }
    reader_.received(got.bytes);
    look_for_reply(id);
}

runtime::awaitable<result<void>> connection::send(std::span<const std::uint8_t> message,
                                                  std::string_view command)
{
    phase_ = dispatch_phase::in_flight;
    if (compression_.with != wire_compressor::noop && core::mongo::may_compress(command)) {
        auto packed = compressed(message);
        if (!packed)
            co_return failed(std::move(packed).error());
        message = *packed;
    }
    const error_code why = co_await runtime::write_all(*stream_, message);
    if (why)
        co_return broken(why, command);
    phase_ = dispatch_phase::answered;  // as far as it ever will be
    co_return result<void>{};
}

runtime::awaitable<result<message>> connection::next_reply(std::string_view command, bool newest)
{
    phase_ = dispatch_phase::in_flight;
    std::optional<frame> received;
    std::size_t may_skip = newest ? most_skipped : 0;
    bool filled = false;
    for (;;) {
        auto next = reader_.next();
        if (!next)
            co_return failed(std::move(next).error());
        if (const frame* whole = std::get_if<frame>(&*next)) {
            received = *whole;
            if (newest)
                continue;  // a frame stays where it is until more is read
        }
        if (received) {
            // What fills the buffer and ends within a message is not all that has arrived.
            if (!filled || reader_.pending() == 0 || may_skip == 0)
                co_return accept(*received, std::nullopt);
            if (received->bytes.data() != outgoing_.data()) {
                outgoing_.clear();
                std::ranges::copy(received->bytes, outgoing_.grow(received->bytes.size()));
                received->bytes = outgoing_.bytes();
            }
        }
        const std::span<std::uint8_t> into = reader_.writable();
        const runtime::io_result got = co_await stream_->read_some(into);
        if (got.why)
            co_return broken(got.why, command);
        reader_.received(got.bytes);
        filled = got.bytes == into.size();
        may_skip -= std::min(may_skip, got.bytes);
    }
}

runtime::awaitable<void> connection::drain(request_id owed, time_point until)
{
    stream_->expires_at(until_ = until);
    for (;;) {
        auto next = reader_.next();
        if (!next)
            co_return;
        if (const frame* whole = std::get_if<frame>(&*next)) {
            if (accept(*whole, owed))
                failure_.reset();
            break;
        }
        const runtime::io_result got = co_await stream_->read_some(reader_.writable());
        if (got.why)
            co_return;
        reader_.received(got.bytes);
    }
    stream_->expires_at(until_ = runtime::never);
}

void connection::release_large_buffers() noexcept
try {
    for (bson::byte_buffer* const one : {&outgoing_, &packed_, &unpacked_}) {
        if (one->capacity() > core::mongo::frame_reader::usual_capacity)
            *one = {};
    }
    reader_.shrink();
} catch (const std::bad_alloc&) {
    // No memory for a smaller buffer: the large one stays.
}

result<std::span<const std::uint8_t>> connection::compressed(std::span<const std::uint8_t> request)
{
    packed_.clear();
    return core::mongo::compress_message(request, compression_, packed_);
}

result<message> connection::accept(const frame& received, std::optional<request_id> expected)
{
    if (expected && received.header.response_to != *expected) [[unlikely]]
        return failed(core::mongo::wire_error(
            errc::malformed_message, 8,
            "the reply is to request " + std::to_string(received.header.response_to.value()) +
                ", not to " + std::to_string(expected->value())));
    auto reply = received.header.code == core::mongo::op_code::compressed
                     ? parse_compressed(received.bytes, compression_.with, unpacked_, limit_)
                     : core::mongo::parse_reply(received.header, received.bytes);
    if (!reply) [[unlikely]]
        return failed(std::move(reply).error());
    phase_ = dispatch_phase::answered;
    return reply;
}

error connection::failed(error why)
{
    failure_ = why;
    return why;
}

/// The text is that of the specification of connection pools.
error connection::interruption() const
{
    const char* const cause = "interrupted due to server monitor timeout";
    return error{core::pool_errc::cleared, "Connection to " + server_.value() + " " + cause}
        .with_context("server", server_.value())
        .with_context("cause", cause);
}

error connection::broken(error_code why, std::string_view command)
{
    if (is_interrupted() && why == boost::system::errc::operation_canceled)
        return failed(interruption());
    const std::string cause = why == boost::asio::error::eof ? "the server closed the connection"
                                                             : why.message();
    std::string text;
    text.append(command).append(phase_ == dispatch_phase::not_sent ? " could not be sent to "
                                                                   : " got no reply from ");
    text.append(server_.value()).append(": ").append(cause);
    return failed(error{why, std::move(text)}
                      .with_context("server", server_.value())
                      .with_context("cause", cause));
}

}  // namespace holdfast::shell::mongo
