#include "shell/mongo/events/log_messages.hpp"

#include "core/mongo/settings/address.hpp"
#include "holdfast/bson/json.hpp"
#include "holdfast/mongo/log.hpp"

#include <chrono>
#include <concepts>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::shell::mongo {
namespace {

namespace log_components = holdfast::mongo::log_components;

std::int64_t in_ms(duration what)
{
    return std::chrono::duration_cast<std::chrono::milliseconds>(what).count();
}

/// One record while it is put together.
class record {
public:
    record(log_component component, std::string_view message)
        : component_{component}, message_{message}
    {
        fields_.reserve(most_fields);
    }

    template <class T>
        requires(!std::same_as<T, std::string>)
    record& add(std::string_view name, T value)
    {
        fields_.push_back({name, value});
        return *this;
    }
    /// A text that lives elsewhere, as long as the record.
    record& add(std::string_view name, const std::string& text)
    {
        return add(name, std::string_view{text});
    }
    record& add(std::string_view name, std::string&& text)
    {
        return add(name, std::string_view{texts_.emplace_back(std::move(text))});
    }
    record& server(const endpoint& which)
    {
        const auto [host, port] = core::mongo::parts_of(which);
        add("serverHost", std::string{host});
        if (port != 0)
            add("serverPort", std::int64_t{port});
        return *this;
    }
    record& driver_connection(connection_id which)
    {
        return add("driverConnectionId", static_cast<std::int64_t>(which.value()));
    }
    record& server_connection(const std::optional<std::int64_t>& which)
    {
        return which ? add("serverConnectionId", *which) : *this;
    }
    record& took(duration what) { return add("durationMS", in_ms(what)); }
    record& document(std::string_view name, bson::view what, std::size_t most)
    {
        auto text = bson::to_json(what);
        return add(name, cut_short(text ? *std::move(text) : text.error().message(), most));
    }

    void write(log_sink& to, severity level = severity::debug) const
    {
        to.write({level, component_, message_, fields_});
    }

private:
    static constexpr std::size_t most_fields = 12;

    std::vector<log_field> fields_;
    std::deque<std::string> texts_;  // those that the fields view; a deque does not move them
    log_component component_;
    std::string_view message_;
};

std::string_view why_closed(std::string_view reason)
{
    if (reason == "stale")
        return "Connection became stale because the pool was cleared";
    if (reason == "idle")
        return "Connection has been available but unused for longer than the configured max idle "
               "time";
    if (reason == "poolClosed")
        return "Connection pool was closed";
    return "An error occurred while using the connection";
}

std::string_view why_not_checked_out(std::string_view reason)
{
    if (reason == "timeout")
        return "Wait queue timeout elapsed without a connection becoming available";
    if (reason == "poolClosed")
        return "Connection pool was closed";
    return "An error occurred while trying to establish a new connection";
}

template <class Fill>
void say(log_sink& to, log_component component, std::string_view message, const Fill& fill,
         severity level = severity::debug)
{
    if (!to.wants(component, level))
        return;
    record made{component, message};
    fill(made);
    made.write(to, level);
}

/// The events of pools and of the topology.
struct writer {
    log_sink& to;
    std::size_t most;
    const bson::object_id& topology;

    template <class Fill>
    void connection(std::string_view message, const endpoint& server, const Fill& fill) const
    {
        say(to, log_components::connection, message, [&](record& r) { fill(r.server(server)); });
    }
    void connection(std::string_view message, const endpoint& server) const
    {
        connection(message, server, [](record&) {});
    }
    template <class Fill>
    void monitoring(std::string_view message, const Fill& fill) const
    {
        say(to, log_components::topology, message,
            [&](record& r) { fill(r.add("topologyId", topology.to_string())); });
    }

