#include "core/couchbase/config/cluster_config.hpp"
#include "core/couchbase/config/read_json.hpp"
#include "core/couchbase/retry/json_text.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>

#include <algorithm>

namespace holdfast::core::couchbase {

namespace json = boost::json;

namespace {

struct port_name {
    std::string_view name;
    service_type service;
    bool tls;
};

constexpr port_name port_names[] = {
    {"kv", service_type::key_value, false},    {"kvSSL", service_type::key_value, true},
    {"n1ql", service_type::query, false},      {"n1qlSSL", service_type::query, true},
    {"cbas", service_type::analytics, false},  {"cbasSSL", service_type::analytics, true},
    {"fts", service_type::search, false},      {"ftsSSL", service_type::search, true},
    {"capi", service_type::views, false},      {"capiSSL", service_type::views, true},
    {"mgmt", service_type::management, false}, {"mgmtSSL", service_type::management, true},
};

/// What servers without `nodesExt` say in its place. The plain management port is in the host name.
constexpr port_name old_port_names[] = {
    {"direct", service_type::key_value, false},
    {"httpsMgmt", service_type::management, true},
    {"httpsCAPI", service_type::views, true},
};

std::uint16_t& port_at(service_ports& ports, service_type service, bool tls)
{
    return (tls ? ports.tls : ports.plain)[static_cast<std::size_t>(service)];
}

result<service_ports> read_ports(const json::object& members, std::span<const port_name> names,
                                 const std::string& path)
{
    service_ports ports;
    for (const port_name& known : names) {
        const json::value* const value = members.if_contains(known.name);
        if (!value)
            continue;
        const std::int64_t* const number = value->if_int64();
        if (!number || *number < 1 || *number > 65'535)
            return bad_config(path + '.' + std::string{known.name},
                              "a port is a number from 1 to 65535");
        port_at(ports, known.service, known.tls) = static_cast<std::uint16_t>(*number);
    }
    return ports;
}

/// A host that stands without a port; absent, it is the one that the configuration came from.
result<std::string> read_host(const json::value& node, std::string_view origin,
                              const std::string& path)
{
    const json::string* const text = find_string(node, "hostname");
    auto address = read_address(text ? std::string_view{*text} : "$HOST", origin,
                                path + ".hostname");
    if (!address)
        return std::move(address).error();
    return std::move(address->host);
}

result<alternate_address> read_alternate(std::string_view network, const json::value& value,
                                         std::string_view origin, const std::string& path)
{
    if (network.empty() || network.size() > max_name_bytes)
        return bad_config(path, "the name of a network has 1 to 256 bytes");
    if (!find_string(value, "hostname"))
        return bad_config(path, "it lacks a hostname");
    alternate_address made{.network = std::string{network}};
    auto host = read_host(value, origin, path);
    if (!host)
        return std::move(host).error();
    made.host = *std::move(host);
    const json::object* const members = find_object(value, "ports");
    if (!members)
        return made;
    auto ports = read_ports(*members, port_names, path + ".ports");
    if (!ports)
        return std::move(ports).error();
    made.ports = *ports;
    return made;
}

result<void> read_alternates(const json::value& node, std::string_view origin,
                             const std::string& path, cluster_node& to)
{
    const json::object* const networks = find_object(node, "alternateAddresses");
    if (!networks)
        return {};
    if (networks->size() > max_networks)
        return bad_config(path, "more than " + std::to_string(max_networks) + " networks");
    for (const auto& [name, value] : *networks) {
        auto alternate = read_alternate(name, value, origin, path + "." + std::string{name});
        if (!alternate)
            return std::move(alternate).error();
        to.alternates.push_back(*std::move(alternate));
    }
    std::ranges::sort(to.alternates, {}, &alternate_address::network);
    return {};
}

bool is_true(const json::value& node, std::string_view member)
{
    const json::object* const members = node.if_object();
    const json::value* const value = members ? members->if_contains(member) : nullptr;
    return value && value->is_bool() && value->get_bool();
}

result<cluster_node> read_node(const json::value& value, std::string_view origin,
                               const std::string& path)
{
    const json::object* const services = find_object(value, "services");
    if (!services)
        return bad_config(path, "it lacks services");
    cluster_node node{.is_this_node = is_true(value, "thisNode")};
    auto host = read_host(value, origin, path);
    auto ports = read_ports(*services, port_names, path + ".services");
    auto group = read_name(value, "serverGroup", path);
    auto uuid = read_name(value, "nodeUUID", path);
    if (!host || !ports)
        return !host ? std::move(host).error() : std::move(ports).error();
    if (!group || !uuid)
        return !group ? std::move(group).error() : std::move(uuid).error();
    node.host = *std::move(host);
    node.ports = *ports;
    node.server_group = *std::move(group);
    node.uuid = *std::move(uuid);
    if (auto read = read_alternates(value, origin, path + ".alternateAddresses", node); !read)
        return std::move(read).error();
    return node;
}

/// An entry of `nodes`, where there is no `nodesExt`.
result<cluster_node> read_old_node(const json::value& value, std::string_view origin,
                                   const std::string& path)
{
    const json::string* const hostname = find_string(value, "hostname");
    const json::object* const members = find_object(value, "ports");
    if (!hostname || !members)
        return bad_config(path, "it lacks a hostname or ports");
    auto address = read_address(*hostname, origin, path + ".hostname");
    if (!address)
        return std::move(address).error();
    auto ports = read_ports(*members, old_port_names, path + ".ports");
    if (!ports)
        return std::move(ports).error();
    port_at(*ports, service_type::management, false) = address->port.value_or(0);
    return cluster_node{.host = std::move(address->host),
                        .ports = *ports,
                        .is_this_node = is_true(value, "thisNode")};
}

using read_one_node = result<cluster_node>(const json::value&, std::string_view,
                                           const std::string&);

result<std::vector<cluster_node>> read_list(const json::array& list, std::string_view name,
                                            read_one_node& read, std::string_view origin)
{
    if (list.empty() || list.size() > max_nodes)
        return bad_config(std::string{name}, "it has " + std::to_string(list.size()) +
                                                 " nodes; allowed are 1 to " +
                                                 std::to_string(max_nodes));
    std::vector<cluster_node> nodes;
    nodes.reserve(list.size());
    for (const json::value& value : list) {
        auto node = read(value, origin, element(name, nodes.size()));
        if (!node)
            return std::move(node).error();
        nodes.push_back(*std::move(node));
    }
    return nodes;
}

}  // namespace

result<std::vector<cluster_node>> read_nodes(const json::value& config, std::string_view origin)
{
    const json::array* const old_list = find_array(config, "nodes");
    const json::array* const list = find_array(config, "nodesExt");
    if (!list && !old_list)
        return bad_config("", "it has neither nodesExt nor nodes");
    auto nodes = list ? read_list(*list, "nodesExt", read_node, origin)
                      : read_list(*old_list, "nodes", read_old_node, origin);
    if (!nodes)
        return nodes;
    // What stands in nodesExt alone is a node without this bucket: it has other services, or data
    // is still to be moved to it.
    for (std::size_t i = 0; i < nodes->size(); ++i)
        (*nodes)[i].has_bucket = old_list && i < old_list->size();
    return nodes;
}

}  // namespace holdfast::core::couchbase
