#pragma once
#include "core/mongo/retry/classify.hpp"
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"
#include "shell/mongo/execute/client_state.hpp"
#include "shell/mongo/execute/server_attempt.hpp"

#include <string>

namespace holdfast::shell::mongo {

/// The failure of the last attempt: classified for the retry decision, reported to the topology
/// before anything is selected again, and made into the error that the caller may get.
class attempt_failure {
public:
    /// Facts about a write that decide about the error's labels and text.
    struct write_facts {
        bool repeatable = false;  // a retryable write, whose error carries the label
        bool numbered = false;    // sent with a txnNumber
    };

    const core::mongo::failed_attempt& facts() const noexcept { return facts_; }

    /// An attempt starts. Until it has a server, the client itself is the cause of a failure.
    void reset() noexcept { facts_ = {.origin = core::mongo::failure_origin::client}; }

    /// The server replied with `found`.
    error in_reply(client_state& client, const server_attempt& attempt,
                   const core::mongo::failed_attempt& found, bson::view reply, write_facts write);

    /// The connection broke, or the time was up.
    error of_connection(client_state& client, const server_attempt& attempt, error why,
                        write_facts write);

    /// The pool has given it up, because a newer primary has deposed the server. That says nothing
    /// new about the server, so the topology is not notified.
    error of_deposed_primary(const server_attempt& attempt, error why, write_facts write);

    /// There was no connection to send anything over.
    error of_checkout(const client_state& client, const selected_server& on, error why,
                      write_facts write);

    /// The reply demands that the connection authenticates again.
    bool is_expired_login() const noexcept;

private:
    error labelled(error why, write_facts write) const;

    core::mongo::failed_attempt facts_;
    std::string text_;  // facts_.message, which lay in the reply
};

}  // namespace holdfast::shell::mongo
