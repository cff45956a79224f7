#include "seedlist_client.hpp"

#include "case_fields.hpp"
#include "core/mongo/sdam/transition.hpp"
#include "core/mongo/settings/address.hpp"
#include "seedlist_zone.hpp"
#include "shell/mongo/connection/establish.hpp"
#include "shell/mongo/connection/handshake.hpp"
#include "shell/mongo/connection/ping.hpp"

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <optional>
#include <utility>

namespace holdfast::spec {
namespace {

using namespace std::chrono_literals;

constexpr auto timeout = 20s;  // for a whole case, on a busy machine

/// Servers that are to be checked, in the order in which they became known.
void note(const std::vector<core::mongo::effect>& effects, std::deque<endpoint>& unchecked)
{
    for (const core::mongo::effect& e : effects) {
        if (const auto* start = std::get_if<core::mongo::start_monitor>(&e))
            unchecked.push_back(start->server);
        if (const auto* stop = std::get_if<core::mongo::stop_monitor>(&e))
            std::erase(unchecked, stop->server);
    }
}

endpoint first_data_bearing(const core::mongo::topology_description& t)
{
    const auto found = std::ranges::find_if(t.servers, [](const core::mongo::server_ptr& s) {
        return core::mongo::is_data_bearing(s->type) &&
               s->type != core::mongo::server_type::rs_secondary;
    });
    demand(found != t.servers.end(), "there is no server to ping");
    return (*found)->address;
}

}  // namespace

seedlist_client::seedlist_client() : context_{std::make_unique<boost::asio::io_context>()}
{
    add_seedlist_zone(names_);
    net::world_settings settings;
    settings.dns.servers = {names_.address()};
    world_ = std::make_unique<net::async_world>(context_->get_executor(), settings);
}

seedlist_client::~seedlist_client() = default;

template <class T>
T seedlist_client::run(runtime::awaitable<T> what)
{
    std::optional<T> value;
    std::exception_ptr thrown;
    const auto keep = [](runtime::awaitable<T> inner,
                         std::optional<T>& to) -> runtime::awaitable<void> {
        T got = co_await std::move(inner);
        to.emplace(std::move(got));
    };
    boost::asio::co_spawn(*context_, keep(std::move(what), value),
                          [&thrown](std::exception_ptr e) { thrown = std::move(e); });
    const auto until = std::chrono::steady_clock::now() + timeout;
    while (!value && !thrown && std::chrono::steady_clock::now() < until)
        context_->run_one_until(until);
    if (thrown)
        std::rethrow_exception(thrown);
    demand(value.has_value(), "it does not come to an end");
    return *std::move(value);
}

result<core::mongo::parsed_uri> seedlist_client::resolve(std::string_view uri)
{
    auto parsed = core::mongo::parse_uri(uri);
    if (!parsed)
        return parsed;
    return run(shell::mongo::look_up_seeds(*world_, *std::move(parsed)));
}

core::mongo::topology_ptr seedlist_client::discover(const core::mongo::client_settings& settings,
                                                    deployment behind, bool with_ping)
{
    core::mongo::client_settings received = settings;
    runtime::tls_ptr tls;
    if (uses_tls(received)) {
        received.tls.ca_file = seedlist_certificate();
        runtime::tls_options own;
        own.certificate_key_file = seedlist_certificate();
        own.verify_peer = false;  // the client has no certificate
        auto made = world_->tls(own);
        demand(made.has_value(), made ? "" : made.error().explain());
        tls = *std::move(made);
    }
    std::vector<std::uint16_t> ports;
    for (const endpoint& seed : received.seeds)
        ports.push_back(core::mongo::parts_of(seed).port);
    seedlist_servers servers{*world_, behind, std::move(ports), std::move(tls)};
    core::mongo::topology_ptr found = run(visit(std::move(received), with_ping));
    servers.stop();
    context_->poll();  // their coroutines notice
    return found;
}

runtime::awaitable<core::mongo::topology_ptr> seedlist_client::visit(
    core::mongo::client_settings settings, bool with_ping)
{
    auto config = shell::mongo::make_connection_config(*world_, settings, {});
    demand(config.has_value(), config ? "" : config.error().explain());
    core::mongo::topology_settings start;
    start.seeds = settings.seeds;
    start.replica_set = settings.replica_set;
    start.direct_connection = settings.direct_connection;
    start.load_balanced = settings.load_balanced;
    core::mongo::transition last = open_topology(start);
    std::deque<endpoint> unchecked;
    note(last.effects, unchecked);
    const time_point until = world_->steady_now() + timeout;
    while (!unchecked.empty() && !settings.load_balanced) {
        const endpoint server = unchecked.front();
        unchecked.pop_front();
        auto handshaken = co_await shell::mongo::handshake(*world_, *config, server, until);
        demand(handshaken.has_value(), handshaken ? "" : handshaken.error().explain());
        last = apply_check(last.after, core::mongo::parse_hello(server, handshaken->reply.view(),
                                                          {handshaken->took, handshaken->took},
                                                          world_->steady_now()));
        note(last.effects, unchecked);
    }
    if (with_ping) {
        const endpoint server = first_data_bearing(*last.after);
        auto made = co_await shell::mongo::establish(*world_, *config, server, until);
        demand(made.has_value(), made ? "" : made.error().explain());
        auto pinged = co_await shell::mongo::ping(*made->connection);
        demand(pinged.has_value(), pinged ? "" : pinged.error().explain());
    }
    co_return last.after;
}

}  // namespace holdfast::spec
