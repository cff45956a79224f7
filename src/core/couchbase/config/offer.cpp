#include "core/couchbase/config/offer.hpp"

#include "core/couchbase/config/read_json.hpp"

#include <algorithm>
#include <tuple>

namespace holdfast::core::couchbase {

namespace {

using status = offer_outcome::status;

std::string described(std::string_view bucket)
{
    return bucket.empty() ? "the global configuration"
                          : "bucket \"" + std::string{bucket.substr(0, max_name_bytes)} + '"';
}

/// The identity of a node over all configurations.
std::tuple<std::string_view, std::uint16_t> identity_of(const cluster_node& node) noexcept
{
    for (const service_type service : {service_type::management, service_type::key_value})
        for (const bool tls : {false, true})
            if (const std::uint16_t port = node.ports.of(service, tls))
                return {node.host, port};
    return {node.host, std::uint16_t{0}};
}

/// Indices of the nodes, in the order of their identities.
std::vector<std::size_t> by_identity(const std::vector<cluster_node>& nodes)
{
    std::vector<std::size_t> order(nodes.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = i;
    std::ranges::sort(order, {},
                      [&](std::size_t i) { return std::pair{identity_of(nodes[i]), i}; });
    return order;
}

/// Whether any document can be found by it.
bool has_places(const cluster_config& config)
{
    if (!config.bucket)
        return true;
    const vbucket_map& map = config.bucket->map;
    for (std::size_t row = 0; row != map.size; ++row) {
        if (map.nodes[row * map.copies()] != no_node)
            return true;
    }
    return false;
}

bool has_moved(const cluster_node& before, const cluster_node& after)
{
    return before.ports != after.ports || before.alternates != after.alternates;
}

}  // namespace

offer_outcome config_intake::refuse(const config_offer& offered,
                                    const std::optional<config_revision>& seen, error problem)
{
    if (seen)
        refused_ = refused_offer{*seen, offered.text.size(), std::string{offered.host}, problem};
    return {.is = status::refused, .config = current_, .problem = std::move(problem)};
}

offer_outcome config_intake::consider(const config_offer& offered)
{
    if (offered.text.empty())
        return {.is = status::not_newer, .config = current_};
    const auto seen = peek_revision(offered.text);
    if (seen && is_known(*seen))
        return {.is = status::not_newer, .config = current_};
    if (seen && refused_ && *seen == refused_->revision && offered.text.size() == refused_->size &&
        offered.host == refused_->host)
        return {.is = status::refused, .config = current_, .problem = refused_->problem};
    auto parsed = parse_config(offered.text, offered.host);
    if (!parsed)
        return refuse(offered, seen, std::move(parsed).error());
    if (is_known(parsed->revision))
        return {.is = status::not_newer, .config = current_};
    const std::string_view name = parsed->bucket ? std::string_view{parsed->bucket->name} : "";
    if (name != offered.bucket)
        return refuse(offered, seen,
                      bad_config("name", "it is that of " + described(name) + ", expected was " +
                                             described(offered.bucket)));
    if (current_ && has_places(*current_) && !has_places(*parsed))
        return refuse(offered, seen,
                      bad_config("vBucketServerMap.vBucketMap", "no vbucket has an active node"));
    current_ = std::make_shared<const cluster_config>(*std::move(parsed));
    refused_.reset();
    starts_over_ = false;
    return {.is = status::taken, .config = current_};
}

void config_intake::start_over() noexcept
{
    starts_over_ = true;
    refused_.reset();
}

config_changes changes_between(const cluster_config& before, const cluster_config& after)
{
    config_changes changes;
    const auto old_order = by_identity(before.nodes);
    const auto new_order = by_identity(after.nodes);
    auto old_at = old_order.begin();
    auto new_at = new_order.begin();
    while (old_at != old_order.end() && new_at != new_order.end()) {
        const cluster_node& old_node = before.nodes[*old_at];
        const cluster_node& new_node = after.nodes[*new_at];
        const auto order = identity_of(old_node) <=> identity_of(new_node);
        if (order < 0)
            changes.removed.push_back(*old_at++);
        else if (order > 0)
            changes.added.push_back(*new_at++);
        else
            changes.kept.push_back({*old_at++, *new_at++, has_moved(old_node, new_node)});
    }
    changes.removed.insert(changes.removed.end(), old_at, old_order.end());
    changes.added.insert(changes.added.end(), new_at, new_order.end());
    std::ranges::sort(changes.added);
    std::ranges::sort(changes.removed);
    std::ranges::sort(changes.kept, {}, &config_changes::kept_node::after);
    changes.bucket_recreated = before.bucket && after.bucket &&
                               before.bucket->uuid != after.bucket->uuid;
    return changes;
}

}  // namespace holdfast::core::couchbase
