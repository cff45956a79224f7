#include "holdfast/couchbase/errc.hpp"
#include "lab/couchbase/cluster/state.hpp"
#include "lab/couchbase/http/http_port.hpp"
#include "lab/couchbase/serve/kv_port.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::lab::couchbase {

std::uint16_t cluster_member::port_of(std::string_view service, bool external) const
{
    const auto found = std::ranges::find_if(ports, [&](const member_port& one) {
        return one.service == service && one.external == external;
    });
    return found == ports.end() ? std::uint16_t{0} : found->number;
}

void cluster_member::stop_ports()
{
    for (const member_port& one : ports) {
        if (one.open)
            one.open->stop();
    }
}

runtime::awaitable<void> cluster_member::ports_ended()
{
    for (const member_port& one : ports) {
        if (one.open)
            co_await one.open->ended();
    }
}

void cluster_member::drop_ports()
{
    for (member_port& one : ports)
        one.open.reset();
}

/// The ports of a node that joins, or of a service that it gets: those that it does not have yet.
void cluster_state::plan_ports(cluster_member& of)
{
    const auto add = [&](std::string service, bool external, std::uint16_t number) {
        const bool known = std::ranges::any_of(of.ports, [&](const member_port& one) {
            return one.service == service && one.external == external;
        });
        if (external)
            number = 0;
        if (!known)
            of.ports.push_back({std::move(service), external, number, number != 0});
    };
    const auto wanted = [&](const std::string& service) {
        const auto found = of.at.more_ports.find(service);
        return found == of.at.more_ports.end() ? std::uint16_t{0} : found->second;
    };
    const auto add_service_ports = [&](const std::string& name, std::uint16_t plain,
                                       std::uint16_t secure) {
        for (const bool external : {false, true}) {
            if (external && of.at.external_host.empty())
                break;
            add(name, external, plain);
            if (options.tls)
                add(name + "SSL", external, secure);
        }
    };
    if (of.has_data())
        add_service_ports("kv", of.at.port, of.at.tls_port);
    for (const offered_service& one : options.services) {
        if (one.name == "mgmt")
            add_service_ports(one.name, of.at.management_port, wanted("mgmtSSL"));
        else if (of.services.contains(one.name))
            add_service_ports(one.name, wanted(one.name), wanted(one.name + "SSL"));
    }
}

result<std::unique_ptr<open_port>> cluster_state::listen(cluster_member& of, const member_port& at,
                                                         std::uint16_t number)
{
    port_options wanted{.where = {of.at.bind, number}};
    if (at.secure()) {
        wanted.tls = of.tls;
        wanted.handshake = of.handshake;
    }
    const auto behind = of.running_services.find(at.of_service());
    if (behind == of.running_services.end())
        return open_kv_port(*of.data, std::move(wanted));
    return open_http_port(*of.at.world, *behind->second, std::move(wanted));
}

result<void> cluster_state::open_ports(cluster_member& of)
{
    bool moved = false;
    for (member_port& one : of.ports) {
        if (one.open)
            continue;
        auto opened = listen(of, one, one.number);
        if (!opened && one.number != 0 && !one.fixed)
            opened = listen(of, one, 0);
        if (!opened)
            return std::move(opened).error();
        one.open = *std::move(opened);
        moved = moved || (one.number != 0 && one.number != one.open->port());
        one.number = one.open->port();
    }
    if (!moved)
        return {};
    show_ports(of);
    connect_all();
    update_view();
    publish();
    return {};
}

void cluster_state::show_ports(cluster_member& of)
{
    of.entry.services.clear();
    if (!of.at.external_host.empty())
        of.entry.external = alternate_address{of.at.external_host, {}};
    for (const member_port& one : of.ports) {
        service_ports& shown = one.external ? of.entry.external->ports : of.entry.services;
        shown[one.service] = one.number;
    }
}

void cluster::set_tls(std::size_t number, runtime::tls_ptr tls, handshake_fault handshake)
{
    cluster_member& of = state_->member(number);
    if (tls)
        of.tls = std::move(tls);
    of.handshake = handshake;
    for (const member_port& one : of.ports) {
        if (one.open && one.secure())
            one.open->set_tls(of.tls, handshake);
    }
}

result<void> cluster::close_port(std::size_t number, std::string_view service)
{
    for (member_port& one : state_->member(number).ports) {
        if (service.empty() || one.of_service() == service)
            one.open.reset();
    }
    return {};
}

result<void> cluster::open_port_again(std::size_t number)
{
    cluster_member& of = state_->member(number);
    return of.running ? state_->open_ports(of) : result<void>{};
}

std::string cluster::address(std::size_t number, std::string_view service) const
{
    const cluster_member& of = state_->member(number);
    const std::uint16_t port = of.port_of(service);
    return port == 0 ? "" : runtime::to_string({of.entry.hostname, port});
}

std::string cluster::address(std::size_t number) const
{
    return address(number, "kv");
}

std::string cluster::tls_address(std::size_t number) const
{
    return address(number, "kvSSL");
}

std::string cluster::external_address(std::size_t number, std::string_view service) const
{
    const cluster_member& of = state_->member(number);
    const std::uint16_t port = of.port_of(service, true);
    return port == 0 ? "" : runtime::to_string({of.at.external_host, port});
}

std::size_t cluster::connections(std::size_t number) const
{
    std::size_t count = 0;
    for (const member_port& one : state_->member(number).ports)
        count += one.open ? one.open->connections() : 0;
    return count;
}

}  // namespace holdfast::lab::couchbase
