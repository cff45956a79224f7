#include "support/recorder.hpp"

#include <algorithm>
#include <iterator>

namespace holdfast::proof {

std::string_view name_of(heard what) noexcept
{
    static constexpr std::string_view names[] = {
        "command started",   "command succeeded",   "command failed",    "pool created",
        "pool ready",        "pool cleared",        "pool closed",       "connection created",
        "connection ready",  "connection closed",   "check out started", "check out failed",
        "checked out",       "checked in",          "topology opening",  "topology closed",
        "topology changed",  "server opening",      "server closed",     "server changed",
        "heartbeat started", "heartbeat succeeded", "heartbeat failed",
    };
    return names[static_cast<std::size_t>(what)];
}

std::string describe(const record& one, time_point since)
{
    const auto at = std::chrono::duration_cast<std::chrono::microseconds>(one.when - since);
    std::string text = std::to_string(at.count()) + " us: " + std::string{name_of(one.what)};
    if (!one.server.empty())
        text += " " + one.server;
    if (one.connection != 0)
        text += " #" + std::to_string(one.connection);
    if (one.operation != 0)
        text += " op " + std::to_string(one.operation);
    if (!one.name.empty())
        text += " " + one.name;
    if (!one.before.empty())
        text += " " + one.before + " -> " + one.after;
    if (one.failure)
        text += ": " + one.failure->message();
    return text;
}

std::vector<record> recorder::of(heard what, std::string_view server) const
{
    std::vector<record> found;
    std::ranges::copy_if(all_, std::back_inserter(found), [&](const record& one) {
        return one.what == what && (server.empty() || one.server == server);
    });
    return found;
}

std::size_t recorder::count(heard what, std::string_view server) const
{
    return of(what, server).size();
}

std::string recorder::type_of(std::string_view server) const
{
    const auto changes = of(heard::server_changed, server);
    return changes.empty() ? "Unknown" : changes.back().after;
}

std::string recorder::text(time_point since) const
{
    std::string lines;
    for (const record& one : all_)
        lines += describe(one, since) + "\n";
    return lines;
}

record& recorder::add(heard what, const endpoint* server, connection_id connection)
{
    record& one = all_.emplace_back();
    one.what = what;
    one.when = in_.now();
    if (server)
        one.server = server->value();
    one.connection = connection.value();
    return one;
}

record& recorder::add(heard what, const events::command_facts& of)
{
    record& one = add(what, &of.server, of.driver_connection);
    one.name = of.command_name;
    one.request = of.request.value();
    one.operation = of.operation.value();
    one.transaction = of.transaction;
    return one;
}

void recorder::on(const events::command_started& e) noexcept
{
    add(heard::command_started, e.of).body = bson::document{e.command};
}

void recorder::on(const events::command_succeeded& e) noexcept
{
    record& one = add(heard::command_succeeded, e.of);
    one.took = e.took;
    one.body = bson::document{e.reply};
}

void recorder::on(const events::command_failed& e) noexcept
{
    record& one = add(heard::command_failed, e.of);
    one.took = e.took;
    one.failure = e.failure;
}

void recorder::on(const events::pool_created& e) noexcept
{
    add(heard::pool_created, &e.server);
}

void recorder::on(const events::pool_ready& e) noexcept
{
    add(heard::pool_ready, &e.server);
}

void recorder::on(const events::pool_cleared& e) noexcept
{
    add(heard::pool_cleared, &e.server).interrupts = e.interrupts_in_use;
}

void recorder::on(const events::pool_closed& e) noexcept
{
    add(heard::pool_closed, &e.server);
}

void recorder::on(const events::connection_created& e) noexcept
{
    add(heard::connection_created, &e.server, e.connection);
}

void recorder::on(const events::connection_ready& e) noexcept
{
    add(heard::connection_ready, &e.server, e.connection).took = e.took;
}

void recorder::on(const events::connection_closed& e) noexcept
{
    add(heard::connection_closed, &e.server, e.connection).name = e.reason;
}

void recorder::on(const events::connection_check_out_started& e) noexcept
{
    add(heard::check_out_started, &e.server);
}

void recorder::on(const events::connection_check_out_failed& e) noexcept
{
    add(heard::check_out_failed, &e.server).name = e.reason;
}

void recorder::on(const events::connection_checked_out& e) noexcept
{
    add(heard::checked_out, &e.server, e.connection).took = e.took;
}

void recorder::on(const events::connection_checked_in& e) noexcept
{
    add(heard::checked_in, &e.server, e.connection);
}

void recorder::on(const events::topology_opening&) noexcept
{
    add(heard::topology_opening);
}

void recorder::on(const events::topology_closed&) noexcept
{
    add(heard::topology_closed);
}

void recorder::on(const events::topology_description_changed& e) noexcept
{
    record& one = add(heard::topology_changed);
    one.before = e.previous.type;
    one.after = e.current.type;
    for (const auto& server : e.previous.servers)
        one.members_before.emplace_back(server.address.value(), server.type);
    for (const auto& server : e.current.servers)
        one.members.emplace_back(server.address.value(), server.type);
}

void recorder::on(const events::server_opening& e) noexcept
{
    add(heard::server_opening, &e.server);
}

void recorder::on(const events::server_closed& e) noexcept
{
    add(heard::server_closed, &e.server);
}

void recorder::on(const events::server_description_changed& e) noexcept
{
    record& one = add(heard::server_changed, &e.current.address);
    one.before = e.previous.type;
    one.after = e.current.type;
    one.failure = e.current.failure;
    one.round_trip = e.current.round_trip_time;
}

void recorder::on(const events::server_heartbeat_started& e) noexcept
{
    add(heard::heartbeat_started, &e.server).awaited = e.awaited;
}

void recorder::on(const events::server_heartbeat_succeeded& e) noexcept
{
    record& one = add(heard::heartbeat_succeeded, &e.server);
    one.awaited = e.awaited;
    one.took = e.took;
    one.body = bson::document{e.reply};
}

void recorder::on(const events::server_heartbeat_failed& e) noexcept
{
    record& one = add(heard::heartbeat_failed, &e.server);
    one.awaited = e.awaited;
    one.took = e.took;
    one.failure = e.failure;
}

}  // namespace holdfast::proof
