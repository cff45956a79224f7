#pragma once
#include "holdfast/bson/document.hpp"
#include "lab/mongo/node/node.hpp"
#include "lab/mongo/peer/peer.hpp"
#include "runtime/background.hpp"
#include "runtime/tls.hpp"
#include "runtime/wait.hpp"

#include <memory>
#include <optional>
#include <string>

namespace holdfast::lab::mongo {

/// What all parts of a set member share: the node, the member's life cycle, the events that its
/// loops wait for, and connections to the other members.
struct member_context {
    member_context(mongo::node& of, runtime::tls_ptr with);

    time_point now() const noexcept { return node.now(); }
    /// The loops go on: neither stopped nor frozen.
    bool active() const noexcept { return !stopping && !paused; }

    runtime::awaitable<result<std::unique_ptr<peer>>> connect_to(std::string host,
                                                                 time_point until);
    /// One request on a connection of its own; nothing if there is no reply.
    runtime::awaitable<std::optional<bson::document>> call(std::string host, bson::document what,
                                                           duration timeout);

    mongo::node& node;
    const runtime::tls_ptr tls;
    time_point started_at{};
    bool started = false;
    bool stopping = false;
    bool paused = false;  // a process that is frozen
    runtime::event changed;  // for all loops: something about the set has changed
    runtime::event progress;  // a position in the oplog, or the sync source
    runtime::background tasks;
};

}  // namespace holdfast::lab::mongo
