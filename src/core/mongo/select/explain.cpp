#include "core/mongo/select/explain.hpp"

#include "core/mongo/error/server_text.hpp"

#include <algorithm>

namespace holdfast::core::mongo {

namespace {

/// Of one server, in a text about all of them.
constexpr std::size_t max_reason = 1'024;

std::string age(time_point since, time_point now)
{
    if (since == time_point::min())
        return "never checked";
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now - since).count();
    return std::to_string(ms) + " ms ago";
}

std::string wanted_by(const selection_request& request)
{
    if (request.kind == operation_kind::write)
        return "a writable server";
    std::string text = "a server for reads with preference ";
    text += name_of(request.preference.mode);
    if (request.preference.max_staleness)
        text += ", at most " + std::to_string(request.preference.max_staleness->count()) +
                " s stale";
    if (!request.preference.tag_sets.empty())
        text += ", with tags";
    return text;
}

std::string why_unknown(const server_description& s, time_point now, const running_checks& running)
{
    if (!s.failure) {
        const auto check = running.began.find(s.address);
        if (check == running.began.end())
            return "not yet known, " + age(s.last_update_time, now);
        return "no answer to the connection attempt begun " + short_text(now - check->second) +
               " ago (connectTimeoutMS " +
               (running.limit == duration::zero() ? "0, no limit" : short_text(running.limit)) +
               ")";
    }
    std::string text = limited_text(s.failure->message(), max_reason);
    if (const auto phase = s.failure->context("phase"); !phase.empty())
        text += " (while " + std::string{phase} + ")";
    return text + ", " + age(s.last_update_time, now);
}

std::string why_not(const server_description& s, const staleness_reference& reference,
                    const selection_request& request, const selection_settings& settings,
                    time_point now, const running_checks& running)
{
    if (is_unknown(s.type))
        return why_unknown(s, now, running);
    const std::string type{name_of(s.type)};
    if (!is_data_bearing(s.type))
        return type + " holds no data to read or write";
    if (s.type != server_type::rs_secondary)
        return type + " does not match";
    if (request.kind == operation_kind::write || request.preference.mode == read_mode::primary)
        return type + " is not the primary";
    const auto& limit = request.preference.max_staleness;
    if (limit) {
        const auto stale = staleness(s, reference, settings.heartbeat_frequency);
        if (stale > *limit)
            return type + " is about " +
                   std::to_string(std::chrono::duration_cast<std::chrono::seconds>(stale).count()) +
                   " s stale";
    }
    return type + " does not match the tags";
}

/// Servers that answered, but belong to another set: mostly `replicaSet` is wrong.
void append_removed(std::string& text, const topology_description& t)
{
    if (!t.set_name)
        return;
    for (const removed_server& one : t.removed) {
        if (t.find(one.address))
            continue;  // it is back
        text += "; " + one.address.value() + " is ";
        text += one.set_name ? "a member of " + *one.set_name + ", not of " + *t.set_name
                             : "not a member of a replica set";
        text += ": removed; check replicaSet";
    }
}

}  // namespace

std::string short_text(duration time)
{
    using namespace std::chrono;
    const auto ms = duration_cast<milliseconds>(time).count();
    if (ms < 1000)
        return std::to_string(ms) + " ms";
    std::string text = std::to_string(ms / 1000);
    if (const auto tenths = ms % 1000 / 100; tenths != 0)
        text += "." + std::to_string(tenths);
    return text + " s";
}

std::vector<refusal> explain_no_match(const topology_description& t,
                                      const selection_request& request,
                                      const selection_settings& settings, time_point now,
                                      const running_checks& running)
{
    const staleness_reference reference = staleness_reference_of(t);
    std::vector<refusal> all;
    for (const server_ptr& s : t.servers)
        all.push_back({s->address, why_not(*s, reference, request, settings, now, running)});
    return all;
}

std::string describe_no_match(const topology_description& t, const selection_request& request,
                              const selection_settings& settings, time_point now,
                              const running_checks& running)
{
    std::string text = "no suitable server: " + wanted_by(request) +
                       " was wanted, the topology is " + std::string{name_of(t.type)};
    if (t.set_name)
        text += " \"" + *t.set_name + "\"";
    if (t.servers.empty())
        text += " without any server";
    char separator = ':';
    for (const refusal& r : explain_no_match(t, request, settings, now, running)) {
        text += separator + (' ' + r.server.value()) + ": " + r.why;
        separator = ';';
    }
    append_removed(text, t);
    return text;
}

}  // namespace holdfast::core::mongo
