#include "core/mongo/uri/uri.hpp"

#include "core/mongo/error/errc.hpp"
#include "core/mongo/settings/address.hpp"
#include "core/mongo/uri/option_table.hpp"
#include "core/uri/apply_options.hpp"

#include <algorithm>

namespace holdfast::core::mongo {

namespace {

result<std::vector<endpoint>> seeds_of(const std::vector<std::string>& hosts)
{
    std::vector<endpoint> seeds;
    for (const std::string& host : hosts) {
        auto parsed = parse_address(host);
        if (!parsed)  // not its own message, which quotes the text, and that may be a password
            return malformed_connection_string("host number " + std::to_string(seeds.size() + 1) +
                                               ": " + std::string{parsed.error().context("why")});
        seeds.push_back(*std::move(parsed));
    }
    return seeds;
}

result<std::string> srv_host_of(const std::vector<std::string>& hosts)
{
    if (hosts.size() != 1)
        return malformed_connection_string("mongodb+srv takes one host name, not a list");
    const std::string& host = hosts.front();
    if (host.find(':') != host.npos)
        return malformed_connection_string("mongodb+srv takes a host name without a port");
    auto parsed = parse_address(host);
    if (!parsed)
        return malformed_connection_string("the host name: " +
                                           std::string{parsed.error().context("why")});
    const address_parts parts = parts_of(*parsed);
    const std::string name = parts.host.substr(0, parts.host.size() - parts.host.ends_with('.'));
    if (parts.port == 0 || name.empty() || name.starts_with('.') || name.find("..") != name.npos)
        return malformed_connection_string("mongodb+srv takes a host name, without empty parts");
    return name;
}

result<void> check_srv_options(const connection_string& source)
{
    for (const raw_option& o : source.options)
        if (const option* which = find_option(o.name); which && which->srv_only)
            return error{errc::invalid_option,
                         std::string{which->name} + ": only with mongodb+srv://"}
                .with_context("option", std::string{which->name});
    return {};
}

/// A user name or a mechanism asks for authentication; a database or an authSource alone does not.
void settle_credential(const connection_string& source, parsed_uri& to)
{
    std::optional<credential>& who = to.settings.credential;
    if (source.username) {
        if (!who)
            who.emplace();
        who->username = source.username;
        who->password = source.password;
    }
    if (!who)
        return;
    if (who->username || who->mechanism) {
        fill_defaults(*who, source.database);
        return;
    }
    if (!who->properties.empty())
        to.warnings.push_back(
            "authMechanismProperties: has no effect without a user name or "
            "authMechanism");
    who.reset();
}

void append(std::vector<std::string>& to, std::vector<std::string> more)
{
    to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// The parsed string, given the seeds and the options it ends up with.
result<parsed_uri> assemble(const connection_string& source, std::vector<endpoint> seeds,
                            std::optional<srv_settings> srv, const std::vector<raw_option>& options)
{
    parsed_uri made;
    made.source = source;
    made.settings.seeds = std::move(seeds);
    made.settings.srv = std::move(srv);
    made.settings.database = source.database;
    auto warnings = uri::apply_options(option_table(), {options, source.may_quote_names},
                                       made.settings);
    if (!warnings)
        return std::move(warnings).error();
    made.warnings = *std::move(warnings);
    settle_credential(source, made);
    auto more = validate(made.settings);
    if (!more)
        return std::move(more).error();
    append(made.warnings, *std::move(more));
    return made;
}

error bad_answer(const srv_settings& srv, const std::string& why)
{
    return error{errc::invalid_dns_answer, srv_query_name(srv) + ": " + why}.with_context("host",
                                                                                          srv.host);
}

result<std::vector<endpoint>> choose_targets(const srv_settings& srv, const srv_answer& answer)
{
    if (answer.targets.empty())
        return bad_answer(srv, "there are no SRV records");
    std::vector<endpoint> found;
    for (const srv_target& target : answer.targets) {
        const std::string_view host{target.host.data(),
                                    target.host.size() - target.host.ends_with('.')};
        if (!shares_domain(srv.host, host))
            return bad_answer(
                srv, "an SRV record points to a host outside the domain, and must not be followed");
        auto address = parse_address(std::string{host} + ':' + std::to_string(target.port));
        if (!address)
            return bad_answer(srv, "an SRV record is unusable: " + address.error().message());
        found.push_back(*std::move(address));
    }
    if (srv.max_hosts != 0 && found.size() > srv.max_hosts)
        found.erase(found.begin() + srv.max_hosts, found.end());
    return found;
}

/// The options of the TXT record that the string does not set itself, then those of the string.
result<std::vector<raw_option>> merge_options(const srv_settings& srv, const srv_answer& answer,
                                              const connection_string& source)
{
    if (answer.txt.size() > 1)
        return bad_answer(srv, "there is more than one TXT record");
    std::vector<raw_option> merged;
    if (!answer.txt.empty()) {
        auto options = uri::split_options(answer.txt.front(), errc::invalid_connection_string);
        if (!options)
            return bad_answer(srv, "the TXT record is not of the form name=value&name=value");
        merged = *std::move(options);
    }
    for (const raw_option& o : merged)
        if (const option* which = find_option(o.name); !which || !which->allowed_in_txt)
            return bad_answer(srv,
                              "the TXT record holds an option that is not allowed there; "
                              "allowed: authSource, replicaSet, loadBalanced");
    std::erase_if(merged, [&](const raw_option& from_txt) {
        return std::ranges::any_of(source.options, [&](const raw_option& own) {
            return find_option(own.name) == find_option(from_txt.name);
        });
    });
    merged.insert(merged.end(), source.options.begin(), source.options.end());
    return merged;
}

}  // namespace

result<parsed_uri> parse_uri(std::string_view text)
{
    auto source = split_connection_string(text);
    if (!source)
        return std::move(source).error();
    if (source->srv) {
        auto host = srv_host_of(source->hosts);
        if (!host)
            return std::move(host).error();
        return assemble(*source, {}, srv_settings{.host = *std::move(host)}, source->options);
    }
    auto seeds = seeds_of(source->hosts);
    if (!seeds)
        return std::move(seeds).error();
    if (auto checked = check_srv_options(*source); !checked)
        return std::move(checked).error();
    return assemble(*source, *std::move(seeds), std::nullopt, source->options);
}

std::string srv_query_name(const srv_settings& srv)
{
    return '_' + srv.service_name + "._tcp." + srv.host;
}

result<parsed_uri> resolve_srv(const parsed_uri& unresolved, const srv_answer& answer)
{
    if (!unresolved.settings.srv)
        return malformed_connection_string("only mongodb+srv:// has names to be looked up");
    const srv_settings& srv = *unresolved.settings.srv;
    auto seeds = choose_targets(srv, answer);
    if (!seeds)
        return std::move(seeds).error();
    auto options = merge_options(srv, answer, unresolved.source);
    if (!options)
        return std::move(options).error();
    return assemble(unresolved.source, *std::move(seeds), srv_settings{.host = srv.host}, *options);
}

bool shares_domain(std::string_view srv_host, std::string_view found) noexcept
{
    constexpr auto lower = [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    };
    // Of three parts and more the first is the cluster's own name. Of one or two all are the
    // domain, else any host under ".com" would do.
    std::string_view domain = srv_host;
    if (std::ranges::count(srv_host, '.') >= 2)
        domain.remove_prefix(srv_host.find('.') + 1);
    if (found.size() < domain.size() + 2)
        return false;
    const std::size_t start = found.size() - domain.size();
    return found[start - 1] == '.' &&
           std::ranges::equal(found.substr(start), domain, {}, lower, lower);
}

}  // namespace holdfast::core::mongo
