#include "core/couchbase/settings/cluster_settings.hpp"

#include "holdfast/couchbase/errc.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::couchbase::cluster_settings_test {
namespace {

using holdfast::couchbase::errc;
using namespace std::chrono_literals;

cluster_settings valid()
{
    return {.seeds = {endpoint{"a:11210"}}};
}

std::string refused_option(const cluster_settings& settings)
{
    const auto checked = validate(settings);
    if (checked)
        return "";
    EXPECT_EQ(checked.error().code(), errc::invalid_argument);
    return std::string{checked.error().context("option")};
}

TEST(cluster_settings, defaults_are_those_of_the_other_clients)
{
    const cluster_settings s;
    EXPECT_EQ(s.timeouts.kv, 2500ms);
    EXPECT_EQ(s.timeouts.kv_durable, 10s);
    EXPECT_EQ(s.timeouts.query, 75s);
    EXPECT_EQ(s.config_poll.interval, 2500ms);
    EXPECT_EQ(s.config_poll.floor, 50ms);
    EXPECT_EQ(s.http.idle_timeout, 1s);
    EXPECT_EQ(s.network, "auto");
    EXPECT_TRUE(validate(valid()).value().empty());
}

TEST(cluster_settings, values_out_of_bounds_are_refused)
{
    EXPECT_FALSE(validate(cluster_settings{})) << "no seeds";
    auto s = valid();
    s.kv.connections = 3;
    EXPECT_EQ(refused_option(s), "kv_connections");
    s.kv.connections = 128;
    EXPECT_EQ(refused_option(s), "kv_connections");
    s = valid();
    s.kv.max_in_flight = 0;
    EXPECT_EQ(refused_option(s), "max_in_flight");
    s.kv.max_in_flight = 131'072;
    EXPECT_EQ(refused_option(s), "max_in_flight");
    s = valid();
    s.config_poll.floor = 3s;
    EXPECT_EQ(refused_option(s), "config_poll_floor");
}

TEST(cluster_settings, options_without_effect_are_noticed)
{
    auto s = valid();
    EXPECT_TRUE(validate(s).value().empty());
    s.preserve_bootstrap_nodes_order = true;
    s.kv.tcp_keep_alive_interval = 5s;
    EXPECT_EQ(validate(s).value().size(), 2U);
}

TEST(cluster_settings, tls_options_that_contradict_or_have_no_effect_are_noticed)
{
    auto s = valid();
    s.tls.trust_certificate = "ca.pem";
    EXPECT_EQ(validate(s).value(),
              std::vector<std::string>{"trust_certificate: has no effect without couchbases://"});
    s.tls.verify = tls_verify::none;
    EXPECT_EQ(validate(s).value().size(), 2U);
    s.tls.enabled = true;
    EXPECT_EQ(refused_option(s), "tls_verify");
    s.tls.trust_certificate.reset();
    s.tls.trusted_certificates = "-----BEGIN";
    EXPECT_EQ(refused_option(s), "tls_verify");
    s.tls.enabled = false;
    s.tls.verify = tls_verify::peer;
    EXPECT_EQ(
        validate(s).value(),
        std::vector<std::string>{"trusted_certificates: has no effect without couchbases://"});
    s.tls.enabled = true;
    s.tls.verify = tls_verify::none;
    s.tls.trusted_certificates.reset();
    EXPECT_EQ(validate(s).value().size(), 1U) << "an unchecked certificate is worth a warning";
}

}  // namespace
}  // namespace holdfast::core::couchbase::cluster_settings_test
