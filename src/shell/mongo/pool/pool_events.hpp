#pragma once
#include "core/pool/pool_event.hpp"
#include "shell/mongo/events/event_hub.hpp"

namespace holdfast::shell::mongo {

/// The event of the pool's state machine as listeners get it, with the server's address.
queued_event event_of_pool(const core::pool_event& what, const endpoint& server,
                           const events::pool_limits& limits);

}  // namespace holdfast::shell::mongo
