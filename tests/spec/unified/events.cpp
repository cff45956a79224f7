#include "events.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::spec::unified {
namespace {

namespace events = mongo::events;
using bson::element;
using bson::type;

constexpr std::string_view sensitive_commands[] = {
    "authenticate", "saslStart",      "saslContinue",    "getnonce", "createUser",
    "updateUser",   "copydbgetnonce", "copydbsaslstart", "copydb",
};
constexpr std::string_view hellos[] = {"hello", "isMaster", "ismaster"};

std::set<std::string, std::less<>> texts_in(bson::view fields, std::string_view name)
{
    std::set<std::string, std::less<>> found;
    if (const element list = fields.find(name))
        for (const element& one : list.as_array())
            found.emplace(one.as_string());
    return found;
}

/// What all events of commands can be asked for, and `more`.
template <class... More>
bson::document command_fields(const events::command_facts& of, const More&... more)
{
    return bson::doc("commandName", of.command_name, "databaseName", of.database_name,
                     "hasServiceId", of.service.has_value(), "hasServerConnectionId",
                     of.server_connection.has_value(), more...);
}

bson::document types(const std::string& previous, const std::string& current)
{
    return bson::doc("previousDescription", bson::doc("type", previous), "newDescription",
                     bson::doc("type", current));
}

std::string_view name_of(event_kind kind)
{
    return kind == event_kind::command ? "command" : kind == event_kind::cmap ? "cmap" : "sdam";
}

event_kind kind_named(std::string_view name)
{
    for (const event_kind kind : {event_kind::command, event_kind::cmap, event_kind::sdam})
        if (name == name_of(kind))
            return kind;
    throw case_failure{"the runner does not know this type of events: " + std::string{name}};
}

/// Commands and replies are root documents, all else must be as it stands there.
difference compare(bson::view expected, const recorded_event& found, const matcher& rules)
{
    const element wanted = *expected.begin();
    if (wanted.key() != found.name)
        return "expected " + std::string{wanted.key()} + ", found " + std::string{found.name} +
               " " + shown(found.fields);
    for (const element& field : wanted.as_document())
        if (auto wrong = rules.compare(field, found.fields[field.key()]))
            return std::string{found.name} + ": " + std::string{field.key()} +
                   (wrong->starts_with("expected ") ? ": " : ".") + *wrong;
    return {};
}

std::string names_of(const std::vector<recorded_event>& events)
{
    std::string names;
    for (const recorded_event& one : events) {
        names.append(names.empty() ? "" : ", ").append(one.name);
        if (const element command = one.fields["commandName"])
            names.append(" ").append(command.as_string());
    }
    return names.empty() ? "none" : names;
}

}  // namespace

client_events::client_events(bson::view client, entities& named)
    : observed_{texts_in(client, "observeEvents")},
      ignored_commands_{texts_in(client, "ignoreCommandMonitoringEvents")}
{
    ignored_commands_.emplace("configureFailPoint");
    const element sensitive = client.find("observeSensitiveCommands");
    sensitive_ = sensitive && sensitive.as_bool();
    const element stores = client.find("storeEventsAsEntities");
    if (!stores)
        return;
    for (const element& one : stores.as_array()) {
        const auto list = std::make_shared<document_list>();
        named.add(one.as_document()["id"].as_string(), list);
        stored_.push_back({texts_in(one.as_document(), "events"), list});
    }
}

void client_events::stop()
{
    const std::lock_guard lock{mutex_};
    stopped_ = true;
}

void client_events::forget()
{
    const std::lock_guard lock{mutex_};
    events_.clear();
    for (const stored_list& one : stored_)
        one.list->clear();
}

std::vector<recorded_event> client_events::recorded(event_kind kind) const
{
    const std::lock_guard lock{mutex_};
    std::vector<recorded_event> some;
    std::ranges::copy_if(events_, std::back_inserter(some),
                         [&](const recorded_event& one) { return one.kind == kind; });
    return some;
}

