#include "core/observe/request_report.hpp"

#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/bson/validate.hpp"
#include "holdfast/json/writer.hpp"
#include "holdfast/observer.hpp"

#include <algorithm>

namespace holdfast::core {

namespace {

/// Names of hosts may come from servers.
constexpr std::size_t longest_text = 256;

std::int64_t in_microseconds(duration span)
{
    return std::chrono::duration_cast<std::chrono::microseconds>(span).count();
}

void write(json::writer& to, std::string_view name, const std::optional<duration>& span)
{
    if (!span)
        return;
    to.plain_key(name);
    to.write(in_microseconds(*span));
}

void write(json::writer& to, std::string_view name, std::string_view text)
{
    if (text.empty())
        return;
    to.plain_key(name);
    const bool is_plain = text.size() <= longest_text && bson::is_utf8(text);
    to.write(is_plain ? text : std::string_view{"not shown"});
}

void write(json::writer& to, const reported_request& one)
{
    to.begin_object();
    write(to, "total_duration_us", std::optional{one.total});
    write(to, "encode_duration_us", one.encode);
    write(to, "last_dispatch_duration_us", one.last_dispatch);
    write(to, "total_dispatch_duration_us", one.total_dispatch);
    write(to, "last_server_duration_us", one.last_server);
    write(to, "total_server_duration_us", one.total_server);
    write(to, "operation_name", one.operation);
    write(to, "last_local_id", one.local_id);
    write(to, "operation_id", one.operation_id);
    write(to, "last_local_socket", one.local_socket);
    write(to, "last_remote_socket", one.remote_socket);
    if (one.timeout.count() != 0) {
        to.plain_key("timeout_ms");
        to.write(one.timeout.count());
    }
    write(to, "reason", one.reason);
    to.end_object();
}

}  // namespace

request_report::requests& request_report::of_service(std::string_view service)
{
    const auto found = services_.find(service);
    return found != services_.end() ? found->second : services_[std::string{service}];
}

void request_report::keep(requests& of, reported_request which)
{
    const auto place = std::ranges::upper_bound(of.longest, which.total, std::greater<>{},
                                                &reported_request::total);
    of.longest.insert(place, std::move(which));
    if (of.longest.size() > sample_)
        of.longest.pop_back();
}

std::string request_report::to_json() const
{
    bson::byte_buffer text;
    json::writer to{text};
    to.begin_object();
    for (const auto& [service, of] : services_) {
        to.plain_key(service);
        to.begin_object();
        to.plain_key("total_count");
        to.write(of.count);
        to.plain_key("top_requests");
        to.begin_array();
        for (const reported_request& one : of.longest)
            write(to, one);
        to.end_array();
        to.end_object();
    }
    to.end_object();
    return {reinterpret_cast<const char*>(text.data()), text.size()};
}

}  // namespace holdfast::core

namespace holdfast {

std::string_view name_of(observed::orphan_cause cause) noexcept
{
    switch (cause) {
    case observed::orphan_cause::timed_out:
        return "timed_out";
    case observed::orphan_cause::cancelled:
        break;
    }
    return "cancelled";
}

}  // namespace holdfast
