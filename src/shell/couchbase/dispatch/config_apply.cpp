// How the connections of a bucket follow its configuration.
#include "core/uri/host.hpp"
#include "shell/couchbase/dispatch/kv_bucket.hpp"
#include "shell/couchbase/dispatch/kv_cluster.hpp"
#include "shell/planted.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace holdfast::shell::couchbase {

using core::couchbase::cluster_config_ptr;

/// The links of the nodes in `routes`; with the mutex held. Without a bucket one of them is enough.
std::map<endpoint, kv_bucket::node_links> kv_bucket::wanted_links(route_table& routes)
{
    std::map<endpoint, node_links> wanted;
    if (name_.empty()) {
        for (const auto& [server, of] : links_) {
            if (of.lanes.front()->where() == kv_link::stage::connected && wanted.empty())
                wanted.emplace(server, of);
        }
        return wanted.empty() ? links_ : wanted;
    }
    routes.nodes.resize(routes.config->nodes.size());
    for (std::size_t n = 0; n != routes.nodes.size(); ++n) {
        const core::couchbase::cluster_node& node = routes.config->nodes[n];
        const auto at = core::couchbase::address_of(node, *network_,
                                                    core::couchbase::service_type::key_value,
                                                    cluster_.settings().tls.enabled);
        if (!at || !node.has_bucket)
            continue;
        routes.nodes[n] = add_links(*at);
        wanted.emplace(*at, routes.nodes[n]);
    }
    return wanted;
}

/// Those that are not wanted any more, to be retired; with the mutex held.
std::vector<std::shared_ptr<kv_link>> kv_bucket::replace_links(
    std::map<endpoint, node_links> wanted)
{
    std::vector<std::shared_ptr<kv_link>> retired;
    for (const auto& [server, of] : links_) {
        if (wanted.contains(server))
            continue;
        retired.insert(retired.end(), of.lanes.begin(), of.lanes.end());
        if (const auto id = trackers_.find(server); id != trackers_.end()) {
            cluster_.with_facts([&](core::couchbase::health& facts) { facts.forget(id->second); });
            trackers_.erase(id);
        }
    }
    links_ = std::move(wanted);
    return retired;
}

/// The connection of the cluster is lost, and its node may have left: the next one is to whichever
/// node can be reached. While there is another, what was lost is one that was not needed.
void kv_bucket::look_elsewhere()
{
    const std::scoped_lock lock{mutex_};
    const bool has_one = std::ranges::any_of(links_, [](const auto& at) {
        return at.second.lanes.front()->where() == kv_link::stage::connected;
    });
    if (closed_ || !routes_.config || !network_ || has_one)
        return;
    for (const core::couchbase::cluster_node& node : routes_.config->nodes) {
        const auto at = core::couchbase::address_of(node, *network_,
                                                    core::couchbase::service_type::key_value,
                                                    cluster_.settings().tls.enabled);
        if (at)
            add_links(*at);
    }
}

void kv_bucket::keep_only(const endpoint& server)
{
    std::vector<std::shared_ptr<kv_link>> retired;
    {
        const std::scoped_lock lock{mutex_};
        const auto found = links_.find(server);
        if (!routes_.config || found == links_.end())
            return;
        retired = replace_links({{server, found->second}});
    }
    for (const auto& one : retired)
        one->retire(false);
}

/// The requests at nodes that stay, for vbuckets that other nodes have by `next`; with the mutex
/// held.
std::vector<late_requests> kv_bucket::left_behind(const route_table& next) const
{
    if (!routes_.config || !next.config->bucket)
        return {};
    const auto& before = routes_.config->bucket->map;
    const auto& after = next.config->bucket->map;
    if (before.size != after.size)
        return {};
    std::vector<std::vector<bool>> gone(routes_.nodes.size());  // vbuckets, by node
    for (std::uint32_t n = 0; n != before.size; ++n) {
        const auto vbucket = static_cast<std::uint16_t>(n);
        const auto was = core::couchbase::node_of(before, vbucket);
        const auto is = core::couchbase::node_of(after, vbucket);
        if (!was || !is || routes_.nodes[*was].lanes == next.nodes[*is].lanes)
            continue;
        gone[*was].resize(before.size);
        gone[*was][n] = true;
    }
    std::vector<late_requests> found;
    for (std::size_t n = 0; n != gone.size(); ++n) {
        if (gone[n].empty())
            continue;
        for (const auto& lane : routes_.nodes[n].lanes) {
            auto late = lane->waiting_for(gone[n]);
            std::ranges::move(late, std::back_inserter(found));
        }
    }
    return found;
}

void kv_bucket::apply(const cluster_config_ptr& config)
{
    std::vector<std::shared_ptr<kv_link>> retired;
    std::vector<late_requests> late;
    std::string network;
    {
        const std::scoped_lock lock{mutex_};
        const bool is_newer = !routes_.config || starts_over_ ||
                              config->revision > routes_.config->revision ||
                              planted.takes_old_configurations;
        if (closed_ || !is_newer)
            return;
        starts_over_ = false;
        if (!network_) {
            core::couchbase::seed_address seed;
            if (!seeds_.empty()) {
                const auto parts = core::uri::split_host(seeds_.front().value());
                seed = {parts.host, parts.port.value_or(0)};
            }
            network_ = core::couchbase::choose_network(*config, cluster_.settings().network, seed);
        }
        network = *network_;
        const bool recreated = routes_.config &&
                               changes_between(*routes_.config, *config).bucket_recreated;
        if (recreated)
            ids_.bucket_recreated();
        if (config->bucket && config->bucket->manifest_uid)
            ids_.manifest_seen(*config->bucket->manifest_uid);
        route_table next;
        next.config = config;
        auto wanted = wanted_links(next);
        late = left_behind(next);
        retired = replace_links(std::move(wanted));
        routes_ = std::move(next);
    }
    for (const auto& one : retired)
        one->retire(false);
    if (!late.empty())
        cluster_.tasks().start(give_up_late(cluster_.world(), std::move(late)));
    cluster_.config_taken(config, network);
}

}  // namespace holdfast::shell::couchbase
