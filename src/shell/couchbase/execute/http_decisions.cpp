// What the decisions about retries need to know of a request to an HTTP service.
#include "core/couchbase/retry/dispatch.hpp"
#include "core/pool/errc.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "shell/couchbase/connection/connect_stream.hpp"
#include "shell/couchbase/execute/http_attempts.hpp"

#include <string>
#include <utility>

namespace holdfast::shell::couchbase {

using core::couchbase::obstacle;
using core::couchbase::retry_reason;
using core::couchbase::service_type;
using holdfast::couchbase::errc;

std::string_view name_of(service_type service) noexcept
{
    switch (service) {
    case service_type::key_value:
        return "key-value";
    case service_type::query:
        return "query";
    case service_type::analytics:
        return "analytics";
    case service_type::search:
        return "search";
    case service_type::views:
        return "views";
    case service_type::management:
        return "management";
    }
    return "";
}

error http_attempts::obstructed(obstacle what, const std::string& detail)
{
    core::couchbase::request_target target;
    target.service = call_.target.service;
    auto failed = cluster_->nodes->with_facts([&](const core::couchbase::health& facts) {
        return core::couchbase::dispatch_failed(what, target, facts, server(), started_);
    });
    obstacle_ = what;
    reason_ = failed.reason;
    phase_ = dispatch_phase::not_sent;
    std::string message = failed.cause.message();
    if (failed.reason == retry_reason::service_not_available)
        message.append(": ").append(name_of(call_.target.service));
    // A reason that a connection has reported is known with all its details.
    if (failed.reason == retry_reason::authentication_error ||
        failed.reason == retry_reason::tls_error)
        message += ": " + cluster_->nodes->bucket("")->waiting_for(started_);
    else if (!detail.empty())
        message += ": " + detail;
    return error{failed.cause.code(), std::move(message)};
}

/// Why the pool has given no connection.
error http_attempts::without_connection(const error& why)
{
    if (why.code() == core::pool_errc::closed) {
        if (auto over = closed_or_late(call_.until))
            return *std::move(over);
        return obstructed(obstacle::node_gone);
    }
    if (why.code() == core::pool_errc::queue_full)
        return obstructed(obstacle::socket_not_writable, why.message());
    if (is_tls_failure(why)) {
        // It has not come over a connection that follows the configuration, which would make a fact
        // of it; but for this attempt it is the reason all the same.
        reason_ = retry_reason::tls_error;
        return core::couchbase::error_for(retry_reason::tls_error, why.message());
    }
    return obstructed(obstacle::all_sockets_down, why.message());
}

/// What came back cannot be used; whether the request was carried out is not known.
error http_attempts::unusable(const error& why)
{
    reason_.reset();
    return error{errc::decoding_failure, server().value() + ": " + why.message()};
}

error http_attempts::broken(http::exchange_failure why)
{
    on_.reset();
    phase_ = why.in_flight ? dispatch_phase::in_flight : dispatch_phase::not_sent;
    dispatched_ = dispatched_ || why.in_flight;
    reason_.reset();
    switch (why.is) {
    case http::failure_kind::no_connection:
        return without_connection(why.why);
    case http::failure_kind::refused:
        return unusable(why.why);
    case http::failure_kind::timed_out:
    case http::failure_kind::cancelled:
        break;
    case http::failure_kind::lost:
        if (!why.in_flight)
            return obstructed(obstacle::all_sockets_down, why.why.message());
        reason_ = retry_reason::socket_closed_while_in_flight;
        return core::couchbase::connection_lost(server(), started_, why.why.message()).cause;
    }
    out_of_time_ = why.is == http::failure_kind::timed_out;
    error ended = interrupted(why.in_flight ? "while it was in flight"
                                            : "while it waited for a connection");
    if (!out_of_time_ && cluster_->nodes->is_closed())
        reason_ = retry_reason::socket_closed_while_in_flight;  // by the cluster, not by the caller
    return ended;
}

core::couchbase::retry_request::settings http_attempts::describe() const
{
    core::couchbase::retry_request::settings of;
    of.operation = call_.target.operation;
    of.service = call_.target.service;
    of.idempotent = call_.target.idempotent;
    of.strategy = call_.strategy;
    if (call_.until.is_set())
        of.deadline = call_.until.when();
    of.context = call_.context;
    return of;
}

/// What the error is about.
error http_attempts::located(error why) const
{
    why = std::move(why).with_context("service", std::string{name_of(call_.target.service)});
    if (!call_.target.bucket.empty())
        why = std::move(why).with_context("bucket", call_.target.bucket);
    if (!call_.target.scope.empty())
        why = std::move(why).with_context("scope", call_.target.scope);
    if (target_)
        why = std::move(why).with_context("server", target_->value());
    return why;
}

std::string http_attempts::waiting_for(time_point now) const
{
    const std::string service{name_of(call_.target.service)};
    if (!config_ && !obstacle_)
        return cluster_->nodes->bucket("")->waiting_for(now, "the cluster's configuration");
    switch (obstacle_.value_or(obstacle::all_sockets_down)) {
    case obstacle::node_gone:
        return "it waited for a node that is not in the cluster";
    case obstacle::service_not_present:
        return "it waited for a node with the " + service + " service";
    case obstacle::all_sockets_down:
    case obstacle::socket_not_writable:
    case obstacle::circuit_open:
    case obstacle::scope_not_in_map:
    case obstacle::collection_not_in_map:
    case obstacle::manifest_behind:
        break;
    }
    return "it waited for a connection to the " + service + " service";
}

}  // namespace holdfast::shell::couchbase

namespace holdfast::shell {

template runtime::awaitable<result<couchbase::http_attempts::answer>> remaining_attempts(
    runtime::world&, couchbase::http_attempts&, core::deadline, std::optional<error>);

}  // namespace holdfast::shell
