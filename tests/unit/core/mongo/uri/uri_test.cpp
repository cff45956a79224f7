#include "core/mongo/uri/uri.hpp"

#include "core/mongo/error/errc.hpp"
#include "core/mongo/sdam/topology_description.hpp"
#include "support/verifies.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::mongo::uri_test {
namespace {

using namespace std::chrono_literals;

parsed_uri parse(std::string_view text)
{
    auto parsed = parse_uri(text);
    EXPECT_TRUE(parsed) << text << ": " << (parsed ? "" : parsed.error().message());
    return parsed ? *std::move(parsed) : parsed_uri{};
}

topology_description first_topology(std::string_view text)
{
    const client_settings s = parse(text).settings;
    return initial_topology({s.seeds, s.replica_set, s.direct_connection, s.load_balanced});
}

TEST(uri, seeds_are_lower_cased)
{
    VERIFIES("SD-027");
    VERIFIES("SD-028");
    EXPECT_EQ(parse("mongodb://A.Example.COM:27017").settings.seeds,
              std::vector{endpoint{"a.example.com:27017"}});
    EXPECT_EQ(parse("mongodb://a,b:1,[::1]:2/").settings.seeds,
              (std::vector{endpoint{"a:27017"}, endpoint{"b:1"}, endpoint{"[::1]:2"}}));
}

TEST(uri, options_decide_the_initial_topology_type)
{
    struct row {
        std::string_view text;
        topology_type type;
        std::optional<std::string> set_name;
        const char* id;
    };
    const row table[] = {
        {"mongodb://a/?directConnection=true", topology_type::single, {}, "SD-029"},
        {"mongodb://a/?directConnection=true&replicaSet=rs", topology_type::single, "rs", "SD-030"},
        {"mongodb://a/?directConnection=false", topology_type::unknown, {}, "SD-031"},
        {"mongodb://a/?directConnection=false&replicaSet=rs", topology_type::replica_set_no_primary,
         "rs", "SD-032"},
        {"mongodb://a", topology_type::unknown, {}, "SD-031"},
        {"mongodb://a/?replicaSet=rs", topology_type::replica_set_no_primary, "rs", "SD-038"},
        {"mongodb://a/?loadBalanced=true", topology_type::load_balanced, {}, "SD-038"},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.text);
        const topology_description t = first_topology(r.text);
        EXPECT_EQ(t.type, r.type);
        EXPECT_EQ(t.set_name, r.set_name);
        VERIFIES_ROW(r.id);
    }
}

TEST(uri, contradicting_options_are_refused)
{
    struct row {
        std::string_view text;
        std::string_view option;
        const char* id = nullptr;
    };
    const row table[] = {
        {"mongodb://a,b/?directConnection=true", "directConnection=true", "SD-037"},
        {"mongodb+srv://a.b.c/?directConnection=true", "directConnection=true"},
        {"mongodb://h/?loadBalanced=true&directConnection=true", "loadBalanced=true", "SD-039"},
        {"mongodb://h/?loadBalanced=true&replicaSet=rs", "loadBalanced=true", "SD-040"},
        {"mongodb://a,b/?loadBalanced=true", "loadBalanced=true"},
        {"mongodb://h/?srvServiceName=x", "srvServiceName"},
        {"mongodb://h/?srvMaxHosts=0", "srvMaxHosts"},
        {"mongodb://h/?srvMaxHosts=oops", "srvMaxHosts"},
        {"mongodb+srv://a.b.c/?srvMaxHosts=1&replicaSet=rs", "srvMaxHosts"},
        {"mongodb+srv://a.b.c/?srvMaxHosts=1&loadBalanced=true", "srvMaxHosts"},
        {"mongodb://h/?w=0&journal=true", "journal"},
        {"mongodb://h/?w=-1", "w"},
        {"mongodb://h/?w=2147483648", "w"},
        {"mongodb://h/?authSource=", "authSource"},
        {"mongodb://h/?tls=ture", "tls"},
        {"mongodb://h/?ssl=", "tls"},
        {"mongodb://h/?tls=true&ssl=false", "tls"},
        {"mongodb://h/?tls=true&tls=false", "tls"},
        {"mongodb://h/?tls=%FF", "tls"},
        {"mongodb://h/?proxyHost=a&proxyHost=a", "proxyHost"},
        {"mongodb://h/?readPreferenceTags=a:b", "readPreferenceTags"},
        {"mongodb://h/?maxStalenessSeconds=120", "maxStalenessSeconds"},
        {"mongodb://h/?minPoolSize=101", "minPoolSize"},
        {"mongodb://h/?authMechanism=PLAIN", "authMechanism"},
        {"mongodb://ada:lovelace@h/?authMechanismProperties=A:b", "authMechanismProperties"},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.text);
        const auto parsed = parse_uri(r.text);
        ASSERT_FALSE(parsed);
        EXPECT_EQ(parsed.error().code(), errc::invalid_option);
        EXPECT_EQ(parsed.error().context("option"), r.option) << parsed.error().message();
        if (r.id)
            VERIFIES_ROW(r.id);
    }
}

