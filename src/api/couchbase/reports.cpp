#include "api/couchbase/cluster_impl.hpp"
#include "holdfast/couchbase/diagnostics.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <utility>

namespace holdfast::couchbase {

namespace {

using shell::couchbase::kv_link;

endpoint_state state_of(kv_link::stage stage) noexcept
{
    switch (stage) {
    case kv_link::stage::connecting:
        return endpoint_state::connecting;
    case kv_link::stage::connected:
        return endpoint_state::connected;
    case kv_link::stage::reconnecting:
    case kv_link::stage::retired:
        break;
    }
    return endpoint_state::disconnected;
}

std::string quoted_json(std::string_view text)
{
    constexpr char digits[] = "0123456789abcdef";
    std::string made = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            made += '\\';
            made += c;
        } else if (byte < 0x20) {
            made += "\\u00";
            made += digits[byte >> 4];
            made += digits[byte & 0xf];
        } else {
            made += c;
        }
    }
    return made + '"';
}

std::string in_microseconds(duration span)
{
    return std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(span).count());
}

/// What both kinds of reports say of a connection.
template <class Endpoint>
std::string place_json(const Endpoint& one)
{
    std::string made = R"("id":)" + quoted_json(one.id);
    made += R"(,"remote":)" + quoted_json(one.server.value());
    if (!one.local.empty())
        made += R"(,"local":)" + quoted_json(one.local);
    if (!one.bucket.empty())
        made += R"(,"namespace":)" + quoted_json(one.bucket);
    return made;
}

/// `more`: members of the report, each with a comma at its end.
std::string report_json(const std::string& id, const std::string& more, const std::string& services)
{
    return R"({"version":2,"id":)" + quoted_json(id) + ',' + more +
           R"("sdk":"holdfast/)" HOLDFAST_VERSION R"(","services":{)" + services + "}}";
}

/// Services by the names that reports have for them.
constexpr std::pair<service_type, std::string_view> reported_services[] = {
    {service_type::key_value, "kv"},   {service_type::query, "n1ql"},
    {service_type::analytics, "cbas"}, {service_type::search, "fts"},
    {service_type::views, "views"},    {service_type::management, "mgmt"},
};

}  // namespace

std::string_view name_of(endpoint_state state) noexcept
{
    switch (state) {
    case endpoint_state::connecting:
        return "connecting";
    case endpoint_state::connected:
        return "connected";
    case endpoint_state::disconnected:
        break;
    }
    return "disconnected";
}

std::string_view name_of(ping_state state) noexcept
{
    switch (state) {
    case ping_state::ok:
        return "ok";
    case ping_state::timeout:
        return "timeout";
    case ping_state::error:
        break;
    }
    return "error";
}

std::string diagnostics_report::to_json() const
{
    std::string entries = R"("kv":[)";
    for (const endpoint_diagnostics& one : key_value) {
        entries += (entries.back() == '[' ? "{" : ",{") + place_json(one);
        entries += R"(,"state":")" + std::string{name_of(one.state)} + '"';
        if (one.last_activity)
            entries += R"(,"last_activity_us":)" + in_microseconds(*one.last_activity);
        if (!one.last_error.empty())
            entries += R"(,"details":)" + quoted_json(one.last_error);
        entries += '}';
    }
    entries += ']';
    for (const auto& [service, name] : reported_services) {
        std::string list;
        for (const service_diagnostics& one : services) {
            if (one.service != service || one.connections == 0)
                continue;
            list += list.empty() ? "{" : ",{";
            list += R"("remote":)" + quoted_json(one.server.value());
            list += R"(,"state":"connected","connections":)" + std::to_string(one.connections) +
                    R"(,"in_use":)" + std::to_string(one.in_use) + '}';
        }
        if (!list.empty())
            entries += ",\"" + std::string{name} + "\":[" + list + ']';
    }
    return report_json(id, "", entries);
}

const std::vector<endpoint_ping>& ping_report::of(service_type service) const noexcept
{
    switch (service) {
    case service_type::key_value:
        return key_value;
    case service_type::query:
        return query;
    case service_type::analytics:
        return analytics;
    case service_type::search:
        return search;
    case service_type::views:
        return views;
    case service_type::management:
        break;
    }
    return management;
}

std::vector<endpoint_ping>& ping_report::of(service_type service) noexcept
{
    return const_cast<std::vector<endpoint_ping>&>(std::as_const(*this).of(service));
}

bool ping_report::all_answered() const noexcept
{
    bool any = false;
    for (const auto& [service, name] : reported_services) {
        for (const endpoint_ping& one : of(service)) {
            any = true;
            if (!one.latency)
                return false;
        }
    }
    return any;
}

std::string ping_report::to_json() const
{
    std::string services;
    for (const auto& [service, name] : reported_services) {
        if (of(service).empty() && service != service_type::key_value)
            continue;
        std::string entries;
        for (const endpoint_ping& one : of(service)) {
            entries += (entries.empty() ? "{" : ",{") + place_json(one);
            entries += R"(,"state":")" + std::string{name_of(one.state)} + '"';
            if (one.latency)
                entries += R"(,"latency_us":)" + in_microseconds(*one.latency);
            if (!one.error.empty())
                entries += R"(,"error":)" + quoted_json(one.error);
            entries += '}';
        }
        services += services.empty() ? "\"" : ",\"";
        services += std::string{name} + "\":[" + entries + ']';
    }
    const std::string revision = config_revision
                                     ? R"("config_rev":)" + std::to_string(*config_revision) + ','
                                     : "";
    return report_json(id, revision, services);
}

std::string id_of(const kv_link& link)
{
    std::array<char, 18> text{'0', 'x'};
    const auto end = std::to_chars(text.data() + 2, text.data() + text.size(), link.number(), 16);
    return {text.data(), end.ptr};
}

std::string cluster_impl::next_report_id() const
{
    return "0x" + nodes().connections()->client_name() + '/' +
           std::to_string(reports.fetch_add(1) + 1);
}

diagnostics_report cluster_impl::diagnostics() const
{
    const time_point now = world->steady_now();
    diagnostics_report report;
    report.id = next_report_id();
    for (const auto& bucket : nodes().buckets()) {
        for (const auto& link : bucket->links()) {
            const kv_link::snapshot seen = link->look();
            endpoint_diagnostics one;
            one.id = id_of(*link);
            one.server = seen.server;
            one.bucket = bucket->name();
            one.state = state_of(seen.is);
            if (seen.connection) {
                one.local = seen.connection->facts()->local;
                one.last_activity = now - seen.connection->last_activity();
                one.in_flight = seen.connection->statistics().waiting;
            }
            if (seen.last_failure)
                one.last_error = seen.last_failure->message();
            report.key_value.push_back(std::move(one));
        }
    }
    for (auto& known : nodes().services().look())
        report.services.push_back(
            {std::move(known.server), known.service, known.open, known.in_use});
    return report;
}

}  // namespace holdfast::couchbase
