// What an attempt waits for before it can be sent.
#include "core/pool/errc.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "runtime/errc.hpp"
#include "shell/couchbase/execute/kv_attempts.hpp"
#include "shell/couchbase/execute/own_connection.hpp"

#include <boost/asio/this_coro.hpp>

#include <utility>

namespace holdfast::shell::couchbase {

using core::couchbase::obstacle;

/// Nothing if it may be tried again now, or sent after must_check_out. `seen`: of changed().
runtime::awaitable<std::optional<error>> kv_attempts::wait(begun for_what, std::uint64_t seen)
{
    const time_point until = call_.until.when();
    if (for_what == begun::must_look_up) {
        const look_up_end looked_up = co_await call_.bucket->look_up(route_.connection, *call_.in,
                                                                     until);
        if (looked_up.refused) {
            reason_ = looked_up.refused->reason;
            co_return looked_up.refused->as_error();
        }
        if (looked_up.is_settled)
            co_return std::nullopt;
        started_ = cluster_->world.steady_now();
        if (auto over = closed_or_late(call_.until); over)
            co_return over;
        const auto cancellation = co_await runtime::asio::this_coro::cancellation_state;
        if (cancellation.cancelled() != runtime::asio::cancellation_type::none)
            co_return interrupted("while its collection was looked up");
        if (looked_up.is_late)
            co_return std::nullopt;
        // Another try at once would find the connection as it is, and wake the others that wait for
        // the look-up, and they it: the next one comes when the strategy says.
        co_return obstructed(route_.connection->end_reason() ? obstacle::all_sockets_down
                                                             : obstacle::socket_not_writable);
    }
    if (for_what == begun::must_check_out) {
        const auto link = route_.link;
        auto got = co_await link->exclusive()->check_out(until);
        if (got) {
            take_own(route_, *std::move(got));
            co_return std::nullopt;
        }
        const error_code why = got.error().code();
        out_of_time_ = why == core::pool_errc::timed_out;
        if (out_of_time_ || why == runtime::errc::cancelled)
            co_return interrupted("while it waited for a connection");
        if (auto over = closed_or_late(call_.until); over)
            co_return over;
        const error obstacle_met = obstructed(obstacle::all_sockets_down);
        co_return error{obstacle_met.code(), obstacle_met.message() + "; " + got.error().message()};
    }
    if (for_what == begun::no_slot) {
        const auto slot = co_await route_.connection->wait_for_slot(until);
        if (!slot)
            co_return obstructed(obstacle::socket_not_writable);
        if (*slot == runtime::wait_end::notified)
            co_return std::nullopt;
        out_of_time_ = *slot == runtime::wait_end::timed_out;
        co_return interrupted("while it waited for a place on the connection");
    }
    const runtime::wait_end end = co_await call_.bucket->changed().wait(seen, until);
    if (end == runtime::wait_end::notified)
        co_return std::nullopt;
    out_of_time_ = end == runtime::wait_end::timed_out;
    co_return interrupted("while it waited to be sent");
}

}  // namespace holdfast::shell::couchbase
