#pragma once
#include "core/couchbase/handshake/bootstrap.hpp"
#include "core/couchbase/settings/cluster_settings.hpp"
#include "runtime/world.hpp"
#include "shell/known_keys.hpp"
#include "shell/observe/observation.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace holdfast::shell::couchbase {

/// What a connection proves itself with, and the TLS that goes with it. Never changed, only
/// replaced.
struct login {
    core::couchbase::kv_credential credential = {};
    std::shared_ptr<known_keys> keys = std::make_shared<known_keys>();
    runtime::tls_ptr tls = {};  // null: none
};

/// What all connections of a cluster have in common.
class connection_config {
public:
    /// Turns the stream of a connection into one on which a thread can wait.
    using blocking_maker = std::function<runtime::stream_ptr(runtime::stream_ptr)>;

    connection_config(runtime::world& in, const core::couchbase::cluster_settings& settings,
                      login first, std::string agent, blocking_maker make_blocking = {},
                      std::shared_ptr<shell::observation> observation = {});

    std::shared_ptr<const login> current_login() const;
    /// For connections that are opened from now on.
    void replace_login(login with);

    /// "<client>/<connection>", two numbers in hexadecimal.
    std::string next_connection_name() const;
    const std::string& client_name() const noexcept { return client_; }

    const std::string agent;  // "holdfast/0.3.0"
    const std::vector<core::couchbase::kv_feature> features;
    const duration connect_timeout;    // for TCP and TLS
    const duration bootstrap_timeout;  // for all of it
    const std::uint32_t max_in_flight;
    const core::couchbase::ip_protocol ip_protocol;
    const blocking_maker make_blocking;  // empty unless operations block the thread that calls
    const std::shared_ptr<shell::observation> observation;  // may be null

private:
    const std::string client_;
    mutable std::atomic<std::uint64_t> connections_{0};
    mutable std::mutex mutex_;
    std::shared_ptr<const login> login_;
};

}  // namespace holdfast::shell::couchbase
