#include "core/mongo/select/explain.hpp"

#include <algorithm>

namespace holdfast::core::mongo {

namespace {

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

std::string why_unknown(const server_description& s, time_point now)
{
    if (!s.failure)
        return "not yet known, " + age(s.last_update_time, now);
    std::string text = s.failure->message();
    if (const auto phase = s.failure->context("phase"); !phase.empty())
        text += " (while " + std::string{phase} + ")";
    return text + ", " + age(s.last_update_time, now);
}

std::string why_not(const server_description& s, const topology_description& t,
                    const selection_request& request, const selection_settings& settings,
                    time_point now)
{
    if (is_unknown(s.type))
        return why_unknown(s, now);
    const std::string type{name_of(s.type)};
    if (!is_data_bearing(s.type))
        return type + " holds no data to read or write";
    if (s.type != server_type::rs_secondary)
        return type + " does not match";
    if (request.kind == operation_kind::write || request.preference.mode == read_mode::primary)
        return type + " is not the primary";
    const auto& limit = request.preference.max_staleness;
    if (limit) {
        const auto stale = staleness(s, t, settings.heartbeat_frequency);
        if (stale > *limit)
            return type + " is about " +
                   std::to_string(std::chrono::duration_cast<std::chrono::seconds>(stale).count()) +
                   " s stale";
    }
    return type + " does not match the tags";
}

}  // namespace

std::vector<refusal> explain_no_match(const topology_description& t,
                                      const selection_request& request,
                                      const selection_settings& settings, time_point now)
{
    std::vector<refusal> all;
    for (const server_ptr& s : t.servers)
        all.push_back({s->address, why_not(*s, t, request, settings, now)});
    return all;
}

std::string describe_no_match(const topology_description& t, const selection_request& request,
                              const selection_settings& settings, time_point now)
{
    std::string text = "no suitable server: " + wanted_by(request) +
                       " was wanted, the topology is " + std::string{name_of(t.type)};
    if (t.set_name)
        text += " \"" + *t.set_name + "\"";
    if (t.servers.empty())
        return text + " without any server";
    char separator = ':';
    for (const refusal& r : explain_no_match(t, request, settings, now)) {
        text += separator + (' ' + r.server.value()) + ": " + r.why;
        separator = ';';
    }
    return text;
}

}  // namespace holdfast::core::mongo
