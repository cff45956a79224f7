// What the decisions about retries need to know of a key-value operation.
#include "core/couchbase/retry/idempotent.hpp"
#include "shell/couchbase/execute/kv_attempts.hpp"

#include <string>
#include <utility>

namespace holdfast::shell::couchbase {

core::couchbase::retry_request::settings kv_attempts::describe() const
{
    core::couchbase::retry_request::settings of;
    of.operation = order().operation;
    of.idempotent = core::couchbase::is_idempotent(order().opcode);
    if (call_.until.is_set())
        of.deadline = call_.until.when();
    if (call_.more) {
        of.strategy = call_.more->strategy;
        of.context = call_.more->context;
    }
    return of;
}

endpoint kv_attempts::server() const
{
    return route_.link ? route_.link->server() : endpoint{};
}

std::string kv_attempts::waiting_for(time_point now) const
{
    return call_.bucket->waiting_for(now, missing());
}

/// What a request that was never sent has waited for at last.
std::string kv_attempts::missing() const
{
    using core::couchbase::obstacle;
    const std::string id = "the id of collection \"" + call_.in->collection + "\" of scope \"" +
                           call_.in->scope + "\"";
    switch (route_.is) {
    case kv_route::kind::look_up:
    case kv_route::kind::waits_for_look_up:
        return id;
    case kv_route::kind::ready:
        return "a place on the connection to " + route_.link->server().value();
    case kv_route::kind::opening:
    case kv_route::kind::obstructed:
    case kv_route::kind::no_copy:
        break;
    }
    switch (route_.obstacle.value_or(obstacle::all_sockets_down)) {
    case obstacle::node_gone:
        return "a node that has the document";
    case obstacle::service_not_present:
        return "a node with the key-value service";
    case obstacle::scope_not_in_map:
    case obstacle::collection_not_in_map:
    case obstacle::manifest_behind:
        return id;
    case obstacle::circuit_open:
        return "the circuit breaker of " + route_.link->server().value() + " to close";
    case obstacle::all_sockets_down:
    case obstacle::socket_not_writable:
        break;
    }
    return "a connection";
}

/// What the error is about.
error kv_attempts::located(error why) const
{
    why = std::move(why)
              .with_context("bucket", call_.in->bucket)
              .with_context("scope", call_.in->scope)
              .with_context("collection", call_.in->collection);
    if (route_.link)
        why = std::move(why).with_context("server", route_.link->server().value());
    return why;
}

}  // namespace holdfast::shell::couchbase

namespace holdfast::shell {

template runtime::awaitable<result<couchbase::kv_attempts::answer>> remaining_attempts(
    runtime::world&, couchbase::kv_attempts&, core::deadline, std::optional<error>);

}  // namespace holdfast::shell
