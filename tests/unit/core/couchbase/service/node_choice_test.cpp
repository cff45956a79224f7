#include "core/couchbase/service/node_choice.hpp"

#include "support/verifies.hpp"

#include <map>

namespace holdfast::core::couchbase::node_choice_test {
namespace {

cluster_node node(std::string host, std::initializer_list<service_type> services)
{
    cluster_node made{.host = std::move(host)};
    for (const service_type service : services) {
        const auto at = static_cast<std::size_t>(service);
        made.ports.plain[at] = static_cast<std::uint16_t>(8090 + at);
        made.ports.tls[at] = static_cast<std::uint16_t>(18090 + at);
    }
    return made;
}

using enum service_type;

/// Queries on a, c and d; analytics on b; views on all, and the bucket on a and b.
cluster_config layout()
{
    cluster_config made{.nodes = {node("a", {query, views}), node("b", {analytics, views}),
                                  node("c", {query, views}), node("d", {query})}};
    made.nodes[0].has_bucket = made.nodes[1].has_bucket = true;
    made.nodes[2].alternates.push_back({"external", "c.example", std::nullopt});
    return made;
}

std::string chosen(const node_wish& wish, const cluster_config& config = layout())
{
    const auto found = choose_node(config, wish);
    if (const auto* const node = std::get_if<chosen_node>(&found)) {
        EXPECT_EQ(config.nodes.at(node->index).host.front(), node->address.value().front());
        return node->address.value();
    }
    return std::get<obstacle>(found) == obstacle::node_gone ? "node_gone" : "service_not_present";
}

TEST(node_choice, requests_go_round_robin_over_nodes_with_the_service)
{
    const std::string hosts[] = {"a:8091", "c:8091", "d:8091"};
    for (std::uint32_t turn = 0; turn < 9; ++turn)
        EXPECT_EQ(chosen({.service = query, .turn = turn}), hosts[turn % 3]);
    EXPECT_EQ(chosen({.service = query, .turn = 0xffff'ffff}), hosts[0xffff'ffff % 3]);
    EXPECT_EQ(chosen({.service = analytics, .turn = 5}), "b:8092");
    EXPECT_EQ(chosen({.service = query, .with_tls = true}), "a:18091");
    EXPECT_EQ(chosen({.service = query, .network = "external", .turn = 1}), "c.example:8091");
}

TEST(node_choice, node_that_has_just_failed_is_avoided_while_there_is_another)
{
    const endpoint a{"a:8091"}, c{"c:8091"}, d{"d:8091"};
    std::map<std::string, int> counts;
    for (std::uint32_t turn = 0; turn < 10; ++turn)
        ++counts[chosen({.service = query, .turn = turn, .avoid = {&c, 1}})];
    EXPECT_EQ(counts, (std::map<std::string, int>{{"a:8091", 5}, {"d:8091", 5}}));
    const endpoint most[] = {d, a};
    EXPECT_EQ(chosen({.service = query, .turn = 0, .avoid = most}), "c:8091");
    const endpoint all[] = {c, d, a};
    counts.clear();
    for (std::uint32_t turn = 0; turn < 9; ++turn)
        ++counts[chosen({.service = query, .turn = turn, .avoid = all})];
    EXPECT_EQ(counts.size(), 3u);
    const endpoint only = {endpoint{"b:8092"}};
    EXPECT_EQ(chosen({.service = analytics, .avoid = {&only, 1}}), "b:8092");
}

TEST(node_choice, service_that_no_node_has_is_not_present)
{
    VERIFIES("CR-050");
    EXPECT_EQ(chosen({.service = search}), "service_not_present");
    EXPECT_EQ(chosen({.service = query}, cluster_config{}), "service_not_present");
    auto plain_only = layout();
    for (cluster_node& node : plain_only.nodes)
        node.ports.tls = {};
    EXPECT_EQ(chosen({.service = query, .with_tls = true}, plain_only), "service_not_present");
}

TEST(node_choice, only_node_that_is_allowed_can_be_gone)
{
    EXPECT_EQ(chosen({.service = query, .turn = 7, .only = endpoint{"d:8091"}}), "d:8091");
    EXPECT_EQ(chosen({.service = query, .only = endpoint{"e:8091"}}), "node_gone");
    EXPECT_EQ(chosen({.service = query, .only = endpoint{"b:8092"}}), "node_gone");
    const endpoint failed{"d:8091"};
    EXPECT_EQ(chosen({.service = query, .avoid = {&failed, 1}, .only = failed}), "d:8091");
}

TEST(node_choice, views_are_asked_of_nodes_that_have_the_bucket)
{
    auto config = layout();
    for (std::uint32_t turn = 0; turn < 6; ++turn)
        EXPECT_EQ(chosen({.service = views, .turn = turn}, config),
                  (std::array{"a:8094", "b:8094", "c:8094"})[turn % 3]);
    config.bucket = bucket_config{.name = "x"};
    for (std::uint32_t turn = 0; turn < 6; ++turn)
        EXPECT_EQ(chosen({.service = views, .turn = turn}, config),
                  (std::array{"a:8094", "b:8094"})[turn % 2]);
    EXPECT_EQ(chosen({.service = query, .turn = 2}, config), "d:8091");
}

}  // namespace
}  // namespace holdfast::core::couchbase::node_choice_test
