#include "core/mongo/settings/client_settings.hpp"

#include "core/mongo/error/errc.hpp"
#include "support/verifies.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace holdfast::core::mongo::client_settings_test {
namespace {

using namespace std::chrono_literals;

client_settings one_host()
{
    client_settings s;
    s.seeds = {endpoint{"a:27017"}};
    return s;
}

TEST(client_settings, defaults_match_the_specifications)
{
    VERIFIES("BP-056");
    VERIFIES("BP-040");
    const client_settings s;
    EXPECT_TRUE(s.retry_reads);
    EXPECT_TRUE(s.retry_writes);
    EXPECT_FALSE(s.direct_connection);
    EXPECT_FALSE(s.load_balanced);
    EXPECT_EQ(s.heartbeat_frequency, 10s);
    EXPECT_EQ(min_heartbeat_frequency, 500ms);
    EXPECT_EQ(s.server_selection_timeout, 30s);
    EXPECT_EQ(s.local_threshold, 15ms);
    EXPECT_EQ(s.connect_timeout, 10s);
    EXPECT_EQ(s.socket_timeout, 0ms);
    EXPECT_EQ(s.timeout, std::nullopt);
    EXPECT_EQ(s.pool, (pool_settings{100, 0, 2, 0ms, std::nullopt}));
    EXPECT_EQ(s.read_preference.mode, read_mode::primary);
    EXPECT_TRUE(s.write_concern.is_default());
    EXPECT_TRUE(s.read_concern.is_default());
    EXPECT_TRUE(s.fail_fast_on_terminal_errors);
    EXPECT_TRUE(s.rescue_from_deposed_primary);
    EXPECT_EQ(profile_of(s), as_specified);
    EXPECT_FALSE(uses_token_bucket(s));
    EXPECT_FALSE(uses_tls(s));
}

TEST(client_settings, empty_seed_list_is_valid_with_a_warning)
{
    VERIFIES("SD-090");
    const auto none = validate(client_settings{});
    ASSERT_TRUE(none);
    ASSERT_EQ(none->size(), 1u);
    EXPECT_TRUE(none->front().starts_with("no hosts were given")) << none->front();
    client_settings later;
    later.srv = srv_settings{.host = "a.b.c"};
    EXPECT_TRUE(validate(later).value().empty());
    EXPECT_TRUE(validate(one_host()).value().empty());
}

struct wrong {
    std::string_view option;  // how the message begins
    std::function<void(client_settings&)> set;
    const char* id = nullptr;
};

TEST(client_settings, contradicting_options_are_refused)
{
    const wrong table[] = {
        {"directConnection=true",
         [](auto& s) {
             s.direct_connection = true;
             s.seeds.push_back(endpoint{"b:1"});
         },
         "SD-037"},
        {"directConnection=true",
         [](auto& s) {
             s.direct_connection = true;
             s.srv.emplace().host = "a.b.c";
         }},
        {"loadBalanced=true", [](auto& s) { s.load_balanced = s.direct_connection = true; },
         "SD-039"},
        {"loadBalanced=true",
         [](auto& s) {
             s.load_balanced = true;
             s.replica_set = "rs";
         },
         "SD-040"},
        {"loadBalanced=true",
         [](auto& s) {
             s.load_balanced = true;
             s.seeds.push_back(endpoint{"b:1"});
         }},
        {"srvMaxHosts",
         [](auto& s) {
             s.srv = srv_settings{"a.b.c", "mongodb", 1};
             s.replica_set = "rs";
         }},
        {"srvMaxHosts",
         [](auto& s) {
             s.srv = srv_settings{"a.b.c", "mongodb", 1};
             s.load_balanced = true;
         }},
        {"readPreferenceTags", [](auto& s) { s.read_preference.tag_sets = {{{"a", "b"}}}; }},
        {"maxStalenessSeconds", [](auto& s) { s.read_preference.max_staleness = 90s; }},
        {"journal",
         [](auto& s) {
             s.write_concern.w = 0;
             s.write_concern.journal = true;
         }},
        {"minPoolSize", [](auto& s) { s.pool.min_size = 101; }},
        {"proxyPort", [](auto& s) { s.proxy.port = 1080; }},
        {"proxyUsername", [](auto& s) { s.proxy.username = "u"; }},
        {"proxyPassword", [](auto& s) { s.proxy.password = "lovelace"; }},
        {"proxyUsername", [](auto& s) { s.proxy = {"h", {}, "u", {}}; }},
        {"proxyPassword", [](auto& s) { s.proxy = {"h", {}, {}, "lovelace"}; }},
        {"authMechanism", [](auto& s) { s.credential.emplace().source = "admin"; }},
    };
    for (const wrong& r : table) {
        SCOPED_TRACE(r.option);
        client_settings s = one_host();
        r.set(s);
        const auto checked = validate(s);
        ASSERT_FALSE(checked);
        EXPECT_EQ(checked.error().code(), errc::invalid_option);
        EXPECT_TRUE(checked.error().message().starts_with(r.option)) << checked.error().message();
        EXPECT_EQ(checked.error().context("option"), r.option);
        if (r.id)
            VERIFIES_ROW(r.id);
    }
}

TEST(client_settings, values_outside_their_bounds_are_refused)
{
    const wrong table[] = {
        {"heartbeatFrequencyMS", [](auto& s) { s.heartbeat_frequency = 499ms; }, "SD-044"},
        {"serverSelectionTimeoutMS", [](auto& s) { s.server_selection_timeout = 0ms; }},
        {"waitQueueTimeoutMS", [](auto& s) { s.pool.wait_queue_timeout = 0ms; }},
        {"timeoutMS", [](auto& s) { s.timeout = -1ms; }},
        {"connectTimeoutMS", [](auto& s) { s.connect_timeout = -1ms; }},
        {"socketTimeoutMS", [](auto& s) { s.socket_timeout = -1ms; }},
        {"localThresholdMS", [](auto& s) { s.local_threshold = -1ms; }},
        {"maxIdleTimeMS", [](auto& s) { s.pool.max_idle_time = -1ms; }},
        {"maxConnecting", [](auto& s) { s.pool.max_connecting = 0; }},
        {"proxyPort", [](auto& s) { s.proxy = {"h", 65536, {}, {}}; }},
        {"proxyPort", [](auto& s) { s.proxy = {"h", 0, {}, {}}; }},
        {"proxyHost", [](auto& s) { s.proxy.host = ""; }},
        {"appName", [](auto& s) { s.app_name = std::string(129, 'a'); }},
        {"compressors", [](auto& s) { s.compressors = {"zlib", "rar"}; }},
        {"zlibCompressionLevel", [](auto& s) { s.zlib_level = 10; }},
        {"zlibCompressionLevel", [](auto& s) { s.zlib_level = -2; }},
        {"replicaSet", [](auto& s) { s.replica_set = ""; }},
        {"srvServiceName", [](auto& s) { s.srv = srv_settings{"a.b.c", "-", 0}; }},
        {"w", [](auto& s) { s.write_concern.w = -1; }},
        {"maxStalenessSeconds",
         [](auto& s) { s.read_preference = {read_mode::nearest, {}, std::chrono::seconds{0}}; }},
    };
    for (const wrong& r : table) {
        SCOPED_TRACE(r.option);
        client_settings s = one_host();
        r.set(s);
        const auto checked = validate(s);
        ASSERT_FALSE(checked);
        EXPECT_EQ(checked.error().context("option"), r.option) << checked.error().message();
        if (r.id)
            VERIFIES_ROW(r.id);
    }
    client_settings at_the_edge = one_host();
    at_the_edge.heartbeat_frequency = 500ms;
    at_the_edge.app_name = std::string(128, 'a');
    at_the_edge.pool.max_size = 0;
    at_the_edge.pool.min_size = 101;
    at_the_edge.timeout = 0ms;
    at_the_edge.proxy = {"h", 65535, "u", "lovelace"};
    at_the_edge.read_preference.tag_sets = {{}};
    EXPECT_TRUE(validate(at_the_edge));
}

/// Each of the seven pairs of TLS switches that exclude each other, and those that do not.
TEST(client_settings, conflicting_insecure_tls_options_are_refused)
{
    using tls_switch = std::optional<bool> tls_settings::*;
    constexpr tls_switch insecure = &tls_settings::insecure;
    constexpr tls_switch certificates = &tls_settings::allow_invalid_certificates;
    constexpr tls_switch hostnames = &tls_settings::allow_invalid_hostnames;
    constexpr tls_switch ocsp = &tls_settings::disable_ocsp_endpoint_check;
    constexpr tls_switch revocation = &tls_settings::disable_certificate_revocation_check;
    struct row {
        tls_switch one;
        tls_switch other;
        bool legal;
    };
    const row table[] = {
        {insecure, certificates, false}, {insecure, hostnames, false},
        {insecure, ocsp, false},         {insecure, revocation, false},
        {certificates, ocsp, false},     {certificates, revocation, false},
        {ocsp, revocation, false},       {certificates, hostnames, true},
        {hostnames, ocsp, true},         {hostnames, revocation, true},
    };
    for (const row& r : table)
        for (const bool value : {true, false}) {
            client_settings s = one_host();
            s.tls.*r.one = value;
            s.tls.*r.other = value;
            EXPECT_EQ(validate(s).has_value(), r.legal);
        }
}

TEST(client_settings, tls_is_used_if_enabled_or_implied)
{
    client_settings s = one_host();
    s.tls.ca_file = "ca.pem";
    EXPECT_TRUE(uses_tls(s));
    s.tls.enabled = false;
    EXPECT_FALSE(uses_tls(s));
    client_settings from_srv;
    from_srv.srv.emplace();
    EXPECT_TRUE(uses_tls(from_srv));
    from_srv.tls.enabled = false;
    EXPECT_FALSE(uses_tls(from_srv));
    client_settings asked = one_host();
    asked.tls.enabled = true;
    EXPECT_TRUE(uses_tls(asked));
    client_settings loosened = one_host();
    loosened.tls.insecure = false;
    EXPECT_TRUE(uses_tls(loosened));
}

TEST(client_settings, options_of_another_profile_warn)
{
    struct row {
        profile_name profile;
        std::function<void(client_settings&)> set;
        std::string_view warned;
    };
    constexpr auto ours = profile_name::as_specified;
    constexpr auto theirs = profile_name::upstream_2026_07;
    const row table[] = {
        {ours, [](auto& s) { s.adaptive_retries = true; }, ""},
        {theirs, [](auto& s) { s.adaptive_retries = true; }, "adaptiveRetries"},
        {theirs, [](auto& s) { s.adaptive_retries = false; }, "adaptiveRetries"},
        {ours, [](auto& s) { s.max_adaptive_retries = 1; }, "maxAdaptiveRetries"},
        {theirs, [](auto& s) { s.max_adaptive_retries = 1; }, ""},
        {ours, [](auto& s) { s.enable_overload_retargeting = true; }, "enableOverloadRetargeting"},
        {theirs, [](auto& s) { s.enable_overload_retargeting = true; }, ""},
    };
    for (const row& r : table) {
        client_settings s = one_host();
        s.resilience_profile = r.profile;
        r.set(s);
        const auto warnings = validate(s).value();
        EXPECT_EQ(warnings.size(), r.warned.empty() ? 0u : 1u);
        for (const std::string& w : warnings)
            EXPECT_TRUE(w.starts_with(r.warned)) << w;
    }
}

TEST(client_settings, adaptive_retry_options_follow_the_profile)
{
    client_settings s = one_host();
    s.adaptive_retries = true;
    s.max_adaptive_retries = 7;
    EXPECT_EQ(profile_of(s), as_specified);
    EXPECT_TRUE(uses_token_bucket(s));
    s.resilience_profile = profile_name::upstream_2026_07;
    EXPECT_EQ(profile_of(s).max_overload_retries, 7u);
    EXPECT_FALSE(uses_token_bucket(s));
    s.max_adaptive_retries.reset();
    EXPECT_EQ(profile_of(s), upstream_2026_07);
}

TEST(service_name, service_names_follow_rfc_6335)
{
    for (const std::string_view good : {"mongodb", "a", "a1", "1a", "my-name", "A-9"})
        EXPECT_TRUE(is_service_name(good)) << good;
    for (const std::string_view bad : {"", "-a", "a-", "a--b", "12", "a_b", "a.b", "a b"})
        EXPECT_FALSE(is_service_name(bad)) << bad;
    EXPECT_TRUE(is_service_name(std::string(62, 'a')));
    EXPECT_FALSE(is_service_name(std::string(63, 'a')));
}

}  // namespace
}  // namespace holdfast::core::mongo::client_settings_test
