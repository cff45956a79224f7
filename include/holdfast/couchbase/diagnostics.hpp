#pragma once
#include "holdfast/couchbase/retry.hpp"
#include "holdfast/error.hpp"
#include "holdfast/id.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::couchbase {

enum class endpoint_state : std::uint8_t { connecting, connected, disconnected };

/// "connected"
std::string_view name_of(endpoint_state state) noexcept;

/// One connection as the cluster object sees it, without asking the node.
struct endpoint_diagnostics {
    std::string id = {};  // the same when it was opened again
    endpoint server = {};
    std::string bucket = {};  // empty: the cluster's own
    std::string local = {};  // its address at this end; empty: not connected
    endpoint_state state = endpoint_state::connecting;
    std::optional<duration> last_activity = {};  // ago
    std::size_t in_flight = 0;
    std::string last_error = {};  // of the last attempt to connect, or the end of the last one
};

/// A service of one node, and the connections that are kept for its next requests.
struct service_diagnostics {
    endpoint server = {};
    service_type service = service_type::query;
    std::size_t connections = 0;
    std::size_t in_use = 0;  // of those
};

struct diagnostics_report {
    std::string id = {};  // another one each time; replace it as you like
    std::vector<endpoint_diagnostics> key_value = {};
    std::vector<service_diagnostics> services = {};  // all that are known

    /// For machines: the shape that all Couchbase SDKs share (their RFC 0061).
    std::string to_json() const;
};

enum class ping_state : std::uint8_t { ok, timeout, error };

/// "ok"
std::string_view name_of(ping_state state) noexcept;

/// What a node answered.
struct endpoint_ping {
    std::string id = {};  // that of its endpoint_diagnostics
    endpoint server = {};
    std::string bucket = {};
    std::string local = {};
    ping_state state = ping_state::error;
    std::optional<duration> latency = {};  // none: it did not answer
    std::string error = {};
};

/// By service; empty: no node has it, or it was not to be asked.
struct ping_report {
    std::string id = {};  // another one each time; replace it as you like
    std::optional<std::int64_t> config_revision = {};  // the newest one in use
    std::vector<endpoint_ping> key_value = {};
    std::vector<endpoint_ping> query = {};
    std::vector<endpoint_ping> analytics = {};
    std::vector<endpoint_ping> search = {};
    std::vector<endpoint_ping> views = {};
    std::vector<endpoint_ping> management = {};

    const std::vector<endpoint_ping>& of(service_type service) const noexcept;
    std::vector<endpoint_ping>& of(service_type service) noexcept;

    /// Everything that was asked has answered, and there was something to ask.
    bool all_answered() const noexcept;
    /// See diagnostics_report.
    std::string to_json() const;
};

}  // namespace holdfast::couchbase
