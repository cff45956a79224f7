// Which services a node has, and what answers for them.
#include "holdfast/couchbase/errc.hpp"
#include "lab/couchbase/cluster/state.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

using holdfast::couchbase::errc;

/// A service of a node after its end, until its connections have ended too.
struct ended_service {
    std::unique_ptr<http_service> behind = {};
    std::vector<member_port> ports = {};  // they use it until their end
};

/// The service with its ports; the node does not have them any more.
ended_service take_out(cluster_member& of, std::string_view name)
{
    ended_service made;
    for (member_port& one : of.ports) {
        if (one.of_service() == name)
            made.ports.push_back(std::move(one));
    }
    // The names of those that were moved are gone.
    std::erase_if(of.ports, [&](const member_port& one) {
        return one.service.empty() || one.of_service() == name;
    });
    if (const auto found = of.running_services.find(name); found != of.running_services.end())
        made.behind = std::move(of.running_services.extract(found).mapped());
    of.services.erase(of.services.find(name));
    return made;
}

runtime::awaitable<void> close_service(std::shared_ptr<ended_service> which)
{
    for (const member_port& one : which->ports) {
        if (one.open)
            co_await one.open->ended();
    }
}

error no_such_service(std::string_view name)
{
    return error{errc::invalid_argument,
                 "the cluster does not offer the service '" + std::string{name} + "'"};
}

}  // namespace

const offered_service* cluster_state::offered(std::string_view name) const
{
    const auto found = std::ranges::find(options.services, name, &offered_service::name);
    return found == options.services.end() ? nullptr : &*found;
}

result<void> cluster_state::check_services(const service_set& wanted) const
{
    for (const std::string& one : wanted) {
        if (one != "kv" && !offered(one))
            return no_such_service(one);
    }
    if (!wanted.contains("kv") && !offered("mgmt"))
        return error{errc::invalid_argument, "a node without data needs a management service"};
    return {};
}

void cluster_state::start_service(cluster_member& of, const offered_service& what)
{
    of.running_services[what.name] = what.make(*self, static_cast<std::size_t>(of.entry.id),
                                               *of.at.world);
}

void cluster_state::start_services(cluster_member& of)
{
    for (const offered_service& one : options.services) {
        if (one.name == "mgmt" || of.services.contains(one.name))
            start_service(of, one);
    }
}

result<void> cluster_state::add_service(cluster_member& of, std::string_view name)
{
    const offered_service* const what = offered(name);
    if (name == "mgmt" || (name != "kv" && !what))
        return no_such_service(name);
    if (!of.running || of.services.contains(name))
        return error{errc::invalid_argument, "node " + std::to_string(of.entry.id) +
                                                 " does not run, or has the service already"};
    of.services.emplace(name);
    if (what)
        start_service(of, *what);
    plan_ports(of);
    if (auto opened = open_ports(of); !opened) {
        (void)take_out(of, name);
        return opened;
    }
    show_ports(of);
    if (of.has_data())
        connect_all();
    update_view();
    publish();
    return {};
}

result<void> cluster_state::remove_service(cluster_member& of, std::string_view name)
{
    if (name == "mgmt" || !of.services.contains(name))
        return error{errc::invalid_argument, "node " + std::to_string(of.entry.id) +
                                                 " has no service '" + std::string{name} + "'"};
    if (name == "kv")
        return error{errc::invalid_argument,
                     "key-value leaves with its node: remove the node, or hide the service"};
    auto ended = std::make_shared<ended_service>(take_out(of, name));
    show_ports(of);
    update_view();
    publish();
    for (const member_port& one : ended->ports) {
        if (one.open)
            one.open->stop();
    }
    tasks->start(close_service(std::move(ended)));
    return {};
}

void cluster_state::show_capabilities(const std::string& service, std::vector<std::string> names)
{
    const std::string shown = service == "fts" ? "search" : service;
    if (names.empty())
        view.capabilities.erase(shown);
    else
        view.capabilities[shown] = std::move(names);
}

const service_set& administration::services(std::size_t number) const
{
    return all_.member(number).services;
}

result<void> administration::add_service(std::size_t number, std::string_view name)
{
    return all_.add_service(all_.member(number), name);
}

result<void> administration::remove_service(std::size_t number, std::string_view name)
{
    return all_.remove_service(all_.member(number), name);
}

void administration::set_capabilities(const std::string& service, std::vector<std::string> names)
{
    all_.show_capabilities(service, std::move(names));
    all_.publish();
}

}  // namespace holdfast::lab::couchbase
