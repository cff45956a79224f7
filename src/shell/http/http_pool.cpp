#include "shell/http/http_pool.hpp"

#include "core/pool/errc.hpp"

#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace holdfast::shell::http {

namespace {

constexpr duration shortest_upkeep = std::chrono::milliseconds{100};

core::pool_settings limits_of(const http_pool_settings& from)
{
    core::pool_settings made;
    made.max_size = from.max_connections;
    made.max_waiting = from.max_waiting;
    made.max_connecting = 8;  // a handshake with TLS takes two round trips
    made.max_idle = from.idle_timeout;
    made.upkeep_every = std::max(from.idle_timeout, shortest_upkeep);
    made.look_after = duration::zero();  // a request that is not idempotent cannot be sent twice
    return made;
}

exchange_failure without_connection(error why)
{
    failure_kind is = failure_kind::no_connection;
    if (why.code() == core::pool_errc::timed_out)
        is = failure_kind::timed_out;
    else if (why.code() == runtime::errc::cancelled)
        is = failure_kind::cancelled;
    return exchange_failure{is, std::move(why)};
}

/// The request is over although there is a connection for it, which is not touched.
std::optional<exchange_failure> over_already(bool is_late, bool is_cancelled)
{
    if (is_late)
        return exchange_failure{failure_kind::timed_out, error{core::pool_errc::timed_out,
                                                               "no connection was free in time"}};
    if (is_cancelled)
        return exchange_failure{failure_kind::cancelled,
                                error{runtime::errc::cancelled, "cancelled before it was sent"}};
    return std::nullopt;
}

}  // namespace

std::shared_ptr<http_pool> http_pool::make(runtime::world& in, const http_pool_settings& settings,
                                           connector connect)
{
    std::shared_ptr<http_pool> made{new http_pool{in, settings, std::move(connect)}};
    made->mark_ready();
    return made;
}

http_pool::http_pool(runtime::world& in, const http_pool_settings& settings, connector connect)
    : pool{in, limits_of(settings), false}, connect_{std::move(connect)}
{
}

runtime::awaitable<result<http_pool::opened_connection>> http_pool::open(std::uint32_t)
{
    auto stream = co_await connect_();
    if (!stream)
        co_return std::move(stream).error();
    opened_connection ready;
    ready.connection = std::make_unique<connection>(*std::move(stream));
    co_return ready;
}

void http_pool::give_back(pooled_ptr what, time_point now) noexcept
{
    const bool broken = !static_cast<connection&>(*what).is_idle();
    check_in(std::move(what), broken, now);
}

runtime::awaitable<begun_exchange> http_pool::exchange(exchange_order what)
{
    const auto self = shared_from_this();
    for (bool is_second = false;; is_second = true) {
        auto got = co_await wait_for_connection(what.until);
        if (!got)
            co_return begun_exchange{without_connection(std::move(got).error())};
        auto on = (*std::move(got)).as<connection>();
        const auto cancellation = co_await boost::asio::this_coro::cancellation_state;
        auto over = over_already(world().steady_now() >= what.until,
                                 cancellation.cancelled() != boost::asio::cancellation_type::none);
        if (over)
            co_return begun_exchange{*std::move(over)};
        const bool was_used = on->was_used();
        auto failed = co_await on->begin(what.request, what.body_limit, what.until);
        if (!failed)
            co_return begun_exchange{std::move(on)};
        const bool was_stale = was_used && failed->is == failure_kind::lost && !failed->replied;
        if (is_second || !was_stale || (failed->in_flight && !what.idempotent))
            co_return begun_exchange{*std::move(failed)};
        drop_idle();
    }
}

}  // namespace holdfast::shell::http
