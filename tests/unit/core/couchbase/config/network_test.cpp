#include "core/couchbase/config/network.hpp"

#include "support/config_text.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::couchbase::network_test {
namespace {

/// Two nodes, reached from outside at one host by their ports.
cluster_config translated()
{
    auto config = proof::sample_config(2);
    for (std::size_t i = 0; i < 2; ++i) {
        service_ports ports;
        ports.plain[0] = static_cast<std::uint16_t>(32'000 + i);
        ports.tls[0] = static_cast<std::uint16_t>(33'000 + i);
        config.nodes[i].alternates = {{"external", "198.51.100.1", ports}};
    }
    return config;
}

TEST(choose_network, auto_takes_the_network_in_which_the_seed_lies)
{
    const auto config = translated();
    struct row {
        seed_address seed;
        std::string_view expected;
    };
    const row table[] = {
        {{"node-0.example", 11210}, "default"},    {{"node-1.example", 1}, "default"},
        {{"198.51.100.1", 32001}, "external"},     {{"198.51.100.1", 33000}, "external"},
        {{"198.51.100.1", 1}, "external"},         {{"198.51.100.1", 0}, "external"},
        {{"elsewhere.example", 11210}, "default"},
    };
    for (const row& r : table)
        EXPECT_EQ(choose_network(config, "auto", r.seed), r.expected)
            << r.seed.host << ':' << r.seed.port;
}

TEST(choose_network, port_decides_where_a_host_is_in_both_networks)
{
    auto config = translated();
    for (cluster_node& node : config.nodes)
        node.host = "198.51.100.1";
    EXPECT_EQ(choose_network(config, "auto", {"198.51.100.1", 32001}), "external");
    EXPECT_EQ(choose_network(config, "auto", {"198.51.100.1", 11207}), "default");
    EXPECT_EQ(choose_network(config, "auto", {"198.51.100.1", 1}), "default");
}

TEST(choose_network, a_network_that_is_asked_for_is_taken_whatever_the_seed)
{
    const auto config = translated();
    EXPECT_EQ(choose_network(config, "external", {"node-0.example", 11210}), "external");
    EXPECT_EQ(choose_network(config, "default", {"198.51.100.1", 32001}), "default");
    EXPECT_TRUE(has_network(config, "external"));
    EXPECT_TRUE(has_network(config, "default"));
    EXPECT_FALSE(has_network(config, "office"));
}

TEST(address_of, alternate_ports_replace_all_ports_of_the_node)
{
    const auto config = translated();
    const auto at = [&](std::string_view network, service_type service, bool tls) {
        const auto found = address_of(config.nodes[1], network, service, tls);
        return found ? found->value() : "";
    };
    EXPECT_EQ(at("default", service_type::key_value, false), "node-1.example:11210");
    EXPECT_EQ(at("default", service_type::query, true), "node-1.example:18093");
    EXPECT_EQ(at("default", service_type::search, false), "");
    EXPECT_EQ(at("external", service_type::key_value, true), "198.51.100.1:33001");
    EXPECT_EQ(at("external", service_type::query, true), "") << "not offered outside";
}

TEST(address_of, alternate_host_without_ports_has_those_of_the_node)
{
    auto node = proof::sample_config(1, 0).nodes[0];
    node.alternates = {{"external", "2001:db8::1", std::nullopt}};
    EXPECT_EQ(address_of(node, "external", service_type::key_value, false),
              endpoint{"[2001:db8::1]:11210"});
    EXPECT_EQ(address_of(node, "office", service_type::key_value, false),
              endpoint{"node-0.example:11210"});
}

}  // namespace
}  // namespace holdfast::core::couchbase::network_test
