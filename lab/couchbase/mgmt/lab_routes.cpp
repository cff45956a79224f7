#include "lab/couchbase/mgmt/commands.hpp"
#include "lab/couchbase/mgmt/fault_json.hpp"
#include "lab/couchbase/mgmt/routes.hpp"

#include <boost/json/array.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

namespace json = boost::json;

http_reply accepted(int status = 200)
{
    http_reply made;
    made.status = status;
    return made;
}

/// The number in "n_1@127.0.0.1:8091".
std::optional<std::size_t> node_in(std::string_view name, const cluster& in)
{
    if (!name.starts_with("n_"))
        return std::nullopt;
    std::size_t number = 0;
    const auto [end, why] = std::from_chars(name.data() + 2, name.data() + name.size(), number);
    const bool whole = end == name.data() + name.size() || *end == '@';
    return why == std::errc{} && whole && number < in.nodes() ? std::optional{number}
                                                              : std::nullopt;
}

/// Runs a command that takes long after its request was answered.
runtime::awaitable<void> run_command(cluster& on, std::string line)
{
    (void)co_await carry_out(on, std::move(line));
}

/// "kv,n1ql,index", as Couchbase has it: views come with key-value, and services that the lab does
/// not know are left out.
service_set services_in(std::string_view list)
{
    service_set made;
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(','), list.size());
        if (auto name = service_named(list.substr(0, end)); name && *name != "mgmt")
            made.insert(*std::move(name));
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    if (made.contains("kv"))
        made.insert("capi");
    return made;
}

/// Starts what takes long; an error if it cannot begin.
result<void> start_command(cluster& on, std::string line)
{
    if (auto can = check_command(on, line); !can)
        return can;
    on.admin().start_task(run_command(on, std::move(line)));
    return {};
}

http_reply add_node_route(route_call& call)
{
    const std::string services = call.field("services");
    const auto wanted = services.empty() ? std::nullopt : std::optional{services_in(services)};
    const auto added = call.on.add_node(wanted);
    if (!added)
        return refuse(400, added.error().message());
    const std::string name = "n_" + std::to_string(*added) + "@" + call.on.address(*added, "mgmt");
    return json_reply(json::object{{"otpNode", json_text(name)}});
}

http_reply rebalance_route(route_call& call)
{
    std::string line = "rebalance";
    std::string ejected = call.field("ejectedNodes");
    while (!ejected.empty()) {
        const std::size_t end = std::min(ejected.find(','), ejected.size());
        const auto number = node_in(std::string_view{ejected}.substr(0, end), call.on);
        if (!number)
            return refuse(400, "an ejected node is unknown");
        line += " " + std::to_string(*number);
        ejected.erase(0, std::min(end + 1, ejected.size()));
    }
    if (call.on.rebalancing())
        return refuse(400, "Rebalance running.");
    const auto begun = start_command(call.on, std::move(line));
    return begun ? accepted() : refuse(400, begun.error().message());
}

http_reply failover_route(route_call& call)
{
    const auto number = node_in(call.field("otpNode"), call.on);
    if (!number)
        return refuse(400, "Unknown server given.");
    const auto done = call.on.fail_over(*number);
    return done ? accepted() : refuse(400, done.error().message());
}

http_reply graceful_failover_route(route_call& call)
{
    const auto number = node_in(call.field("otpNode"), call.on);
    if (!number || !call.on.is_member(*number))
        return refuse(400, "Unknown server given.");
    const auto begun = start_command(call.on, "graceful-failover " + std::to_string(*number));
    return begun ? accepted() : refuse(400, begun.error().message());
}

http_reply eject_route(route_call& call)
{
    const auto number = node_in(call.field("otpNode"), call.on);
    if (!number || call.on.is_member(*number))
        return refuse(400, "only a node that was failed over can be ejected");
    const auto begun = start_command(call.on, "rebalance");
    return begun ? accepted() : refuse(400, begun.error().message());
}

http_reply refuse_command(std::size_t number, const error& why)
{
    return refuse(400, "line " + std::to_string(number) + ": " + why.message());
}

/// Lines of commands, up to one that fails. Of those that take long the end is not waited for.
http_reply commands_route(route_call& call)
{
    json::array lines;
    std::size_t number = 0;
    bool started = false;
    std::string_view rest = call.request.body;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        const std::string line{rest.substr(0, end)};
        rest.remove_prefix(std::min(end + 1, rest.size()));
        ++number;
        if (line.find_first_not_of(" \r\t") == line.npos)
            continue;
        if (is_long_command(line)) {
            if (const auto begun = start_command(call.on, line); !begun)
                return refuse_command(number, begun.error());
            started = true;
            continue;
        }
        const auto answer = carry_out_now(call.on, line);
        if (!answer)
            return refuse_command(number, answer.error());
        for (const std::string& one : *answer)
            lines.push_back(json_text(one));
    }
    return json_reply(json::object{{"lines", std::move(lines)}}, started ? 202 : 200);
}

http_reply set_fault_route(route_call& call)
{
    auto read = read_fault(call.request.body);
    if (!read)
        return refuse(400, read.error().message());
    const auto set = call.on.faults().set(read->name, read->what);
    return set ? accepted() : refuse(400, set.error().message());
}

http_reply list_faults_route(route_call& call)
{
    json::object all;
    for (const std::string& name : call.on.faults().names())
        all[name] = json::object{{"hits", call.on.faults().hits(name)}};
    return json_reply(all);
}

http_reply clear_faults_route(route_call& call)
{
    call.on.faults().clear();
    return accepted();
}

http_reply clear_fault_route(route_call& call)
{
    return call.on.faults().remove(call.names[0]) ? accepted()
                                                  : refuse(404, "there is no such fault");
}

constexpr route membership_table[] = {
    {"POST", "/controller/addNode", access::administrator, add_node_route},
    {"POST", "/controller/rebalance", access::administrator, rebalance_route},
    {"POST", "/controller/failOver", access::administrator, failover_route},
    {"POST", "/controller/startGracefulFailover", access::administrator,
     graceful_failover_route},
    {"POST", "/controller/ejectNode", access::administrator, eject_route},
};

constexpr route lab_table[] = {
    {"POST", "/lab/commands", access::administrator, commands_route},
    {"GET", "/lab/faults", access::administrator, list_faults_route},
    {"POST", "/lab/faults", access::administrator, set_fault_route},
    {"DELETE", "/lab/faults", access::administrator, clear_faults_route},
    {"DELETE", "/lab/faults/*", access::administrator, clear_fault_route},
};

}  // namespace

std::span<const route> membership_routes()
{
    return membership_table;
}

std::span<const route> lab_routes()
{
    return lab_table;
}

}  // namespace holdfast::lab::couchbase
