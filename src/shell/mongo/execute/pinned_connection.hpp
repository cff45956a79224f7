#pragma once
#include "shell/mongo/pool/server_pool.hpp"
#include "shell/mongo/topology/topology.hpp"

#include <memory>
#include <utility>

namespace holdfast::shell::mongo {

/// A connection that stays with a cursor, because behind a load balancer no other one leads to the
/// server that has it. Goes back to its pool when this goes.
struct pinned_connection {
    pinned_connection(selected_server to, lease through) noexcept
        : on{std::move(to)}, over{std::move(through)}, pool{on.shared_pool()}
    {
        pool->pin(pinned_by::cursor);
    }
    pinned_connection(const pinned_connection&) = delete;
    pinned_connection& operator=(const pinned_connection&) = delete;
    ~pinned_connection() { pool->unpin(pinned_by::cursor); }

    selected_server on;
    lease over;
    std::shared_ptr<server_pool> pool;  // of both, also when they are taken out
};

}  // namespace holdfast::shell::mongo
