#pragma once
#include "core/mongo/handshake/connection_description.hpp"
#include "core/mongo/wire/compression.hpp"
#include "core/mongo/wire/frame_reader.hpp"
#include "core/mongo/wire/message.hpp"
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/error.hpp"
#include "holdfast/id.hpp"
#include "runtime/stream.hpp"
#include "shell/exchange_step.hpp"
#include "shell/pool/pooled_connection.hpp"

#include <atomic>
#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace holdfast::shell::mongo {

/// One stream to one server: a message out, a message back. Used by one operation at a time. After
/// a failure it is of no more use, unless nothing had been sent yet; it never resends by itself.
class connection final : public pooled_connection {
public:
    /// `requests` counts those of all connections of a client: each has a number of its own.
    connection(runtime::stream_ptr over, endpoint server,
               std::shared_ptr<std::atomic<std::int32_t>> requests) noexcept
        : stream_{std::move(over)}, server_{std::move(server)}, requests_{std::move(requests)}
    {
    }

    const endpoint& server() const noexcept { return server_; }
    const core::mongo::connection_description& description() const noexcept { return says_; }
    void set_description(core::mongo::connection_description says,
                         core::mongo::compression compressor);

    /// Build the next message here; it is empty, and kept for the one after.
    bson::byte_buffer& outgoing() noexcept
    {
        outgoing_.clear();
        return outgoing_;
    }
    request_id next_request() noexcept
    {
        return request_id{requests_->fetch_add(1, std::memory_order_relaxed) + 1};
    }

    /// Holds for all that follows, until it is set again. Costs nothing if it does not change.
    void expires_at(time_point until)
    {
        if (until == until_)
            return;
        until_ = until;
        stream_->expires_at(until);
    }

    time_point expires_at() const noexcept { return until_; }

    /// Goes on over another stream that is the same connection. Nothing may be pending.
    template <class Change>
    void change_stream(const Change& change)
    {
        stream_ = change(std::move(stream_));
    }

    /// Sends `request`, which must be whole and stay where it is, and waits for its reply. The
    /// reply lies in the connection, until the next one is sent. `command` is for messages, and
    /// decides whether the request may be compressed.
    runtime::awaitable<result<core::mongo::message>> round_trip(
        std::span<const std::uint8_t> request, request_id id, std::string_view command);

    /// The same in steps, for a caller that has a coroutine already: the frame of another one, and
    /// its resumption, would cost a tenth of a ping. Each step says which call comes next.
    exchange_step start(std::span<const std::uint8_t> request, request_id id,
                        std::string_view command);
    runtime::awaitable<runtime::io_result> read_more()
    {
        assert(step_ == exchange_step::receiving);
        return stream_->read_some(reader_.writable());
    }
    exchange_step resume(const runtime::io_result& got, request_id id, std::string_view command);
    runtime::awaitable<result<core::mongo::message>> rest_of_round_trip(request_id id,
                                                                        std::string_view command);
    /// Stays where it is until the next exchange starts.
    result<core::mongo::message>&& take_reply() noexcept
    {
        assert(step_ == exchange_step::replied && reply_);
        return *std::move(reply_);
    }

    /// Sends a message that gets no reply.
    runtime::awaitable<result<void>> send(std::span<const std::uint8_t> message,
                                          std::string_view command);

    /// The next of several replies to one request, after one with moreToCome; or the newest of
    /// those that have been read, where the others are of no interest.
    runtime::awaitable<result<core::mongo::message>> next_reply(std::string_view command,
                                                                bool newest = false);

    /// The server has said that our login has expired: nothing else is sent before the next one.
    void require_login() noexcept { needs_login_ = true; }
    void logged_in() noexcept { needs_login_ = false; }
    bool needs_login() const noexcept { return needs_login_; }

    /// How far the last round trip came. A failed one with `in_flight` may have been carried out.
    dispatch_phase phase() const noexcept { return phase_; }
    bool usable() const noexcept { return phase_ != dispatch_phase::in_flight && !failure_; }

    /// What has made it unusable, as far as that is known.
    const std::optional<error>& failure() const noexcept { return failure_; }

    /// Whether nothing is wrong but that a reply is still on its way, since its operation gave up.
    bool owes_reply() const noexcept { return owed_.has_value(); }

    /// From now on the caller sees to that reply.
    request_id take_owed() noexcept { return *std::exchange(owed_, std::nullopt); }

    /// Waits for that reply and throws it away. Then the connection is usable again, or it is not.
    runtime::awaitable<void> drain(request_id owed, time_point until);

    void cancel() noexcept override { stream_->cancel(); }
    bool peer_has_closed() noexcept override { return stream_->peer_has_closed(); }

    /// The most memory that an idle connection keeps for messages to come. What an ordinary
    /// exchange needs stays, so that it is not allocated each time.
    static constexpr std::size_t idle_memory = 256 * 1024;
    std::size_t memory() const noexcept
    {
        return reader_.capacity() + outgoing_.capacity() + packed_.capacity() +
               unpacked_.capacity();
    }

    bool has_large_buffers() const noexcept override { return memory() > idle_memory; }
    void release_large_buffers() noexcept override;

private:
    bool send_now(std::span<const std::uint8_t> request, std::string_view command);
    void look_for_reply(request_id id);
    void take_in(const runtime::io_result& got, request_id id, std::string_view command);
    exchange_step receive_now(request_id id, std::string_view command);
    result<std::span<const std::uint8_t>> compressed(std::span<const std::uint8_t> request);
    result<core::mongo::message> accept(const core::mongo::frame& received,
                                        std::optional<request_id> expected);
    error failed(error why);
    error interruption() const;
    error broken(error_code why, std::string_view command);

    runtime::stream_ptr stream_;
    endpoint server_;
    std::shared_ptr<std::atomic<std::int32_t>> requests_;
    core::mongo::frame_reader reader_;
    bson::byte_buffer outgoing_;
    bson::byte_buffer packed_;  // the request, compressed
    bson::byte_buffer unpacked_;  // the reply, decompressed
    core::mongo::connection_description says_;
    core::mongo::compression compression_ = {};  // noop: none was negotiated
    std::size_t limit_ = core::mongo::max_message_size;
    time_point until_ = runtime::never;
    std::span<const std::uint8_t> unsent_ = {};  // of the request that send_now() has begun with
    error_code not_written_ = {};
    std::optional<result<core::mongo::message>> reply_ =
        {};  // of the exchange under way, or the last one
    exchange_step step_ = exchange_step::replied;
    dispatch_phase phase_ = dispatch_phase::answered;
    std::optional<error> failure_ = {};
    bool needs_login_ = false;
    std::optional<request_id> owed_ = {};
};

using connection_ptr = std::unique_ptr<connection>;

}  // namespace holdfast::shell::mongo
