// The bytes of a key-value connection: what is read, and what is written.
#include "holdfast/couchbase/errc.hpp"
#include "shell/couchbase/connection/kv_connection.hpp"
#include "shell/couchbase/connection/reader_turn.hpp"
#include "shell/planted.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/errc.hpp>

#include <cstring>
#include <utility>

namespace holdfast::shell::couchbase {

using core::couchbase::frame;
using core::couchbase::kv_magic;
using core::couchbase::kv_server_opcode;

namespace {

/// What a connection keeps for its next requests.
constexpr std::size_t usual_buffer = std::size_t{1} << 20;

/// Without the lock, which the caller has.
void report_late(const frame& reply, const given_up_request& to,
                 const kv_connection_options& options, runtime::short_mutex& locked)
{
    struct without_lock {
        explicit without_lock(runtime::short_mutex& of) : mutex{of} { mutex.unlock(); }
        ~without_lock() { mutex.lock(); }
        runtime::short_mutex& mutex;
    } const unlocked{locked};
    options.on_late_reply(reply, to);
}

}  // namespace

error stream_failure(const error_code& why, std::string_view what)
{
    if (why == boost::asio::error::eof)
        return error{why, "the server closed the connection"};
    return error{why, std::string{what} + ": " + why.message()};
}

runtime::awaitable<void> kv_connection::read(std::shared_ptr<kv_connection> self)
{
    const runtime::executor here = co_await boost::asio::this_coro::executor;
    bool goes_on = self->take_frames(here);  // what came with the bootstrap
    while (goes_on) {
        const runtime::io_result got = co_await self->stream_->read_some(self->reader_.writable());
        if (got.why) {
            self->close(stream_failure(got.why, "reading failed"));
            goes_on = false;
        } else {
            self->reader_.received(got.bytes);
            self->last_read_.store(self->world_.steady_now(), std::memory_order_relaxed);
            goes_on = self->take_frames(here);
        }
    }
    self->ended_.notify();
    if (self->options_.on_end)
        self->options_.on_end();
}

/// False if the connection is over.
bool kv_connection::take_frames(const runtime::executor& here)
{
    {
        const reader_turn turn;
        frame one;
        while (reader_.next_whole(one)) {
            if (auto problem = take(one, here)) [[unlikely]] {
                close(*std::move(problem));
                return false;
            }
        }
        if (reader_.pending() != 0) [[unlikely]] {
            auto next = reader_.next();  // how much is missing, or what is wrong
            if (!next) {
                close(std::move(next).error());
                return false;
            }
        }
    }
    if (reader_.pending() == 0)
        reader_.shrink();
    if (freed_wanted_slot_) [[unlikely]]
        wake_queue();
    return !is_closed();
}

std::optional<error> kv_connection::take(const frame& one, const runtime::executor& here)
{
    switch (one.header.magic) {
    case kv_magic::client_response:
    case kv_magic::alt_client_response:
        return take_reply(one, here);
    case kv_magic::server_request:
        take_server_request(one);
        return std::nullopt;
    case kv_magic::client_request:
    case kv_magic::alt_client_request:
    case kv_magic::server_response:
        break;
    }
    return broken("the server sent a frame that only clients send");
}

std::optional<error> kv_connection::take_reply(const frame& one, const runtime::executor& here)
{
    if (!is_negotiated(one.header.datatype, options_.features)) [[unlikely]]
        return broken("the server sent a datatype that was not negotiated");
    runtime::handoff_base::resumption resumed;  // goes after the lock
    const std::scoped_lock lock{mutex_};
    using answer = core::couchbase::inflight_table<slot_place>::answer;
    auto& source = places_[table_.slot_of(one.header.opaque)].source;
    auto found = planted.keeps_slots && table_.find(one.header.opaque) != nullptr
                     ? core::couchbase::inflight_table<slot_place>::completed{answer::to_waiter, {}}
                     : table_.complete(one.header.opaque, one.header.opcode);
    if (planted.reuses_opaques)
        found.kind = source.expected() ? answer::to_waiter : answer::foreign;
    freed_wanted_slot_ = !queue_.empty();
    if (found.kind == answer::wrong_opcode) [[unlikely]]
        return broken("the server answered with another command than it was asked");
    if (found.kind != answer::to_waiter) [[unlikely]] {
        auto& given_up = places_[table_.slot_of(one.header.opaque)].given_up;
        if (found.kind == answer::to_orphan && given_up && options_.on_late_reply)
            report_late(one, *std::exchange(given_up, nullptr), options_, mutex_);
        return std::nullopt;
    }
    if (options_.exclusive) {
        // The thread that reads has the waiter: it takes the value as soon as this returns.
        resumed = source.end(kv_delivery{one}, here);
        return std::nullopt;
    }
    if (source.resumes_inline(here)) [[likely]] {
        resumed = source.end_inline(here, one);
        return std::nullopt;
    }
    kv_delivery delivery;
    delivery.frame = one;
    std::memcpy(delivery.owned.grow(one.bytes.size()), one.bytes.data(), one.bytes.size());
    delivery.frame.bytes = delivery.owned.bytes();
    resumed = source.end(std::move(delivery), here);
    return std::nullopt;
}

void kv_connection::take_server_request(const frame& one)
{
    if (one.server_opcode() == kv_server_opcode::clustermap_change_notification) {
        if (options_.on_server_request)
            options_.on_server_request(one);
        return;  // no answer is expected
    }
    {
        const std::scoped_lock lock{mutex_};
        // A peer that asks without end, and does not read the answers, gets none any more.
        if (end_reason_ || out_.added.size() > options_.max_unsent)
            return;
        core::couchbase::write_server_response(out_.added, one.server_opcode(), one.header.opaque,
                                               core::couchbase::kv_status::not_supported);
    }
    flush();
}

void kv_connection::flush()
{
    if (options_.exclusive || !reader_turn::defer_flush(*this))
        flush_now();
}

void kv_connection::flush_now()
{
    {
        const std::scoped_lock lock{mutex_};
        if (out_.flushing || end_reason_ || out_.added.empty())
            return;  // the code that flushes looks again before it ends
        out_.flushing = true;
    }
    if (write_some() != write_end::blocked)
        return;
    if (const runtime::executor on = world_.executor())
        boost::asio::co_spawn(on, write_rest(shared_from_this()), boost::asio::detached);
}

/// Only with `out_.flushing`, which is false afterwards unless it is blocked.
kv_connection::write_end kv_connection::write_some()
{
    std::unique_lock lock{mutex_};
    for (;;) {
        if (end_reason_) {
            // What has not left by now was reported as not sent, and may be sent by another way.
            out_.flushing = false;
            return write_end::done;
        }
        if (out_.sent == out_.sending.size()) {
            out_.sent = 0;
            out_.sending.clear();
            if (out_.sending.capacity() > usual_buffer)
                out_.sending = {};
            if (out_.added.empty()) {
                out_.flushing = false;
                return write_end::done;
            }
            std::swap(out_.added, out_.sending);
            out_.base += out_.sending.size();
        }
        ++out_.flushes;
        // The reader may see the end of the connection before this write has returned, and the
        // server may have carried out what it has sent by then.
        out_.leaving = out_.base;
        lock.unlock();
        const runtime::io_result gone = stream_->write_now(out_.sending.bytes().subspan(out_.sent));
        lock.lock();
        out_.sent += gone.bytes;
        out_.written += gone.bytes;
        if (!stream_->keeps_uncounted())
            out_.leaving = out_.written;
        if (!gone.why)
            continue;
        if (gone.why == boost::system::errc::operation_would_block)
            return write_end::blocked;
        out_.flushing = false;
        lock.unlock();
        close(stream_failure(gone.why, "writing failed"));
        return write_end::failed;
    }
}

runtime::awaitable<void> kv_connection::write_rest(std::shared_ptr<kv_connection> self)
{
    write_end end = write_end::blocked;
    while (end == write_end::blocked) {
        const error_code why = co_await self->stream_->writable();
        if (why) {
            self->close(stream_failure(why, "writing failed"));
            co_return;
        }
        end = self->write_some();
    }
}

}  // namespace holdfast::shell::couchbase
