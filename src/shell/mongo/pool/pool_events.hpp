#pragma once
#include "core/pool/pool_event.hpp"
#include "shell/mongo/events/event_hub.hpp"

namespace holdfast::shell::mongo {

/// What the pool's machine tells, with the server's address.
queued_event event_of_pool(const core::pool_event& what, const endpoint& server,
                          const events::pool_limits& limits);

}  // namespace holdfast::shell::mongo
