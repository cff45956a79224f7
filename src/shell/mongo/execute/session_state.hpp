#pragma once
#include "core/mongo/session/cluster_time.hpp"
#include "core/mongo/session/server_session.hpp"
#include "holdfast/bson/types.hpp"
#include "shell/mongo/execute/client_state.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace holdfast::shell::mongo {

/// A session that the application has started, or one that the library shares between the commands
/// of one cursor or bulk write: used by one operation at a time. The server session is taken when
/// the first operation has found a server.
struct session_state {
    const void* owner = nullptr;  // the client it belongs to
    std::shared_ptr<client_state> client = {};  // from the first operation on
    std::optional<core::mongo::server_session> server = {};
    std::optional<std::int32_t> timeout_minutes = {};
    core::mongo::cluster_time cluster_time = {};
    core::mongo::operation_time operation_time = {};
    std::atomic<bool> in_use = false;  // by an operation; all else here belongs to that one
    bool ended = false;
    /// The library's own: does without a server session where the server supports none.
    bool implicit = false;
    bool lent = false;      // `server` is a copy: the session that it is from gives it back
    bool causal = false;    // reads ask for data at least as new as operation_time
    bool snapshot = false;  // all is read as it was at snapshot_time, that of the first read
    std::optional<bson::timestamp> snapshot_time = {};

    session_state() = default;
    session_state(const session_state&) = delete;
    session_state& operator=(const session_state&) = delete;
    ~session_state() { end(); }

    void end()
    {
        ended = true;
        if (server && !lent)
            client->sessions.give_back(*std::exchange(server, std::nullopt), timeout_minutes,
                                       client->world.steady_now());
    }
};

}  // namespace holdfast::shell::mongo
