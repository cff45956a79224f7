#pragma once
#include "core/mongo/wire/message.hpp"
#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/document.hpp"
#include "holdfast/error.hpp"
#include "lab/mongo/data/optime.hpp"
#include "lab/mongo/data/session_table.hpp"
#include "lab/mongo/node/field_error.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::mongo {

class node;

/// The client of a connection, as its hello and its logins describe it.
struct client_facts {
    std::int64_t connection = 0;  // connectionId
    std::string app_name = {};
    std::string peer = {};
    bool internal = false;       // another member or a router of this lab
    bool load_balanced = false;  // said so in its hello, at a load balancer's port
    bool at_balancer_port = false;
    bool hello_seen = false;  // has sent a hello with `client`
    bson::document metadata = {};
    std::vector<std::string> users = {};  // "name@db", logged in
    std::array<std::uint8_t, 32> user_digest = {};  // of the first of them, for session_key::user
    std::vector<std::string> compressors = {};  // that it has negotiated
    bool says_hello_ok = false;
    std::unique_ptr<struct login_conversation> login;  // a SASL exchange that is under way

    client_facts();
    client_facts(const client_facts&) = delete;
    client_facts& operator=(const client_facts&) = delete;
    ~client_facts();
};

/// How sure a write has to be before it is acknowledged.
struct write_concern {
    std::int64_t w = 1;
    bool majority = false;
    std::string mode = {};  // a tag set of the set's settings; empty: w or majority
    std::optional<bool> journal = {};
    std::int64_t timeout_ms = 0;  // 0: for ever
    bool given = false;  // the command said one itself

    bool acknowledged() const noexcept { return majority || !mode.empty() || w > 0; }
};

struct read_concern {
    std::string level = {};  // empty: local
    std::optional<bson::timestamp> after_cluster_time = {};
    std::optional<bson::timestamp> at_cluster_time = {};
};

/// One command as it arrived, with what all commands have in common already read.
struct request {
    const core::mongo::message& message;
    bson::view body;
    std::string_view name;  // as it was sent
    std::string_view database;
    client_facts& client;

    // Filled by read_common_fields().
    std::optional<session_key> session = {};
    std::optional<std::int64_t> txn_number = {};
    write_concern concern = {};
    read_concern reads = {};
    bool secondary_ok = false;  // $readPreference says more than primary
    std::string api_version = {};
    bool api_strict = false;
    bool api_deprecation_errors = false;
    std::optional<std::int64_t> max_time_ms = {};
    std::optional<bson::timestamp> cluster_time = {};  // gossip
    bool in_transaction = false;  // autocommit or startTransaction was sent
    bool legacy = false;  // an OP_QUERY: only a hello may be
    time_point arrived{};

    bool admitted = false;  // the rate limiter has let it in

    // While it waits, see progress::wait.
    time_point wait_until{};
    bool expired = false;  // the time has come: answer with what there is
    std::int64_t seen = 0;  // for the handler's own use between two calls
    std::shared_ptr<void> kept = {};  // likewise

    // After it: what an acknowledged write has to wait for.
    std::optional<optime> wrote = {};
    bool failed_inside = false;  // ok: 1, but with write errors
    bool more_to_come = false;  // an exhaust reply: another one follows without a request
    bool close_after = false;  // close the connection instead of, or after, the reply
    bool injected = false;  // the error was a fail point's
    bool labels_given = false;  // by a fail point: the server adds none of its own
    bool forwarded = false;  // the reply came whole from another server

    /// When maxTimeMS ends it; never without one.
    time_point out_of_time() const noexcept;

    /// The documents of a kind 1 section, or of an array of the same name in the body: "documents"
    /// of an insert. Calls `each(bson::view)`; an error if it is there twice, or no documents.
    template <class Each>
    result<void> for_each_document(std::string_view field, Each&& each) const;
};

/// What has become of a command that a handler was asked to carry out.
enum class progress : std::uint8_t {
    done,  // the reply's fields are written; "ok: 1" and the times are added by others
    wait,  // nothing written; call again after news, or at wait_until with `expired` set
    later,  // nothing written; it takes another server: service::answer_later
};

/// One command that a server knows. The handler is a plain function: whatever has to be waited for
/// is waited for by the one coroutine of the connection, which calls again.
struct command {
    std::string_view name;  // exactly as sent; aliases are entries of their own
    result<progress> (*run)(node& on, request& what, bson::builder& reply) = nullptr;
    bool writes = false;  // only on a primary: 10107 elsewhere
    bool reads_data = false;  // on a secondary only with secondaryOk: 13435
    bool on_secondaries = false;  // or on each, whatever the read preference
    bool needs_login = true;  // with auth on: 13 Unauthorized
    bool admin_only = false;  // 13 "may only be run against the admin database."
    bool takes_write_concern = false;
    bool in_api_v1 = false;  // else APIStrictError with apiStrict
    bool retryable = false;  // may carry a txnNumber
    bool sensitive = false;
    bool before_hello = false;
};

template <class Each>
result<void> request::for_each_document(std::string_view field, Each&& each) const
{
    bool found = false;
    for (const core::mongo::message_sequence part : message.sequences) {
        if (part.identifier != field)
            continue;
        if (found || body.find(field))
            return duplicate_field(name, field);
        found = true;
        for (const bson::view document : part) {
            if (auto fine = each(document); !fine)
                return fine;
        }
    }
    if (found)
        return {};
    const bson::element inline_ones = body.find(field);
    if (!inline_ones)
        return inline_ones.malformed() ? malformed_field(inline_ones) : missing_field(name, field);
    if (inline_ones.type() != bson::type::array)
        return wrong_type(name, field, inline_ones.type(), "array");
    for (const bson::element& e : inline_ones.as_array()) {
        if (e.malformed())
            return malformed_field(e);
        if (e.type() != bson::type::document) {
            std::string place{field};
            return wrong_type(name, place.append(1, '.').append(e.key()), e.type(), "object");
        }
        if (auto fine = each(e.as_document()); !fine)
            return fine;
    }
    return {};
}

}  // namespace holdfast::lab::mongo
