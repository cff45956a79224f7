#include "core/mongo/settings/client_settings.hpp"

#include "core/mongo/error/errc.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

namespace holdfast::core::mongo {

namespace {

using std::chrono::milliseconds;

error refuse(std::string_view option, std::string_view why)
{
    return error{errc::invalid_option, std::string{option} + ": " + std::string{why}}.with_context(
        "option", std::string{option});
}

error contradiction(std::string_view one, std::string_view other, std::string_view why)
{
    return refuse(one, "cannot be combined with " + std::string{other} + "; " + std::string{why});
}

/// Which servers may be talked to at all.
result<void> check_topology(const client_settings& s)
{
    constexpr std::string_view direct = "directConnection=true";
    constexpr std::string_view balanced = "loadBalanced=true";
    if (s.direct_connection && s.srv)
        return contradiction(direct, "mongodb+srv", "SRV records may name many servers");
    if (s.direct_connection && s.seeds.size() > 1)
        return contradiction(direct, "more than one host", "it means one server and no other");
    if (s.load_balanced && s.direct_connection)
        return contradiction(balanced, direct, "a balancer chooses the server");
    if (s.load_balanced && s.replica_set)
        return contradiction(balanced, "replicaSet", "what is behind a balancer is not examined");
    if (s.load_balanced && s.seeds.size() > 1)
        return contradiction(balanced, "more than one host", "there is one balancer");
    if (s.replica_set && s.replica_set->empty())
        return refuse("replicaSet", "the name of a replica set is expected");
    if (!s.srv || s.srv->max_hosts == 0)
        return {};
    if (s.replica_set)
        return contradiction("srvMaxHosts", "replicaSet", "a set must be known as a whole");
    if (s.load_balanced)
        return contradiction("srvMaxHosts", balanced, "there is one balancer");
    return {};
}

/// Each of these disables a check that another disables, too: two of them are a contradiction.
result<void> check_tls(const tls_settings& s)
{
    struct loosening {
        std::string_view name;
        bool is_set;
    };
    const loosening certificates{"tlsAllowInvalidCertificates",
                                 s.allow_invalid_certificates.has_value()};
    const loosening hostnames{"tlsAllowInvalidHostnames", s.allow_invalid_hostnames.has_value()};
    const loosening ocsp{"tlsDisableOCSPEndpointCheck", s.disable_ocsp_endpoint_check.has_value()};
    const loosening revocation{"tlsDisableCertificateRevocationCheck",
                               s.disable_certificate_revocation_check.has_value()};
    const loosening insecure{"tlsInsecure", s.insecure.has_value()};
    const std::pair<const loosening&, const loosening&> rivals[] = {
        {insecure, certificates}, {insecure, hostnames},      {insecure, ocsp},
        {insecure, revocation},   {certificates, ocsp},       {certificates, revocation},
        {ocsp, revocation},
    };
    for (const auto& [one, other] : rivals)
        if (one.is_set && other.is_set)
            return contradiction(one.name, other.name, "set one of them, true or false");
    return {};
}

result<void> check_proxy(const proxy_settings& s)
{
    constexpr std::string_view needs_host = "only together with proxyHost";
    if (!s.host) {
        if (s.port)
            return refuse("proxyPort", needs_host);
        if (s.username)
            return refuse("proxyUsername", needs_host);
        if (s.password)
            return refuse("proxyPassword", needs_host);
        return {};
    }
    if (s.host->empty())
        return refuse("proxyHost", "a host name or an address is expected");
    if (s.port && (*s.port == 0 || *s.port > 65535))
        return refuse("proxyPort", "a number from 1 to 65535 is expected");
    if (s.username.has_value() != s.password.has_value())
        return refuse(s.username ? "proxyUsername" : "proxyPassword",
                      "proxyUsername and proxyPassword are given both or neither");
    return {};
}

result<void> check_pool(const pool_settings& s)
{
    if (s.max_connecting == 0)
        return refuse("maxConnecting", "a number from 1 on is expected");
    if (s.max_size != 0 && s.min_size > s.max_size)
        return refuse("minPoolSize", "at most maxPoolSize, or maxPoolSize=0 for no limit");
    return {};
}

result<void> check_times(const client_settings& s)
{
    struct limit {
        std::string_view name;
        milliseconds given;
        milliseconds least;
    };
    const milliseconds none{0};
    const limit limits[] = {
        {"heartbeatFrequencyMS", s.heartbeat_frequency, min_heartbeat_frequency},
        {"serverSelectionTimeoutMS", s.server_selection_timeout, milliseconds{1}},
        {"waitQueueTimeoutMS", s.pool.wait_queue_timeout.value_or(milliseconds{1}),
         milliseconds{1}},
        {"timeoutMS", s.timeout.value_or(none), none},
        {"connectTimeoutMS", s.connect_timeout, none},
        {"socketTimeoutMS", s.socket_timeout, none},
        {"localThresholdMS", s.local_threshold, none},
        {"maxIdleTimeMS", s.pool.max_idle_time, none},
    };
    for (const limit& l : limits)
        if (l.given < l.least)
            return refuse(l.name,
                          "at least " + std::to_string(l.least.count()) + " ms are expected");
    return {};
}

result<void> check_reading(const read_preference& s)
{
    const bool has_tags = std::ranges::any_of(s.tag_sets,
                                              [](const tag_set& tags) { return !tags.empty(); });
    if (s.mode == read_mode::primary && has_tags)
        return contradiction("readPreferenceTags", "readPreference=primary",
                             "tags choose among secondaries");
    if (s.mode == read_mode::primary && s.max_staleness)
        return contradiction("maxStalenessSeconds", "readPreference=primary",
                             "a primary is never stale");
    if (s.max_staleness && s.max_staleness->count() <= 0)
        return refuse("maxStalenessSeconds", "a number from 90 on is expected, or none at all");
    return {};
}

result<void> check_names(const client_settings& s)
{
    constexpr std::array<std::string_view, 3> compressors{"snappy", "zlib", "zstd"};
    if (s.app_name && s.app_name->size() > longest_app_name)
        return refuse("appName", "at most 128 bytes are allowed");
    for (const std::string& name : s.compressors)
        if (std::ranges::find(compressors, name) == compressors.end())
            return refuse("compressors", "snappy, zlib and zstd are allowed");
    if (s.zlib_level < -1 || s.zlib_level > 9)
        return refuse("zlibCompressionLevel", "a number from -1 to 9 is expected");
    if (s.srv && !is_service_name(s.srv->service_name))
        return refuse("srvServiceName",
                      "letters, digits and single hyphens are expected, at most 62");
    return {};
}

std::vector<std::string> find_warnings(const client_settings& s)
{
    std::vector<std::string> found;
    const auto without_effect = [&](std::string_view option, profile_name needed) {
        found.push_back(std::string{option} + ": has no effect under resilienceProfile " +
                        std::string{name_of(s.resilience_profile)} + ", only under " +
                        std::string{name_of(needed)});
    };
    if (s.seeds.empty() && !s.srv)
        found.push_back("no hosts were given: every operation will fail for want of a server");
    if (s.resilience_profile == profile_name::as_specified) {
        if (s.max_adaptive_retries)
            without_effect("maxAdaptiveRetries", profile_name::upstream_2026_07);
        if (s.enable_overload_retargeting)
            without_effect("enableOverloadRetargeting", profile_name::upstream_2026_07);
    } else if (s.adaptive_retries) {
        without_effect("adaptiveRetries", profile_name::as_specified);
    }
    return found;
}

}  // namespace

bool uses_tls(const client_settings& settings) noexcept
{
    const tls_settings& s = settings.tls;
    const bool is_meant = settings.srv || s.ca_file || s.certificate_key_file ||
                          s.certificate_key_file_password || s.allow_invalid_certificates ||
                          s.allow_invalid_hostnames || s.disable_ocsp_endpoint_check ||
                          s.disable_certificate_revocation_check || s.insecure;
    return s.enabled.value_or(is_meant);
}

resilience_profile profile_of(const client_settings& settings) noexcept
{
    if (settings.resilience_profile == profile_name::as_specified)
        return as_specified;
    resilience_profile chosen = upstream_2026_07;
    chosen.max_overload_retries = settings.max_adaptive_retries.value_or(
        chosen.max_overload_retries);
    return chosen;
}

bool uses_token_bucket(const client_settings& settings) noexcept
{
    return profile_of(settings).has_token_bucket && settings.adaptive_retries.value_or(false);
}

result<std::vector<std::string>> validate(const client_settings& settings)
{
    for (const result<void>& checked :
         {check_topology(settings), check_tls(settings.tls), check_proxy(settings.proxy),
          check_pool(settings.pool), check_times(settings), check_reading(settings.read_preference),
          check(settings.write_concern), check_names(settings)})
        if (!checked)
            return checked.error();
    if (settings.credential)
        if (auto checked = check(*settings.credential, profile_of(settings)); !checked)
            return checked.error();
    return find_warnings(settings);
}

bool is_service_name(std::string_view name) noexcept
{
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    return !name.empty() && name.size() <= 62 && !name.starts_with('-') && !name.ends_with('-') &&
           name.find("--") == name.npos && std::ranges::any_of(name, is_letter) &&
           std::ranges::all_of(name,
                               [&](char c) { return c == '-' || is_letter(c) || is_digit(c); });
}

}  // namespace holdfast::core::mongo
