#include "lab/api/couchbase_plan.hpp"

#include "holdfast/couchbase/errc.hpp"
#include "lab/api/couchbase_services.hpp"

#include <iterator>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

using holdfast::couchbase::errc;

constexpr std::size_t most_nodes = 50;
constexpr std::size_t last_port = 65535;
/// In the order of their usual ports, 8092 to 8095.
constexpr const char* port_services[] = {"capi", "n1ql", "fts", "cbas"};
constexpr std::chrono::milliseconds departure{100};  // about what real clusters need

error wrong_option(std::string why)
{
    return error{errc::invalid_argument, std::move(why)}.with_context("phase", "options");
}

result<void> check_options(const couchbase_options& options)
{
    if (options.nodes == 0 || options.nodes > most_nodes)
        return wrong_option("a cluster has 1 to 50 nodes");
    if (options.replicas > max_replicas)
        return wrong_option("a bucket has 3 replicas at most");
    if (options.user.empty() || options.password.empty())
        return wrong_option("a login has a user and a password, both not empty");
    if (options.host.empty() || options.bind.empty())
        return wrong_option("host and bind must not be empty");
    for (const std::uint16_t port : {options.port, options.tls_port, options.management_port}) {
        if (port != 0 && port + options.nodes > last_port + 1)
            return wrong_option("there are not that many ports after " + std::to_string(port));
    }
    if (options.service_port != 0 &&
        options.service_port + std::size(port_services) * options.nodes > last_port + 1)
        return wrong_option("there are not that many ports after " +
                            std::to_string(options.service_port));
    bool has_data = options.services.size() < options.nodes;
    for (std::size_t n = 0; n != options.services.size(); ++n) {
        const auto services = read_services(options.services[n]);
        if (!services)
            return wrong_option("'" + options.services[n] +
                                "': services are kv, query, analytics, search and views");
        has_data = has_data || (n < options.nodes && services->contains("kv"));
    }
    if (!has_data)
        return wrong_option("no node has kv, where the documents would be");
    return {};
}

node_place place_of(const couchbase_options& options, runtime::world& in, std::size_t number)
{
    const auto from = [&](std::uint16_t first) {
        const std::size_t port = first == 0 ? 0 : first + number;
        return static_cast<std::uint16_t>(port > last_port ? 0 : port);
    };
    node_place made{&in, options.bind, options.host, from(options.port)};
    made.tls_port = from(options.tls_port);
    made.management_port = from(options.management_port);
    made.external_host = options.external_host;
    if (number < options.services.size())
        made.services = read_services(options.services[number]);
    std::size_t next = options.service_port + number * std::size(port_services);
    for (const char* const name : port_services) {
        if (options.service_port != 0 && next <= last_port)
            made.more_ports[name] = static_cast<std::uint16_t>(next++);
    }
    return made;
}

}  // namespace

result<cluster_options> plan_cluster(const couchbase_options& options, runtime::world& in)
{
    if (auto fine = check_options(options); !fine)
        return std::move(fine).error();
    cluster_options made;
    made.buckets = options.buckets;
    made.user = options.user;
    made.password = options.password;
    made.node.plain_without_tls = options.plain_without_tls;
    made.replicas = options.replicas;
    made.warm_up = options.warm_up;
    made.departure = departure;
    made.services = all_services_offered();
    made.next_place = [options, &in](std::size_t n) { return place_of(options, in, n); };
    for (std::size_t n = 0; n != options.nodes; ++n)
        made.nodes.push_back(place_of(options, in, n));
    if (options.tls_certificate.empty())
        return made;
    auto serving = in.tls({.certificate_key_file = options.tls_certificate, .verify_peer = false});
    if (!serving)
        return std::move(serving).error().with_context("phase", "options");
    made.tls = *std::move(serving);
    return made;
}

}  // namespace holdfast::lab::couchbase
