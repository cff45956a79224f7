#pragma once
#include "core/mongo/settings/concern.hpp"
#include "core/mongo/settings/credential.hpp"
#include "core/mongo/settings/profile.hpp"
#include "core/mongo/settings/read_preference.hpp"
#include "holdfast/error.hpp"
#include "holdfast/id.hpp"
#include "holdfast/secret.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::core::mongo {

inline constexpr std::chrono::milliseconds min_heartbeat_frequency{500};
inline constexpr std::size_t longest_app_name = 128;

enum class monitoring_mode : std::uint8_t { automatic, stream, poll };

/// A switch that was not set differs from one that was set to its default: of some that contradict
/// each other only one may be set at all.
struct tls_settings {
    std::optional<bool> enabled = {};  // see uses_tls()
    std::optional<std::string> ca_file = {};
    std::optional<std::string> certificate_key_file = {};
    std::optional<secret> certificate_key_file_password = {};
    std::optional<bool> allow_invalid_certificates = {};
    std::optional<bool> allow_invalid_hostnames = {};
    std::optional<bool> disable_ocsp_endpoint_check = {};
    std::optional<bool> disable_certificate_revocation_check = {};
    std::optional<bool> insecure = {};

    friend bool operator==(const tls_settings&, const tls_settings&) = default;
};

struct pool_settings {
    std::uint32_t max_size = 100;  // 0: no limit
    std::uint32_t min_size = 0;
    std::uint32_t max_connecting = 2;
    std::chrono::milliseconds max_idle_time{0};  // 0: no limit
    std::optional<std::chrono::milliseconds> wait_queue_timeout = {};

    friend bool operator==(const pool_settings&, const pool_settings&) = default;
};

/// A SOCKS5 proxy.
struct proxy_settings {
    std::optional<std::string> host = {};
    std::optional<std::uint32_t> port = {};  // none: 1080
    std::optional<std::string> username = {};
    std::optional<secret> password = {};

    friend bool operator==(const proxy_settings&, const proxy_settings&) = default;
};

/// Where the seeds of a mongodb+srv string are to be looked up.
struct srv_settings {
    std::string host = {};  // lower case
    std::string service_name = "mongodb";
    std::uint32_t max_hosts = 0;  // 0: all
    std::chrono::seconds ttl{0};  // the shortest of the records, once they were looked up

    friend bool operator==(const srv_settings&, const srv_settings&) = default;
};

/// The stable API that the application has declared.
struct server_api_settings {
    std::string version = {};
    std::optional<bool> strict = {};
    std::optional<bool> deprecation_errors = {};

    friend bool operator==(const server_api_settings&, const server_api_settings&) = default;
};

/// The configuration of a client. The defaults are those of a connection string without options;
/// times are as the application gave them, and the meaning of 0 is that of the option.
struct client_settings {
    std::vector<endpoint> seeds = {};  // empty while the names of `srv` have not been looked up
    std::optional<srv_settings> srv = {};
    std::optional<std::string> database = {};
    std::optional<std::string> replica_set = {};
    bool direct_connection = false;
    bool load_balanced = false;

    std::optional<std::string> app_name = {};
    std::optional<mongo::credential> credential = {};
    std::int32_t scram_max_iterations = 600'000;
    tls_settings tls = {};
    proxy_settings proxy = {};
    pool_settings pool = {};
    std::vector<std::string> compressors = {};  // in the order of preference
    std::int32_t zlib_level = -1;  // -1: what zlib thinks best

    std::optional<std::chrono::milliseconds> timeout = {};  // of a whole operation; 0: no limit
    std::chrono::milliseconds connect_timeout{10'000};  // 0: no limit
    std::chrono::milliseconds socket_timeout{0};  // 0: no limit

    std::chrono::milliseconds heartbeat_frequency{10'000};
    monitoring_mode monitoring = monitoring_mode::automatic;
    std::chrono::milliseconds server_selection_timeout{30'000};
    std::chrono::milliseconds local_threshold{15};
    std::optional<bool> server_selection_try_once = {};  // for clients with one thread: no effect

    mongo::read_preference read_preference = {};
    mongo::read_concern read_concern = {};
    mongo::write_concern write_concern = {};

    bool retry_reads = true;
    bool retry_writes = true;
    profile_name resilience_profile = profile_name::as_specified;
    std::optional<bool> adaptive_retries = {};  // only under as_specified
    std::optional<std::uint32_t> max_adaptive_retries = {};  // only under upstream_2026_07
    std::optional<bool> enable_overload_retargeting = {};  // only under upstream_2026_07
    bool fail_fast_on_terminal_errors = true;
    bool rescue_from_deposed_primary = true;
    std::optional<server_api_settings> server_api = {};  // no option of a connection string

    friend bool operator==(const client_settings&, const client_settings&) = default;
};

/// TLS is used if that was asked for; if nothing was said, when the seeds come from SRV records, or
/// when any other TLS option was given.
bool uses_tls(const client_settings& settings) noexcept;

/// The chosen profile, with the options that change it.
resilience_profile profile_of(const client_settings& settings) noexcept;

/// Whether the token bucket of `adaptiveRetries` is asked.
bool uses_token_bucket(const client_settings& settings) noexcept;

/// Finds what contradicts itself or lies outside its bounds, wherever the settings came from; gives
/// warnings about what is legal but has no effect. Messages name options as connection strings do.
result<std::vector<std::string>> validate(const client_settings& settings);

/// By RFC 6335: letters, digits and single hyphens inside, at least one letter; up to 62
/// characters, so that a name server is asked for no more than 63.
bool is_service_name(std::string_view name) noexcept;

}  // namespace holdfast::core::mongo
