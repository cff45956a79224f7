#include "core/couchbase/uri/cluster_options.hpp"

#include "core/couchbase/uri/connection_string.hpp"
#include "core/uri/option_value.hpp"
#include "holdfast/couchbase/errc.hpp"

#include <gtest/gtest.h>

#include <set>

namespace holdfast::core::couchbase::cluster_options_test {
namespace {

using namespace std::chrono_literals;

parsed_connection_string parse(std::string_view options, std::string_view scheme = "couchbase")
{
    auto parsed = parse_connection_string(std::string{scheme} + "://a?" + std::string{options});
    EXPECT_TRUE(parsed) << options << ": " << (parsed ? "" : parsed.error().message());
    return parsed ? *std::move(parsed) : parsed_connection_string{};
}

/// The value of one option as it would be written, after it was given in a string.
std::string taken(std::string_view name, std::string_view value)
{
    const auto parsed = parse(std::string{name} + '=' + std::string{value}, "couchbases");
    const auto* const option = cluster_option_table().find(name);
    EXPECT_TRUE(option) << name;
    const auto texts = option ? uri::written(*option, parsed.settings) : std::vector<std::string>{};
    return texts.empty() ? "" : texts.front();
}

TEST(cluster_options, every_option_takes_its_value_within_its_limits)
{
    struct row {
        std::string_view name;
        std::string_view by_default;
        std::string_view value;
        std::string_view expected;
        std::vector<std::string_view> refused;
    };
    const std::vector<std::string_view> bad_time{"0", "-1", "61m", "x", "1.5", ""};
    const std::vector<std::string_view> bad_switch{"maybe", ""};
    const row table[] = {
        {"kv_timeout", "2500", "3s", "3000", bad_time},
        {"kv_durable_timeout", "10000", "12s", "12000", bad_time},
        {"kv_connect_timeout", "10000", "1s", "1000", bad_time},
        {"bootstrap_timeout", "10000", "500ms", "500", bad_time},
        {"resolve_timeout", "2000", "1", "1", bad_time},
        {"query_timeout", "75000", "1h", "3600000", bad_time},
        {"analytics_timeout", "75000", "1m30s", "90000", bad_time},
        {"search_timeout", "75000", "2.5s", "2500", bad_time},
        {"view_timeout", "75000", "7", "7", bad_time},
        {"management_timeout", "75000", "7s", "7000", bad_time},
        {"enable_dns_srv", "true", "false", "false", bad_switch},
        {"dns_servers",
         "",
         "10.0.0.53,%5B::1%5D:5353",
         "10.0.0.53,[::1]:5353",
         {"ns.example.com", "10.0.0.53:0", "10.0.0.53,,10.0.0.54",
          "1.1.1.1,2.2.2.2,3.3.3.3,4.4.4.4,"
          "5.5.5.5,6.6.6.6,7.7.7.7,8.8.8.8,9.9.9.9",
          ""}},
        {"network", "auto", "external", "external", {""}},
        {"server_group", "", "Group%201", "Group 1", {""}},
        {"ip_protocol", "any", "force_ipv6", "force_ipv6", {"ipv6", ""}},
        {"preserve_bootstrap_nodes_order", "false", "true", "true", bad_switch},
        {"config_poll_interval", "2500", "5s", "5000", {"49", "2h"}},
        {"config_poll_floor", "50", "100ms", "100", {"49", "2h"}},
        {"enable_clustermap_notification", "true", "false", "false", bad_switch},
        {"trust_certificate", "", "%2Fca.pem", "/ca.pem", {}},
        {"tls_verify", "peer", "none", "none", {}},
        {"kv_connections", "1", "64", "64", {"0", "3", "128", "x"}},
        {"max_in_flight", "1024", "65536", "65536", {"0", "1000", "131072", "-1"}},
        {"enable_compression", "true", "false", "false", bad_switch},
        {"enable_mutation_tokens", "true", "false", "false", bad_switch},
        {"enable_unordered_execution", "true", "false", "false", bad_switch},
        {"tcp_keep_alive_interval", "60000", "30s", "30000", {"999", "2h"}},
        {"max_http_connections", "0", "65535", "65535", {"-1", "65536"}},
        {"idle_http_connection_timeout", "1000", "4.5s", "4500", bad_time},
        {"user_agent_extra", "", "my-app/1", "my-app/1", {"%0a", ""}},
        {"retryBudget", "0", "1000000", "1000000", {"-1", "1000001"}},
        {"circuitBreaker", "false", "true", "true", bad_switch},
    };
    EXPECT_EQ(taken("user_agent_extra", std::string(longest_user_agent_extra, 'a')).size(), 128U);
    EXPECT_EQ(taken("user_agent_extra", std::string(longest_user_agent_extra + 1, 'a')), "");
    std::set<std::string_view> tested;
    for (const row& r : table) {
        SCOPED_TRACE(r.name);
        tested.insert(r.name);
        const auto defaults = uri::written(*cluster_option_table().find(r.name),
                                           cluster_settings{});
        EXPECT_EQ(defaults.empty() ? "" : defaults.front(), r.by_default);
        EXPECT_EQ(taken(r.name, r.value), r.expected);
        for (const std::string_view bad : r.refused) {
            SCOPED_TRACE(bad);
            EXPECT_EQ(taken(r.name, bad), r.by_default);
            const auto parsed = parse(std::string{r.name} + '=' + std::string{bad});
            ASSERT_EQ(parsed.warnings.size(), 1U);
            EXPECT_TRUE(parsed.warnings[0].starts_with(r.name)) << parsed.warnings[0];
        }
    }
    for (const cluster_option& o : cluster_option_table().options)
        EXPECT_TRUE(tested.contains(o.name)) << o.name << " is not in this test";
}

TEST(cluster_options, unsafe_values_of_tls_options_are_errors)
{
    for (const std::string_view text : {"tls_verify=maybe", "tls_verify=", "trust_certificate="}) {
        const auto parsed = parse_connection_string("couchbases://a?" + std::string{text});
        ASSERT_FALSE(parsed) << text;
        EXPECT_EQ(parsed.error().code(), holdfast::couchbase::errc::invalid_argument);
        EXPECT_EQ(parsed.error().context("option"), text.substr(0, text.find('=')));
    }
}

TEST(cluster_options, other_names_of_an_option_are_taken_without_a_warning)
{
    const auto parsed = parse(
        "key_value_timeout=1s&key_value_durable_timeout=20s&connect_timeout=3s");
    EXPECT_EQ(parsed.settings.timeouts.kv, 1s);
    EXPECT_EQ(parsed.settings.timeouts.kv_durable, 20s);
    EXPECT_EQ(parsed.settings.timeouts.kv_connect, 3s);
    EXPECT_TRUE(parsed.warnings.empty());
}

TEST(cluster_options, unknown_and_repeated_options_are_warnings)
{
    const auto parsed = parse("colour=red&kv_timeout=1s&kv_timeout=2s");
    EXPECT_EQ(parsed.settings.timeouts.kv, 2s);
    EXPECT_EQ(parsed.warnings,
              (std::vector<std::string>{"option \"colour\" is unknown and ignored",
                                        "kv_timeout: given more than once; the last one counts"}));
}

TEST(cluster_options, allowed_values_name_units)
{
    EXPECT_EQ(uri::allowed_values(*cluster_option_table().find("kv_timeout")),
              "milliseconds from 1 to 3600000, or with a unit: 2.5s");
}

}  // namespace
}  // namespace holdfast::core::couchbase::cluster_options_test
