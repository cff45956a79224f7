#pragma once
#include "lab/couchbase/map/vbucket_map.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::couchbase {

/// Ports by the names that configurations have for them: kv, kvSSL, mgmt, mgmtSSL...
using service_ports = std::map<std::string, std::uint16_t>;

/// Another way to a node, for clients outside of its network; the same ports if there are none.
struct alternate_address {
    std::string hostname = {};
    service_ports ports = {};
};

struct node_entry {
    int id = 0;  // as in vbucket_map
    std::string hostname = {};
    service_ports services = {};
    std::string server_group = "Group 1";
    std::optional<alternate_address> external = {};
};

/// Epochs are compared first: after a recovery the revision begins anew.
struct config_revision {
    std::int64_t epoch = 1;
    std::int64_t rev = 1;

    friend auto operator<=>(const config_revision&, const config_revision&) = default;
};

/// What clients are shown of services in clusterCapabilities, by the services' names there.
using service_capabilities = std::map<std::string, std::vector<std::string>, std::less<>>;

struct cluster_members {
    config_revision revision = {};
    std::vector<node_entry> nodes = {};
    service_capabilities capabilities = {};
};

struct bucket_layout {
    std::string name = {};
    std::string uuid = {};
    std::size_t replicas = 0;
    vbucket_map map = {};
    std::string manifest_uid = "0";  // hexadecimal
    std::optional<vbucket_map> forward = {};  // the map that a rebalance is on its way to
};

/// What a node calls itself and the others.
enum class host_style : std::uint8_t {
    by_name,    // as node_entry has it
    dialled,    // "$HOST": the client puts in the host that it dialled
    left_out,   // no hostname at all, which means the same
};

struct asker {
    int node = 0;  // the one that is asked
    host_style hosts = host_style::by_name;
};

/// The configuration of the cluster without a bucket.
std::string configuration_text(const cluster_members& cluster, const asker& by);
/// That of a bucket.
std::string configuration_text(const cluster_members& cluster, const bucket_layout& bucket,
                               const asker& by);

/// What a broken server sends instead of a configuration.
enum class config_damage : std::uint8_t {
    none,
    no_extended_nodes,
    short_rows,          // fewer copies than the configuration says
    index_out_of_range,
    all_missing,         // -1 everywhere
    no_vbuckets,
    no_servers,
    older_revision,
    other_name,
    not_json,
};
std::string damaged(const std::string& configuration, config_damage what);

}  // namespace holdfast::lab::couchbase
