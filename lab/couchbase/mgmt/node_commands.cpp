#include "lab/couchbase/mgmt/command_table.hpp"

#include <utility>

namespace holdfast::lab::couchbase {

namespace {

/// A handler for a command whose first argument is a node.
template <class Action>
result<void> with_node(command_call& call, Action action)
{
    const auto number = call.node(0);
    if (!number)
        return number.error();
    return action(*number);
}

/// The same, with a flag behind it.
template <class Action>
result<void> with_flag(command_call& call, Action action)
{
    const auto flag = call.flag(1);
    if (!flag)
        return flag.error();
    return with_node(call, [&](std::size_t n) -> result<void> {
        action(n, *flag);
        return {};
    });
}

/// Those that all arguments name.
result<std::vector<std::size_t>> nodes_given(const command_call& call)
{
    std::vector<std::size_t> all;
    for (std::size_t place = 0; place != call.given.size(); ++place) {
        const auto number = call.node(place);
        if (!number)
            return number.error();
        all.push_back(*number);
    }
    return all;
}

std::size_t documents_on(node& of)
{
    std::size_t count = 0;
    for (const auto& [name, in] : of.buckets) {
        for (const auto& [id, one] : in.vbuckets)
            count += one.documents();
    }
    return count;
}

const char* state_text(cluster& of, std::size_t number)
{
    if (!of.is_running(number))
        return of.is_member(number) ? "down" : "gone";
    if (!of.is_member(number))
        return "failed-over";
    return of.at(number).frozen ? "frozen" : "member";
}

/// A node without data is known by its management port.
std::string address_of(const cluster& of, std::size_t number)
{
    const std::string data = of.address(number);
    return data.empty() ? of.address(number, "mgmt") : data;
}

error no_such_service(const std::string& name)
{
    return wrong_command("there is no service '" + name + "'");
}

/// A handler for a command with nodes and a service.
template <class Action>
result<void> with_service(command_call& call, Action action)
{
    const auto name = service_named(call.given[1]);
    if (!name)
        return no_such_service(call.given[1]);
    const auto chosen = call.nodes(0);
    if (!chosen)
        return chosen.error();
    for (const std::size_t n : *chosen) {
        if (auto done = action(n, *name); !done)
            return done;
    }
    return {};
}

}  // namespace

result<void> command_add_node(command_call& call)
{
    std::optional<service_set> services;
    if (!call.given.empty()) {
        services = read_services(call.given[0]);
        if (!services)
            return wrong_command("services are kv, query, analytics, search and views");
    }
    const auto added = call.on.add_node(std::move(services));
    if (!added)
        return added.error();
    call.lines.push_back(std::to_string(*added) + " " + address_of(call.on, *added));
    return {};
}

result<void> command_failover(command_call& call)
{
    return with_node(call, [&](std::size_t n) { return call.on.fail_over(n); });
}

result<void> command_auto_failover(command_call& call)
{
    const auto after = call.number(0);
    if (!after)
        return after.error();
    call.on.auto_failover(std::chrono::milliseconds{*after});
    return {};
}

result<void> check_rebalance(command_call& call)
{
    const auto out = nodes_given(call);
    return out ? call.on.admin().may_rebalance(*out) : result<void>{out.error()};
}

runtime::awaitable<result<void>> command_rebalance(command_call& call)
{
    auto done = co_await call.on.rebalance(nodes_given(call).value());
    co_return done;
}

result<void> check_remove(command_call& call)
{
    return with_node(call, [&](std::size_t n) -> result<void> {
        if (!call.on.is_member(n))
            return wrong_command("node " + std::to_string(n) + " is no member");
        return call.on.admin().may_rebalance({n});
    });
}

runtime::awaitable<result<void>> command_remove(command_call& call)
{
    auto done = co_await call.on.remove_node(call.node(0).value());
    co_return done;
}

result<void> check_graceful_failover(command_call& call)
{
    return with_node(call, [&](std::size_t n) { return call.on.admin().may_hand_over(n); });
}

runtime::awaitable<result<void>> command_graceful_failover(command_call& call)
{
    auto done = co_await call.on.fail_over_gracefully(call.node(0).value());
    co_return done;
}

result<void> check_crash(command_call& call)
{
    if (call.given.size() == 2 && call.given[1] != "lost")
        return wrong_command("usage: crash N [lost]");
    return with_node(call, [](std::size_t) { return result<void>{}; });
}

runtime::awaitable<result<void>> command_crash(command_call& call)
{
    const bool loses = call.given.size() == 2;
    co_await call.on.crash(call.node(0).value(), loses ? node_memory::lost : node_memory::kept);
    co_return result<void>{};
}

result<void> command_restart(command_call& call)
{
    return with_node(call, [&](std::size_t n) { return call.on.restart(n); });
}

result<void> command_freeze(command_call& call)
{
    return with_node(call, [&](std::size_t n) -> result<void> {
        call.on.freeze(n, true);
        return {};
    });
}

result<void> command_thaw(command_call& call)
{
    return with_node(call, [&](std::size_t n) -> result<void> {
        call.on.freeze(n, false);
        return {};
    });
}

result<void> command_close_port(command_call& call)
{
    std::optional<std::string> service{std::string{}};
    if (call.given.size() == 2)
        service = service_named(call.given[1]);
    if (!service)
        return no_such_service(call.given[1]);
    return with_node(call, [&](std::size_t n) { return call.on.close_port(n, *service); });
}

result<void> command_open_port(command_call& call)
{
    return with_node(call, [&](std::size_t n) { return call.on.open_port_again(n); });
}

result<void> command_add_service(command_call& call)
{
    return with_service(call, [&](std::size_t n, const std::string& name) {
        return call.on.admin().add_service(n, name);
    });
}

result<void> command_remove_service(command_call& call)
{
    return with_service(call, [&](std::size_t n, const std::string& name) {
        return call.on.admin().remove_service(n, name);
    });
}

result<void> command_hold_replication(command_call& call)
{
    return with_flag(call, [&](std::size_t n, bool on) { call.on.hold_replication(n, on); });
}

result<void> command_stall_disk(command_call& call)
{
    return with_flag(call, [&](std::size_t n, bool on) { call.on.stall_disk(n, on); });
}

result<void> command_hold_config(command_call& call)
{
    return with_flag(call, [&](std::size_t n, bool on) { call.on.hold_configuration(n, on); });
}

result<void> command_hold_manifest(command_call& call)
{
    return with_flag(call, [&](std::size_t n, bool on) { call.on.hold_manifest(n, on); });
}

result<void> command_config_lag(command_call& call)
{
    const auto lag = call.number(1);
    if (!lag)
        return lag.error();
    return with_node(call, [&](std::size_t n) -> result<void> {
        call.on.set_configuration_lag(n, std::chrono::milliseconds{*lag});
        return {};
    });
}

result<void> command_manifest_lag(command_call& call)
{
    const auto lag = call.number(1);
    if (!lag)
        return lag.error();
    return with_node(call, [&](std::size_t n) -> result<void> {
        call.on.admin().set_manifest_lag(n, std::chrono::milliseconds{*lag});
        return {};
    });
}

result<void> command_status(command_call& call)
{
    for (std::size_t n = 0; n != call.on.nodes(); ++n) {
        call.lines.push_back(std::to_string(n) + " " + address_of(call.on, n) + " " +
                             std::to_string(call.on.connections(n)) + " connections " +
                             std::to_string(documents_on(call.on.at(n))) + " documents " +
                             text_of(call.on.admin().services(n)) + " " + state_text(call.on, n));
    }
    return {};
}

}  // namespace holdfast::lab::couchbase
