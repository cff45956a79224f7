#pragma once
#include "holdfast/bson/object_id.hpp"
#include "holdfast/bson/uuid.hpp"
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"
#include "holdfast/id.hpp"
#include "holdfast/mongo/description.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::mongo {

/// The events of a client, named as in the drivers' specifications. Views live as long as the call.
/// Commands and replies that carry secrets are empty documents.
namespace events {

/// What makes a write the same write when it is sent again. An extension of ours.
struct transaction_id {
    bson::uuid session;
    std::int64_t number = 0;
};

/// Who talks to whom; the same for all three events of a command.
struct command_facts {
    std::string_view command_name;
    std::string_view database_name;
    request_id request = {};
    operation_id operation = {};  // the same for all attempts of one operation
    const endpoint& server;
    connection_id driver_connection = {};
    std::optional<std::int64_t> server_connection = {};
    std::optional<bson::object_id> service = {};
    std::optional<events::transaction_id> transaction = {};
};
struct command_started {
    const command_facts& of;
    bson::view command;
};
struct command_succeeded {
    const command_facts& of;
    duration took{};
    bson::view reply;
};
struct command_failed {
    const command_facts& of;
    duration took{};
    const error& failure;
};

/// A command has had no reply for 30 seconds, and is still waited for. Reported once, with the next
/// heartbeat of any server; not behind a load balancer, which has none. An extension of ours.
struct command_overdue {
    std::string command_name;
    std::string database_name;
    request_id request = {};
    operation_id operation = {};
    endpoint server;
    connection_id driver_connection = {};
    duration waited{};  // so far
};

/// What a connection string says of pools; the same for every pool of a client.
struct pool_limits {
    std::uint32_t max_size = 0;  // 0: no limit
    std::uint32_t min_size = 0;
    std::uint32_t max_connecting = 0;
    std::chrono::milliseconds max_idle_time{0};  // 0: no limit
    std::optional<std::chrono::milliseconds> wait_queue_timeout = {};
};
struct pool_created {
    endpoint server;
    pool_limits limits = {};
};
struct pool_ready {
    endpoint server;
};
struct pool_cleared {
    endpoint server;
    std::optional<bson::object_id> service = {};
    bool interrupts_in_use = false;
};
struct pool_closed {
    endpoint server;
};
struct connection_created {
    endpoint server;
    connection_id connection;
};
struct connection_ready {
    endpoint server;
    connection_id connection;
    duration took{};
};
struct connection_closed {
    endpoint server;
    connection_id connection;
    std::string_view reason;  // "stale", "idle", "error", "poolClosed"
    std::optional<error> failure = {};  // of an "error" that was reported
};
struct connection_check_out_started {
    endpoint server;
};
struct connection_check_out_failed {
    endpoint server;
    std::string_view reason;  // "poolClosed", "timeout", "connectionError"
    duration took{};
    std::optional<error> failure = {};
};
struct connection_checked_out {
    endpoint server;
    connection_id connection;
    duration took{};
};
struct connection_checked_in {
    endpoint server;
    connection_id connection;
};

struct topology_opening {
    bson::object_id topology;
};
struct topology_closed {
    bson::object_id topology;
};
struct topology_description_changed {
    bson::object_id topology;
    topology_description previous;
    topology_description current;
};
struct server_opening {
    bson::object_id topology;
    endpoint server;
};
struct server_closed {
    bson::object_id topology;
    endpoint server;
};
struct server_description_changed {
    bson::object_id topology;
    server_description previous;
    server_description current;
};
struct server_heartbeat_started {
    endpoint server;
    bool awaited = false;
    connection_id driver_connection = {};  // counted by the monitor of this server
    std::optional<std::int64_t> server_connection = {};
};
struct server_heartbeat_succeeded {
    endpoint server;
    bool awaited = false;
    duration took{};
    bson::view reply;
};
struct server_heartbeat_failed {
    endpoint server;
    bool awaited = false;
    duration took{};
    const error& failure;
};

}  // namespace events

/// Receives events: override the functions of those that are wanted. Called from whatever thread
/// runs the client; events of pools and of the topology come one at a time and in order, never
/// while
/// the client holds a lock, so that calling the client back is allowed, and waiting for it is not.
/// Must not throw.
class event_listener {
public:
    virtual ~event_listener() = default;

    virtual void on(const events::command_started&) noexcept {}
    virtual void on(const events::command_succeeded&) noexcept {}
    virtual void on(const events::command_failed&) noexcept {}
    virtual void on(const events::command_overdue&) noexcept {}

    virtual void on(const events::pool_created&) noexcept {}
    virtual void on(const events::pool_ready&) noexcept {}
    virtual void on(const events::pool_cleared&) noexcept {}
    virtual void on(const events::pool_closed&) noexcept {}
    virtual void on(const events::connection_created&) noexcept {}
    virtual void on(const events::connection_ready&) noexcept {}
    virtual void on(const events::connection_closed&) noexcept {}
    virtual void on(const events::connection_check_out_started&) noexcept {}
    virtual void on(const events::connection_check_out_failed&) noexcept {}
    virtual void on(const events::connection_checked_out&) noexcept {}
    virtual void on(const events::connection_checked_in&) noexcept {}

    virtual void on(const events::topology_opening&) noexcept {}
    virtual void on(const events::topology_closed&) noexcept {}
    virtual void on(const events::topology_description_changed&) noexcept {}
    virtual void on(const events::server_opening&) noexcept {}
    virtual void on(const events::server_closed&) noexcept {}
    virtual void on(const events::server_description_changed&) noexcept {}
    virtual void on(const events::server_heartbeat_started&) noexcept {}
    virtual void on(const events::server_heartbeat_succeeded&) noexcept {}
    virtual void on(const events::server_heartbeat_failed&) noexcept {}
};

}  // namespace holdfast::mongo
