#pragma once
#include "net/context_registry.hpp"
#include "net/socket_types.hpp"
#include "runtime/world.hpp"

#include <memory>
#include <vector>

namespace holdfast::net {

/// What an attempt to connect needs besides its destination.
struct connector {
    runtime::world& in;  // outlives the attempt
    std::shared_ptr<context_registry> at;
    duration head_start;
};

/// Connects to one of these endpoints of `where`, after RFC 8305: the first one is tried at once,
/// the next one when it has failed or a head start is over, and the first to answer is it. The
/// others are closed.
runtime::awaitable<result<runtime::stream_ptr>> connect_to_any(connector with,
                                                               runtime::destination where,
                                                               std::vector<stream_endpoint> targets,
                                                               time_point until);

}  // namespace holdfast::net
