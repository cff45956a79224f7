#pragma once
#include "holdfast/bson/builder.hpp"
#include "holdfast/error.hpp"
#include "lab/mongo/fault/fail_points.hpp"
#include "lab/mongo/node/command.hpp"
#include "lab/mongo/node/membership.hpp"
#include "runtime/awaitable.hpp"
#include "runtime/tls.hpp"
#include "runtime/wait.hpp"
#include "runtime/world.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace holdfast::lab::mongo {

/// What stands behind a port: a mongod or a mongos. The connection's coroutine reads a message,
/// asks, waits where it is told to, and writes the reply.
class service {
public:
    virtual ~service() = default;

    /// May this connection be taken? False closes it at once (a connection rate limiter).
    virtual bool admits() = 0;
    virtual std::int64_t opened() = 0;  // gives the connection its id
    virtual void closed(client_facts& who) = 0;

    /// Carries a command out as far as it goes without waiting. An error becomes {ok: 0, ...}.
    virtual result<progress> answer(request& what, bson::builder& reply) = 0;
    /// For progress::later.
    virtual runtime::awaitable<result<void>> answer_later(request& what, bson::builder& reply) = 0;

    /// Called when the reply is written, before it is sent: ok, operationTime, $clusterTime.
    virtual void close_reply(const request& what, bson::builder& reply) = 0;
    /// The reply to a command that was refused: ok 0, errmsg, code, codeName, labels, times.
    virtual void write_error(const request& what, const error& why, bson::builder& reply) = 0;

    /// What progress::wait waits for.
    virtual runtime::event& news() = 0;
    /// Faults to inject before the command is looked at: block, close, error, labels.
    virtual std::optional<injected_fault> fault_for(const request& what) = 0;
    /// Whether a write may be acknowledged, see membership::check; `met` for a router.
    virtual concern_state check_concern(const request& what) = 0;
    /// Why it is `impossible`: what the reply's writeConcernError says. By default that the server
    /// has changed its role meanwhile (11602).
    virtual error concern_failure(const request& what);
};

struct port_options {
    runtime::destination where;  // port 0: any
    runtime::tls_ptr tls = {};
    bool balancer = false;  // connections come through a load balancer
};

/// A port, open from the first moment until stop() or the end of this object. All connections are
/// closed then. Before the service goes, if it answers later, stop() and wait for ended().
class open_port {
public:
    static result<std::unique_ptr<open_port>> open(runtime::world& in, service& for_,
                                                   port_options options);
    virtual ~open_port() = default;
    virtual std::uint16_t port() const noexcept = 0;
    /// Takes no more connections and ends those that are open.
    virtual void stop() = 0;
    virtual runtime::awaitable<void> ended() = 0;
    /// Ends connections, but goes on listening.
    virtual void close_connections(bool internal_too) = 0;
    virtual std::size_t connections() const noexcept = 0;
};

}  // namespace holdfast::lab::mongo
