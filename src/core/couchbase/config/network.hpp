#pragma once
#include "core/couchbase/config/cluster_config.hpp"
#include "holdfast/id.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace holdfast::core::couchbase {

/// The network of the addresses that nodes have for each other.
inline constexpr std::string_view default_network = "default";
inline constexpr std::string_view automatic_network = "auto";

/// An address of a seed, as it was dialled.
struct seed_address {
    std::string host = {};  // lower case, without brackets
    std::uint16_t port = 0;
};

/// The network whose addresses are used for all nodes. `wanted` is the option "network"; with
/// "auto" it is the network in which the seed lies: that of a node with the same host and port,
/// else with the same host, and "default" if there is none. The default network comes first each
/// time.
std::string choose_network(const cluster_config& config, std::string_view wanted,
                           const seed_address& seed);

/// Whether any node has an address there.
bool has_network(const cluster_config& config, std::string_view network) noexcept;

/// Where a service of a node is reached in a network; nothing if it is not offered there. A node
/// without an address in that network is reached by its default one.
std::optional<endpoint> address_of(const cluster_node& node, std::string_view network,
                                   service_type service, bool tls);

}  // namespace holdfast::core::couchbase
