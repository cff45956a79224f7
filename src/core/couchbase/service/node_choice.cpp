#include "core/couchbase/service/node_choice.hpp"

#include "core/couchbase/config/network.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace holdfast::core::couchbase {

namespace {

std::vector<chosen_node> nodes_with(const cluster_config& config, const node_wish& wish)
{
    std::vector<chosen_node> found;
    const bool needs_bucket = wish.service == service_type::views && config.bucket;
    for (std::size_t i = 0; i < config.nodes.size(); ++i) {
        const cluster_node& node = config.nodes[i];
        if (needs_bucket && !node.has_bucket)
            continue;
        auto address = address_of(node, wish.network, wish.service, wish.with_tls);
        if (address && (!wish.only || *address == *wish.only))
            found.push_back({i, *std::move(address)});
    }
    return found;
}

}  // namespace

std::variant<chosen_node, obstacle> choose_node(const cluster_config& config, const node_wish& wish)
{
    std::vector<chosen_node> nodes = nodes_with(config, wish);
    if (nodes.empty())
        return wish.only ? obstacle::node_gone : obstacle::service_not_present;
    // In their order, so that the turns of others stay as they are.
    std::vector<chosen_node*> fine;
    for (chosen_node& node : nodes) {
        if (std::ranges::find(wish.avoid, node.address) == wish.avoid.end())
            fine.push_back(&node);
    }
    if (fine.empty())
        return std::move(nodes[wish.turn % nodes.size()]);
    return std::move(*fine[wish.turn % fine.size()]);
}

}  // namespace holdfast::core::couchbase
