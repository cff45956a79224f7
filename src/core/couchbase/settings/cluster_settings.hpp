#pragma once
#include "holdfast/error.hpp"
#include "holdfast/id.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::core::couchbase {

inline constexpr std::uint16_t kv_port = 11'210;
inline constexpr std::uint16_t kv_tls_port = 11'207;

inline constexpr std::size_t longest_user_agent_extra = 128;
inline constexpr std::size_t longest_server_group = 256;
inline constexpr std::uint32_t most_kv_connections = 64;
inline constexpr std::uint32_t most_in_flight = 65'536;
inline constexpr std::uint32_t largest_retry_budget = 1'000'000;
inline constexpr std::size_t most_dns_servers = 8;

/// How long one operation may take, by service; and the steps before there can be one.
struct timeout_settings {
    std::chrono::milliseconds kv{2'500};
    std::chrono::milliseconds kv_durable{10'000};
    std::chrono::milliseconds kv_connect{10'000};
    std::chrono::milliseconds bootstrap{10'000};
    std::chrono::milliseconds resolve{2'000};
    std::chrono::milliseconds query{75'000};
    std::chrono::milliseconds analytics{75'000};
    std::chrono::milliseconds search{75'000};
    std::chrono::milliseconds view{75'000};
    std::chrono::milliseconds management{75'000};

    friend bool operator==(const timeout_settings&, const timeout_settings&) = default;
};

enum class ip_protocol : std::uint8_t { any, force_ipv4, force_ipv6 };
enum class tls_verify : std::uint8_t { peer, none };

struct cluster_tls_settings {
    bool enabled = false;  // by the scheme
    std::optional<std::string> trust_certificate = {};  // a file
    std::optional<std::string> trusted_certificates = {};  // the same as text; not in a string
    tls_verify verify = tls_verify::peer;

    friend bool operator==(const cluster_tls_settings&, const cluster_tls_settings&) = default;
};

/// How the client follows the cluster's configuration.
struct config_poll_settings {
    std::chrono::milliseconds interval{2'500};
    std::chrono::milliseconds floor{50};  // between polls that replies of servers cause
    bool notifications = true;

    friend bool operator==(const config_poll_settings&, const config_poll_settings&) = default;
};

struct kv_settings {
    std::uint32_t connections = 1;       // per node; a power of two
    std::uint32_t max_in_flight = 1'024;  // per connection; a power of two
    bool compression = true;
    bool mutation_tokens = true;
    bool unordered_execution = true;
    std::chrono::milliseconds tcp_keep_alive_interval{60'000};

    friend bool operator==(const kv_settings&, const kv_settings&) = default;
};

struct http_settings {
    std::uint32_t max_connections = 0;  // per node and service; 0: no limit
    std::chrono::milliseconds idle_timeout{1'000};

    friend bool operator==(const http_settings&, const http_settings&) = default;
};

/// The configuration of a Couchbase client. The defaults are those of a connection string without
/// options.
struct cluster_settings {
    std::vector<endpoint> seeds = {};
    /// The name whose SRV records are looked up first: "_couchbase._tcp.host". If there are none,
    /// or the look-up fails, the seeds stand.
    std::optional<std::string> srv_name = {};
    std::optional<std::string> bucket = {};

    timeout_settings timeouts = {};
    cluster_tls_settings tls = {};
    config_poll_settings config_poll = {};
    kv_settings kv = {};
    http_settings http = {};

    bool enable_dns_srv = true;
    std::vector<std::string> dns_servers = {};  // "10.0.0.53:5353"; empty: those of the system
    std::string network = "auto";  // "auto", "default", or the name of alternate addresses
    std::optional<std::string> server_group = {};  // where replicas are read preferably
    couchbase::ip_protocol ip_protocol = couchbase::ip_protocol::any;
    std::optional<std::string> user_agent_extra = {};
    bool preserve_bootstrap_nodes_order = false;

    std::uint32_t retry_budget = 0;  // tokens; 0: off
    bool circuit_breaker = false;

    friend bool operator==(const cluster_settings&, const cluster_settings&) = default;
};

/// Finds what contradicts itself or lies outside its bounds, wherever the settings came from; gives
/// warnings about what is legal but has no effect. Messages name options as connection strings do.
result<std::vector<std::string>> validate(const cluster_settings& settings);

}  // namespace holdfast::core::couchbase
