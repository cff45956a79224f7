#pragma once
#include "core/mongo/sdam/topology_description.hpp"

#include <variant>

namespace holdfast::core::mongo {

// The events of the topology, named as in the specification of SDAM monitoring. The
// shell adds the topology's id, and the heartbeat events, which belong to the monitors.

struct topology_opening {};
struct topology_description_changed {
    topology_ptr previous;
    topology_ptr current;
};
struct topology_closed {};
struct server_opening {
    endpoint address;
};
struct server_description_changed {
    server_ptr previous;
    server_ptr current;
};
struct server_closed {
    endpoint address;
};

using sdam_event = std::variant<topology_opening, topology_description_changed, topology_closed,
                                server_opening, server_description_changed, server_closed>;

}  // namespace holdfast::core::mongo
