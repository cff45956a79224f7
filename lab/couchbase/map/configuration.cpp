#include "lab/couchbase/map/configuration.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>

namespace holdfast::lab::couchbase {

namespace json = boost::json;

namespace {

constexpr std::string_view bucket_capabilities[] = {"collections",
                                                    "durableWrite",
                                                    "tombstonedUserXAttrs",
                                                    "subdoc.AccessDeleted",
                                                    "subdoc.ReplaceBodyWithXattr",
                                                    "subdoc.ReplicaRead",
                                                    "subdoc.DocumentMacroSupport",
                                                    "subdoc.ReviveDocument",
                                                    "preserveExpiry",
                                                    "couchapi",
                                                    "dcp",
                                                    "cbhello",
                                                    "touch",
                                                    "cccp",
                                                    "xdcrCheckpointing",
                                                    "nodesExt",
                                                    "xattr"};

/// This member must have one, also of a node without the service.
constexpr std::uint16_t usual_mgmt_port = 8091;

json::string text_of(std::string_view text)
{
    return json::string{text.data(), text.size()};
}

/// An IPv6 address has brackets before a port.
std::string with_port(const std::string& host, std::uint16_t port)
{
    const bool v6 = host.find(':') != host.npos;
    return (v6 ? '[' + host + ']' : host) + ':' + std::to_string(port);
}

std::string host_of(const node_entry& node, const asker& by)
{
    return by.hosts == host_style::by_name ? node.hostname : "$HOST";
}

std::uint16_t port_of(const node_entry& node, const std::string& service)
{
    const auto found = node.services.find(service);
    return found == node.services.end() ? std::uint16_t{0} : found->second;
}

json::object ports_object(const service_ports& ports)
{
    json::object made;
    for (const auto& [name, port] : ports)
        made[name] = port;
    return made;
}

json::object external_object(const alternate_address& at)
{
    json::object external;
    external["hostname"] = text_of(at.hostname);
    if (!at.ports.empty())
        external["ports"] = ports_object(at.ports);
    json::object made;
    made["external"] = std::move(external);
    return made;
}

json::array extended_nodes(const cluster_members& cluster, const asker& by)
{
    json::array all;
    for (const node_entry& node : cluster.nodes) {
        json::object one;
        one["services"] = ports_object(node.services);
        if (node.id == by.node)
            one["thisNode"] = true;
        if (by.hosts != host_style::left_out)
            one["hostname"] = text_of(host_of(node, by));
        one["serverGroup"] = text_of(node.server_group);
        if (node.external)
            one["alternateAddresses"] = external_object(*node.external);
        all.push_back(std::move(one));
    }
    return all;
}

json::array data_nodes(const cluster_members& cluster, const std::string& bucket, const asker& by)
{
    json::array all;
    for (const node_entry& node : cluster.nodes) {
        if (port_of(node, "kv") == 0)
            continue;
        json::object ports;
        ports["direct"] = port_of(node, "kv");
        json::object one;
        const std::uint16_t mgmt = port_of(node, "mgmt");
        one["hostname"] = text_of(with_port(host_of(node, by), mgmt != 0 ? mgmt : usual_mgmt_port));
        one["ports"] = std::move(ports);
        if (const std::uint16_t views = port_of(node, "capi"); views != 0)
            one["couchApiBase"] = text_of("http://" + with_port(host_of(node, by), views) + '/' +
                                          bucket);
        if (node.id == by.node)
            one["thisNode"] = true;
        all.push_back(std::move(one));
    }
    return all;
}

/// Rows with places in the server list instead of numbers of nodes.
json::array map_rows(const cluster_members& cluster, const vbucket_map& map)
{
    std::map<int, int> places;
    for (const node_entry& node : cluster.nodes) {
        if (port_of(node, "kv") != 0)
            places.emplace(node.id, static_cast<int>(places.size()));
    }
    json::array rows;
    rows.reserve(map.rows.size());
    for (const std::vector<int>& row : map.rows) {
        json::array made;
        for (const int node : row) {
            const auto place = places.find(node);
            made.push_back(place == places.end() ? no_node : place->second);
        }
        rows.push_back(std::move(made));
    }
    return rows;
}

json::object server_map(const cluster_members& cluster, const bucket_layout& bucket,
                        const asker& by)
{
    json::array servers;
    for (const node_entry& node : cluster.nodes) {
        if (port_of(node, "kv") != 0)
            servers.push_back(text_of(with_port(host_of(node, by), port_of(node, "kv"))));
    }
    json::object made;
    made["hashAlgorithm"] = "CRC";
    made["numReplicas"] = bucket.replicas;
    made["serverList"] = std::move(servers);
    made["vBucketMap"] = map_rows(cluster, bucket.map);
    if (bucket.forward)
        made["vBucketMapForward"] = map_rows(cluster, *bucket.forward);
    return made;
}

json::object capabilities_object(const service_capabilities& of)
{
    json::object made;
    for (const auto& [service, names] : of) {
        json::array all;
        for (const std::string& one : names)
            all.push_back(text_of(one));
        made[service] = std::move(all);
    }
    return made;
}

json::object cluster_object(const cluster_members& cluster, const asker& by)
{
    json::object made;
    made["rev"] = cluster.revision.rev;
    made["revEpoch"] = cluster.revision.epoch;
    made["nodesExt"] = extended_nodes(cluster, by);
    made["clusterCapabilitiesVer"] = json::array{1, 0};
    made["clusterCapabilities"] = capabilities_object(cluster.capabilities);
    return made;
}

}  // namespace

std::string configuration_text(const cluster_members& cluster, const asker& by)
{
    return json::serialize(cluster_object(cluster, by));
}

std::string configuration_text(const cluster_members& cluster, const bucket_layout& bucket,
                               const asker& by)
{
    json::object made = cluster_object(cluster, by);
    made["name"] = text_of(bucket.name);
    made["uuid"] = text_of(bucket.uuid);
    made["nodeLocator"] = "vbucket";
    json::array capabilities;
    for (const std::string_view one : bucket_capabilities)
        capabilities.push_back(text_of(one));
    made["bucketCapabilitiesVer"] = "";
    made["bucketCapabilities"] = std::move(capabilities);
    made["collectionsManifestUid"] = text_of(bucket.manifest_uid);
    made["nodes"] = data_nodes(cluster, bucket.name, by);
    made["vBucketServerMap"] = server_map(cluster, bucket, by);
    return json::serialize(made);
}

}  // namespace holdfast::lab::couchbase
