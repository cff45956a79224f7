#pragma once
#include "holdfast/id.hpp"
#include "shell/mongo/execute/command_monitoring.hpp"
#include "shell/mongo/execute/command_order.hpp"
#include "shell/mongo/pool/server_pool.hpp"
#include "shell/mongo/topology/topology.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

namespace holdfast::shell::mongo {

/// One attempt on one server: everything that it holds while it is under way.
struct server_attempt {
    explicit server_attempt(selected_server to) noexcept : on{std::move(to)} {}

    bool has_connection() const noexcept { return over.has_value(); }
    connection& to() const noexcept { return **over; }

    selected_server on;
    std::optional<lease> over = {};
    std::span<const std::uint8_t> request = {};  // encoded, in memory that outlives the attempt
    request_id id = {};
    std::optional<command_monitoring> monitoring = {};
    bool pinned = false;  // the connection is that of a cursor
};

/// An attempt over the connection that a cursor has kept, if there is one. A broken connection was
/// only kept for the cursor's close.
std::optional<server_attempt> take_pinned(answer_facts& facts);

/// Fills in the order's facts: which server has answered. Behind a load balancer the connection
/// stays with a cursor that is open on the server, and with one that has failed, but not while a
/// reply is still to come: the pool waits for that. True if it stays; the attempt has none then.
/// `reply` is empty if there was none.
bool keep_pinned(const command_order& order, server_attempt& attempt, bson::view reply,
                 bool failed);

}  // namespace holdfast::shell::mongo
