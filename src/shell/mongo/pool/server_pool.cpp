#include "shell/mongo/pool/server_pool.hpp"

#include "core/mongo/handshake/server_refusal.hpp"
#include "shell/mongo/connection/authenticate.hpp"
#include "shell/mongo/connection/establish.hpp"
#include "shell/mongo/pool/pool_events.hpp"
#include "shell/mongo/pool/service_partition.hpp"
#include "shell/planted.hpp"

#include <chrono>
#include <utility>

namespace holdfast::shell::mongo {
namespace {

using core::mongo::application_error;
using core::mongo::connection_phase;
using core::mongo::failure_kind;

/// How long a late reply is waited for before its connection is given up.
constexpr std::chrono::milliseconds drain_time{400};

core::pin_reason reason_of(pinned_by what) noexcept
{
    return core::pin_reason{static_cast<std::size_t>(what)};
}

/// What a connection that could not be opened means to the topology.
application_error as_application_error(const endpoint& server, std::uint32_t generation,
                                       const error& why)
{
    application_error reported{.server = server, .generation = generation, .cause = why};
    const bool authenticating = why.context("phase") == phase_authentication;
    reported.phase = authenticating ? connection_phase::authenticating
                                    : connection_phase::connecting;
    if (authenticating && why.code().category() == core::mongo::category())
        reported.kind = failure_kind::authentication;
    else
        reported.kind = core::mongo::kind_of_broken_connection(why.code());
    reported.refusal = core::mongo::refusal_code(why);
    reported.never_overload = rules_out_overload(why);
    // Behind a load balancer only the service that refused is concerned, once it is known.
    if (const auto service = bson::object_id::parse(why.context("service")))
        reported.service_id = *service;
    return reported;
}

}  // namespace

std::shared_ptr<server_pool> server_pool::make(runtime::world& in, pool_options options,
                                               std::shared_ptr<event_hub> events,
                                               opening_handlers handlers)
{
    return std::shared_ptr<server_pool>{
        new server_pool{in, std::move(options), std::move(events), std::move(handlers)}};
}

server_pool::server_pool(runtime::world& in, pool_options options,
                         std::shared_ptr<event_hub> events, opening_handlers handlers)
    : pool{in, options.limits, !events->silent()},
      options_{std::move(options)},
      events_{std::move(events)},
      handlers_{std::move(handlers)}
{
}

runtime::awaitable<result<lease>> server_pool::check_out(time_point until, bool may_go_elsewhere)
{
    auto got = co_await wait_for_connection(until, may_go_elsewhere);
    if (!got)
        co_return std::move(got).error();
    co_return (*std::move(got)).as<connection>();
}

void server_pool::pin(pinned_by what)
{
    pool::pin(reason_of(what));
}

void server_pool::unpin(pinned_by what)
{
    pool::unpin(reason_of(what));
}

runtime::awaitable<result<void>> server_pool::log_in_again(connection& which) const
{
    auto known = co_await authenticate(world(), *options_.config, which, std::nullopt);
    if (known)
        which.logged_in();
    co_return known;
}

void server_pool::clear(const error& why, const std::optional<bson::object_id>& service,
                        bool interrupt_in_use)
{
    pool::clear(why, partition_of(service), interrupt_in_use);
}

std::uint32_t server_pool::generation(const std::optional<bson::object_id>& service) const
{
    return pool::generation(partition_of(service));
}

runtime::awaitable<result<server_pool::opened_connection>> server_pool::open(
    std::uint32_t generation)
{
    // Before the login: meanwhile the monitor may learn more than this reply knows.
    hello_handler after_hello = [this, generation](const connection& over, bson::view reply) {
        if (!over.description().service_id && generation == pool::generation())
            handlers_.handshake_done(options_.server, reply);
    };
    auto made = co_await establish(world(), *options_.config, options_.server, runtime::never,
                                   std::move(after_hello));
    if (!made)
        co_return std::move(made).error();
    connection_ptr opened = std::move(made->connection);
    if (options_.make_blocking)
        opened->change_stream(options_.make_blocking);
    opened_connection ready;
    ready.partition = partition_of(opened->description().service_id);
    ready.connection = std::move(opened);
    co_return ready;
}

void server_pool::open_failed(const error& why, std::uint32_t generation)
{
    auto reported = as_application_error(options_.server, generation, why);
    if (reported.service_id)
        reported.generation = this->generation(reported.service_id);
    handlers_.failed(std::move(reported));
}

void server_pool::give_back(pooled_ptr what, time_point now) noexcept
{
    auto& back = static_cast<connection&>(*what);
    back.repeatable.store(false, std::memory_order_relaxed);
    if (planted.reuses_dirty_connections)
        return check_in(std::move(what), false, now);
    if (back.owes_reply() && !options_.make_blocking && would_keep(back.pool_id)) {
        const request_id owed = back.take_owed();  // or it would be drained again and again
        start(drain(lease{shared_from_this(), std::move(what)}, owed, now + drain_time));
        return;
    }
    const bool broken = !back.usable();
    const error* const why = broken && back.failure() ? &*back.failure() : nullptr;
    check_in(std::move(what), broken, now, why);
}

/// However this ends, also if it never begins or is destroyed, the connection goes back.
runtime::awaitable<void> server_pool::drain(lease over, request_id owed, time_point until)
{
    co_await over->drain(owed, until);
}

void server_pool::queue(const std::vector<core::pool_event>& events)
{
    const auto put = [this](const core::pool_event& one) {
        events_->queue(event_of_pool(one, options_.server, options_.reported));
    };
    for (const core::pool_event& one : events) {
        if (!announced_) [[unlikely]] {
            if (!std::holds_alternative<core::pool_events::ready>(one))
                continue;
            announced_ = true;
            put(core::pool_events::created{});
        }
        put(one);
    }
}

}  // namespace holdfast::shell::mongo
