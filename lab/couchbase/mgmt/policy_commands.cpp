#include "lab/couchbase/kv/names.hpp"
#include "lab/couchbase/mgmt/command_table.hpp"
#include "lab/couchbase/mgmt/fault_json.hpp"
#include "lab/couchbase/query/query_definitions.hpp"

#include <utility>

namespace holdfast::lab::couchbase {

namespace {

/// A setting of some nodes that is chosen by its name.
template <class Value, class Action>
result<void> set_named(command_call& call, const std::optional<Value>& value, Action action)
{
    if (!value)
        return wrong_command("there is no '" + call.given[1] + "'");
    const auto chosen = call.nodes(0);
    if (!chosen)
        return chosen.error();
    for (const std::size_t n : *chosen)
        action(call.on.at(n), *value);
    return {};
}

std::optional<host_style> host_style_named(std::string_view name)
{
    if (name == "by_name")
        return host_style::by_name;
    if (name == "dialled")
        return host_style::dialled;
    return name == "left_out" ? std::optional{host_style::left_out} : std::nullopt;
}

std::optional<handshake_fault> handshake_fault_named(std::string_view name)
{
    constexpr std::pair<std::string_view, handshake_fault> names[] = {
        {"none", handshake_fault::none},     {"garbage", handshake_fault::garbage},
        {"alert", handshake_fault::alert},   {"cut", handshake_fault::cut},
        {"silent", handshake_fault::silent},
    };
    for (const auto& [known, value] : names) {
        if (known == name)
            return value;
    }
    return std::nullopt;
}

}  // namespace

result<void> command_epoch(command_call& call)
{
    call.on.begin_epoch();
    return {};
}

result<void> command_publish(command_call& call)
{
    call.on.publish();
    return {};
}

result<void> command_service(command_call& call)
{
    const auto number = call.node(0);
    const auto port = call.number(2);
    if (!number || !port)
        return number ? port.error() : number.error();
    call.on.set_service(*number, call.given[1], static_cast<std::uint16_t>(*port));
    return {};
}

result<void> command_capabilities(command_call& call)
{
    const auto service = service_named(call.given[0]);
    if (!service)
        return wrong_command("there is no service '" + call.given[0] + "'");
    std::vector<std::string> names{call.given.begin() + 1, call.given.end()};
    if (names.front() == "none")
        names.clear();
    call.on.admin().set_capabilities(*service, std::move(names));
    return {};
}

result<void> command_external(command_call& call)
{
    const auto number = call.node(0);
    if (!number)
        return number.error();
    std::optional<alternate_address> at;
    if (call.given[1] != "off")
        at = alternate_address{call.given[1], {}};
    call.on.set_alternate_address(*number, std::move(at));
    return {};
}

result<void> command_push(command_call& call)
{
    return set_named(call, push_policy_named(call.given[1]),
                     [](node& on, const push_policy& value) { on.push = value; });
}

result<void> command_refusals(command_call& call)
{
    return set_named(call, refusal_body_named(call.given[1]),
                     [](node& on, refusal_body value) { on.refusals = value; });
}

result<void> command_damage(command_call& call)
{
    return set_named(call, config_damage_named(call.given[1]),
                     [](node& on, config_damage value) { on.damage = value; });
}

result<void> command_hosts(command_call& call)
{
    return set_named(call, host_style_named(call.given[1]),
                     [](node& on, host_style value) { on.options.hosts = value; });
}

result<void> command_tls(command_call& call)
{
    const auto chosen = call.nodes(0);
    if (!chosen)
        return chosen.error();
    if (call.given.size() == 3)
        return wrong_command("clients with certificates need a user");
    for (const std::size_t n : *chosen) {
        runtime::tls_options wanted;
        wanted.certificate_key_file = call.given[1];
        wanted.verify_peer = call.given.size() == 4;
        if (wanted.verify_peer)
            wanted.ca_file = call.given[2];
        auto made = call.on.at(n).world.tls(wanted);
        if (!made)
            return std::move(made).error();
        call.on.set_tls(n, *std::move(made), handshake_fault::none);
        call.on.at(n).options.certificate_user = wanted.verify_peer ? call.given[3] : "";
    }
    return {};
}

result<void> command_tls_fault(command_call& call)
{
    const auto fault = handshake_fault_named(call.given[1]);
    const auto chosen = call.nodes(0);
    if (!fault || !chosen)
        return chosen ? wrong_command("there is no '" + call.given[1] + "'") : chosen.error();
    for (const std::size_t n : *chosen)
        call.on.set_tls(n, nullptr, *fault);
    return {};
}

result<void> command_http_chunks(command_call& call)
{
    constexpr std::size_t largest = 64 * 1024;
    const auto size = call.number(1);
    if (!size)
        return size.error();
    if (*size > largest)
        return wrong_command("a chunk has 65536 bytes at most");
    return set_named(call, std::optional{*size},
                     [](node& on, std::size_t value) { on.options.http_chunk_size = value; });
}

result<void> command_hold_index(command_call& call)
{
    const auto flag = call.flag(1);
    if (!flag)
        return flag.error();
    return set_named(call, std::optional{*flag},
                     [](node& on, bool value) { on.options.index_held = value; });
}

result<void> command_index_lag(command_call& call)
{
    const auto lag = call.number(1);
    if (!lag)
        return lag.error();
    return set_named(
        call, std::optional{std::chrono::milliseconds{*lag}},
        [](node& on, std::chrono::milliseconds value) { on.options.index_lag = value; });
}

result<void> command_error_map(command_call& call)
{
    std::optional<std::string> map;
    if (call.given[1] != "default")
        map = call.given[1];
    return set_named(call, std::make_optional(map),
                     [](node& on, const auto& value) { on.error_map = value; });
}

result<void> command_fault(command_call& call)
{
    auto read = read_fault(call.given[1]);
    if (!read)
        return std::move(read).error();
    return call.on.faults().set(call.given[0], read->what);
}

result<void> command_clear(command_call& call)
{
    if (call.given.empty())
        call.on.faults().clear();
    else if (!call.on.faults().remove(call.given[0]))
        return wrong_command("there is no fault '" + call.given[0] + "'");
    return {};
}

result<void> command_hits(command_call& call)
{
    call.lines.push_back(std::to_string(call.on.faults().hits(call.given[0])));
    return {};
}

result<void> command_forget_plans(command_call& call)
{
    const auto chosen = call.nodes(0);
    if (!chosen)
        return chosen.error();
    for (const std::size_t n : *chosen)
        query_definitions_of(call.on).plans.erase(n);
    return {};
}

result<void> command_require_index(command_call& call)
{
    const auto on = call.flag(0);
    if (!on)
        return on.error();
    query_definitions_of(call.on).needs_index = *on;
    return {};
}

}  // namespace holdfast::lab::couchbase
