#pragma once
#include "core/couchbase/config/revision.hpp"
#include "holdfast/couchbase/retry.hpp"
#include "holdfast/error.hpp"
#include "holdfast/id.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::core::couchbase {

using holdfast::couchbase::service_type;

inline constexpr std::size_t max_config_bytes = 16 << 20;
inline constexpr std::size_t max_nodes = 1'000;
inline constexpr std::size_t max_vbuckets = 65'536;
inline constexpr std::size_t max_replicas = 3;
inline constexpr std::size_t max_networks = 8;        // alternate addresses of one node
inline constexpr std::size_t max_capabilities = 256;  // of a bucket, and of a cluster
inline constexpr std::size_t max_name_bytes = 256;    // of a group, a capability, an id

inline constexpr std::size_t service_count = static_cast<std::size_t>(service_type::management) + 1;

/// The ports of the services of one node, without and with TLS; 0: not offered.
struct service_ports {
    std::array<std::uint16_t, service_count> plain{};
    std::array<std::uint16_t, service_count> tls{};

    std::uint16_t of(service_type service, bool with_tls) const noexcept
    {
        return (with_tls ? tls : plain)[static_cast<std::size_t>(service)];
    }
    friend bool operator==(const service_ports&, const service_ports&) = default;
};

/// Where a node is to be found from another network.
struct alternate_address {
    std::string network = {};
    std::string host = {};
    std::optional<service_ports> ports = {};  // none: those of the node itself

    friend bool operator==(const alternate_address&, const alternate_address&) = default;
};

struct cluster_node {
    std::string host = {};  // lower case, an IPv6 address without brackets
    service_ports ports = {};
    std::vector<alternate_address> alternates = {};
    std::string server_group = {};
    std::string uuid = {};
    bool is_this_node = false;  // the one that sent the configuration
    bool has_bucket = false;    // nodes that are still being added have none yet

    friend bool operator==(const cluster_node&, const cluster_node&) = default;
};

inline constexpr std::int16_t no_node = -1;

/// Which nodes have the copies of each vbucket. Every entry is no_node, or an index of a node.
struct vbucket_map {
    std::uint32_t size = 0;     // a power of two
    std::uint32_t replicas = 0;  // 0 to 3
    std::vector<std::int16_t> nodes = {};    // `size` rows: the active one, then its replicas
    std::vector<std::int16_t> forward = {};  // of the same shape, the map to be; or empty

    std::size_t copies() const noexcept { return std::size_t{1} + replicas; }
    friend bool operator==(const vbucket_map&, const vbucket_map&) = default;
};

struct bucket_config {
    std::string name = {};
    std::string uuid = {};  // a bucket that is deleted and made again has another one
    std::vector<std::string> capabilities = {};  // sorted
    std::optional<std::uint64_t> manifest_uid = {};
    vbucket_map map = {};

    friend bool operator==(const bucket_config&, const bucket_config&) = default;
};

/// A configuration as a server sent it, checked: every index in it is valid. Never changed, only
/// replaced.
struct cluster_config {
    config_revision revision = {};
    std::vector<cluster_node> nodes = {};
    std::vector<std::string> capabilities = {};  // sorted: "n1ql.enhancedPreparedStatements"
    std::optional<bucket_config> bucket = {};  // none: the global configuration

    friend bool operator==(const cluster_config&, const cluster_config&) = default;
};

/// Parses a configuration that was received from `host`, which may be an IPv6 address in brackets.
/// Fails with errc::decoding_failure and says what is wrong and where (context "path"); with
/// errc::feature_not_available for buckets that are not distributed by vbuckets.
result<cluster_config> parse_config(std::string_view text, std::string_view host);

/// Collection manifests are numbered in hexadecimal: "1f".
std::optional<std::uint64_t> parse_manifest_uid(std::string_view hex) noexcept;

/// Of sorted names, as `capabilities` are.
bool has_capability(std::span<const std::string> capabilities, std::string_view name) noexcept;

}  // namespace holdfast::core::couchbase
