#include "api/couchbase/cluster_impl.hpp"
#include "holdfast/couchbase/diagnostics.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <chrono>
#include <mutex>
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

std::string report_json(const std::string& services)
{
    return R"({"version":2,"sdk":"holdfast/)" HOLDFAST_VERSION R"(","services":{)" + services +
           "}}";
}

/// Services by the names that reports have for them.
constexpr std::pair<service_type, std::string_view> reported_services[] = {
    {service_type::key_value, "kv"},    {service_type::query, "n1ql"},
    {service_type::analytics, "cbas"},  {service_type::search, "fts"},
    {service_type::views, "views"},     {service_type::management, "mgmt"},
};

/// What the pings of one call share.
struct ping_run {
    explicit ping_run(runtime::world& in) : one_ended{in} {}

    std::mutex mutex;
    std::size_t left = 0;
    ping_report report;
    runtime::event one_ended;
};

runtime::awaitable<void> ping_one(std::shared_ptr<cluster_impl> in, std::shared_ptr<ping_run> run,
                                  std::size_t place,
                                  std::shared_ptr<shell::couchbase::kv_connection> over,
                                  time_point until)
{
    const time_point began = in->world->steady_now();
    core::couchbase::request_frame question;
    question.opcode = core::couchbase::kv_opcode::noop;
    auto answer = co_await shell::couchbase::ask(std::move(over), question, until);
    const duration took = in->world->steady_now() - began;
    {
        const std::scoped_lock lock{run->mutex};
        endpoint_ping& entry = run->report.key_value[place];
        if (answer)
            entry.latency = took;
        else
            entry.error = answer.error().message();
        --run->left;
    }
    run->one_ended.notify();
}

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

std::string diagnostics_report::to_json() const
{
    std::string entries = R"("kv":[)";
    for (const endpoint_diagnostics& one : key_value) {
        entries += entries.back() == '[' ? "{" : ",{";
        entries += R"("remote":)" + quoted_json(one.server.value());
        entries += R"(,"state":")" + std::string{name_of(one.state)} + '"';
        if (!one.bucket.empty())
            entries += R"(,"namespace":)" + quoted_json(one.bucket);
        if (one.last_activity)
            entries += R"(,"last_activity_us":)" + in_microseconds(*one.last_activity);
        if (!one.last_error.empty())
            entries += R"(,"details":)" + quoted_json(one.last_error);
        entries += '}';
    }
    return report_json(entries + ']');
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
            entries += entries.empty() ? "{" : ",{";
            entries += R"("remote":)" + quoted_json(one.server.value());
            entries += one.latency
                           ? R"(,"state":"ok","latency_us":)" + in_microseconds(*one.latency)
                           : R"(,"state":"error","error":)" + quoted_json(one.error);
            if (!one.bucket.empty())
                entries += R"(,"namespace":)" + quoted_json(one.bucket);
            entries += '}';
        }
        services += services.empty() ? "\"" : ",\"";
        services += std::string{name} + "\":[" + entries + ']';
    }
    return report_json(services);
}

diagnostics_report cluster_impl::diagnostics() const
{
    const time_point now = world->steady_now();
    diagnostics_report report;
    for (const auto& bucket : nodes().buckets()) {
        for (const auto& link : bucket->links()) {
            const kv_link::snapshot seen = link->look();
            endpoint_diagnostics one;
            one.server = seen.server;
            one.bucket = bucket->name();
            one.state = state_of(seen.is);
            if (seen.connection) {
                one.last_activity = now - seen.connection->last_activity();
                one.in_flight = seen.connection->statistics().waiting;
            }
            if (seen.last_failure)
                one.last_error = seen.last_failure->message();
            report.key_value.push_back(std::move(one));
        }
    }
    return report;
}

runtime::awaitable<result<ping_report>> cluster_impl::ping(std::chrono::milliseconds timeout)
{
    const auto self = shared_from_this();
    const time_point until = world->steady_now() + timeout;
    const auto run = std::make_shared<ping_run>(*world);
    std::vector<std::pair<std::size_t, std::shared_ptr<shell::couchbase::kv_connection>>> asked;
    nodes().start();
    for (const auto& bucket : nodes().buckets()) {
        for (const auto& link : bucket->links()) {
            const kv_link::snapshot seen = link->look();
            endpoint_ping one;
            one.server = seen.server;
            one.bucket = bucket->name();
            if (seen.connection)
                asked.emplace_back(run->report.key_value.size(), seen.connection);
            else
                one.error = seen.last_failure ? seen.last_failure->message() : "not connected yet";
            run->report.key_value.push_back(std::move(one));
        }
    }
    run->left = asked.size();
    for (auto& [place, over] : asked)
        boost::asio::co_spawn(world->executor(), ping_one(self, run, place, over, until),
                              boost::asio::detached);
    for (;;) {
        const std::uint64_t seen = run->one_ended.count();
        {
            const std::scoped_lock lock{run->mutex};
            if (run->left == 0)
                co_return run->report;
        }
        const runtime::wait_end end = co_await run->one_ended.wait(seen);
        if (end == runtime::wait_end::cancelled)
            co_return error{errc::request_canceled, "cancelled while nodes were asked"};
    }
}

}  // namespace holdfast::couchbase
