#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/object_id.hpp"
#include "lab/mongo/data/disk.hpp"
#include "lab/mongo/document/value.hpp"
#include "lab/mongo/fault/fail_points.hpp"
#include "lab/mongo/fault/rate_limiter.hpp"
#include "lab/mongo/node/command.hpp"
#include "lab/mongo/node/cursor_table.hpp"
#include "lab/mongo/node/membership.hpp"
#include "runtime/wait.hpp"
#include "runtime/world.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::mongo {

/// What a node claims to be.
struct server_version {
    int major = 8;
    int minor = 2;
    int patch = 0;

    int wire() const noexcept;  // maxWireVersion: 8.2 is 27, 4.2 is 8
    std::string text() const;
    std::string family() const;  // "8.2"
    friend auto operator<=>(const server_version&, const server_version&) = default;
};

/// "8.2", "4.2.1": an error names what the lab can claim (3.6 to 8.2).
result<server_version> read_version(std::string_view text);

struct node_options {
    server_version version = {};
    bool auth = false;  // commands need a login
    bool sessions = true;  // false: claims no logicalSessionTimeoutMinutes, for tests of old ones
    // Planted defects, for the truth tests to report.
    bool remembers_statements = true;  // false: a repeated write is carried out again
    bool acknowledges_early = false;  // a write is acknowledged before others have it
    std::string own_address = {};  // "localhost:27017", as the set calls it
    /// What another member or router has to show (peer::connect) to be taken for one. Set it where
    /// `auth` is on: without it every client that claims to be a member is taken for one.
    std::string cluster_key = {};
};

/// One server process: its volatile state, around the disk that outlives it. One thread at a time;
/// nothing in here waits.
class node {
public:
    node(runtime::world& in, std::shared_ptr<disk> on, node_options options);
    node(const node&) = delete;
    node& operator=(const node&) = delete;
    ~node();

    runtime::world& world;
    const node_options options;
    const std::shared_ptr<disk> data;
    std::unique_ptr<membership> member;  // never null
    cursor_table cursors;
    fail_points faults;
    rate_limiter requests;
    rate_limiter connections;
    std::int64_t base_backoff_ms = 0;  // that overload errors name; 0: none
    std::map<std::string, value, std::less<>> parameters;  // setParameter
    const bson::object_id process;  // topologyVersion.processId

    /// Changes with every change that a hello would show.
    std::int64_t topology_counter() const noexcept { return topology_counter_; }
    void topology_changed();

    /// Anything that a request may wait for: a write, a commit, a role, the topology.
    runtime::event news;

    /// The newest time that this node knows of, from its own writes or from gossip.
    bson::timestamp cluster_time() const noexcept { return cluster_time_; }
    void saw_cluster_time(bson::timestamp at) noexcept;

    bson::datetime wall_now() const;
    time_point now() const noexcept { return world.steady_now(); }

    /// Writes to the disk as the primary, and notifies the set. 10107 if it is none.
    result<optime> write(const change& what);

    /// After writes, its own or those of the primary: what documents were before is forgotten, once
    /// no read may need it any more. Does something at most once in a second of the writes' time.
    void forget_history();

    const command* find_command(std::string_view name) const noexcept;
    void add_commands(std::span<const command> more);
    std::vector<const command*> commands() const;  // by name

    /// Sessions that clients have used lately, for $listLocalSessions and endSessions.
    void touch_session(const session_key& session);
    void end_session(const session_key& session);
    const std::map<session_key, time_point>& sessions() const noexcept { return sessions_; }

    std::int64_t next_connection() noexcept { return ++connections_made_; }
    std::int64_t open_connections = 0;

    /// Ends connections that a change of role or a fault must end; set by the owner of the port.
    std::function<void(bool internal_too)> close_connections;

private:
    std::map<std::string_view, const command*> commands_;
    std::map<session_key, time_point> sessions_;
    bson::timestamp cluster_time_ = {};
    std::uint32_t forgot_at_ = 0;  // the second of the last write then
    std::int64_t topology_counter_ = 0;
    std::int64_t connections_made_ = 0;
};

}  // namespace holdfast::lab::mongo
