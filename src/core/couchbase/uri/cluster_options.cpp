// tidy: table: one row per option, so that there is one place to look an option up and to add one.
#include "core/couchbase/uri/cluster_options.hpp"

#include "core/uri/host.hpp"
#include "holdfast/couchbase/errc.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace holdfast::core::couchbase {

namespace {

using settings = cluster_settings;
using uri::if_repeated;
using uri::reading;

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

template <class Value, std::size_t Size>
using value_names = std::array<std::pair<Value, std::string_view>, Size>;

constexpr value_names<ip_protocol, 3> ip_protocols{{
    {ip_protocol::any, "any"},
    {ip_protocol::force_ipv4, "force_ipv4"},
    {ip_protocol::force_ipv6, "force_ipv6"},
}};
constexpr value_names<tls_verify, 2> tls_verifications{{
    {tls_verify::peer, "peer"},
    {tls_verify::none, "none"},
}};

ip_protocol& ip_protocol_of(settings& s)
{
    return s.ip_protocol;
}
tls_verify& tls_verify_of(settings& s)
{
    return s.tls.verify;
}

/// One of a few names.
template <const auto& Names, auto& Place(settings&)>
reading take_name(settings& to, std::string_view value)
{
    const auto found = std::ranges::find_if(Names,
                                            [&](const auto& n) { return n.second == value; });
    if (found == Names.end())
        return {reading::status::ignored};
    Place(to) = found->first;
    return {};
}
template <const auto& Names, auto& Place(settings&)>
std::vector<std::string> written_name(const settings& from)
{
    settings copy = from;
    const auto found = std::ranges::find_if(Names,
                                            [&](const auto& n) { return n.first == Place(copy); });
    return {std::string{found->second}};
}

std::uint32_t& kv_connections_of(settings& s)
{
    return s.kv.connections;
}
std::uint32_t& max_in_flight_of(settings& s)
{
    return s.kv.max_in_flight;
}

template <std::uint32_t& Place(settings&), std::uint32_t Most>
reading take_power_of_two(settings& to, std::string_view value)
{
    const auto number = uri::parse_number(value);
    if (!number || *number < 1 || *number > Most ||
        !std::has_single_bit(static_cast<std::uint64_t>(*number)))
        return {reading::status::ignored};
    Place(to) = static_cast<std::uint32_t>(*number);
    return {};
}
template <std::uint32_t& Place(settings&)>
std::vector<std::string> written_number(const settings& from)
{
    settings copy = from;
    return {std::to_string(Place(copy))};
}

bool is_network_name(std::string_view text)
{
    return text.size() <= 64;
}
bool is_server_group(std::string_view text)
{
    return text.size() <= longest_server_group;
}
bool is_user_agent_extra(std::string_view text)
{
    return text.size() <= longest_user_agent_extra &&
           std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

/// An address, with a port or without.
bool is_dns_server(std::string_view text)
{
    const uri::host_and_port parts = uri::split_host(text);
    return parts.problem.empty() &&
           (uri::looks_like_ipv4(parts.host) || uri::looks_like_ipv6(parts.host));
}
reading take_dns_servers(settings& to, std::string_view value)
{
    const auto servers = uri::split_list(value);
    if (servers.empty() || servers.size() > most_dns_servers ||
        !std::ranges::all_of(servers, is_dns_server))
        return {reading::status::ignored};
    to.dns_servers.assign(servers.begin(), servers.end());
    return {};
}
std::vector<std::string> written_dns_servers(const settings& from)
{
    std::string list;
    for (const std::string& one : from.dns_servers)
        list += (list.empty() ? "" : ",") + one;
    return list.empty() ? std::vector<std::string>{} : std::vector{list};
}

constexpr std::int64_t one_hour = 3'600'000;

constexpr cluster_option timeout_option(std::string_view name, std::string_view meaning,
                                        uri::place<settings, std::chrono::milliseconds> where)
{
    return {.name = name,
            .meaning = meaning,
            .where = where,
            .least = 1,
            .most = one_hour,
            .takes_units = true};
}

template <auto Member>
constexpr auto timeout = in<&settings::timeouts, Member>;

constexpr cluster_option table[] = {
    // Timeouts.
    timeout_option("kv_timeout", "For one key-value operation.", timeout<&timeout_settings::kv>),
    timeout_option("kv_durable_timeout", "For one key-value operation with a durability level.",
                   timeout<&timeout_settings::kv_durable>),
    timeout_option("kv_connect_timeout", "For one key-value connection, with its handshakes.",
                   timeout<&timeout_settings::kv_connect>),
    timeout_option("bootstrap_timeout", "For the first configuration of the cluster.",
                   timeout<&timeout_settings::bootstrap>),
    timeout_option("resolve_timeout",
                   "For one look-up of SRV records; those of host names are part of connecting.",
                   timeout<&timeout_settings::resolve>),
    timeout_option("query_timeout", "For one query.", timeout<&timeout_settings::query>),
    timeout_option("analytics_timeout", "For one analytics query.",
                   timeout<&timeout_settings::analytics>),
    timeout_option("search_timeout", "For one search.", timeout<&timeout_settings::search>),
    timeout_option("view_timeout", "For one view query.", timeout<&timeout_settings::view>),
    timeout_option("management_timeout", "For one management request.",
                   timeout<&timeout_settings::management>),

    // Which nodes, at which addresses.
    {.name = "enable_dns_srv",
     .meaning = "Whether a single host name without a port is looked up as an SRV name first.",
     .where = at<&settings::enable_dns_srv>},
    {.name = "dns_servers",
     .meaning = "Name servers that are asked instead of those of the system, by their addresses.",
     .where = uri::custom_value<settings>{take_dns_servers, written_dns_servers},
     .allowed = "up to 8 addresses, each with a port or without, between commas"},
    {.name = "network",
     .meaning = "Which addresses of the nodes are used; auto: those to which the seed belongs.",
     .where = at<&settings::network>,
     .allowed = "auto, default, external, or another name of alternate addresses",
     .accepts = is_network_name},
    {.name = "server_group",
     .meaning = "The server group whose replicas are read preferably.",
     .where = at<&settings::server_group>,
     .accepts = is_server_group},
    {.name = "ip_protocol",
     .meaning = "Which addresses of a host name are used.",
     .where = uri::custom_value<settings>{take_name<ip_protocols, ip_protocol_of>,
                                          written_name<ip_protocols, ip_protocol_of>},
     .allowed = "any, force_ipv4 or force_ipv6"},
    {.name = "preserve_bootstrap_nodes_order",
     .meaning = "Whether the hosts are tried in the order given, not in a random one.",
     .where = at<&settings::preserve_bootstrap_nodes_order>},
    {.name = "config_poll_interval",
     .meaning = "How often the configuration is asked for where the server does not push it.",
     .where = in<&settings::config_poll, &config_poll_settings::interval>,
     .least = 50,
     .most = one_hour,
     .takes_units = true},
    {.name = "config_poll_floor",
     .meaning = "The shortest time between two requests for the configuration.",
     .where = in<&settings::config_poll, &config_poll_settings::floor>,
     .least = 50,
     .most = one_hour,
     .takes_units = true},
    {.name = "enable_clustermap_notification",
     .meaning = "Whether servers are asked to push a new configuration.",
     .where = in<&settings::config_poll, &config_poll_settings::notifications>},

    // Security.
    {.name = "trust_certificate",
     .meaning = "A PEM file with the certificates that are trusted. Only with `couchbases`.",
     .where = in<&settings::tls, &cluster_tls_settings::trust_certificate>,
     .must_be_valid = true},
    {.name = "tls_verify",
     .meaning = "Whether the server's certificate is checked. Only with `couchbases`.",
     .where = uri::custom_value<settings>{take_name<tls_verifications, tls_verify_of>,
                                          written_name<tls_verifications, tls_verify_of>},
     .allowed = "peer or none",
     .must_be_valid = true},

    // Connections.
    {.name = "kv_connections",
     .meaning = "Key-value connections to each node.",
     .where = uri::custom_value<settings>{take_power_of_two<kv_connections_of, most_kv_connections>,
                                          written_number<kv_connections_of>},
     .allowed = "a power of two from 1 to 64"},
    {.name = "max_in_flight",
     .meaning = "Requests without a reply on one key-value connection.",
     .where = uri::custom_value<settings>{take_power_of_two<max_in_flight_of, most_in_flight>,
                                          written_number<max_in_flight_of>},
     .allowed = "a power of two from 1 to 65536"},
    {.name = "enable_compression",
     .meaning = "Whether values are sent compressed.",
     .where = in<&settings::kv, &kv_settings::compression>},
    {.name = "enable_mutation_tokens",
     .meaning = "Whether mutations return tokens for consistent queries.",
     .where = in<&settings::kv, &kv_settings::mutation_tokens>},
    {.name = "enable_unordered_execution",
     .meaning = "Whether a server may reply to requests in another order.",
     .where = in<&settings::kv, &kv_settings::unordered_execution>},
    {.name = "tcp_keep_alive_interval",
     .meaning = "The time between TCP keep-alive probes.",
     .where = in<&settings::kv, &kv_settings::tcp_keep_alive_interval>,
     .least = 1'000,
     .most = one_hour,
     .takes_units = true},
    {.name = "max_http_connections",
     .meaning = "HTTP connections to each node and service; 0: no limit.",
     .where = in<&settings::http, &http_settings::max_connections>,
     .most = 65'535},
    {.name = "idle_http_connection_timeout",
     .meaning = "When an unused HTTP connection is closed.",
     .where = in<&settings::http, &http_settings::idle_timeout>,
     .least = 1,
     .most = one_hour,
     .takes_units = true},
    {.name = "user_agent_extra",
     .meaning = "A text that servers show beside the name of the client.",
     .where = at<&settings::user_agent_extra>,
     .allowed = "at most 128 printable ASCII characters",
     .accepts = is_user_agent_extra},

    // Resilience.
    {.name = "retryBudget",
     .meaning = "Tokens that retries are paid from; 0: retries need none.",
     .where = at<&settings::retry_budget>,
     .most = largest_retry_budget},
    {.name = "circuitBreaker",
     .meaning = "Whether a node that keeps failing gets no requests for a while.",
     .where = at<&settings::circuit_breaker>},
};

constexpr uri::option_alias aliases[] = {
    {.name = "key_value_timeout", .stands_for = "kv_timeout", .deprecated = false},
    {.name = "key_value_durable_timeout", .stands_for = "kv_durable_timeout", .deprecated = false},
    {.name = "connect_timeout", .stands_for = "kv_connect_timeout", .deprecated = false},
};

}  // namespace

const uri::option_table<cluster_settings>& cluster_option_table() noexcept
{
    static const uri::option_table<cluster_settings> all{
        table, aliases, holdfast::couchbase::errc::invalid_argument};
    return all;
}

}  // namespace holdfast::core::couchbase
