#pragma once
#include "core/couchbase/retry/health.hpp"
#include "core/couchbase/retry/orchestrator.hpp"
#include "core/retry/circuit_breaker.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::core::couchbase {

/// Why a request could not be put on the wire.
enum class obstacle : std::uint8_t {
    node_gone,
    service_not_present,
    all_sockets_down,
    socket_not_writable,  // too many writes are waiting already
    circuit_open,
    scope_not_in_map,
    collection_not_in_map,
    manifest_behind,  // the node may not have heard of the collection yet
};

/// The dispatcher's view of the target of a request.
struct target_view {
    bool node_known = true;
    bool service_present = true;
    bool connected = true;
    bool writable = true;
    const circuit_breaker* breaker = nullptr;
};
std::optional<obstacle> find_obstacle(const target_view& target, time_point now);

/// The subject of the request.
struct request_target {
    service_type service = service_type::key_value;
    std::string_view bucket = {};
    std::string_view scope = {};
    std::string_view collection = {};
};

/// An obstacle as a failed attempt that was not sent. A known fact that explains it is the better
/// reason: in the order authentication, TLS, bucket, scope, collection, then the obstacle itself.
failed_attempt dispatch_failed(obstacle what, const request_target& target, const health& facts,
                               endpoint server, time_point started);

/// A socket was closed while a request was on its way.
failed_attempt connection_lost(endpoint server, time_point started, std::string_view why);

}  // namespace holdfast::core::couchbase
