#pragma once
#include "core/retry/deadline.hpp"
#include "runtime/world.hpp"
#include "shell/mongo/execute/command_order.hpp"

#include <memory>

namespace holdfast::shell::mongo {
struct client_state;
}

namespace holdfast::mongo {

struct client_impl;

/// Whether the server may still have a cursor after a getMore has failed like this.
bool may_be_left(const error& why) noexcept;

/// A killCursors command. The server would end the cursor by itself later, so the outcome does not
/// matter.
struct kill_cursors {
    shell::mongo::command_order order = {};
    shell::mongo::answer_facts facts = {};  // of the cursor
};

/// How long we try it.
core::deadline kill_cursors_deadline(const client_impl& of);

/// Sends it. Keeps all that it needs, but not the client, which may be destroyed meanwhile.
runtime::awaitable<void> say(std::shared_ptr<shell::mongo::client_state> with, kill_cursors what);

/// The same while the caller goes on, and may use its session for other operations: they do not see
/// this one. Not for blocking clients, where awaiting a reply blocks a thread.
void say_in_background(const client_impl& of, kill_cursors what);

}  // namespace holdfast::mongo
