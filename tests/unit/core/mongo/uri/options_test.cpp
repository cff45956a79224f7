#include "core/mongo/uri/option_table.hpp"
#include "core/mongo/uri/uri.hpp"
#include "support/verifies.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace holdfast::core::mongo::options_test {
namespace {

using namespace std::chrono_literals;

parsed_uri parse(const std::string& text)
{
    auto parsed = parse_uri(text);
    EXPECT_TRUE(parsed) << text << ": " << (parsed ? "" : parsed.error().message());
    return parsed ? *std::move(parsed) : parsed_uri{};
}

/// One row per option, and what it changes; nothing else may change.
struct stored {
    std::string_view option;
    std::string_view value;
    std::function<void(client_settings&)> change;
    std::string_view also = "";   // what must be there too
    std::string_view start = "mongodb://h/?";
};

const stored rows[] = {
    {"replicaSet", "rs", [](auto& s) { s.replica_set = "rs"; }},
    {"directConnection", "true", [](auto& s) { s.direct_connection = true; }},
    {"loadBalanced", "true", [](auto& s) { s.load_balanced = true; }},
    {"srvServiceName", "x", [](auto& s) { s.srv->service_name = "x"; }, "", "mongodb+srv://h/?"},
    {"srvMaxHosts", "3", [](auto& s) { s.srv->max_hosts = 3; }, "", "mongodb+srv://h/?"},
    {"appName", "a%20b", [](auto& s) { s.app_name = "a b"; }},
    {"authSource", "x", [](auto& s) { s.credential->source = "x"; }, "", "mongodb://u@h/?"},
    {"authMechanism", "MONGODB-X509",
     [](auto& s) { s.credential = {{}, {}, "$external", "MONGODB-X509", {}}; }},
    {"authMechanismProperties", "service_realm:x",
     [](auto& s) { s.credential->properties["SERVICE_REALM"] = "x"; }, "&authMechanism=GSSAPI",
     "mongodb://u@h/?"},
    {"scramMaxIterations", "4096", [](auto& s) { s.scram_max_iterations = 4'096; }},
    {"tls", "true", [](auto& s) { s.tls.enabled = true; }},
    {"tlsCAFile", "a", [](auto& s) { s.tls.ca_file = "a"; }},
    {"tlsCertificateKeyFile", "a", [](auto& s) { s.tls.certificate_key_file = "a"; }},
    {"tlsCertificateKeyFilePassword", "lovelace",
     [](auto& s) { s.tls.certificate_key_file_password = "lovelace"; }},
    {"tlsAllowInvalidCertificates", "true",
     [](auto& s) { s.tls.allow_invalid_certificates = true; }},
    {"tlsAllowInvalidHostnames", "false", [](auto& s) { s.tls.allow_invalid_hostnames = false; }},
    {"tlsDisableOCSPEndpointCheck", "true",
     [](auto& s) { s.tls.disable_ocsp_endpoint_check = true; }},
    {"tlsDisableCertificateRevocationCheck", "true",
     [](auto& s) { s.tls.disable_certificate_revocation_check = true; }},
    {"tlsInsecure", "true", [](auto& s) { s.tls.insecure = true; }},
    {"compressors", "zstd,snappy", [](auto& s) { s.compressors = {"zstd", "snappy"}; }},
    {"zlibCompressionLevel", "9", [](auto& s) { s.zlib_level = 9; }},
    {"connectTimeoutMS", "1", [](auto& s) { s.connect_timeout = 1ms; }},
    {"socketTimeoutMS", "1", [](auto& s) { s.socket_timeout = 1ms; }},
    {"proxyHost", "p", [](auto& s) { s.proxy.host = "p"; }},
    {"proxyPort", "1", [](auto& s) { s.proxy.port = 1; }, "&proxyHost=p"},
    {"proxyUsername", "u", [](auto& s) { s.proxy.username = "u"; },
     "&proxyHost=p&proxyPassword=lovelace"},
    {"proxyPassword", "lovelace", [](auto& s) { s.proxy.password = "lovelace"; },
     "&proxyHost=p&proxyUsername=u"},
    {"maxPoolSize", "5", [](auto& s) { s.pool.max_size = 5; }},
    {"minPoolSize", "5", [](auto& s) { s.pool.min_size = 5; }},
    {"maxConnecting", "5", [](auto& s) { s.pool.max_connecting = 5; }},
    {"maxIdleTimeMS", "5", [](auto& s) { s.pool.max_idle_time = 5ms; }},
    {"waitQueueTimeoutMS", "5", [](auto& s) { s.pool.wait_queue_timeout = 5ms; }},
    {"heartbeatFrequencyMS", "501", [](auto& s) { s.heartbeat_frequency = 501ms; }},
    {"serverMonitoringMode", "poll", [](auto& s) { s.monitoring = monitoring_mode::poll; }},
    {"serverSelectionTimeoutMS", "5", [](auto& s) { s.server_selection_timeout = 5ms; }},
    {"localThresholdMS", "0", [](auto& s) { s.local_threshold = 0ms; }},
    {"serverSelectionTryOnce", "true", [](auto& s) { s.server_selection_try_once = true; }},
    {"timeoutMS", "0", [](auto& s) { s.timeout = 0ms; }},
    {"readPreference", "nearest", [](auto& s) { s.read_preference.mode = read_mode::nearest; }},
    {"readPreferenceTags", "dc:ny,rack:1",
     [](auto& s) { s.read_preference.tag_sets = {{{"dc", "ny"}, {"rack", "1"}}}; },
     "&readPreference=nearest"},
    {"maxStalenessSeconds", "90", [](auto& s) { s.read_preference.max_staleness = 90s; },
     "&readPreference=nearest"},
    {"readConcernLevel", "x", [](auto& s) { s.read_concern.level = "x"; }},
    {"w", "2", [](auto& s) { s.write_concern.w = 2; }},
    {"journal", "true", [](auto& s) { s.write_concern.journal = true; }},
    {"wTimeoutMS", "9223372036854775807",
     [](auto& s) { s.write_concern.wtimeout = std::chrono::milliseconds::max(); }},
    {"retryReads", "false", [](auto& s) { s.retry_reads = false; }},
    {"retryWrites", "false", [](auto& s) { s.retry_writes = false; }},
    {"resilienceProfile", "upstream_2026_07",
     [](auto& s) { s.resilience_profile = profile_name::upstream_2026_07; }},
    {"adaptiveRetries", "true", [](auto& s) { s.adaptive_retries = true; }},
    {"maxAdaptiveRetries", "0", [](auto& s) { s.max_adaptive_retries = 0; },
     "&resilienceProfile=upstream_2026_07"},
    {"enableOverloadRetargeting", "true", [](auto& s) { s.enable_overload_retargeting = true; },
     "&resilienceProfile=upstream_2026_07"},
    {"failFastOnTerminalErrors", "false", [](auto& s) { s.fail_fast_on_terminal_errors = false; }},
    {"rescueFromDeposedPrimary", "false", [](auto& s) { s.rescue_from_deposed_primary = false; }},
};

TEST(uri_options, each_option_changes_only_its_setting)
{
    std::set<std::string_view> seen;
    for (const stored& r : rows) {
        SCOPED_TRACE(r.option);
        const option* const which = find_option(r.option);
        ASSERT_TRUE(which);
        EXPECT_EQ(which->name, r.option);
        seen.insert(r.option);
        const std::string start = std::string{r.start} + "zlibCompressionLevel=-1";
        const std::string given = std::string{r.option} + '=' + std::string{r.value};
        // What the option needs besides may itself be refused without it, so it is set by hand.
        client_settings expected = r.also.starts_with("&proxy")
                                       ? parse(start + "&proxyHost=p").settings
                                       : parse(start + std::string{r.also}).settings;
        if (r.also.ends_with("proxyPassword=lovelace"))
            expected.proxy.password = "lovelace";
        if (r.also.ends_with("proxyUsername=u"))
            expected.proxy.username = "u";
        r.change(expected);
        const parsed_uri found = parse(std::string{r.start} + given + std::string{r.also});
        EXPECT_EQ(found.settings, expected);
        EXPECT_TRUE(found.warnings.empty()) << found.warnings.front();
    }
    for (const option& o : all_options())
        EXPECT_TRUE(seen.contains(o.name)) << o.name;
}

TEST(uri_options, option_names_ignore_case_and_are_unique)
{
    std::set<std::string> names;
    for (const option& o : all_options()) {
        std::string upper{o.name};
        for (char& c : upper)
            c = static_cast<char>(std::toupper(c));
        EXPECT_EQ(find_option(upper), &o);
        EXPECT_TRUE(names.insert(upper).second) << o.name;
        EXPECT_FALSE(allowed_values(o).empty()) << o.name;
        EXPECT_TRUE(o.meaning.ends_with('.')) << o.name;
    }
    for (const option_alias& a : all_aliases()) {
        EXPECT_FALSE(find_option(a.name)) << a.name;
        EXPECT_TRUE(find_option(a.stands_for)) << a.name;
    }
    EXPECT_FALSE(find_option(""));
    EXPECT_FALSE(find_option("minHeartbeatFrequencyMS"));
}

/// Whether the value of an option is of a type, or may be.
template <class T>
bool holds(const option& o)
{
    return std::visit(
        []<class Place>(Place) {
            return std::is_same_v<Place, place<T>> ||
                   std::is_same_v<Place, place<std::optional<T>>>;
        },
        o.where);
}

TEST(uri_options, numeric_options_refuse_values_out_of_bounds)
{
    constexpr auto largest = std::numeric_limits<std::int64_t>::max();
    for (const option& o : all_options()) {
        if (!holds<std::uint32_t>(o) && !holds<std::int32_t>(o) &&
            !holds<std::chrono::milliseconds>(o))
            continue;
        SCOPED_TRACE(o.name);
        const auto take = [&](const std::string& text) {
            client_settings s;
            const reading outcome = take_value(o, s, text);
            EXPECT_EQ(outcome.is == reading::status::taken,
                      written(o, s) == std::vector<std::string>{text});
            return outcome.is == reading::status::taken;
        };
        EXPECT_TRUE(take(std::to_string(o.least)));
        EXPECT_TRUE(take(std::to_string(o.most)));
        EXPECT_FALSE(take(std::to_string(o.least - 1)));
        EXPECT_FALSE(take(o.most == largest ? "9223372036854775808" : std::to_string(o.most + 1)));
        for (const char* wrong : {"", "x", "1x", " 1", "+1", "1.0", "0x1"})
            EXPECT_FALSE(take(wrong)) << wrong;
    }
}

TEST(uri_options, boolean_options_accept_legacy_spellings_with_a_warning)
{
    for (const option& o : all_options()) {
        if (!holds<bool>(o))
            continue;
        SCOPED_TRACE(o.name);
        client_settings s;
        for (const std::string_view text : {"true", "1", "yes", "y", "t"}) {
            const reading outcome = take_value(o, s, text);
            EXPECT_EQ(outcome.is, reading::status::taken) << text;
            EXPECT_EQ(outcome.note.empty(), text == "true") << text;
            EXPECT_EQ(written(o, s), std::vector<std::string>{"true"});
        }
        for (const std::string_view text : {"false", "0", "-1", "no", "n", "f"}) {
            const reading outcome = take_value(o, s, text);
            EXPECT_EQ(outcome.is, reading::status::taken) << text;
            EXPECT_EQ(outcome.note.empty(), text == "false") << text;
            EXPECT_EQ(written(o, s), std::vector<std::string>{"false"});
        }
        for (const std::string_view text : {"", "invalid", "True", "tru", "2"})
            EXPECT_NE(take_value(o, s, text).is, reading::status::taken) << text;
    }
}

TEST(uri_options, invalid_value_warns_and_keeps_the_default)
{
    struct row {
        std::string_view options;
        std::string_view warning;
        std::string_view allowed;
    };
    const row table[] = {
        {"maxPoolSize=x", "maxPoolSize: ", "a number from 0 to 2147483647"},
        {"maxPoolSize=%", "maxPoolSize: ", "a number from 0 to 2147483647"},
        {"maxPoolSize=%FF", "maxPoolSize: ", "a number from 0 to 2147483647"},
        {"retryReads=maybe", "retryReads: ", "true or false"},
        {"retryReads=1", "retryReads: a deprecated spelling of true", "true or false"},
        {"replicaSet=", "replicaSet: ", "a text that is not empty"},
        {"replicaSet=a%00b", "replicaSet: ", "a text that is not empty"},
        {"w=", "w: ", "a number from 0 on, majority"},
        {"compressors=rar", "compressors: ", "snappy, zlib, zstd"},
        {"readPreference=any", "readPreference: ", "primary, primaryPreferred"},
        {"readPreferenceTags=dc:ny,x", "readPreferenceTags: ", "name:value"},
        {"readPreferenceTags=:x", "readPreferenceTags: ", "name:value"},
        {"maxStalenessSeconds=89", "maxStalenessSeconds: ", "-1, or seconds from 90"},
        {"maxStalenessSeconds=0", "maxStalenessSeconds: ", "-1, or seconds from 90"},
        {"maxStalenessSeconds=2147483648", "maxStalenessSeconds: ", "-1, or seconds from 90"},
        {"serverMonitoringMode=Poll", "serverMonitoringMode: ", "auto, stream or poll"},
        {"resilienceProfile=x", "resilienceProfile: ", "as_specified or upstream_2026_07"},
        {"authMechanism=MONGODB-CR", "authMechanism: ", "SCRAM-SHA-256"},
        {"authMechanismProperties=x", "authMechanismProperties: ", "NAME:value"},
    };
    const client_settings untouched = parse("mongodb://h").settings;
    for (const row& r : table) {
        SCOPED_TRACE(r.options);
        const parsed_uri found = parse("mongodb://h/?" + std::string{r.options});
        EXPECT_EQ(found.settings, untouched);
        ASSERT_EQ(found.warnings.size(), 1u);
        EXPECT_TRUE(found.warnings[0].starts_with(r.warning)) << found.warnings[0];
        EXPECT_NE(found.warnings[0].find(r.allowed), std::string::npos) << found.warnings[0];
    }
    EXPECT_FALSE(parse("mongodb://h/?appName=" + std::string(129, 'a')).settings.app_name);
    EXPECT_TRUE(parse("mongodb://h/?appName=" + std::string(128, 'a')).settings.app_name);
}

TEST(uri_options, max_staleness_seconds_minus_1_means_no_limit)
{
    const parsed_uri any = parse("mongodb://h/?maxStalenessSeconds=-1");
    EXPECT_FALSE(any.settings.read_preference.max_staleness);
    EXPECT_TRUE(any.warnings.empty());
    EXPECT_EQ(parse("mongodb://h/?maxStalenessSeconds=-2").warnings.size(), 1u);
}

TEST(uri_options, repeated_option_warns_unless_it_is_a_list)
{
    const parsed_uri twice = parse("mongodb://h/?maxPoolSize=1&MAXPOOLSIZE=2");
    EXPECT_EQ(twice.settings.pool.max_size, 2u);
    EXPECT_EQ(twice.warnings,
              std::vector<std::string>{"maxPoolSize: given more than once; the last one counts"});

    const parsed_uri list = parse(
        "mongodb://h/?readPreferenceTags=a:1&readPreference=nearest&readPreferenceTags=b:x:y&"
        "readPreferenceTags=");
    EXPECT_EQ(list.settings.read_preference.tag_sets,
              (std::vector<tag_set>{{{"a", "1"}}, {{"b", "x:y"}}, {}}));
    EXPECT_TRUE(list.warnings.empty());

    for (const std::string_view same : {"tls=true&ssl=true", "ssl=true&tls=true", "tls=true&tls=1",
                                        "ssl=true&ssl=true", "ssl=true"}) {
        const parsed_uri found = parse("mongodb://h/?" + std::string{same});
        EXPECT_EQ(found.settings.tls.enabled, true) << same;
        EXPECT_EQ(found.warnings.size(), same.ends_with("=1") ? 1u : 0u) << same;
    }
}

TEST(uri_options, deprecated_name_yields_to_the_current_one)
{
    const parsed_uri old = parse("mongodb://h/?j=true&wtimeout=5&secondaryAcceptableLatencyMS=7");
    EXPECT_EQ(old.settings.write_concern.journal, true);
    EXPECT_EQ(old.settings.write_concern.wtimeout, 5ms);
    EXPECT_EQ(old.settings.local_threshold, 7ms);
    EXPECT_EQ(old.warnings,
              (std::vector<std::string>{"secondaryAcceptableLatencyMS: is a deprecated name of "
                                        "localThresholdMS",
                                        "j: is a deprecated name of journal",
                                        "wtimeout: is a deprecated name of wTimeoutMS"}));
    for (const std::string_view both : {"wtimeout=5&wTimeoutMS=10", "wTimeoutMS=10&wtimeout=5"}) {
        const parsed_uri found = parse("mongodb://h/?" + std::string{both});
        EXPECT_EQ(found.settings.write_concern.wtimeout, 10ms);
        EXPECT_EQ(found.warnings,
                  std::vector<std::string>{
                      "wtimeout: is ignored, since its replacement wTimeoutMS is given"});
    }
}

TEST(uri_options, unknown_compressors_are_dropped_with_a_warning)
{
    const parsed_uri some = parse("mongodb://h/?compressors=zlib,rar,snappy,zlib");
    EXPECT_EQ(some.settings.compressors, (std::vector<std::string>{"zlib", "snappy"}));
    ASSERT_EQ(some.warnings.size(), 1u);
    EXPECT_TRUE(some.warnings[0].starts_with("compressors: a compressor that is not known"));
}

TEST(uri_options, values_can_be_printed_as_option_text)
{
    const parsed_uri found = parse(
        "mongodb://ada:lovelace@h/?w=majority&readPreference=nearest&maxStalenessSeconds=120&"
        "readPreferenceTags=b:2,a:1&readPreferenceTags=&compressors=zlib,zstd&authSource=x");
    const auto text = [&](std::string_view name) {
        return written(*find_option(name), found.settings);
    };
    using texts = std::vector<std::string>;
    EXPECT_EQ(text("w"), texts{"majority"});
    EXPECT_EQ(text("readPreference"), texts{"nearest"});
    EXPECT_EQ(text("maxStalenessSeconds"), texts{"120"});
    EXPECT_EQ(text("readPreferenceTags"), (texts{"a:1,b:2", ""}));
    EXPECT_EQ(text("compressors"), texts{"zlib,zstd"});
    EXPECT_EQ(text("authSource"), texts{"x"});
    EXPECT_EQ(text("authMechanism"), texts{});
    EXPECT_EQ(text("serverMonitoringMode"), texts{"auto"});
    EXPECT_EQ(text("replicaSet"), texts{});
}

TEST(uri_options, min_heartbeat_frequency_ms_cannot_be_set)
{
    VERIFIES("SD-011");
    EXPECT_EQ(min_heartbeat_frequency, 500ms);
    const parsed_uri found = parse("mongodb://h/?minHeartbeatFrequencyMS=10");
    EXPECT_EQ(found.settings, parse("mongodb://h").settings);
    EXPECT_EQ(found.warnings.size(), 1u);
}

}  // namespace
}  // namespace holdfast::core::mongo::options_test
