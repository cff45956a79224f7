#include "core/couchbase/route/route.hpp"

namespace holdfast::core::couchbase {

namespace {

std::optional<std::size_t> entry_of(const vbucket_map& map, const std::vector<std::int16_t>& rows,
                                    std::uint16_t vbucket, std::size_t copy) noexcept
{
    if (rows.empty() || vbucket >= map.size || copy > map.replicas)
        return std::nullopt;
    const std::int16_t node = rows[vbucket * map.copies() + copy];
    return node == no_node ? std::nullopt : std::optional{static_cast<std::size_t>(node)};
}

readable_copies copies_in_group(const cluster_config& config, std::uint16_t vbucket,
                                std::optional<std::string_view> group) noexcept
{
    readable_copies found;
    const vbucket_map& map = config.bucket->map;
    for (std::size_t copy = 0; copy < map.copies(); ++copy) {
        const auto node = node_of(map, vbucket, copy);
        if (node && (!group || config.nodes[*node].server_group == *group))
            found.add({*node, static_cast<std::uint8_t>(copy)});
    }
    return found;
}

}  // namespace

std::optional<std::size_t> node_of(const vbucket_map& map, std::uint16_t vbucket,
                                   std::size_t copy) noexcept
{
    return entry_of(map, map.nodes, vbucket, copy);
}

std::optional<std::size_t> forward_node_of(const vbucket_map& map, std::uint16_t vbucket,
                                           std::size_t copy) noexcept
{
    return entry_of(map, map.forward, vbucket, copy);
}

std::optional<std::size_t> node_after_refusal(const vbucket_map& map, std::uint16_t vbucket,
                                              std::size_t refused_by) noexcept
{
    for (const auto node : {node_of(map, vbucket), forward_node_of(map, vbucket)})
        if (node && *node != refused_by)
            return node;
    return std::nullopt;
}

readable_copies copies_to_read(const cluster_config& config, std::uint16_t vbucket,
                               read_preference preference, std::string_view group) noexcept
{
    if (!config.bucket)
        return {};
    if (preference == read_preference::none)
        return copies_in_group(config, vbucket, std::nullopt);
    const readable_copies near = copies_in_group(config, vbucket, group);
    if (near.empty() && preference == read_preference::selected_server_group_or_all)
        return copies_in_group(config, vbucket, std::nullopt);
    return near;
}

}  // namespace holdfast::core::couchbase
