#pragma once
#include "core/mongo/sdam/address_list.hpp"
#include "core/mongo/settings/read_preference.hpp"
#include "holdfast/bson/document.hpp"
#include "holdfast/error.hpp"
#include "holdfast/id.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::core::mongo {

/// The wire versions that this client speaks: MongoDB 3.6 to 8.2.
inline constexpr std::int32_t client_min_wire_version = 6;
inline constexpr std::int32_t client_max_wire_version = 27;

/// As many members a server may name in one reply, and as many servers without a primary's word
/// may make up a topology: each costs a monitor and a connection. Replica sets have at most 50.
inline constexpr std::size_t max_reported_hosts = 1'000;
/// Names of sets and of hosts get into every message about the topology. A host has at most 255.
inline constexpr std::size_t max_reported_name = 1'000;

enum class server_type : std::uint8_t {
    unknown,
    standalone,
    mongos,
    possible_primary,  // named primary by another member, not yet checked
    rs_primary,
    rs_secondary,
    rs_arbiter,
    rs_other,
    rs_ghost,
    load_balancer,
};

/// The name in events and official tests: "RSPrimary".
std::string_view name_of(server_type type) noexcept;

/// Whether servers of this type hold data that an application may read.
constexpr bool is_data_bearing(server_type type) noexcept
{
    switch (type) {
    case server_type::standalone:
    case server_type::mongos:
    case server_type::rs_primary:
    case server_type::rs_secondary:
    case server_type::load_balancer:
        return true;
    case server_type::unknown:
    case server_type::possible_primary:
    case server_type::rs_arbiter:
    case server_type::rs_other:
    case server_type::rs_ghost:
        return false;
    }
    return false;
}

/// Multi-threaded clients treat a possible primary as unknown; only the name differs.
constexpr bool is_unknown(server_type type) noexcept
{
    return type == server_type::unknown || type == server_type::possible_primary;
}

/// How recent a server's word about its own state is.
struct topology_version {
    bson::object_id process_id;
    std::int64_t counter = 0;
    friend bool operator==(const topology_version&, const topology_version&) = default;
};

/// -1 if `current` is older or the two cannot be compared, 0 if equal, 1 if `current` is newer.
int compare(const std::optional<topology_version>& current,
            const std::optional<topology_version>& reported) noexcept;

/// What one server last said about itself, or why it is not known. Never changed once published.
struct server_description {
    endpoint address;
    std::optional<error> failure = {};  // why the last check failed
    std::optional<duration> round_trip_time = {};
    std::optional<duration> min_round_trip_time = {};
    std::optional<bson::datetime> last_write_date = {};
    std::optional<bson::document> op_time = {};
    server_type type = server_type::unknown;
    std::int32_t min_wire_version = 0;
    std::int32_t max_wire_version = 0;
    std::optional<endpoint> me = {};
    address_list hosts = {};
    address_list passives = {};
    address_list arbiters = {};
    tag_set tags = {};
    std::optional<std::string> set_name = {};
    std::optional<bson::object_id> election_id = {};
    std::optional<std::int64_t> set_version = {};
    std::optional<endpoint> primary = {};
    time_point last_update_time = time_point::min();
    std::optional<std::int32_t> logical_session_timeout_minutes = {};
    std::optional<topology_version> version = {};
    std::optional<bool> is_cryptd = {};
    std::optional<bson::object_id> service_id = {};

    /// Equal as far as events report: without times, which change with every check.
    friend bool operator==(const server_description& a, const server_description& b) noexcept;
};

using server_ptr = std::shared_ptr<const server_description>;

/// Reads the reply to hello or legacy hello. `rtt` has been averaged by its caller; `before` is the
/// server's last description, with which it shares the lists of members that have not changed. A
/// reply beyond the limits above makes the server unknown, with an error. The hello
/// itself is written by core/mongo/handshake, which knows connections and no topology.
struct round_trip_times {
    std::optional<duration> average = {};
    std::optional<duration> minimum = {};
};
server_description parse_hello(endpoint address, bson::view reply, round_trip_times rtt,
                               time_point now, const server_description* before = nullptr);

/// A server of which nothing is known, perhaps because of an error.
server_description unknown_server(endpoint address, std::optional<error> failure = {},
                                  std::optional<topology_version> version = {},
                                  time_point now = time_point::min());

/// From the "topologyVersion" of a hello or error reply, if it is there and well-formed.
std::optional<topology_version> parse_topology_version(bson::view reply);

}  // namespace holdfast::core::mongo
