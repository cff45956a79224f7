#pragma once
#include "core/mongo/sdam/event.hpp"
#include "core/mongo/sdam/topology_description.hpp"
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace holdfast::core::mongo {

// What the shell has to do after a change, in this order, inside the critical section in which the
// new topology is published.

struct start_monitor {
    endpoint server;
};
struct stop_monitor {  // and close the pool
    endpoint server;
};
struct mark_pool_ready {
    endpoint server;
};
struct clear_pool {
    endpoint server;
    error cause;
    std::optional<bson::object_id> service_id = {};  // only the connections to this service
    bool interrupt_in_use = false;                   // also those that are checked out
};
struct request_check {  // now, not at the next heartbeat
    endpoint server;
};
struct cancel_check {  // the one that is under way
    endpoint server;
};
struct warn {
    std::string text;
};
/// A primary of a later election has deposed the server, which may be frozen and never answer:
/// operations that need not wait for it go to the newer one.
struct release_operations {
    endpoint server;
    endpoint newer;
};
using effect = std::variant<start_monitor, stop_monitor, mark_pool_ready, clear_pool, request_check,
                            cancel_check, warn, release_operations>;

/// A new topology (the old pointer if nothing was touched), effects and events.
struct transition {
    topology_ptr after;
    std::vector<effect> effects = {};
    std::vector<sdam_event> events = {};
};

/// The first topology of a client: monitors start, events announce the seeds.
transition open_topology(const topology_settings& settings);

/// The last one: every server goes, every monitor stops.
transition close_topology(const topology_ptr& before);

/// What one check, successful or not, does to the topology. `reported` is a parsed hello, or an
/// unknown server with its error. Which wire versions the client speaks is an argument for tests
/// with servers older than those we support.
struct wire_range {
    std::int32_t min = client_min_wire_version;
    std::int32_t max = client_max_wire_version;
};
transition apply_check(const topology_ptr& before, server_description reported,
                       wire_range client = {});

/// The hosts that DNS gives now, for a topology found by SRV: those that are gone are removed, new
/// ones are added in the order in which they come, which the caller draws, up to `max_hosts`
/// servers (0: all).
transition apply_srv(const topology_ptr& before, const std::vector<endpoint>& resolved,
                     std::size_t max_hosts, wire_range client = {});

}  // namespace holdfast::core::mongo
