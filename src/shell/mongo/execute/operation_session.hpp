#pragma once
#include "core/mongo/session/cluster_time.hpp"
#include "core/mongo/session/server_session.hpp"
#include "shell/mongo/execute/client_state.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace holdfast::shell::mongo {

/// A session that the application has started: used by one operation at a time. What the server
/// knows it by is chosen when the first operation has found a server.
struct session_state {
    const void* owner = nullptr;  // the client it belongs to
    std::shared_ptr<client_state> client = {};  // from the first operation on
    std::optional<core::mongo::server_session> server = {};
    std::optional<std::int32_t> timeout_minutes = {};
    core::mongo::cluster_time cluster_time = {};
    core::mongo::operation_time operation_time = {};
    bool ended = false;
    /// Of the library's own: for a cursor. Does without where the server knows no sessions.
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

/// The session of one operation: the application's, or one of its own, which is taken when a server
/// is there to use it, kept over all attempts, and given back at the end.
class operation_session {
public:
    explicit operation_session(std::shared_ptr<session_state> given) noexcept
        : given_{std::move(given)}
    {
    }
    operation_session(const operation_session&) = delete;
    operation_session& operator=(const operation_session&) = delete;
    ~operation_session()
    {
        if (own_)
            client_->sessions.give_back(*std::move(own_), timeout_, last_seen_);
    }

    void take(std::shared_ptr<client_state> from, std::optional<std::int32_t> timeout_minutes,
              time_point now)
    {
        if (given_) {
            given_->server = from->sessions.take(timeout_minutes, now);
            given_->client = std::move(from);
            given_->timeout_minutes = timeout_minutes;
            return;
        }
        client_ = std::move(from);
        timeout_ = timeout_minutes;
        last_seen_ = now;
        own_ = client_->sessions.take(timeout_minutes, now);
    }

    /// The server has heard of it.
    void used(time_point now) noexcept
    {
        last_seen_ = now;
        (**this).used(now);
    }

    /// The application's, or null.
    session_state* given() const noexcept { return given_.get(); }

    explicit operator bool() const noexcept { return given_ ? given_->server.has_value() : !!own_; }
    core::mongo::server_session& operator*() noexcept { return given_ ? *given_->server : *own_; }
    const core::mongo::server_session& operator*() const noexcept
    {
        return given_ ? *given_->server : *own_;
    }
    core::mongo::server_session* operator->() noexcept { return &**this; }
    const core::mongo::server_session* operator->() const noexcept { return &**this; }

private:
    std::shared_ptr<session_state> given_;
    std::shared_ptr<client_state> client_;
    std::optional<std::int32_t> timeout_;
    time_point last_seen_{};  // no clock is looked at just to give it back
    std::optional<core::mongo::server_session> own_;
};

}  // namespace holdfast::shell::mongo
