#pragma once
#include "core/mongo/handshake/connection_description.hpp"
#include "core/mongo/operation/command_encoder.hpp"
#include "core/mongo/retry/reply_failure.hpp"
#include "core/mongo/session/server_session.hpp"
#include "core/mongo/settings/profile.hpp"
#include "holdfast/bson/builder.hpp"
#include "shell/mongo/execute/client_state.hpp"
#include "shell/mongo/execute/session_state.hpp"

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace holdfast::shell::mongo {

/// The session of one operation: the application's, or an implicit one, which is taken when a
/// server is there to use it, kept over all attempts, and returned to the pool at the end. It has
/// the operation's transaction number as well.
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
        if (claimed_)
            given_->in_use.store(false, std::memory_order_release);
        if (own_)
            client_->sessions.give_back(*std::move(own_), timeout_, last_used_);
    }

    /// Whether a server session has been taken.
    explicit operator bool() const noexcept { return given_ ? given_->server.has_value() : !!own_; }

    /// Claims the application's session for this operation alone, until it ends. Gives the reason
    /// for which it cannot be used with such a command; null if there is none.
    const char* claim(bool acknowledged,
                      const core::mongo::connection_description& connection) noexcept;

    void take(std::shared_ptr<client_state> from, std::optional<std::int32_t> timeout_minutes,
              time_point now);

    /// The txnNumber of the command, the same in all its attempts; none before it is assigned.
    const std::optional<core::mongo::transaction_id>& transaction() const noexcept
    {
        return transaction_;
    }
    result<void> assign_transaction_number();

    /// Fields of a command that depend on the session.
    core::mongo::session_read_concern read_concern(
        std::string_view command, const core::mongo::resilience_profile& profile) const;
    void write_fields(bson::builder& command, const cluster_clock& of_client) const;

    /// A reply to the command has come: the session and the client advance their times.
    void replied(const core::mongo::reply_glance& seen, cluster_clock& of_client, time_point now);

    /// The connection broke, and the server's side of the session is in doubt.
    void mark_dirty() noexcept
    {
        if (*this)
            server().mark_dirty();
    }

private:
    core::mongo::server_session& server() noexcept { return given_ ? *given_->server : *own_; }
    const core::mongo::server_session& server() const noexcept
    {
        return given_ ? *given_->server : *own_;
    }
    void write_cluster_time(bson::builder& command, const cluster_clock& of_client) const;

    std::shared_ptr<session_state> given_;  // null: an implicit one is taken
    std::shared_ptr<client_state> client_;
    std::optional<std::int32_t> timeout_;
    time_point last_used_{};  // no clock is read just to return it
    std::optional<core::mongo::server_session> own_;
    std::optional<core::mongo::transaction_id> transaction_;
    bool claimed_ = false;
};

}  // namespace holdfast::shell::mongo
