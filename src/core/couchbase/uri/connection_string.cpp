#include "core/couchbase/uri/connection_string.hpp"

#include "core/couchbase/uri/cluster_options.hpp"
#include "core/uri/apply_options.hpp"
#include "core/uri/host.hpp"
#include "core/uri/option_text.hpp"
#include "core/uri/percent.hpp"
#include "holdfast/couchbase/errc.hpp"

#include <algorithm>

namespace holdfast::core::couchbase {

namespace {

using holdfast::couchbase::errc;

constexpr std::string_view plain_scheme = "couchbase://";
constexpr std::string_view tls_scheme = "couchbases://";
constexpr std::size_t longest_bucket_name = 100;

constexpr std::uint16_t management_port = 8'091;
constexpr std::uint16_t management_tls_port = 18'091;

error malformed(std::string_view what)
{
    return error{errc::invalid_argument, std::string{"connection string: "}.append(what)};
}

error malformed_host(std::size_t number, std::string_view what)
{
    return malformed("host number " + std::to_string(number) + ": " + std::string{what});
}

error wrong_scheme(std::string_view text)
{
    if (text.starts_with("couchbase2://"))
        return malformed("couchbase2:// is a protocol that is not supported; use couchbases://");
    if (text.starts_with("http://") || text.starts_with("https://"))
        return malformed(
            "HTTP addresses are for the web console; use couchbase:// or couchbases:// and no "
            "port");
    return malformed("it must start with couchbase:// or couchbases://");
}

/// One host as it was written.
struct seed {
    std::string host;
    std::optional<std::uint16_t> port;
    bool names_service = false;  // "=kv"
};

result<seed> parse_seed(std::string_view text, std::size_t number)
{
    const std::size_t equals = text.find('=');
    const std::string_view service = equals == text.npos ? "" : text.substr(equals + 1);
    if (service == "http")
        return malformed_host(number,
                              "bootstrap by HTTP is not supported; give the key-value port, 11210 "
                              "or 11207 with TLS, or no port at all");
    if (equals != text.npos && service != "kv" && service != "mcd")
        return malformed_host(number, "after '=' stands kv or mcd");
    const auto decoded = uri::percent_decode(text.substr(0, equals));
    if (!decoded)
        return malformed_host(number, "it is not percent-encoded UTF-8");
    auto parts = uri::split_host(*decoded);
    if (!parts.problem.empty())
        return malformed_host(number, parts.problem);
    if (parts.port == management_port || parts.port == management_tls_port)
        return malformed_host(number,
                              "ports 8091 and 18091 are those of the web console; leave the port "
                              "out, or give the key-value port, 11210 or 11207 with TLS");
    return seed{std::move(parts.host), parts.port, equals != text.npos};
}

result<std::vector<seed>> parse_seeds(std::string_view text)
{
    if (text.find('@') != text.npos)
        return malformed(
            "it has no user name or password; those are given to the cluster as its "
            "authenticator");
    if (text.empty())
        return malformed("there is no host");
    const auto pieces = uri::split_list(text);
    if (pieces.size() > most_seeds)
        return malformed("more than " + std::to_string(most_seeds) + " hosts");
    std::vector<seed> seeds;
    for (const std::string_view piece : pieces) {
        auto parsed = parse_seed(piece, seeds.size() + 1);
        if (!parsed)
            return std::move(parsed).error();
        seeds.push_back(*std::move(parsed));
    }
    return seeds;
}

/// Only a single name that says neither port nor service may stand for a whole cluster.
bool may_be_srv_name(const std::vector<seed>& seeds)
{
    const seed& first = seeds.front();
    return seeds.size() == 1 && !first.port && !first.names_service &&
           !uri::looks_like_ipv4(first.host) && !uri::looks_like_ipv6(first.host);
}

void take_seeds(const std::vector<seed>& seeds, cluster_settings& to)
{
    const std::uint16_t default_port = to.tls.enabled ? kv_tls_port : kv_port;
    for (const seed& one : seeds) {
        endpoint address{uri::join_host(one.host, one.port.value_or(default_port))};
        if (std::ranges::find(to.seeds, address) == to.seeds.end())
            to.seeds.push_back(std::move(address));
    }
    if (to.enable_dns_srv && may_be_srv_name(seeds))
        to.srv_name = (to.tls.enabled ? "_couchbases._tcp." : "_couchbase._tcp.") +
                      seeds.front().host;
}

/// The rule of the server: letters, digits, and - _ . %.
bool is_bucket_name(std::string_view name) noexcept
{
    return !name.empty() && name.size() <= longest_bucket_name &&
           std::ranges::all_of(name, [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      std::string_view{"-_.%"}.find(c) != std::string_view::npos;
           });
}

result<void> take_bucket(std::string_view path, cluster_settings& to)
{
    if (path.empty())
        return {};
    auto name = uri::percent_decode(path);
    if (!name || !is_bucket_name(*name))
        return malformed(
            "the name of the bucket has 1 to 100 letters, digits, or characters of '-_.%', the "
            "last written as %25");
    to.bucket = *std::move(name);
    return {};
}

}  // namespace

result<parsed_connection_string> parse_connection_string(std::string_view text)
{
    if (text.size() > longest_connection_string)
        return malformed("longer than " + std::to_string(longest_connection_string) + " bytes");
    parsed_connection_string made;
    made.settings.tls.enabled = text.starts_with(tls_scheme);
    if (!made.settings.tls.enabled && !text.starts_with(plain_scheme))
        return wrong_scheme(text);
    text.remove_prefix(made.settings.tls.enabled ? tls_scheme.size() : plain_scheme.size());

    const std::string_view hosts = text.substr(0, text.find_first_of("/?"));
    auto seeds = parse_seeds(hosts);
    if (!seeds)
        return std::move(seeds).error();
    text.remove_prefix(hosts.size());
    const std::string_view path = text.substr(0, text.find('?'));
    if (auto taken = take_bucket(path.substr(std::min<std::size_t>(1, path.size())), made.settings);
        !taken)
        return std::move(taken).error();
    text.remove_prefix(std::min(path.size() + 1, text.size()));

    const auto options = uri::split_options(text, errc::invalid_argument);
    if (!options)
        return options.error();
    const bool may_quote_names = text.find('@') == text.npos;
    auto warnings = uri::apply_options(cluster_option_table(), {*options, may_quote_names},
                                       made.settings);
    if (!warnings)
        return std::move(warnings).error();
    made.warnings = *std::move(warnings);
    take_seeds(*seeds, made.settings);
    auto more = validate(made.settings);
    if (!more)
        return std::move(more).error();
    std::ranges::move(*more, std::back_inserter(made.warnings));
    return made;
}

cluster_settings with_srv_records(cluster_settings settings, std::span<const srv_record> found)
{
    std::vector<endpoint> seeds;
    for (const srv_record& record : found.first(std::min(found.size(), most_seeds))) {
        const std::string_view host{record.host.data(),
                                    record.host.size() - record.host.ends_with('.')};
        if (record.port != 0 && uri::host_problem(host).empty())
            seeds.emplace_back(uri::join_host(uri::lower_case_host(host), record.port));
    }
    if (!seeds.empty())
        settings.seeds = std::move(seeds);
    return settings;
}

}  // namespace holdfast::core::couchbase