    void operator()(const events::pool_created& e) const
    {
        connection("Connection pool created", e.server, [&](record& r) {
            r.add("maxPoolSize", std::int64_t{e.limits.max_size})
                .add("minPoolSize", std::int64_t{e.limits.min_size})
                .add("maxConnecting", std::int64_t{e.limits.max_connecting});
            if (e.limits.max_idle_time.count() != 0)
                r.add("maxIdleTimeMS", std::int64_t{e.limits.max_idle_time.count()});
            if (e.limits.wait_queue_timeout)
                r.add("waitQueueTimeoutMS", std::int64_t{e.limits.wait_queue_timeout->count()});
        });
    }
    void operator()(const events::pool_ready& e) const
    {
        connection("Connection pool ready", e.server);
    }
    void operator()(const events::pool_cleared& e) const
    {
        connection("Connection pool cleared", e.server, [&](record& r) {
            if (e.service)
                r.add("serviceId", e.service->to_string());
        });
    }
    void operator()(const events::pool_closed& e) const
    {
        connection("Connection pool closed", e.server);
    }
    void operator()(const events::connection_created& e) const
    {
        connection("Connection created", e.server,
                   [&](record& r) { r.driver_connection(e.connection); });
    }
    void operator()(const events::connection_ready& e) const
    {
        connection("Connection ready", e.server,
                   [&](record& r) { r.driver_connection(e.connection).took(e.took); });
    }
    void operator()(const events::connection_closed& e) const
    {
        connection("Connection closed", e.server, [&](record& r) {
            r.driver_connection(e.connection).add("reason", why_closed(e.reason));
            if (e.failure)
                r.add("error", e.failure->message());
        });
    }
    void operator()(const events::connection_check_out_started& e) const
    {
        connection("Connection checkout started", e.server);
    }
    void operator()(const events::connection_check_out_failed& e) const
    {
        connection("Connection checkout failed", e.server, [&](record& r) {
            r.add("reason", why_not_checked_out(e.reason)).took(e.took);
            if (e.failure)
                r.add("error", e.failure->message());
        });
    }
    void operator()(const events::connection_checked_out& e) const
    {
        connection("Connection checked out", e.server,
                   [&](record& r) { r.driver_connection(e.connection).took(e.took); });
    }
    void operator()(const events::connection_checked_in& e) const
    {
        connection("Connection checked in", e.server,
                   [&](record& r) { r.driver_connection(e.connection); });
    }

    void operator()(const events::topology_opening&) const
    {
        monitoring("Starting topology monitoring", [](record&) {});
    }
    void operator()(const events::topology_closed&) const
    {
        monitoring("Stopped topology monitoring", [](record&) {});
    }
    void operator()(const events::topology_description_changed& e) const
    {
        monitoring("Topology description changed", [&](record& r) {
            r.add("previousDescription", to_text(e.previous))
                .add("newDescription", to_text(e.current));
        });
    }
    void operator()(const events::server_opening& e) const
    {
        monitoring("Starting server monitoring", [&](record& r) { r.server(e.server); });
    }
    void operator()(const events::server_closed& e) const
    {
        monitoring("Stopped server monitoring", [&](record& r) { r.server(e.server); });
    }
    void operator()(const events::server_description_changed&) const {
    }  // logged with the topology's
    void operator()(const events::server_heartbeat_started& e) const
    {
        monitoring("Server heartbeat started", [&](record& r) {
            r.server(e.server).driver_connection(e.driver_connection).add("awaited", e.awaited);
            r.server_connection(e.server_connection);
        });
    }
    void operator()(const heartbeat_reply& e) const
    {
        monitoring("Server heartbeat succeeded", [&](record& r) {
            r.server(e.server).driver_connection(e.driver_connection).add("awaited", e.awaited);
            r.server_connection(e.server_connection).took(e.took);
            r.document("reply", e.reply.view(), most);
        });
    }
    void operator()(const heartbeat_failure& e) const
    {
        monitoring("Server heartbeat failed", [&](record& r) {
            r.server(e.server).driver_connection(e.driver_connection).add("awaited", e.awaited);
            r.server_connection(e.server_connection).took(e.took);
            r.add("failure", e.failure.message());
        });
    }
    void operator()(const events::command_overdue& e) const
    {
        say(
            to, log_components::command, "Command has had no reply for long",
            [&](record& r) {
                r.add("commandName", e.command_name)
                    .add("databaseName", e.database_name)
                    .add("requestId", std::int64_t{e.request.value()})
                    .add("operationId", std::int64_t{e.operation.value()});
                r.driver_connection(e.driver_connection).server(e.server).took(e.waited);
            },
            severity::warning);
    }
    void operator()(const queued_warning& w) const
    {
        if (to.wants(w.from, severity::warning))
            to.write({severity::warning, w.from, w.text});
    }
};

void add_facts(record& to, const events::command_facts& of)
{
    to.add("commandName", of.command_name)
        .add("databaseName", of.database_name)
        .add("requestId", std::int64_t{of.request.value()})
        .add("operationId", std::int64_t{of.operation.value()});
    to.driver_connection(of.driver_connection).server_connection(of.server_connection);
    to.server(of.server);
    if (of.service)
        to.add("serviceId", of.service->to_string());
}

void add_facts(record& to, const selection_facts& of)
{
    to.add("selector", of.selector)
        .add("operation", of.operation)
        .add("operationId", std::int64_t{of.id.value()})
        .add("topologyDescription", of.topology);
}

}  // namespace

