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

/// What tells a server that a cursor is not wanted any more. It would find out by itself, so what
/// comes back does not matter.
struct kill_cursors {
    shell::mongo::command_order order = {};
    shell::mongo::answer_facts facts = {};  // of the cursor
};

/// How long we try it.
core::deadline end_sessions_timeout(const client_impl& of);

/// Keeps all that it needs, but not the client: with that, nobody is left who could want an answer.
runtime::awaitable<void> say(std::shared_ptr<shell::mongo::client_state> with, kill_cursors what);

/// The same while the caller goes on, and may use its session for other operations: they do not see
/// this one. Not for blocking clients: whoever waits for an answer there keeps a thread from
/// everything else.
void say_in_background(const client_impl& of, kill_cursors what);

}  // namespace holdfast::mongo
