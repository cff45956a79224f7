#include "core/couchbase/retry/dispatch.hpp"

#include <string>
#include <utility>

namespace holdfast::core::couchbase {

namespace {

struct found {
    retry_reason reason;
    std::string detail;
};

std::string quoted(std::string_view kind, std::string_view name)
{
    return std::string{kind}.append(" \"").append(name).append("\"");
}

/// Only a map that was fetched can lack a name; before that, it is unknown, and the map is what has
/// to be fetched first.
found missing_name(retry_reason reason, std::string name, const request_target& target,
                   const health& facts)
{
    if (facts.has_manifest(target.bucket))
        return {reason, name + " is not in " + quoted("bucket", target.bucket)};
    return {retry_reason::kv_collection_outdated,
            "no collection map yet of " + quoted("bucket", target.bucket)};
}

found reason_for(obstacle what, const request_target& target, const health& facts)
{
    switch (what) {
    case obstacle::node_gone:
        return {retry_reason::node_not_available, "the node is not in the cluster"};
    case obstacle::service_not_present:
        return {retry_reason::service_not_available, "no node has the service"};
    case obstacle::all_sockets_down:
        return {retry_reason::socket_not_available, "no connection to the node"};
    case obstacle::socket_not_writable:
        return {retry_reason::socket_not_available, "too many writes are waiting"};
    case obstacle::circuit_open:
        return {retry_reason::circuit_breaker_open, "the circuit breaker is open"};
    case obstacle::scope_not_in_map:
        return missing_name(retry_reason::scope_not_found, quoted("scope", target.scope), target,
                            facts);
    case obstacle::collection_not_in_map:
        return missing_name(retry_reason::collection_not_found,
                            quoted("collection", target.collection) + " of " +
                                quoted("scope", target.scope),
                            target, facts);
    case obstacle::manifest_behind:
        return {retry_reason::kv_collection_outdated,
                "the node's list of collections is older than that of others"};
    }
    return {retry_reason::unknown, "unknown obstacle"};
}

}  // namespace

std::optional<obstacle> find_obstacle(const target_view& target, time_point now)
{
    if (!target.node_known)
        return obstacle::node_gone;
    if (!target.service_present)
        return obstacle::service_not_present;
    if (!target.connected)
        return obstacle::all_sockets_down;
    if (!target.writable)
        return obstacle::socket_not_writable;
    if (target.breaker && !target.breaker->allows(now))
        return obstacle::circuit_open;
    return std::nullopt;
}

failed_attempt dispatch_failed(obstacle what, const request_target& target, const health& facts,
                               endpoint server, time_point started)
{
    found why = reason_for(what, target, facts);
    if (auto fact = facts.terminal_fact(target.service, target.bucket))
        why = {fact->reason, std::move(fact->detail)};
    return {{std::move(server), dispatch_phase::not_sent, started},
            why.reason,
            error_for(why.reason, std::move(why.detail))};
}

failed_attempt connection_lost(endpoint server, time_point started, std::string_view why)
{
    return {{std::move(server), dispatch_phase::in_flight, started},
            retry_reason::socket_closed_while_in_flight,
            error_for(
                retry_reason::socket_closed_while_in_flight,
                std::string{"the connection was closed with the request in flight: "}.append(why))};
}

}  // namespace holdfast::core::couchbase
