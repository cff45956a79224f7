#pragma once
#include "holdfast/error.hpp"

#include <boost/json/value.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::core::couchbase {

struct cluster_node;
struct vbucket_map;

/// Every error about a configuration: "cluster configuration: nodesExt[2].services.kv: no port".
error bad_config(const std::string& path, std::string_view what);

/// "nodesExt[2]"
std::string element(std::string_view list, std::size_t index);

/// A name or an id: a member that may be absent, and has at most max_name_bytes.
result<std::string> read_name(const boost::json::value& object, std::string_view member,
                              const std::string& path);
/// A list of names that may be absent, put after `prefix`.
result<void> read_names(const boost::json::value* list, const std::string& prefix,
                        const std::string& path, std::vector<std::string>& to);

/// "host:port" with the host that the configuration came from in place of "$HOST".
struct config_address {
    std::string host = {};
    std::optional<std::uint16_t> port = {};
};
result<config_address> read_address(std::string_view text, std::string_view origin,
                                    const std::string& path);

/// The nodes with their services, from `nodesExt`, or from `nodes` for servers that have no other.
result<std::vector<cluster_node>> read_nodes(const boost::json::value& config,
                                             std::string_view origin);

/// The member vBucketServerMap.
result<vbucket_map> read_vbucket_map(const boost::json::value& config, std::string_view origin,
                                     const std::vector<cluster_node>& nodes);

}  // namespace holdfast::core::couchbase