std::string to_text(const holdfast::mongo::topology_description& t)
{
    std::string text = "{type: " + t.type + ", servers: [";
    const char* separator = "";
    for (const holdfast::mongo::server_description& s : t.servers) {
        text.append(separator).append("{address: ").append(s.address.value());
        text.append(", type: ").append(s.type);
        if (s.failure)
            text.append(", error: ").append(s.failure->message());
        text.append("}");
        separator = ", ";
    }
    return text + "]}";
}

std::string cut_short(std::string text, std::size_t most)
{
    if (text.size() <= most)
        return text;
    const auto inside = [&](std::size_t at) {
        return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80;
    };
    while (most > 0 && inside(most))
        --most;
    text.resize(most);
    return text + "...";
}

void log_messages::write(const queued_event& what, const bson::object_id& topology) const
{
    std::visit(writer{to_, most_, topology}, what);
}

void log_messages::write(const events::command_started& what) const
{
    say(to_, log_components::command, "Command started", [&](record& r) {
        add_facts(r, what.of);
        r.document("command", what.command, most_);
    });
}

void log_messages::write(const events::command_succeeded& what) const
{
    say(to_, log_components::command, "Command succeeded", [&](record& r) {
        add_facts(r, what.of);
        r.took(what.took).document("reply", what.reply, most_);
    });
}

void log_messages::write(const events::command_failed& what) const
{
    say(to_, log_components::command, "Command failed", [&](record& r) {
        add_facts(r, what.of);
        r.took(what.took).add("failure", what.failure.message());
    });
}

void log_messages::selection_started(const selection_facts& of) const
{
    say(to_, log_components::server_selection, "Server selection started",
        [&](record& r) { add_facts(r, of); });
}

void log_messages::selection_succeeded(const selection_facts& of, const endpoint& server) const
{
    say(to_, log_components::server_selection, "Server selection succeeded", [&](record& r) {
        add_facts(r, of);
        r.server(server);
    });
}

void log_messages::selection_failed(const selection_facts& of, const error& why) const
{
    say(to_, log_components::server_selection, "Server selection failed", [&](record& r) {
        add_facts(r, of);
        r.add("failure", why.message());
    });
}

void log_messages::selection_waits(const selection_facts& of, duration left) const
{
    say(
        to_, log_components::server_selection, "Waiting for suitable server to become available",
        [&](record& r) {
            add_facts(r, of);
            r.add("remainingTimeMS", in_ms(left));
        },
        severity::informational);
}

}  // namespace holdfast::shell::mongo
