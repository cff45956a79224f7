// tidy: table: one row per option, so that there is one place to look an option up and to add one.
#include "core/mongo/uri/option_table.hpp"

#include "core/mongo/error/errc.hpp"
#include "core/mongo/uri/custom_values.hpp"

namespace holdfast::core::mongo {

namespace {

using settings = client_settings;

/// A member, or a member of a member, as a place.
template <auto Member>
auto& at(settings& s)
{
    return s.*Member;
}
template <auto Outer, auto Inner>
auto& in(settings& s)
{
    return s.*Outer.*Inner;
}

/// The parts that exist only if an option of theirs is given. A credential that was made by nothing
/// but an authSource is dropped again by parse_uri().
credential& credential_of(settings& s)
{
    return s.credential ? *s.credential : s.credential.emplace();
}
srv_settings& srv_of(settings& s)
{
    return s.srv ? *s.srv : s.srv.emplace();
}
std::string& auth_source(settings& s)
{
    return credential_of(s).source;
}
std::optional<std::string>& auth_mechanism(settings& s)
{
    return credential_of(s).mechanism;
}
std::string& srv_service_name(settings& s)
{
    return srv_of(s).service_name;
}
std::uint32_t& srv_max_hosts(settings& s)
{
    return srv_of(s).max_hosts;
}

bool is_app_name(std::string_view text)
{
    return text.size() <= longest_app_name;
}

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

constexpr option table[] = {
    // Which servers.
    {.name = "replicaSet",
     .meaning = "The name of the replica set; members of another are left out.",
     .where = at<&settings::replica_set>,
     .allowed_in_txt = true},
    {.name = "directConnection",
     .meaning = "Talk to the one host given and to no other, whatever it is.",
     .where = at<&settings::direct_connection>},
    {.name = "loadBalanced",
     .meaning = "The one host given is a load balancer.",
     .where = at<&settings::load_balanced>,
     .allowed_in_txt = true},
    {.name = "srvServiceName",
     .meaning = "The service that is looked up. Only with `mongodb+srv`.",
     .where = srv_service_name,
     .allowed = "letters, digits and single hyphens, at most 62",
     .accepts = [](std::string_view text) { return is_service_name(text); },
     .srv_only = true},
    {.name = "srvMaxHosts",
     .meaning = "How many of the hosts found are used, drawn at random; 0: all. Only with "
                "`mongodb+srv`.",
     .where = srv_max_hosts,
     .srv_only = true},

    // Who we are.
    {.name = "appName",
     .meaning = "Shown in the server's log and profile.",
     .where = at<&settings::app_name>,
     .allowed = "a text of at most 128 bytes",
     .accepts = is_app_name},
    {.name = "authSource",
     .meaning = "The database that knows the user. If not given: the database of the connection "
                "string, else `admin`; `$external` for some mechanisms.",
     .where = auth_source,
     .allowed = "the name of a database",
     .must_be_valid = true,
     .allowed_in_txt = true},
    {.name = "authMechanism",
     .meaning = "How to authenticate. If not given: negotiated with the server.",
     .where = auth_mechanism,
     .allowed = "GSSAPI, MONGODB-AWS, MONGODB-OIDC, MONGODB-X509, PLAIN, SCRAM-SHA-1, "
                "SCRAM-SHA-256",
     .accepts = [](std::string_view text) { return is_known_mechanism(text); }},
    {.name = "authMechanismProperties",
     .meaning = "What a mechanism wants to know besides. No value may hold a comma.",
     .where = custom_value{take_mechanism_properties, written_mechanism_properties},
     .allowed = "NAME:value, separated by commas"},
    {.name = "scramMaxIterations",
     .meaning = "The most iterations of SCRAM that a server may ask for. More are refused: they "
                "cost this client's CPU time.",
     .where = at<&settings::scram_max_iterations>,
     .least = 4'096,
     .most = 10'000'000},

    // How to connect.
    {.name = "tls",
     .meaning = "Whether to use TLS. If not given: with `mongodb+srv`, and if any other option "
                "whose name starts with tls is given.",
     .where = in<&settings::tls, &tls_settings::enabled>,
     .repeated = if_repeated::must_agree,
     // To ignore a mistyped wish for TLS would be to talk in the clear.
     .must_be_valid = true},
    {.name = "tlsCAFile",
     .meaning = "A file with the authorities to be trusted.",
     .where = in<&settings::tls, &tls_settings::ca_file>},
    {.name = "tlsCertificateKeyFile",
     .meaning = "A file with the client's certificate and private key.",
     .where = in<&settings::tls, &tls_settings::certificate_key_file>},
    {.name = "tlsCertificateKeyFilePassword",
     .meaning = "Decrypts that private key.",
     .where = in<&settings::tls, &tls_settings::certificate_key_file_password>},
    {.name = "tlsAllowInvalidCertificates",
     .meaning = "Accept a server whose certificate is not valid. For tests only.",
     .where = in<&settings::tls, &tls_settings::allow_invalid_certificates>},
    {.name = "tlsAllowInvalidHostnames",
     .meaning = "Accept a certificate made for another host. For tests only.",
     .where = in<&settings::tls, &tls_settings::allow_invalid_hostnames>},
    {.name = "tlsDisableOCSPEndpointCheck",
     .meaning = "Without effect: whether a certificate was revoked is never asked.",
     .where = in<&settings::tls, &tls_settings::disable_ocsp_endpoint_check>},
    {.name = "tlsDisableCertificateRevocationCheck",
     .meaning = "Without effect: whether a certificate was revoked is never checked.",
     .where = in<&settings::tls, &tls_settings::disable_certificate_revocation_check>},
    {.name = "tlsInsecure",
     .meaning = "Accept invalid certificates and other hosts' certificates. For tests only.",
     .where = in<&settings::tls, &tls_settings::insecure>},
    {.name = "compressors",
     .meaning = "What messages may be compressed with, in the order of preference.",
     .where = custom_value{take_compressors, written_compressors},
     .allowed = "snappy, zlib, zstd, separated by commas"},
    {.name = "zlibCompressionLevel",
     .meaning = "-1: what zlib thinks best; 0: none; 1: fastest; 9: smallest.",
     .where = at<&settings::zlib_level>,
     .least = -1,
     .most = 9},
    {.name = "connectTimeoutMS",
     .meaning = "For a connection to be made, and for each answer of a monitor; 0: no limit.",
     .where = at<&settings::connect_timeout>},
    {.name = "socketTimeoutMS",
     .meaning = "For one exchange on a connection; 0: no limit. `timeoutMS` is better.",
     .where = at<&settings::socket_timeout>},
    {.name = "proxyHost",
     .meaning = "A SOCKS5 proxy through which all connections are made.",
     .where = in<&settings::proxy, &proxy_settings::host>,
     .repeated = if_repeated::is_error},
    {.name = "proxyPort",
     .meaning = "The port of the proxy; 1080 if not given.",
     .where = in<&settings::proxy, &proxy_settings::port>,
     .least = 1,
     .most = 65535,
     .repeated = if_repeated::is_error},
    {.name = "proxyUsername",
     .meaning = "For a proxy that asks; with `proxyPassword`.",
     .where = in<&settings::proxy, &proxy_settings::username>,
     .repeated = if_repeated::is_error},
    {.name = "proxyPassword",
     .meaning = "For a proxy that asks; with `proxyUsername`.",
     .where = in<&settings::proxy, &proxy_settings::password>,
     .repeated = if_repeated::is_error},

    // Pools.
    {.name = "maxPoolSize",
     .meaning = "The most connections to one server; 0: no limit.",
     .where = in<&settings::pool, &pool_settings::max_size>},
    {.name = "minPoolSize",
     .meaning = "Connections that are kept open even if they are idle.",
     .where = in<&settings::pool, &pool_settings::min_size>},
    {.name = "maxConnecting",
     .meaning = "How many connections to one server are made at the same time.",
     .where = in<&settings::pool, &pool_settings::max_connecting>,
     .least = 1},
    {.name = "maxIdleTimeMS",
     .meaning = "An unused connection is closed after this time; 0: never.",
     .where = in<&settings::pool, &pool_settings::max_idle_time>},
    {.name = "waitQueueTimeoutMS",
     .meaning = "For a free connection; without it, no limit. `timeoutMS` is better.",
     .where = in<&settings::pool, &pool_settings::wait_queue_timeout>,
     .least = 1},

    // Watching and choosing servers.
    {.name = "heartbeatFrequencyMS",
     .meaning = "From the end of one check of a server to the start of the next.",
     .where = at<&settings::heartbeat_frequency>,
     .least = min_heartbeat_frequency.count()},
    {.name = "serverMonitoringMode",
     .meaning = "Whether servers push changes (stream) or are polled (poll).",
     .where = custom_value{take_monitoring_mode, written_monitoring_mode},
     .allowed = "auto, stream or poll"},
    {.name = "serverSelectionTimeoutMS",
     .meaning = "How long to wait for a suitable server.",
     .where = at<&settings::server_selection_timeout>,
     .least = 1},
    {.name = "localThresholdMS",
     .meaning = "Servers up to this much slower than the fastest share the load.",
     .where = at<&settings::local_threshold>},
    {.name = "serverSelectionTryOnce",
     .meaning = "For clients with a single thread; accepted, and without effect.",
     .where = at<&settings::server_selection_try_once>},
    {.name = "timeoutMS",
     .meaning = "For an operation with all its retries; 0: no limit. Without it each step has its "
                "own limit.",
     .where = at<&settings::timeout>},

    // Reading and writing.
    {.name = "readPreference",
     .meaning = "Which members answer reads.",
     .where = custom_value{take_read_mode, written_read_mode},
     .allowed = "primary, primaryPreferred, secondary, secondaryPreferred or nearest"},
    {.name = "readPreferenceTags",
     .meaning = "Members with these tags, in the order of preference; may be repeated, and an "
                "empty one matches every member. Not with readPreference primary.",
     .where = custom_value{take_tag_set, written_tag_sets},
     .allowed = "name:value, separated by commas, or nothing",
     .repeated = if_repeated::is_list},
    {.name = "maxStalenessSeconds",
     .meaning = "How far a secondary may lag behind; -1: any. Not with readPreference primary.",
     .where = custom_value{take_max_staleness, written_max_staleness},
     .allowed = "-1, or seconds from 90 to 2147483647"},
    {.name = "readConcernLevel",
     .meaning = "How settled data must be to be read: local, majority, linearizable, available, "
                "snapshot, or what a later server knows.",
     .where = in<&settings::read_concern, &read_concern::level>},
    {.name = "w",
     .meaning = "How many members acknowledge a write; 0: unacknowledged, errors are not reported.",
     .where = custom_value{take_w, written_w},
     .allowed = "a number from 0 on, majority, or the name of a custom write concern"},
    {.name = "journal",
     .meaning = "Whether a write must be in the journal to be acknowledged. Not with w=0.",
     .where = in<&settings::write_concern, &write_concern::journal>},
    {.name = "wTimeoutMS",
     .meaning = "How long the server waits for these members; 0: no limit. `timeoutMS` is better.",
     .where = in<&settings::write_concern, &write_concern::wtimeout>,
     .most = largest},

    // Resilience.
    {.name = "retryReads",
     .meaning = "Whether reads that failed for a passing reason are repeated.",
     .where = at<&settings::retry_reads>},
    {.name = "retryWrites",
     .meaning = "Whether writes that failed for a passing reason are repeated, without ever being "
                "applied twice.",
     .where = at<&settings::retry_writes>},
    {.name = "resilienceProfile",
     .meaning = "Whose rules for retries, overload and failed connections are followed.",
     .where = custom_value{take_profile, written_profile},
     .allowed = "as_specified or upstream_2026_07"},
    {.name = "adaptiveRetries",
     .meaning = "Whether retries after overload are paid from a budget. Only under `as_specified`.",
     .where = at<&settings::adaptive_retries>},
    {.name = "maxAdaptiveRetries",
     .meaning = "Retries after overload; 0: none; 2 if not given. Only under `upstream_2026_07`.",
     .where = at<&settings::max_adaptive_retries>},
    {.name = "enableOverloadRetargeting",
     .meaning = "Whether a retry avoids the member that was overloaded. Only under "
                "`upstream_2026_07`.",
     .where = at<&settings::enable_overload_retargeting>},
    {.name = "failFastOnTerminalErrors",
     .meaning = "Whether a name that does not exist, or a certificate that is refused, on every "
                "server ends the wait for one at once.",
     .where = at<&settings::fail_fast_on_terminal_errors>},
    {.name = "rescueFromDeposedPrimary",
     .meaning = "Whether retryable operations in flight on a primary, and all that wait for a "
                "connection to it, go to the newer primary that deposes it instead of waiting.",
     .where = at<&settings::rescue_from_deposed_primary>},
};

constexpr option_alias aliases[] = {
    {.name = "ssl", .stands_for = "tls", .deprecated = false},
    {.name = "j", .stands_for = "journal"},
    {.name = "wtimeout", .stands_for = "wTimeoutMS"},
    {.name = "secondaryAcceptableLatencyMS", .stands_for = "localThresholdMS"},
};

}  // namespace

const uri::option_table<client_settings>& option_table() noexcept
{
    static const uri::option_table<client_settings> all{table, aliases, errc::invalid_option};
    return all;
}

}  // namespace holdfast::core::mongo
