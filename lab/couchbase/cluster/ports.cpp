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

bool cluster_member::is_open() const
{
    return std::ranges::any_of(ports, [](const member_port& one) { return one.open != nullptr; });
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

/// The ports of a node that joins.
void cluster_state::plan_ports(cluster_member& of)
{
    const auto add = [&](const char* service, bool external, std::uint16_t number) {
        of.ports.push_back({service, external, number});
    };
    const bool has_external = !of.at.external_host.empty();
    for (const bool external : {false, true}) {
        if (external && !has_external)
            break;
        add("kv", external, external ? std::uint16_t{0} : of.at.port);
        if (options.tls)
            add("kvSSL", external, external ? std::uint16_t{0} : of.at.tls_port);
        if (!options.management)
            continue;
        add("mgmt", external, external ? std::uint16_t{0} : of.at.management_port);
        if (options.tls)
            add("mgmtSSL", external, 0);
    }
}

result<void> cluster_state::open_ports(cluster_member& of)
{
    if (options.management)
        of.management = options.management(*self, static_cast<std::size_t>(of.entry.id),
                                           *of.at.world);
    for (member_port& one : of.ports) {
        port_options wanted{.where = {of.at.bind, one.number}};
        if (one.secure()) {
            wanted.tls = of.tls;
            wanted.handshake = of.handshake;
        }
        auto opened = one.service.starts_with("kv")
                          ? open_kv_port(*of.data, std::move(wanted))
                          : open_http_port(*of.at.world, *of.management, std::move(wanted));
        if (!opened)
            return std::move(opened).error();
        one.open = *std::move(opened);
        one.number = one.open->port();
    }
    return {};
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

result<void> cluster::close_port(std::size_t number)
{
    state_->member(number).drop_ports();
    return {};
}

result<void> cluster::open_port_again(std::size_t number)
{
    cluster_member& of = state_->member(number);
    if (of.is_open() || !of.running)
        return {};
    return state_->open_ports(of);
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
