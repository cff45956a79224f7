#include "api/couchbase/notify.hpp"

#include "core/couchbase/retry/names.hpp"

#include <chrono>
#include <span>
#include <utility>

namespace holdfast::couchbase {

namespace {

using shell::couchbase::cluster_event;
using listener_list = std::vector<std::shared_ptr<event_listener>>;

template <class Event>
void deliver(const listener_list& to, const Event& what)
{
    for (const auto& one : to)
        one->on(what);
}

void deliver_event(const listener_list& to, const cluster_event& what)
{
    switch (what.what) {
    case cluster_event::kind::connected:
        return deliver(to, connection_opened{what.bucket, what.server});
    case cluster_event::kind::connect_failed:
        return deliver(to, connection_failed{what.bucket, what.server, what.detail});
    case cluster_event::kind::disconnected:
        return deliver(to, connection_lost{what.bucket, what.server, what.detail});
    case cluster_event::kind::config_taken:
        return deliver(to, config_changed{what.bucket, what.server, what.detail});
    case cluster_event::kind::config_refused:
        return deliver(to, config_refused{what.bucket, what.server, what.detail});
    case cluster_event::kind::srv_failed:
        return;
    }
}

struct log_line {
    log_component component;
    severity level;
    std::string_view message;
    std::string_view detail;  // the name of the field
};

log_line line_of(cluster_event::kind what)
{
    namespace part = log_components;
    switch (what) {
    case cluster_event::kind::connected:
        return {part::connection, severity::debug, "connection opened", ""};
    case cluster_event::kind::connect_failed:
        return {part::connection, severity::informational, "connection failed", "cause"};
    case cluster_event::kind::disconnected:
        return {part::connection, severity::debug, "connection lost", "cause"};
    case cluster_event::kind::config_taken:
        return {part::configuration, severity::debug, "configuration changed", "revision"};
    case cluster_event::kind::config_refused:
        return {part::configuration, severity::warning, "configuration refused", "cause"};
    case cluster_event::kind::srv_failed:
        return {part::cluster, severity::debug, "no SRV records; the host itself is used", "cause"};
    }
    return {part::cluster, severity::debug, "event", ""};
}

void log_event(log_sink& to, const cluster_event& what)
{
    const log_line line = line_of(what.what);
    if (!to.wants(line.component, line.level))
        return;
    std::vector<log_field> fields;
    if (!what.bucket.empty())
        fields.push_back({"bucket", std::string_view{what.bucket}});
    if (!what.server.value().empty())
        fields.push_back({"server", std::string_view{what.server.value()}});
    if (!line.detail.empty())
        fields.push_back({line.detail, std::string_view{what.detail}});
    to.write({line.level, line.component, line.message, fields});
}

void log_retry(log_sink& to, const core::couchbase::retry_event& event,
               const core::couchbase::retry_request& request)
{
    if (!to.wants(log_components::retry, severity::debug))
        return;
    const std::string_view reason = name_of(event.reason);
    std::vector<log_field> fields{{"operation", std::string_view{request.operation()}},
                                  {"reason", reason}};
    if (!event.server.value().empty())
        fields.push_back({"server", std::string_view{event.server.value()}});
    fields.push_back({"retryAttempts", static_cast<std::int64_t>(event.attempts)});
    fields.push_back(
        {"waitMS", std::chrono::duration_cast<std::chrono::milliseconds>(event.wait).count()});
    fields.push_back({"decision", std::string_view{event.decision}});
    const bool scheduled = event.what == core::couchbase::retry_event::kind::scheduled;
    to.write({severity::debug, log_components::retry,
              scheduled ? "retry scheduled" : "request not retried", fields});
}

void log_requests(log_sink& to, shell::request_report_kind kind, const std::string& json)
{
    const bool late = kind == shell::request_report_kind::orphaned;
    const log_component from = late ? log_components::orphan : log_components::threshold;
    if (!to.wants(from, severity::warning))
        return;
    const log_field requests{"requests", std::string_view{json}};
    to.write({severity::warning,
              from,
              late ? "replies came after their requests were given up"
                   : "requests took longer than their threshold",
              {&requests, 1}});
}

}  // namespace

std::function<void(const cluster_event&)> cluster_notifier(const cluster_options& options)
{
    if (options.listeners.empty() && !options.log)
        return {};
    return [listeners = options.listeners, log = options.log](const cluster_event& what) {
        deliver_event(listeners, what);
        if (log)
            log_event(*log, what);
    };
}

std::function<void(const core::couchbase::retry_event&, const core::couchbase::retry_request&)>
retry_notifier(const cluster_options& options)
{
    if (options.listeners.empty() && !options.log)
        return {};
    return [listeners = options.listeners,
            log = options.log](const core::couchbase::retry_event& event,
                               const core::couchbase::retry_request& request) {
        const bool scheduled = event.what == core::couchbase::retry_event::kind::scheduled;
        deliver(listeners,
                request_retried{request.operation(), event.reason, scheduled, event.attempts,
                                event.wait, event.decision, event.server});
        if (log)
            log_retry(*log, event, request);
    };
}

shell::observation_options observation_of(const cluster_options& options)
{
    shell::observation_options made;
    made.observers = options.observers;
    made.queue = options.observer_queue;
    const log_thresholds& limits = options.thresholds;
    made.sample = limits.sample;
    made.interval = limits.interval;
    if (!options.log)
        return made;
    made.report = [log = options.log](shell::request_report_kind kind, const std::string& json) {
        log_requests(*log, kind, json);
    };
    made.reports_orphans = limits.orphans;
    if (!limits.enabled)
        return made;
    const std::pair<service_type, std::chrono::milliseconds> all[] = {
        {service_type::key_value, limits.key_value}, {service_type::query, limits.query},
        {service_type::analytics, limits.analytics}, {service_type::search, limits.search},
        {service_type::views, limits.views},         {service_type::management, limits.management},
    };
    for (const auto& [service, longest] : all)
        made.thresholds.push_back({core::couchbase::observed_name(service), longest});
    return made;
}

void show_warnings(const std::shared_ptr<log_sink>& to, const std::vector<std::string>& warnings)
{
    if (!to || !to->wants(log_components::cluster, severity::warning))
        return;
    for (const std::string& one : warnings)
        to->write({severity::warning, log_components::cluster, "connection string: " + one, {}});
}

}  // namespace holdfast::couchbase
