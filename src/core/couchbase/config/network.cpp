#include "core/couchbase/config/network.hpp"

#include "core/uri/host.hpp"

#include <algorithm>

namespace holdfast::core::couchbase {

namespace {

bool has_port(const service_ports& ports, std::uint16_t port) noexcept
{
    return port != 0 && (std::ranges::find(ports.plain, port) != ports.plain.end() ||
                         std::ranges::find(ports.tls, port) != ports.tls.end());
}

const alternate_address* find_alternate(const cluster_node& node, std::string_view network) noexcept
{
    const auto found = std::ranges::find(node.alternates, network, &alternate_address::network);
    return found == node.alternates.end() ? nullptr : &*found;
}

/// The first network in which an address matches, the default one before all others.
template <class Matches>
std::optional<std::string> find_network(const cluster_config& config, Matches matches)
{
    for (const cluster_node& node : config.nodes)
        if (matches(node.host, node.ports))
            return std::string{default_network};
    for (const cluster_node& node : config.nodes)
        for (const alternate_address& other : node.alternates)
            if (matches(other.host, other.ports ? *other.ports : node.ports))
                return other.network;
    return std::nullopt;
}

}  // namespace

std::string choose_network(const cluster_config& config, std::string_view wanted,
                           const seed_address& seed)
{
    if (wanted != automatic_network)
        return std::string{wanted};
    // By host and port first: behind one address translator all nodes have the same host.
    const auto by_port = find_network(config,
                                      [&](const std::string& host, const service_ports& ports) {
                                          return host == seed.host && has_port(ports, seed.port);
                                      });
    if (by_port)
        return *by_port;
    const auto by_host = find_network(
        config, [&](const std::string& host, const service_ports&) { return host == seed.host; });
    return by_host.value_or(std::string{default_network});
}

bool has_network(const cluster_config& config, std::string_view network) noexcept
{
    return network == default_network ||
           std::ranges::any_of(config.nodes, [&](const cluster_node& node) {
               return find_alternate(node, network) != nullptr;
           });
}

std::optional<endpoint> address_of(const cluster_node& node, std::string_view network,
                                   service_type service, bool tls)
{
    const alternate_address* const other = find_alternate(node, network);
    const std::string& host = other ? other->host : node.host;
    const service_ports& ports = other && other->ports ? *other->ports : node.ports;
    const std::uint16_t port = ports.of(service, tls);
    if (port == 0)
        return std::nullopt;
    return endpoint{uri::join_host(host, port)};
}

}  // namespace holdfast::core::couchbase
