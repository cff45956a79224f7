#include "core/couchbase/config/cluster_config.hpp"
#include "core/couchbase/config/read_json.hpp"
#include "core/couchbase/retry/json_text.hpp"
#include "holdfast/couchbase/errc.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

namespace holdfast::core::couchbase {

namespace json = boost::json;

namespace {

constexpr std::string_view map_member = "vBucketServerMap";

std::string path_in_map(std::string_view member)
{
    return std::string{map_member} + '.' + std::string{member};
}

bool is_kv_address(const cluster_node& node, const config_address& address)
{
    return node.host == address.host &&
           node.ports.of(service_type::key_value, false) == address.port;
}

/// Finds the node that an entry of serverList means. It nearly always stands at the same place;
/// servers do not promise it, so the address decides where it is known.
class server_finder {
public:
    explicit server_finder(const std::vector<cluster_node>& nodes) : nodes_{nodes} {}

    std::optional<std::int16_t> find(std::size_t place, const config_address& address)
    {
        if (place < nodes_.size() && is_kv_address(nodes_[place], address))
            return static_cast<std::int16_t>(place);
        index();
        const auto found = by_address_.find({address.host, address.port.value_or(0)});
        if (found != by_address_.end())
            return found->second;
        if (place < nodes_.size())
            return static_cast<std::int16_t>(place);
        return std::nullopt;
    }

private:
    void index()
    {
        if (!by_address_.empty())
            return;
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            by_address_.try_emplace(
                {nodes_[i].host, nodes_[i].ports.of(service_type::key_value, false)},
                static_cast<std::int16_t>(i));
    }

    const std::vector<cluster_node>& nodes_;
    std::map<std::pair<std::string_view, std::uint16_t>, std::int16_t> by_address_;
};

/// For each entry of serverList the index of its node.
result<std::vector<std::int16_t>> read_servers(const json::value& map, std::string_view origin,
                                               const std::vector<cluster_node>& nodes)
{
    const std::string path = path_in_map("serverList");
    const json::array* const list = find_array(map, "serverList");
    if (!list || list->empty() || list->size() > max_nodes)
        return bad_config(path, "it must be an array of 1 to " + std::to_string(max_nodes) +
                                    " addresses");
    server_finder finder{nodes};
    std::vector<std::int16_t> servers;
    servers.reserve(list->size());
    for (const json::value& value : *list) {
        const std::string here = element(path, servers.size());
        const json::string* const text = value.if_string();
        if (!text)
            return bad_config(here, "it is no string");
        auto address = read_address(*text, origin, here);
        if (!address)
            return std::move(address).error();
        const auto node = finder.find(servers.size(), *address);
        if (!node)
            return bad_config(here, "there is no such node");
        servers.push_back(*node);
    }
    return servers;
}

/// The numbers of one row; gives what is wrong with it, or nothing. The number of replicas is what
/// the bucket is to have, and a row what the last rebalance has made of it: a row may be shorter or
/// longer, and is filled up or cut.
std::string_view read_row(const json::value& row, const std::vector<std::int16_t>& servers,
                          std::span<std::int16_t> to)
{
    const json::array* const numbers = row.if_array();
    if (!numbers || numbers->size() > max_replicas + 1)
        return "a row is an array of at most 4 indices";
    for (std::size_t i = 0; i < numbers->size(); ++i) {
        const std::int64_t* const number = (*numbers)[i].if_int64();
        if (!number || *number < no_node || *number >= std::ssize(servers))
            return "an index is -1, or that of an entry of serverList";
        if (i < to.size() && *number != no_node)
            to[i] = servers[static_cast<std::size_t>(*number)];
    }
    return {};
}

result<std::vector<std::int16_t>> read_rows(const json::array& rows, std::string_view name,
                                            std::size_t copies,
                                            const std::vector<std::int16_t>& servers)
{
    std::vector<std::int16_t> flat(rows.size() * copies, no_node);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto to = std::span{flat}.subspan(i * copies, copies);
        if (const auto problem = read_row(rows[i], servers, to); !problem.empty())
            return bad_config(element(path_in_map(name), i), problem);
    }
    return flat;
}

}  // namespace

result<vbucket_map> read_vbucket_map(const json::value& config, std::string_view origin,
                                     const std::vector<cluster_node>& nodes)
{
    const json::value* const value = config.get_object().if_contains(map_member);
    if (!value || !value->is_object())
        return bad_config(std::string{map_member}, "it is missing");
    const json::string* const algorithm = find_string(*value, "hashAlgorithm");
    if (algorithm && *algorithm != "CRC")
        return bad_config(path_in_map("hashAlgorithm"), "only CRC is supported");
    const std::int64_t* const replicas = find_integer(*value, "numReplicas");
    if (!replicas || *replicas < 0 || *replicas > static_cast<std::int64_t>(max_replicas))
        return bad_config(path_in_map("numReplicas"), "it must be a number from 0 to 3");
    const json::array* const rows = find_array(*value, "vBucketMap");
    if (!rows || rows->size() > max_vbuckets || !std::has_single_bit(rows->size()))
        return bad_config(path_in_map("vBucketMap"),
                          "it must be an array whose length is a power of two from 1 to " +
                              std::to_string(max_vbuckets));
    const auto servers = read_servers(*value, origin, nodes);
    if (!servers)
        return servers.error();

    vbucket_map map{.size = static_cast<std::uint32_t>(rows->size()),
                    .replicas = static_cast<std::uint32_t>(*replicas)};
    auto active = read_rows(*rows, "vBucketMap", map.copies(), *servers);
    if (!active)
        return std::move(active).error();
    map.nodes = *std::move(active);
    const json::array* const forward = find_array(*value, "vBucketMapForward");
    if (!forward || forward->empty())
        return map;
    if (forward->size() != rows->size())
        return bad_config(path_in_map("vBucketMapForward"), "it is not as long as vBucketMap");
    auto later = read_rows(*forward, "vBucketMapForward", map.copies(), *servers);
    if (!later)
        return std::move(later).error();
    map.forward = *std::move(later);
    return map;
}

}  // namespace holdfast::core::couchbase
