#pragma once
#include "shell/couchbase/connection/connection_config.hpp"

#include <memory>

namespace holdfast::shell::couchbase {

/// A stream to "host:port" of any service, with TLS if the login has it, and in the address family
/// that the options ask for. An error has no server yet.
runtime::awaitable<result<runtime::stream_ptr>> connect_stream(
    runtime::world& in, std::shared_ptr<const connection_config> config,
    std::shared_ptr<const login> with, endpoint server, time_point until);

/// Whether TLS is why that failed. A handshake that broke off says nothing of TLS: nodes that
/// restart do that.
bool is_tls_failure(const error& why) noexcept;

/// With the server, and how far connecting to it came.
error in_phase(error why, const char* phase, const endpoint& server);

}  // namespace holdfast::shell::couchbase
