#pragma once
#include "holdfast/bson/builder.hpp"
#include "holdfast/error.hpp"
#include "lab/mongo/fault/fail_points.hpp"
#include "lab/mongo/node/command.hpp"
#include "lab/mongo/node/membership.hpp"
#include "lab/serve/open_port.hpp"
#include "runtime/awaitable.hpp"
#include "runtime/tls.hpp"
#include "runtime/wait.hpp"
#include "runtime/world.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace holdfast::lab::mongo {

/// A mongod or a mongos behind a port: it carries out the commands that a conversation has read,
/// and says what the conversation has to wait for.
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

struct service_port_options {
    runtime::destination where;  // port 0: any
    runtime::tls_ptr tls = {};
    bool balancer = false;  // connections come through a load balancer
};

/// A port whose connections speak OP_MSG to a service, which must outlive it; see open_port.
result<std::unique_ptr<open_port>> open_service_port(runtime::world& in, service& with,
                                                     service_port_options options);

}  // namespace holdfast::lab::mongo
