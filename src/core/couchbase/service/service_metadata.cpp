#include "core/couchbase/service/member_reader.hpp"
#include "core/couchbase/service/service_reply.hpp"
#include "core/uri/option_text.hpp"
#include "holdfast/json/containers.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace holdfast::couchbase {

namespace {

struct status_name {
    query_status status;
    std::string_view name;
};

constexpr std::array<status_name, 10> status_names{{
    {query_status::unknown, "unknown"},
    {query_status::running, "running"},
    {query_status::success, "success"},
    {query_status::errors, "errors"},
    {query_status::completed, "completed"},
    {query_status::stopped, "stopped"},
    {query_status::timeout, "timeout"},
    {query_status::closed, "closed"},
    {query_status::fatal, "fatal"},
    {query_status::aborted, "aborted"},
}};

}  // namespace

std::string_view name_of(query_status status) noexcept
{
    const auto row = std::ranges::find(status_names, status, &status_name::status);
    return row == status_names.end() ? "unknown" : row->name;
}

}  // namespace holdfast::couchbase

namespace holdfast::core::couchbase {

namespace {

namespace cb = holdfast::couchbase;

cb::query_status status_in(const member_reader& member)
{
    std::string name;
    member.read(name);
    for (const auto& row : cb::status_names)
        if (uri::same_name(row.name, name))
            return row.status;
    return cb::query_status::unknown;
}

void read_duration(const member_reader& member, duration& to)
{
    std::string text;
    member.read(text);
    if (const auto exact = uri::parse_exact_duration(text))
        to = std::chrono::duration_cast<duration>(*exact);
}

cb::query_metrics metrics_in(std::string_view text)
{
    cb::query_metrics found;
    struct count {
        std::string_view name;
        std::uint64_t& to;
    };
    const count counts[] = {
        {"resultCount", found.result_count},     {"resultSize", found.result_size},
        {"sortCount", found.sort_count},         {"mutationCount", found.mutation_count},
        {"errorCount", found.error_count},       {"warningCount", found.warning_count},
        {"processedObjects", found.processed_objects},
    };
    member_reader metric{text};
    while (metric.next()) {
        if (metric.is("elapsedTime"))
            read_duration(metric, found.elapsed_time);
        else if (metric.is("executionTime"))
            read_duration(metric, found.execution_time);
        for (const count& each : counts)
            if (metric.is(each.name))
                metric.read(each.to);
    }
    return found;
}

std::vector<cb::query_warning> warnings_in(std::string_view text)
{
    std::vector<cb::query_warning> found;
    element_reader each{text};
    while (found.size() < max_metadata_entries && each.next()) {
        cb::query_warning& warning = found.emplace_back();
        member_reader member{each.value()};
        while (member.next()) {
            if (member.is("code"))
                member.read(warning.code);
            else if (member.is("msg"))
                member.read(warning.message);
        }
    }
    return found;
}

raw_json raw_in(const member_reader& member)
{
    return member.kind() == json::kind::null ? raw_json{} : raw_json{member.value()};
}

void read_partitions(std::string_view text, cb::search_metadata& to)
{
    member_reader member{text};
    while (member.next()) {
        if (member.is("total"))
            member.read(to.partitions);
        else if (member.is("successful"))
            member.read(to.successful_partitions);
        else if (member.is("failed"))
            member.read(to.failed_partitions);
        if (!member.is("errors"))
            continue;
        member_reader partition{member.value()};
        while (to.errors.size() < max_metadata_entries && partition.next()) {
            auto& one = to.errors.emplace_back();
            one.partition = partition.name();
            partition.read(one.message);
        }
    }
}

std::vector<cb::view_error> view_errors_in(std::string_view text)
{
    std::vector<cb::view_error> found;
    element_reader each{text};
    while (found.size() < max_metadata_entries && each.next()) {
        cb::view_error& one = found.emplace_back();
        member_reader member{each.value()};
        while (member.next()) {
            if (member.is("from"))
                member.read(one.from);
            else if (member.is("reason"))
                member.read(one.reason);
        }
    }
    return found;
}

}  // namespace

cb::query_metadata read_query_metadata(std::string_view text)
{
    cb::query_metadata found;
    member_reader member{text};
    while (member.next()) {
        if (member.is("requestID"))
            member.read(found.request_id);
        else if (member.is("clientContextID"))
            member.read(found.client_context_id);
        else if (member.is("status"))
            found.status = status_in(member);
        else if (member.is("metrics"))
            found.metrics = metrics_in(member.value());
        else if (member.is("warnings"))
            found.warnings = warnings_in(member.value());
        else if (member.is("signature"))
            found.signature = raw_in(member);
        else if (member.is("profile"))
            found.profile = raw_in(member);
    }
    return found;
}

cb::search_metadata read_search_metadata(std::string_view text)
{
    cb::search_metadata found;
    std::uint64_t took = 0;
    member_reader member{text};
    while (member.next()) {
        if (member.is("total_hits"))
            member.read(found.total_hits);
        else if (member.is("max_score"))
            member.read(found.max_score);
        else if (member.is("took"))
            member.read(took);
        else if (member.is("status"))
            read_partitions(member.value(), found);
        else if (member.is("facets"))
            found.facets = raw_in(member);
    }
    constexpr std::uint64_t longest = 1'000'000'000'000'000'000;
    found.took = std::chrono::nanoseconds{static_cast<std::int64_t>(std::min(took, longest))};
    return found;
}

cb::view_metadata read_view_metadata(std::string_view text)
{
    cb::view_metadata found;
    member_reader member{text};
    while (member.next()) {
        if (member.is("total_rows"))
            member.read(found.total_rows);
        else if (member.is("errors"))
            found.errors = view_errors_in(member.value());
        else if (member.is("debug_info"))
            found.debug = raw_in(member);
    }
    return found;
}

}  // namespace holdfast::core::couchbase