std::size_t client_events::count(bson::view expected, const matcher& rules) const
{
    const auto only = expected.begin();
    demand(only != expected.end() && only->type() == type::document &&
               std::next(only) == expected.end(),
           "an event is a document with one key, its name: " + shown(expected));
    demand(observed_.contains(only->key()),
           "the client does not observe " + std::string{only->key()});
    const std::lock_guard lock{mutex_};
    const auto matches = std::ranges::count_if(
        events_, [&](const recorded_event& one) { return !compare(expected, one, rules); });
    return static_cast<std::size_t>(matches);
}

std::int64_t client_events::checked_out() const
{
    const std::lock_guard lock{mutex_};
    return checked_out_;
}

std::size_t client_events::ready(const endpoint& server) const
{
    const std::lock_guard lock{mutex_};
    const auto found = ready_.find(server);
    return found == ready_.end() ? 0 : found->second.size();
}

std::vector<std::string> client_events::open_failures() const
{
    const std::lock_guard lock{mutex_};
    return open_failures_;
}

mongo::topology_description client_events::topology() const
{
    const std::lock_guard lock{mutex_};
    return topology_;
}

std::pair<bson::document, bson::document> client_events::last_two_lsids() const
{
    const auto lsid_of = [](const recorded_event& one) {
        const element lsid = one.fields["command"].as_document().find("lsid");
        demand(lsid.type() == type::document,
               "the command " + shown(one.fields["commandName"]) + " has no lsid");
        return bson::document{lsid.as_document()};
    };
    auto commands = recorded(event_kind::command);
    std::erase_if(commands,
                  [](const recorded_event& one) { return one.name != "commandStartedEvent"; });
    demand(commands.size() >= 2, "fewer than two commands were started");
    return {lsid_of(commands[commands.size() - 2]), lsid_of(commands.back())};
}

bool client_events::is_secret(const events::command_facts& of) const
{
    if (std::ranges::find(sensitive_commands, of.command_name) != std::end(sensitive_commands))
        return true;
    const std::lock_guard lock{mutex_};
    return hellos_with_secrets_.contains(of.request.value());
}

bool client_events::ignores(const events::command_facts& of) const
{
    return ignored_commands_.contains(of.command_name) || (!sensitive_ && is_secret(of));
}

void client_events::add_failure(const error& why)
{
    const std::lock_guard lock{mutex_};
    open_failures_.push_back(why.message());
}

void client_events::keep(event_kind kind, std::string_view name, bson::document fields)
{
    for (const stored_list& one : stored_) {
        // "PoolReadyEvent" there, "poolReadyEvent" here.
        const auto wanted = std::ranges::find_if(
            one.names, [&](std::string_view s) { return s.substr(1) == name.substr(1); });
        if (wanted != one.names.end())
            one.list->add(bson::doc("name", *wanted, "fields", fields));
    }
    if (observed_.contains(name))
        events_.push_back({kind, name, std::move(fields)});
}

void client_events::record(event_kind kind, std::string_view name, bson::document fields) noexcept
{
    {
        const std::lock_guard lock{mutex_};
        if (stopped_)
            return;
        keep(kind, name, std::move(fields));
    }
    if (on_recorded)
        on_recorded();
}

void client_events::on(const events::command_started& e) noexcept
{
    // A hello with speculativeAuthenticate is redacted in events.
    if (e.command.empty() && std::ranges::find(hellos, e.of.command_name) != std::end(hellos)) {
        const std::lock_guard lock{mutex_};
        hellos_with_secrets_.insert(e.of.request.value());
    }
    if (!ignores(e.of))
        record(event_kind::command, "commandStartedEvent",
               command_fields(e.of, "command", e.command));
}
void client_events::on(const events::command_succeeded& e) noexcept
{
    if (!ignores(e.of))
        record(event_kind::command, "commandSucceededEvent",
               command_fields(e.of, "reply", e.reply));
}
void client_events::on(const events::command_failed& e) noexcept
{
    if (!is_secret(e.of))
        add_failure(e.failure);
    if (!ignores(e.of))
        record(event_kind::command, "commandFailedEvent",
               command_fields(e.of, "failure", e.failure.message()));
}

