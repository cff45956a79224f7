#pragma once
#include "core/couchbase/handshake/bootstrap.hpp"
#include "shell/couchbase/connection/connection_config.hpp"
#include "shell/couchbase/connection/kv_connection.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

namespace holdfast::shell::couchbase {

/// How far establishing came, besides runtime's own phases; the context "phase" of its error.
inline constexpr const char* phase_bootstrap = "bootstrap";

/// Where a connection goes, and what it is for.
struct connect_target {
    endpoint server = {};     // "host:port"
    std::string bucket = {};  // empty: none is selected
    std::optional<core::couchbase::config_version> known_config = {};
    std::function<void(const core::couchbase::frame&)> on_server_request = {};
    std::function<void()> on_end = {};
    /// For one thread at a time, which waits on it: see kv_connection_options.
    bool exclusive = false;
};

/// A connection after its bootstrap, and what the server said in it.
struct established {
    std::shared_ptr<kv_connection> connection = {};
    std::string config = {};  // empty: nothing newer, or refused
    std::optional<core::couchbase::kv_status> config_status = {};
    std::optional<error> error_map_defect = {};
    bool logged_in = false;  // by SASL
};

struct establish_failure {
    error why;
    bool by_tls = false;
    /// If the bootstrap failed, not the network.
    std::optional<core::couchbase::bootstrap_problem> problem = {};
    std::optional<core::couchbase::kv_opcode> step = {};
    std::optional<core::couchbase::kv_status> status = {};
};

using establish_outcome = std::variant<establish_failure, established>;

/// Connects, with TLS if the login has it, and bootstraps. An error names server, phase and cause.
runtime::awaitable<establish_outcome> establish(runtime::world& in,
                                                std::shared_ptr<const connection_config> config,
                                                connect_target to);

}  // namespace holdfast::shell::couchbase