TEST(uri, malformed_host_is_named_by_its_number_only)
{
    for (const std::string_view text : {"mongodb://a,b:x", "mongodb://a,b::1", "mongodb://a,",
                                        "mongodb://a,[b", "mongodb://a,%2Fb"}) {
        const auto parsed = parse_uri(text);
        ASSERT_FALSE(parsed) << text;
        EXPECT_EQ(parsed.error().code(), errc::invalid_connection_string);
        EXPECT_TRUE(parsed.error().message().starts_with("connection string: host number 2: "))
            << parsed.error().message();
    }
}

TEST(uri, credential_requires_a_user_or_a_mechanism)
{
    EXPECT_FALSE(parse("mongodb://h/db").settings.credential);
    EXPECT_FALSE(parse("mongodb://h/?authSource=db").settings.credential);
    const parsed_uri idle = parse("mongodb://h/?authMechanismProperties=A:b");
    EXPECT_FALSE(idle.settings.credential);
    ASSERT_EQ(idle.warnings.size(), 1u);
    EXPECT_TRUE(idle.warnings[0].starts_with("authMechanismProperties: has no effect"));

    const auto user = parse("mongodb://ada:lovelace@h/db").settings.credential;
    ASSERT_TRUE(user);
    EXPECT_EQ(*user, (credential{"ada", "lovelace", "db", {}, {}}));
    const auto certificate = parse("mongodb://h/db?authMechanism=MONGODB-X509").settings.credential;
    ASSERT_TRUE(certificate);
    EXPECT_EQ(*certificate, (credential{{}, {}, "$external", "MONGODB-X509", {}}));
    EXPECT_EQ(parse("mongodb://ada:lovelace@h/db?authSource=other").settings.credential->source,
              "other");
    const auto lower_case = parse(
        "mongodb://u@h/?authMechanism=GSSAPI&authMechanismProperties=service_name:x:y");
    EXPECT_EQ(lower_case.settings.credential->properties.at("SERVICE_NAME"), "x:y");
}

TEST(uri, one_seed_does_not_imply_direct_connection)
{
    VERIFIES("SD-043");
    const client_settings s = parse("mongodb://secondary/").settings;
    EXPECT_FALSE(s.direct_connection);
    EXPECT_EQ(s.heartbeat_frequency, 10s);
    EXPECT_EQ(parse("mongodb://a/?heartbeatFrequencyMS=5000").settings.heartbeat_frequency, 5s);
}

TEST(uri, heartbeat_frequency_ms_below_500_is_refused)
{
    VERIFIES("SD-044");
    const parsed_uri low = parse("mongodb://a/?heartbeatFrequencyMS=499");
    EXPECT_EQ(low.settings.heartbeat_frequency, 10s);
    ASSERT_EQ(low.warnings.size(), 1u);
    EXPECT_EQ(low.warnings[0],
              "heartbeatFrequencyMS: the value is not allowed, and ignored; allowed: milliseconds "
              "from 500 to 2147483647");
    const parsed_uri enough = parse("mongodb://a/?heartbeatFrequencyMS=500");
    EXPECT_EQ(enough.settings.heartbeat_frequency, 500ms);
    EXPECT_TRUE(enough.warnings.empty());
}

TEST(uri, retry_writes_is_spelled_in_camel_case_only)
{
    VERIFIES("RW-011");
    EXPECT_FALSE(parse("mongodb://h/?retryWrites=false").settings.retry_writes);
    EXPECT_TRUE(parse("mongodb://h/?retryWrites=true").settings.retry_writes);
    const parsed_uri other = parse("mongodb://h/?retry_writes=false");
    EXPECT_TRUE(other.settings.retry_writes);
    EXPECT_EQ(other.warnings,
              std::vector<std::string>{"option \"retry_writes\" is unknown and ignored"});
}

TEST(uri, retries_are_on_and_adaptive_retries_off_by_default)
{
    VERIFIES("BP-056");
    VERIFIES("BP-040");
    const client_settings s = parse("mongodb://h").settings;
    EXPECT_TRUE(s.retry_reads && s.retry_writes);
    EXPECT_FALSE(uses_token_bucket(s));
    const parsed_uri on = parse("mongodb://h/?adaptiveRetries=true&retryReads=false");
    EXPECT_TRUE(uses_token_bucket(on.settings));
    EXPECT_FALSE(on.settings.retry_reads);
    EXPECT_TRUE(on.warnings.empty());
}

TEST(uri, resilience_profile_option_selects_the_profile)
{
    EXPECT_EQ(profile_of(parse("mongodb://h/?resilienceProfile=as_specified").settings),
              as_specified);
    const parsed_uri upstream = parse(
        "mongodb://h/?maxAdaptiveRetries=3&enableOverloadRetargeting=true&"
        "resilienceProfile=upstream_2026_07");
    EXPECT_TRUE(upstream.warnings.empty());
    EXPECT_EQ(profile_of(upstream.settings).max_overload_retries, 3u);
    EXPECT_EQ(upstream.settings.enable_overload_retargeting, true);
    for (const std::string_view text :
         {"mongodb://h/?maxAdaptiveRetries=3", "mongodb://h/?enableOverloadRetargeting=true",
          "mongodb://h/?adaptiveRetries=true&resilienceProfile=upstream_2026_07",
          "mongodb://h/?resilienceProfile=newest"})
        EXPECT_EQ(parse(text).warnings.size(), 1u) << text;
    EXPECT_FALSE(
        parse("mongodb://h/?failFastOnTerminalErrors=false").settings.fail_fast_on_terminal_errors);
}

}  // namespace
}  // namespace holdfast::core::mongo::uri_test
