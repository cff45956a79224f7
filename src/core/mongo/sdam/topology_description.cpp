#include "core/mongo/sdam/topology_description.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::core::mongo {

std::string_view name_of(topology_type type) noexcept
{
    switch (type) {
    case topology_type::unknown:
        return "Unknown";
    case topology_type::single:
        return "Single";
    case topology_type::replica_set_no_primary:
        return "ReplicaSetNoPrimary";
    case topology_type::replica_set_with_primary:
        return "ReplicaSetWithPrimary";
    case topology_type::sharded:
        return "Sharded";
    case topology_type::load_balanced:
        return "LoadBalanced";
    }
    return "Unknown";
}

server_ptr topology_description::find(const endpoint& address) const noexcept
{
    const auto at = std::ranges::lower_bound(
        servers, address, {}, [](const server_ptr& s) -> const endpoint& { return s->address; });
    return at != servers.end() && (*at)->address == address ? *at : nullptr;
}

bool operator==(const topology_description& a, const topology_description& b) noexcept
{
    return a.type == b.type && a.set_name == b.set_name && a.max_election_id == b.max_election_id &&
           a.max_set_version == b.max_set_version &&
           a.compatibility_error == b.compatibility_error &&
           a.logical_session_timeout_minutes == b.logical_session_timeout_minutes &&
           std::ranges::equal(a.servers, b.servers, [](const server_ptr& x, const server_ptr& y) {
               return x == y || *x == *y;
           });
}

topology_description initial_topology(const topology_settings& settings)
{
    topology_description t;
    t.set_name = settings.replica_set;
    t.seed_count = settings.seeds.size();
    if (settings.load_balanced)
        t.type = topology_type::load_balanced;
    else if (settings.direct_connection)
        t.type = topology_type::single;
    else if (settings.replica_set)
        t.type = topology_type::replica_set_no_primary;
    std::vector<endpoint> seeds = settings.seeds;
    std::ranges::sort(seeds);
    const auto repeated = std::ranges::unique(seeds);
    seeds.erase(repeated.begin(), repeated.end());
    for (endpoint& seed : seeds)
        t.servers.push_back(
            std::make_shared<const server_description>(unknown_server(std::move(seed))));
    return t;
}

}  // namespace holdfast::core::mongo
