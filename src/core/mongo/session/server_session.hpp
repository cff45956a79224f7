#pragma once
#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/uuid.hpp"
#include "holdfast/error.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace holdfast::core::mongo {

/// What the server knows of a session: its id, and the last transaction number used with it. The
/// number lives here, not in the user's session: it must never be used twice with the same id.
class server_session {
public:
    explicit server_session(bson::uuid id, std::int64_t last_number = 0) noexcept
        : id_{id}, transaction_number_{last_number}
    {
    }

    const bson::uuid& id() const noexcept { return id_; }

    /// The document that commands carry as "lsid".
    bson::document lsid() const;

    /// The next number, from 1. An error once all of them are used, for the server takes no other.
    result<std::int64_t> next_transaction_number();
    std::int64_t transaction_number() const noexcept { return transaction_number_; }

    /// A network error leaves the server's side in doubt: it is used to the end of the operation,
    /// and then thrown away.
    void mark_dirty() noexcept { dirty_ = true; }
    bool is_dirty() const noexcept { return dirty_; }

    void used(time_point now) noexcept { last_used_ = now; }

    /// Whether the server may have forgotten it, or will within a minute.
    bool expires_soon(time_point now, std::optional<std::int32_t> timeout_minutes) const noexcept;

private:
    bson::uuid id_;
    std::int64_t transaction_number_;
    std::optional<time_point> last_used_;
    bool dirty_ = false;
};

/// What a write carries so that the server recognises it when it comes again. Taken once for each
/// command, before its first attempt.
struct transaction_id {
    bson::uuid session;
    std::int64_t number = 0;

    friend bool operator==(const transaction_id&, const transaction_id&) = default;
};
result<transaction_id> next_transaction_id(server_session& session);

/// Puts "lsid" into a command.
void write_lsid(bson::builder& command, const bson::uuid& session);

/// Puts "lsid" and "txnNumber" into a command.
void write_transaction_id(bson::builder& command, const transaction_id& id);

/// The idle sessions, the most recently used one on top, so that few stay alive.
class session_pool {
public:
    /// The best one that is not about to expire; those that are, are dropped. Nothing if there is
    /// none: the caller makes a new one.
    std::optional<server_session> take(time_point now, std::optional<std::int32_t> timeout_minutes);

    /// Dirty sessions and those about to expire are not kept.
    void give_back(server_session session, time_point now,
                   std::optional<std::int32_t> timeout_minutes);

    std::size_t size() const noexcept { return idle_.size(); }

    /// Empties the pool into the ids for endSessions commands, at most `most` in each.
    std::vector<std::vector<bson::uuid>> drain(std::size_t most = 10'000);

private:
    std::vector<server_session> idle_;
};

}  // namespace holdfast::core::mongo
