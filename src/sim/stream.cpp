#include "sim/stream.hpp"

#include "sim/machine.hpp"

#include <boost/asio/this_coro.hpp>

#include <utility>

namespace holdfast::sim {
namespace {

namespace asio = boost::asio;
using boost::system::errc::operation_canceled;
using boost::system::errc::operation_would_block;
using boost::system::errc::timed_out;
using runtime::awaitable;
using runtime::io_result;
using runtime::wait_end;

error error_of_accept()
{
    return error{runtime::errc::cancelled, "no more connections are accepted: cancelled"};
}

}  // namespace

sim_stream::sim_stream(incarnation& in, std::shared_ptr<connection> over, std::size_t side)
    : in_{in}, over_{std::move(over)}, side_{side}
{
}

sim_stream::~sim_stream()
{
    in_.alarms().clear(*this);
    in_.all().wires.close(*over_, side_);
}

awaitable<io_result> sim_stream::read_some(std::span<std::uint8_t> into)
{
    io_result done;
    done.why = co_await begin();
    while (!done.why) {
        done = in_.all().wires.read(*over_, side_, into);
        if (done.why != operation_would_block)
            break;
        done.why = co_await wait(over_->ends[side_].reader);
    }
    co_return done;
}

io_result sim_stream::write_now(std::span<const std::uint8_t> bytes)
{
    if (cancelled_ || expired_)
        return {ended(), 0};
    return in_.all().wires.write(*over_, side_, bytes);
}

awaitable<error_code> sim_stream::writable()
{
    error_code why = co_await begin();
    while (!why) {
        const flow& out = over_->flows[side_];
        if (over_->ends[side_].broken || out.limit > out.sent)
            co_return over_->ends[side_].broken;
        why = co_await wait(over_->ends[side_].writer);
    }
    co_return why;
}

/// Whether an operation may begin at all.
awaitable<error_code> sim_stream::begin() const
{
    const auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none)
        co_return make_error_code(operation_canceled);
    co_return ended();
}

awaitable<error_code> sim_stream::wait(waiting& place)
{
    const auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none)
        co_return make_error_code(operation_canceled);
    const auto self = std::make_shared<runtime::suspension>();
    place = self;
    const wait_end end = co_await self->suspend();
    if (end != wait_end::notified)
        co_return make_error_code(end == wait_end::timed_out ? timed_out : operation_canceled);
    co_return ended();
}

error_code sim_stream::ended() const noexcept
{
    if (cancelled_)
        return make_error_code(operation_canceled);
    return expired_ ? make_error_code(timed_out) : error_code{};
}

void sim_stream::expires_at(time_point when)
{
    in_.alarms().clear(*this);
    expired_ = when <= in_.steady_now();
    if (expired_)
        end_waits(wait_end::timed_out);
    else
        in_.alarms().set(*this, when);
}

void sim_stream::ring() noexcept
{
    expired_ = true;
    end_waits(wait_end::timed_out);
}

void sim_stream::cancel() noexcept
{
    cancelled_ = true;
    end_waits(wait_end::cancelled);
}

bool sim_stream::peer_has_closed() noexcept
{
    return over_->flows[other(side_)].finished || over_->ends[side_].broken;
}

void sim_stream::end_waits(wait_end wait_result) noexcept
{
    connection_end& end = over_->ends[side_];
    if (end.reader)
        end.reader->end(wait_result);
    if (end.writer)
        end.writer->end(wait_result);
}

std::string sim_stream::name_of(std::size_t side) const
{
    if (side == server_side)
        return to_string(runtime::destination{over_->address, over_->port});
    const auto port = static_cast<std::uint16_t>(32768 + over_->id % 16384);
    const std::string& address = over_->ends[client_side].at->address();
    return to_string(runtime::destination{over_->loopback ? over_->address : address, port});
}

sim_listener::~sim_listener()
{
    cancel();
    in_.stop_listening(at_);
}

awaitable<result<runtime::stream_ptr>> sim_listener::accept()
{
    const auto at = at_;  // which remains when the listener goes
    incarnation& in = in_;
    for (;;) {
        const auto seen = at->news.count();
        const auto state = co_await asio::this_coro::cancellation_state;
        if (at->cancelled || state.cancelled() != asio::cancellation_type::none)
            co_return error_of_accept();
        if (!at->ready.empty()) {
            const auto taken = std::move(at->ready.front());
            at->ready.pop_front();
            --at->pending;
            taken->waiting_at = nullptr;
            runtime::stream_ptr made = std::make_unique<sim_stream>(in, taken, server_side);
            co_return std::move(made);
        }
        const wait_end end = co_await at->news.wait(seen);
        if (end == wait_end::cancelled)
            co_return error_of_accept();
    }
}

void sim_listener::cancel() noexcept
{
    at_->cancelled = true;
    at_->news.notify();
}

}  // namespace holdfast::sim
