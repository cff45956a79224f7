#include "lab/couchbase/mgmt/routes.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include <memory>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

namespace json = boost::json;

constexpr std::string_view block_end = "\n\n\n\n";  // after each configuration of a stream

std::string product_version(const node& of)
{
    return of.options.version + "-0000-enterprise";
}

http_reply welcome(route_call&)
{
    http_reply made;
    made.content_type = "text/html";
    made.body = "<html><body>Holdfast's lab: a Couchbase cluster for tests.</body></html>";
    return made;
}

http_reply pools(route_call& call)
{
    json::object pool{{"name", "default"},
                      {"uri", "/pools/default"},
                      {"streamingUri", "/poolsStreaming/default"}};
    json::array all;
    all.push_back(std::move(pool));
    const bool is_administrator = call.on.admin().people().is_administrator(call.user);
    return json_reply(json::object{{"isAdminCreds", is_administrator},
                                   {"isEnterprise", true},
                                   {"implementationVersion", product_version(call.here())},
                                   {"pools", std::move(all)}});
}

http_reply default_pool(route_call& call)
{
    return json_reply(json::object{
        {"name", "default"},
        {"clusterName", "lab"},
        {"nodes", node_list(call)},
        {"buckets", json::object{{"uri", "/pools/default/buckets"},
                                 {"terseBucketsBase", "/pools/default/b/"},
                                 {"terseStreamingBucketsBase", "/pools/default/bs/"}}},
        {"rebalanceStatus", call.on.rebalancing() ? "running" : "none"},
        {"balanced", !call.on.rebalancing()}});
}

http_reply node_services(route_call& call)
{
    http_reply made;
    made.body = call.here().configuration();
    return made;
}

/// Of a bucket that the user may open.
const bucket* open_bucket(route_call& call, http_reply& refused)
{
    const auto account = call.here().users.find(call.user);
    const bucket* const found = call.here().find_bucket(call.names[0]);
    if (!found)
        refused = refuse(404, "Requested resource not found.");
    else if (account == call.here().users.end() || !account->second.may_open(call.names[0]))
        refused = refuse(403, "no right to use this bucket");
    else
        return found;
    return nullptr;
}

http_reply terse_bucket(route_call& call)
{
    http_reply made;
    if (const bucket* const found = open_bucket(call, made))
        made.body = call.here().configuration(*found);
    return made;
}

/// A configuration, and another one each time that the node has learned of a newer one.
http_reply streamed_bucket(route_call& call)
{
    http_reply made;
    if (!open_bucket(call, made))
        return made;
    node& on = call.here();
    auto sent = std::make_shared<config_revision>(config_revision{0, 0});
    made.more = [&on, sent, name = call.names[0]]() -> std::optional<std::string> {
        const bucket* const found = on.find_bucket(name);
        if (!found)
            return std::nullopt;
        if (*sent == on.members.revision)
            return std::string{};
        *sent = on.members.revision;
        return on.configuration(*found) + std::string{block_end};
    };
    return made;
}

http_reply tasks(route_call& call)
{
    json::array all;
    all.push_back(json::object{{"type", "rebalance"},
                               {"status", call.on.rebalancing() ? "running" : "notRunning"}});
    return json_reply(all);
}

http_reply whoami(route_call& call)
{
    return json_reply(json::object{{"id", json_text(call.user)}, {"domain", "local"}});
}

/// As /pools/default shows the services of a node: views have no name of their own there.
void add_services(const service_ports& of, json::object& ports, json::array& services)
{
    constexpr std::pair<std::string_view, std::string_view> port_names[] = {
        {"kv", "direct"}, {"mgmtSSL", "httpsMgmt"}, {"capiSSL", "httpsCAPI"}};
    for (const auto& [service, port] : of) {
        for (const auto& [name, shown] : port_names) {
            if (service == name)
                ports[json::string_view{shown.data(), shown.size()}] = port;
        }
        if (service == "kv" || service == "n1ql" || service == "fts" || service == "cbas")
            services.push_back(json_text(service));
    }
}

constexpr route pool_table[] = {
    {"GET", "/", access::all, welcome},
    {"GET", "/pools", access::all, pools},
    {"GET", "/pools/default", access::login, default_pool},
    {"GET", "/pools/nodes", access::login, default_pool},
    {"GET", "/pools/default/nodeServices", access::login, node_services},
    {"GET", "/pools/default/b/*", access::login, terse_bucket},
    {"GET", "/pools/default/bs/*", access::login, streamed_bucket},
    {"GET", "/pools/default/bucketsStreaming/*", access::login, streamed_bucket},
    {"GET", "/pools/default/tasks", access::login, tasks},
    {"GET", "/whoami", access::login, whoami},
};

}  // namespace

std::span<const route> pool_routes()
{
    return pool_table;
}

json::array node_list(route_call& call)
{
    json::array all;
    for (std::size_t n = 0; n != call.on.nodes(); ++n) {
        if (!call.on.is_member(n) && !call.on.is_running(n))
            continue;
        json::object ports;
        json::array services;
        add_services(call.on.admin().ports(n), ports, services);
        const std::string at = call.on.address(n, "mgmt");
        json::object one{{"otpNode", json_text("n_" + std::to_string(n) + "@" + at)},
                         {"hostname", json_text(at)},
                         {"status", call.on.is_running(n) ? "healthy" : "unhealthy"},
                         {"clusterMembership", call.on.is_member(n) ? "active" : "inactiveFailed"},
                         {"version", product_version(call.on.at(n))},
                         {"ports", std::move(ports)},
                         {"services", std::move(services)}};
        if (const std::string views = call.on.address(n, "capi"); !views.empty())
            one["couchApiBase"] = json_text("http://" + views + "/");
        if (n == call.number)
            one["thisNode"] = true;
        all.push_back(std::move(one));
    }
    return all;
}

}  // namespace holdfast::lab::couchbase
