#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/types.hpp"
#include "holdfast/bson/uuid.hpp"

#include <memory>
#include <optional>

namespace holdfast::shell::mongo {
struct session_state;
}

namespace holdfast::mongo {

struct access;

/// A row of operations that the server knows to belong together. Started by a client, passed to its
/// operations one at a time, and ended when the last copy goes, or by end(). An operation that
/// starts while another one of the session has not ended fails, and nothing is sent. Not for two
/// threads at a time, unlike the client itself.
class session {
public:
    /// What the server knows it by; nothing before its first operation.
    std::optional<bson::uuid> id() const;

    /// The newest times in the replies to its operations, for other sessions to catch up with.
    std::optional<bson::document> cluster_time() const;
    std::optional<bson::timestamp> operation_time() const;
    void advance_cluster_time(bson::view time) const;
    void advance_operation_time(bson::timestamp time) const;

    /// Of a snapshot session: the time that it reads at, once it is known. Throws `failure` if this
    /// is no snapshot session.
    std::optional<bson::timestamp> snapshot_time() const;

    /// Its operations fail from now on. The server's side is given back to the client.
    void end() const;

private:
    friend struct access;

    explicit session(std::shared_ptr<shell::mongo::session_state> made) noexcept;
    std::shared_ptr<shell::mongo::session_state> state_;
};

}  // namespace holdfast::mongo
