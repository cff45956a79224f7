#pragma once
#include "core/mongo/sdam/server_description.hpp"
#include "holdfast/bson/object_id.hpp"
#include "holdfast/error.hpp"

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::core::mongo {

enum class topology_type : std::uint8_t {
    unknown,
    single,
    replica_set_no_primary,
    replica_set_with_primary,
    sharded,
    load_balanced,
};

/// The name in events and official tests: "ReplicaSetWithPrimary".
std::string_view name_of(topology_type type) noexcept;

/// A server that answered, and was removed because it is not part of the replica set.
struct removed_server {
    endpoint address;
    std::optional<std::string> set_name = {};  // none: a standalone server, or a mongos
};

/// All that is known of a deployment at one moment. Never changed once published: readers keep a
/// pointer, the writer makes the next one.
struct topology_description {
    topology_type type = topology_type::unknown;
    std::optional<std::string> set_name = {};
    std::optional<bson::object_id> max_election_id = {};
    std::optional<std::int64_t> max_set_version = {};
    server_ptr last_primary = {};  // as it was accepted, whatever became of it. Not compared
    std::vector<server_ptr> servers = {};  // sorted by address
    std::size_t seed_count = 0;            // as configured, whatever became of the seeds
    std::optional<std::string> compatibility_error = {};
    std::optional<std::int32_t> logical_session_timeout_minutes = {};
    std::vector<removed_server> removed = {};  // for people: why there is no server. Not compared

    bool compatible() const noexcept { return !compatibility_error; }

    /// Null if the address is not part of the topology.
    server_ptr find(const endpoint& address) const noexcept;

    /// Equal as far as events report.
    friend bool operator==(const topology_description& a, const topology_description& b) noexcept;
};

using topology_ptr = std::shared_ptr<const topology_description>;

/// How a client was configured, as far as the topology is concerned; checked by core/mongo/uri.
struct topology_settings {
    std::vector<endpoint> seeds = {endpoint{"localhost:27017"}};
    std::optional<std::string> replica_set = {};
    bool direct_connection = false;
    bool load_balanced = false;
};

/// The topology before the first check.
topology_description initial_topology(const topology_settings& settings);

}  // namespace holdfast::core::mongo
