#include "core/couchbase/config/cluster_config.hpp"
#include "holdfast/couchbase/errc.hpp"
#include "support/config_text.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::couchbase::parse_config_test {
namespace {

using holdfast::couchbase::errc;
using proof::config_layout;
using proof::config_text;
using proof::sample_config;

cluster_config parse(std::string_view text, std::string_view host = "dialled.example")
{
    auto parsed = parse_config(text, host);
    EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message()) << "\n" << text;
    return parsed ? *std::move(parsed) : cluster_config{};
}

std::uint16_t kv(const cluster_node& node, bool tls = false)
{
    return node.ports.of(service_type::key_value, tls);
}

TEST(parse_config, bucket_configuration_is_read_back_as_it_was_written)
{
    auto config = sample_config(3, 2, 16);
    config.bucket->map.forward = config.bucket->map.nodes;
    config.bucket->map.forward[0] = 2;
    config.nodes[1].alternates = {{"external", "203.0.113.7", std::nullopt},
                                  {"office", "fd00::7", config.nodes[0].ports}};
    cluster_node joining{.host = "node-9.example"};
    joining.ports.plain[0] = 11210;
    config.nodes.push_back(joining);
    for (const bool spaces : {true, false})
        EXPECT_EQ(parse(config_text(config, {.spaces = spaces})), config);
}

TEST(parse_config, global_configuration_has_nodes_and_no_bucket)
{
    auto config = sample_config();
    config.bucket.reset();
    for (cluster_node& node : config.nodes)
        node.has_bucket = false;
    EXPECT_EQ(parse(config_text(config)), config);
}

TEST(parse_config, host_that_is_absent_or_a_placeholder_is_the_one_dialled)
{
    auto config = sample_config(1, 0, 1);
    for (const auto& [dialled, host] : {std::pair{"10.0.0.1", "10.0.0.1"},
                                        {"Cluster.Example", "cluster.example"},
                                        {"::1", "::1"},
                                        {"[::1]", "::1"},
                                        {"fe80::1%Eth0", "fe80::1%Eth0"}}) {
        config.nodes[0].host = host;
        EXPECT_EQ(parse(config_text(config, {.host_placeholder = host}), dialled), config);
    }
}

TEST(parse_config, ipv6_hosts_are_taken_with_and_without_brackets)
{
    auto config = sample_config(2, 1, 2);
    config.nodes[0].host = "fd00::a";
    config.nodes[1].host = "fd00::b";
    std::string text = config_text(config);
    EXPECT_EQ(parse(text), config) << "the list of servers has brackets, nodesExt has none";
    const std::string_view bare = R"("hostname":"fd00::b")";
    text.replace(text.find(bare), bare.size(), R"("hostname":"[FD00::b]")");
    EXPECT_EQ(parse(text), config);
}

TEST(parse_config, list_of_servers_in_another_order_is_matched_by_address)
{
    const auto config = parse(R"({"rev":1,"name":"b","nodes":[{},{}],
        "nodesExt":[{"hostname":"a","services":{"kv":1}},{"hostname":"a","services":{"kv":2}}],
        "vBucketServerMap":{"numReplicas":1,"serverList":["a:2","a:1"],
                            "vBucketMap":[[0,1],[1,-1]]}})");
    ASSERT_TRUE(config.bucket);
    EXPECT_EQ(config.bucket->map.nodes, (std::vector<std::int16_t>{1, 0, 0, no_node}));
}

TEST(parse_config, list_of_servers_with_unknown_addresses_is_matched_by_place)
{
    const auto config = parse(R"({"rev":1,"name":"b","nodes":[{},{}],
        "nodesExt":[{"hostname":"a","services":{"kv":1}},{"hostname":"b","services":{"kv":1}}],
        "vBucketServerMap":{"numReplicas":0,"serverList":["10.0.0.1:1","10.0.0.2:1"],
                            "vBucketMap":[[1],[0]]}})");
    ASSERT_TRUE(config.bucket);
    EXPECT_EQ(config.bucket->map.nodes, (std::vector<std::int16_t>{1, 0}));
}

TEST(parse_config, without_nodes_ext_the_old_list_of_nodes_counts)
{
    const auto config = parse(R"({"rev":3,"name":"b","nodes":[
          {"hostname":"$HOST:8091","ports":{"direct":11210},"thisNode":true},
          {"hostname":"[::2]:9001","ports":{"direct":12000,"httpsMgmt":18091}}],
        "vBucketServerMap":{"numReplicas":0,"serverList":["$HOST:11210","[::2]:12000"],
                            "vBucketMap":[[0],[1]]}})");
    ASSERT_EQ(config.nodes.size(), 2U);
    EXPECT_EQ(config.nodes[0].host, "dialled.example");
    EXPECT_TRUE(config.nodes[0].is_this_node);
    EXPECT_TRUE(config.nodes[1].has_bucket);
    EXPECT_EQ(config.nodes[1].host, "::2");
    EXPECT_EQ(kv(config.nodes[1]), 12000);
    EXPECT_EQ(kv(config.nodes[1], true), 0);
    EXPECT_EQ(config.nodes[1].ports.of(service_type::management, false), 9001);
    EXPECT_EQ(config.nodes[1].ports.of(service_type::management, true), 18091);
}

/// The number of replicas changes at once when a bucket is edited, the rows with the rebalance.
TEST(parse_config, rows_that_do_not_fit_the_number_of_replicas_are_filled_up_or_cut)
{
    const auto rows = [](std::string_view replicas, std::string_view map) {
        const auto config = parse(
            std::string{R"({"rev":1,"name":"b","nodesExt":[{"services":{"kv":1}}],)"} +
            R"("vBucketServerMap":{"serverList":["$HOST:1"],"numReplicas":)" +
            std::string{replicas} + R"(,"vBucketMap":)" + std::string{map} + "}}");
        return config.bucket ? config.bucket->map.nodes : std::vector<std::int16_t>{};
    };
    EXPECT_EQ(rows("2", "[[0,-1],[]]"), (std::vector<std::int16_t>{0, -1, -1, -1, -1, -1}));
    EXPECT_EQ(rows("0", "[[0,-1,0],[-1]]"), (std::vector<std::int16_t>{0, -1}));
}

TEST(parse_config, other_members_and_capabilities_are_ignored_or_kept_sorted)
{
    const auto config = parse(R"({"rev":1,"unknown":{"a":[1,2]},
        "nodesExt":[{"services":{"kv":1,"indexHttp":9102,"moxi":0},"appTelemetryVer":[1,0]}],
        "clusterCapabilities":{"search":["vectorSearch"],"n1ql":["b","a"]}})");
    EXPECT_EQ(config.capabilities,
              (std::vector<std::string>{"n1ql.a", "n1ql.b", "search.vectorSearch"}));
    EXPECT_TRUE(has_capability(config.capabilities, "n1ql.b"));
    EXPECT_FALSE(has_capability(config.capabilities, "n1ql.c"));
}

TEST(parse_config, manifest_uid_is_hexadecimal)
{
    EXPECT_EQ(parse_manifest_uid("1f"), 0x1fU);
    EXPECT_EQ(parse_manifest_uid("ffffffffffffffff"), UINT64_MAX);
    for (const std::string_view text : {"", "x", "1g", "0x1", "-1", "10000000000000000"})
        EXPECT_EQ(parse_manifest_uid(text), std::nullopt) << text;
}

}  // namespace
}  // namespace holdfast::core::couchbase::parse_config_test