void client_events::on(const events::pool_created&) noexcept
{
    record(event_kind::cmap, "poolCreatedEvent");
}
void client_events::on(const events::pool_ready&) noexcept
{
    record(event_kind::cmap, "poolReadyEvent");
}
void client_events::on(const events::pool_cleared& e) noexcept
{
    record(event_kind::cmap, "poolClearedEvent",
           bson::doc("hasServiceId", e.service.has_value(), "interruptInUseConnections",
                     e.interrupts_in_use));
}
void client_events::on(const events::pool_closed&) noexcept
{
    record(event_kind::cmap, "poolClosedEvent");
}
void client_events::on(const events::connection_created&) noexcept
{
    record(event_kind::cmap, "connectionCreatedEvent");
}
void client_events::on(const events::connection_ready& e) noexcept
{
    {
        const std::lock_guard lock{mutex_};
        ready_[e.server].insert(e.connection);
    }
    record(event_kind::cmap, "connectionReadyEvent");
}
void client_events::on(const events::connection_closed& e) noexcept
{
    {
        const std::lock_guard lock{mutex_};
        ready_[e.server].erase(e.connection);
    }
    record(event_kind::cmap, "connectionClosedEvent", bson::doc("reason", e.reason));
}
void client_events::on(const events::connection_check_out_started&) noexcept
{
    record(event_kind::cmap, "connectionCheckOutStartedEvent");
}
void client_events::on(const events::connection_check_out_failed& e) noexcept
{
    record(event_kind::cmap, "connectionCheckOutFailedEvent", bson::doc("reason", e.reason));
}
void client_events::on(const events::connection_checked_out&) noexcept
{
    {
        const std::lock_guard lock{mutex_};
        ++checked_out_;
    }
    record(event_kind::cmap, "connectionCheckedOutEvent");
}
void client_events::on(const events::connection_checked_in&) noexcept
{
    {
        const std::lock_guard lock{mutex_};
        --checked_out_;
    }
    record(event_kind::cmap, "connectionCheckedInEvent");
}

void client_events::on(const events::topology_opening&) noexcept
{
    record(event_kind::sdam, "topologyOpeningEvent");
}
void client_events::on(const events::topology_closed&) noexcept
{
    record(event_kind::sdam, "topologyClosedEvent");
}
void client_events::on(const events::topology_description_changed& e) noexcept
{
    {
        const std::lock_guard lock{mutex_};
        topology_ = e.current;
    }
    record(event_kind::sdam, "topologyDescriptionChangedEvent",
           types(e.previous.type, e.current.type));
}
void client_events::on(const events::server_description_changed& e) noexcept
{
    record(event_kind::sdam, "serverDescriptionChangedEvent",
           types(e.previous.type, e.current.type));
}
void client_events::on(const events::server_heartbeat_started& e) noexcept
{
    record(event_kind::sdam, "serverHeartbeatStartedEvent", bson::doc("awaited", e.awaited));
}
void client_events::on(const events::server_heartbeat_succeeded& e) noexcept
{
    record(event_kind::sdam, "serverHeartbeatSucceededEvent", bson::doc("awaited", e.awaited));
}
void client_events::on(const events::server_heartbeat_failed& e) noexcept
{
    add_failure(e.failure);
    record(event_kind::sdam, "serverHeartbeatFailedEvent", bson::doc("awaited", e.awaited));
}

void check_events(const expected_events& expected, const client_events& recorded_by,
                  const matcher& rules)
{
    const auto found = recorded_by.recorded(kind_named(expected.type));
    const std::string whose = std::string{expected.type} + " events of " +
                              std::string{expected.client} + ": ";
    for (std::size_t i = 0; i != std::min(found.size(), expected.events.size()); ++i)
        if (const auto wrong = compare(expected.events[i], found[i], rules))
            throw case_failure{whose + "number " + std::to_string(i) + ": " + *wrong};
    demand(found.size() >= expected.events.size(),
           whose + "expected " + std::to_string(expected.events.size()) + ", there were only " +
               std::to_string(found.size()) + ": " + names_of(found));
    demand(expected.ignore_extra || found.size() == expected.events.size(),
           whose + "expected " + std::to_string(expected.events.size()) +
               ", there were more: " + names_of(found));
}

}  // namespace holdfast::spec::unified
