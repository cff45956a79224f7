#include "core/mongo/settings/address.hpp"
#include "core/mongo/uri/option_table.hpp"
#include "seedlist_client.hpp"
#include "uri_case.hpp"

#include <algorithm>
#include <set>

namespace holdfast::spec {
namespace {

namespace json = boost::json;

using addresses = std::set<std::string>;

addresses texts_of(const std::vector<endpoint>& list)
{
    addresses all;
    for (const endpoint& one : list)
        all.insert(one.value());
    return all;
}

addresses texts_of(const core::mongo::topology_description& t)
{
    addresses all;
    for (const core::mongo::server_ptr& s : t.servers)
        all.insert(s->address.value());
    return all;
}

/// The list under a name must be the set found, and the number under another one its size.
void check_hosts(const json::object& fields, const char* list, const char* number,
                 const addresses& found)
{
    std::string shown;
    for (const std::string& one : found)
        shown += ' ' + one;
    if (const json::value* stated_list = stated(fields, list)) {
        addresses expected;
        for (const json::value& one : stated_list->as_array())
            expected.insert(std::string{one.as_string()});
        demand(found == expected, std::string{list} + ": expected " +
                                      json::serialize(*stated_list) + ", found" + shown);
    }
    if (const json::value* stated_number = stated(fields, number))
        demand(stated_number->to_number<std::size_t>() == found.size(),
               std::string{number} + ": expected " + json::serialize(*stated_number) + ", found" +
                   shown);
}

/// The same string for a user: without one it makes no difference what `authSource` says.
std::string with_user(std::string uri)
{
    const std::size_t host = uri.find("://") + 3;
    const std::size_t end = std::min(uri.find_first_of("/?", host), uri.size());
    return uri.find('@', host) < end ? uri : uri.insert(host, "user:password@");
}

void check_option(std::string_view name, const json::value& expected,
                  const core::mongo::client_settings& found)
{
    const core::mongo::option_alias* const alias = core::mongo::option_table().find_alias(name);
    const core::mongo::option* const which = core::mongo::find_option(alias ? alias->stands_for
                                                                            : name);
    demand(which != nullptr, "there is no option " + std::string{name});
    std::vector<std::string> got = core::mongo::written(*which, found);
    if (which->name == "tls")  // that nothing was said does not mean that there is none
        got = {uses_tls(found) ? "true" : "false"};
    std::string shown;
    for (const std::string& text : got)
        shown += ' ' + text;
    demand(got == as_written(expected),
           std::string{name} + ": expected " + json::serialize(expected) + ", found" + shown);
}

void check_options(const json::object& expected, const std::string& uri,
                   const core::mongo::client_settings& found, seedlist_client& client)
{
    for (const auto& [name, value] : expected) {
        if (core::mongo::find_option(name) != core::mongo::find_option("authSource")) {
            check_option(name, value, found);
            continue;
        }
        const auto as_user = client.resolve(with_user(uri));
        demand(as_user.has_value(), as_user ? "" : as_user.error().explain());
        check_option(name, value, as_user->settings);
    }
}

/// Parts of the connection string that are not options.
void check_parsed_options(const json::object& expected, const core::mongo::client_settings& found)
{
    demand_only(expected, {"user", "password", "db", "auth_database", "defaultDatabase"});
    const core::mongo::credential who = found.credential.value_or(core::mongo::credential{});
    for (const auto& [name, value] : expected) {
        const std::optional<std::string> got = name == "user"       ? who.username
                                               : name == "password" ? text_of(who.password)
                                                                    : found.database;
        demand_equal(got, std::string{value.as_string()}, name);
    }
}

/// A file does not say what it wants to be run against, only its folder does. But it can be seen:
/// hosts that no record names can be known from the members of a replica set alone.
deployment deployment_for(const json::object& fields, const core::mongo::client_settings& settings)
{
    if (settings.load_balanced)
        return deployment::load_balanced;
    const json::value* const hosts = stated(fields, "hosts");
    if (!hosts)
        return stated(fields, "numHosts") ? deployment::sharded : deployment::replica_set;
    const bool by_records = std::ranges::all_of(hosts->as_array(), [&](const json::value& host) {
        const auto parts = core::mongo::parts_of(core::mongo::reported_address(host.as_string()));
        return core::mongo::shares_domain(settings.srv->host, parts.host);
    });
    return by_records ? deployment::sharded : deployment::replica_set;
}

outcome run_dns_seedlist(const json::object& fields)
{
    demand_only(fields, {"uri", "seeds", "numSeeds", "hosts", "numHosts", "options",
                         "parsed_options", "error", "comment", "ping"});
    const std::string uri{fields.at("uri").as_string()};
    const bool must_fail = stated_flag(fields, "error").value_or(false);
    seedlist_client client;
    const auto resolved = client.resolve(uri);
    demand(!must_fail || !resolved, "the connection string was accepted");
    if (must_fail)
        return passed{};
    demand(resolved.has_value(), resolved ? "" : resolved.error().explain());
    const core::mongo::client_settings& settings = resolved->settings;
    check_hosts(fields, "seeds", "numSeeds", texts_of(settings.seeds));
    if (const json::value* options = stated(fields, "options"))
        check_options(options->as_object(), uri, settings, client);
    if (const json::value* options = stated(fields, "parsed_options"))
        check_parsed_options(options->as_object(), settings);
    const bool with_ping = stated_flag(fields, "ping").value_or(true);
    if (!with_ping && !stated(fields, "hosts") && !stated(fields, "numHosts"))
        return passed{};
    const auto topology = client.discover(settings, deployment_for(fields, settings), with_ping);
    check_hosts(fields, "hosts", "numHosts", texts_of(*topology));
    return passed{};
}

/// One case per file, with a mongodb+srv string and what follows from it.
bool recognises_dns_seedlist(const json::object& file)
{
    const json::value* const uri = file.if_contains("uri");
    return uri && uri->is_string() && !file.contains("phases") &&
           (file.contains("seeds") || file.contains("numSeeds") || file.contains("error"));
}

std::vector<test_case> dns_seedlist_cases(const json::object& file)
{
    return {{std::string{file.at("uri").as_string()},
             [&file](const settings&) { return run_dns_seedlist(file); }}};
}

}  // namespace

/// The official DNS records name the ports.
const format dns_seedlist{"dns-seedlist", recognises_dns_seedlist, dns_seedlist_cases, true};

}  // namespace holdfast::spec
