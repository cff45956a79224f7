#pragma once
#include "runtime/stream.hpp"
#include "runtime/wait.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::proof {

/// What one direction of a memory_stream does to its bytes.
struct memory_limits {
    static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    std::size_t window = none;       // bytes on their way, until write_now() would block
    std::size_t write_chunk = none;  // the most that one write_now() takes
    std::size_t read_chunk = none;   // the most that one read_some() gives
    std::size_t cut_after = none;    // the reader's end comes after so many bytes
    std::size_t spoil_at = none;     // this byte arrives as another one
    bool never_ends = false;         // although the writer has gone
};

/// One direction: bytes that were written and not read yet.
class memory_pipe {
public:
    memory_pipe(runtime::world& in, memory_limits limits) : changed{in}, limits_{limits} {}

    runtime::io_result write(std::span<const std::uint8_t> from)
    {
        const std::scoped_lock lock{mutex_};
        if (abandoned_)
            return {boost::asio::error::connection_reset, 0};
        const std::size_t room = limits_.window - std::min(limits_.window, bytes_.size() - begin_);
        const std::size_t size = std::min({from.size(), room, limits_.write_chunk});
        if (size == 0 && !from.empty())
            return {make_error_code(boost::system::errc::operation_would_block), 0};
        const std::size_t kept = std::min(size, limits_.cut_after - written_);
        bytes_.insert(bytes_.end(), from.begin(), from.begin() + static_cast<std::ptrdiff_t>(kept));
        if (limits_.spoil_at >= written_ && limits_.spoil_at < written_ + kept)
            bytes_[bytes_.size() - kept + (limits_.spoil_at - written_)] ^= 0x55;
        written_ += kept;
        if (written_ == limits_.cut_after)
            ended_ = true;
        return {{}, size};
    }

    /// would_block if there is nothing to read yet.
    runtime::io_result read(std::span<std::uint8_t> into)
    {
        const std::scoped_lock lock{mutex_};
        const std::size_t size = std::min(
            {into.size(), bytes_.size() - begin_, limits_.read_chunk});
        if (size == 0 && ended_)
            return {boost::asio::error::eof, 0};
        if (size == 0)
            return {make_error_code(boost::system::errc::operation_would_block), 0};
        std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(begin_), size, into.begin());
        begin_ += size;
        if (begin_ == bytes_.size()) {
            bytes_.clear();
            begin_ = 0;
        }
        return {{}, size};
    }

    bool has_room() const
    {
        const std::scoped_lock lock{mutex_};
        return abandoned_ || bytes_.size() - begin_ < limits_.window;
    }
    void end()
    {
        const std::scoped_lock lock{mutex_};
        ended_ = !limits_.never_ends;
    }
    void abandon()
    {
        const std::scoped_lock lock{mutex_};
        abandoned_ = true;
    }
    std::size_t written() const
    {
        const std::scoped_lock lock{mutex_};
        return written_;
    }

    runtime::event changed;

private:
    mutable std::mutex mutex_;
    const memory_limits limits_;
    std::vector<std::uint8_t> bytes_;
    std::size_t begin_ = 0;
    std::size_t written_ = 0;
    bool ended_ = false;
    bool abandoned_ = false;
};

using memory_pipe_ptr = std::shared_ptr<memory_pipe>;

/// One end of two pipes, by the contract of streams and on any world's clock.
class memory_stream final : public runtime::stream {
public:
    memory_stream(runtime::world& in, memory_pipe_ptr from, memory_pipe_ptr to, std::string peer)
        : in_{in}, from_{std::move(from)}, to_{std::move(to)}, peer_{std::move(peer)}
    {
    }
    memory_stream(const memory_stream&) = delete;
    memory_stream& operator=(const memory_stream&) = delete;
    ~memory_stream() override
    {
        to_->end();
        from_->abandon();
        wake();
    }

    runtime::awaitable<runtime::io_result> read_some(std::span<std::uint8_t> into) override
    {
        runtime::io_result got;
        for (;;) {
            const auto seen = from_->changed.count();
            got = cancelled_ ? runtime::io_result{canceled(), 0} : from_->read(into);
            if (got.why != boost::system::errc::operation_would_block)
                break;
            got.why = co_await wait(from_, seen);
            if (got.why)
                break;
        }
        if (got.bytes > 0)
            from_->changed.notify();  // there is room again
        co_return got;
    }

    runtime::io_result write_now(std::span<const std::uint8_t> bytes) override
    {
        if (cancelled_)
            return {canceled(), 0};
        const runtime::io_result sent = to_->write(bytes);
        if (sent.bytes > 0)
            to_->changed.notify();
        return sent;
    }

    runtime::awaitable<error_code> writable() override
    {
        error_code why;
        for (;;) {
            const auto seen = to_->changed.count();
            if (cancelled_)
                why = canceled();
            if (why || to_->has_room())
                break;
            why = co_await wait(to_, seen);
        }
        co_return why;
    }

    void expires_at(time_point when) override
    {
        until_ = when;
        wake();
    }
    void cancel() noexcept override
    {
        cancelled_ = true;
        wake();
    }
    std::string peer() const override { return peer_; }

private:
    static error_code canceled()
    {
        return make_error_code(boost::system::errc::operation_canceled);
    }

    runtime::awaitable<error_code> wait(memory_pipe_ptr where, std::uint64_t seen)
    {
        const time_point until = until_;
        if (until <= in_.steady_now())
            co_return make_error_code(boost::system::errc::timed_out);
        const auto end = co_await where->changed.wait(seen, until);
        if (end == runtime::wait_end::cancelled)
            co_return canceled();
        co_return error_code{};
    }
    void wake()
    {
        from_->changed.notify();
        to_->changed.notify();
    }

    runtime::world& in_;
    memory_pipe_ptr from_;
    memory_pipe_ptr to_;
    std::string peer_;
    std::atomic<time_point> until_ = runtime::never;
    std::atomic<bool> cancelled_ = false;
};

/// A connection inside one process. The pipes stay to be looked at.
struct memory_connection {
    explicit memory_connection(runtime::world& in, memory_limits to_server = {},
                               memory_limits to_client = {})
        : up{std::make_shared<memory_pipe>(in, to_server)},
          down{std::make_shared<memory_pipe>(in, to_client)},
          client{std::make_unique<memory_stream>(in, down, up, "memory:1")},
          server{std::make_unique<memory_stream>(in, up, down, "memory:2")}
    {
    }
    memory_pipe_ptr up;    // from the client to the server
    memory_pipe_ptr down;
    runtime::stream_ptr client;
    runtime::stream_ptr server;
};

}  // namespace holdfast::proof
