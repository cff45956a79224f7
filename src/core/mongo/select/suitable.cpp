#include "core/mongo/select/suitable.hpp"

#include "core/mongo/error/errc.hpp"
#include "holdfast/bson/errc.hpp"

#include <algorithm>
#include <iterator>
#include <string>

namespace holdfast::core::mongo {

namespace {

using servers = std::vector<server_ptr>;

/// How often an idle primary writes, so that its clock shows.
constexpr std::chrono::seconds idle_write_period{10};
constexpr std::chrono::seconds smallest_max_staleness{90};

bool is_replica_set(topology_type type) noexcept
{
    return type == topology_type::replica_set_no_primary ||
           type == topology_type::replica_set_with_primary;
}

servers of_type(std::span<const server_ptr> from, server_type type)
{
    servers found;
    std::ranges::copy_if(from, std::back_inserter(found),
                         [&](const server_ptr& s) { return s->type == type; });
    return found;
}

bool matches(const tag_set& wanted, const tag_set& has)
{
    return std::ranges::all_of(wanted, [&](const auto& tag) {
        const auto at = has.find(tag.first);
        return at != has.end() && at->second == tag.second;
    });
}

/// The servers that match the first tag set which any of them matches.
servers by_tags(servers from, const std::vector<tag_set>& tag_sets)
{
    if (tag_sets.empty())
        return from;
    for (const tag_set& wanted : tag_sets) {
        servers found;
        std::ranges::copy_if(from, std::back_inserter(found),
                             [&](const server_ptr& s) { return matches(wanted, s->tags); });
        if (!found.empty())
            return found;
    }
    return {};
}

class reader {
public:
    reader(const topology_description& t, std::span<const server_ptr> from,
           const read_preference& preference, duration heartbeat) noexcept
        : topology_{t}, from_{from}, preference_{preference}, heartbeat_{heartbeat}
    {
    }

    servers find() const
    {
        switch (preference_.mode) {
        case read_mode::primary:
            return primaries();
        case read_mode::primary_preferred: {
            servers found = primaries();
            return found.empty() ? secondaries() : found;
        }
        case read_mode::secondary:
            return secondaries();
        case read_mode::secondary_preferred: {
            servers found = secondaries();
            return found.empty() ? primaries() : found;
        }
        case read_mode::nearest: {
            servers all = primaries();
            std::ranges::copy(fresh_secondaries(), std::back_inserter(all));
            return by_tags(std::move(all), preference_.tag_sets);
        }
        }
        return {};
    }

private:
    servers primaries() const { return of_type(from_, server_type::rs_primary); }
    servers secondaries() const { return by_tags(fresh_secondaries(), preference_.tag_sets); }

    servers fresh_secondaries() const
    {
        servers found = of_type(from_, server_type::rs_secondary);
        if (preference_.max_staleness) {
            const staleness_reference reference = staleness_reference_of(topology_);
            std::erase_if(found, [&](const server_ptr& s) {
                return staleness(*s, reference, heartbeat_) > *preference_.max_staleness;
            });
        }
        return found;
    }

    const topology_description& topology_;
    std::span<const server_ptr> from_;
    const read_preference& preference_;
    duration heartbeat_;
};

servers suitable_among(std::span<const server_ptr> from, const topology_description& t,
                       const selection_request& request, duration heartbeat)
{
    switch (t.type) {
    case topology_type::unknown:
        return {};
    case topology_type::single: {
        servers found;
        std::ranges::copy_if(from, std::back_inserter(found),
                             [](const server_ptr& s) { return !is_unknown(s->type); });
        return found;
    }
    case topology_type::load_balanced:
        return of_type(from, server_type::load_balancer);
    case topology_type::sharded:
        return of_type(from, server_type::mongos);
    case topology_type::replica_set_no_primary:
    case topology_type::replica_set_with_primary:
        if (request.kind == operation_kind::write)
            return of_type(from, server_type::rs_primary);
        return reader{t, from, request.preference, heartbeat}.find();
    }
    return {};
}

error bad_preference(std::string text)
{
    return error{bson::errc::invalid_value, std::move(text)};
}

}  // namespace

operation_kind kind_in(const topology_description& t, operation_kind kind,
                       bool writes_output) noexcept
{
    constexpr std::int32_t secondaries_take_output = 13;
    const bool some_do_not = writes_output &&
                             std::ranges::any_of(t.servers, [](const server_ptr& s) {
                                 return !is_unknown(s->type) &&
                                        s->type != server_type::load_balancer &&
                                        s->max_wire_version < secondaries_take_output;
                             });
    return some_do_not ? operation_kind::write : kind;
}

result<void> check_preference(const read_preference& preference, const topology_description& t,
                              duration heartbeat_frequency)
{
    if (preference.mode == read_mode::primary && !preference.tag_sets.empty() &&
        std::ranges::any_of(preference.tag_sets, [](const tag_set& s) { return !s.empty(); }))
        return bad_preference("read preference primary cannot be combined with tags");
    if (!preference.max_staleness)
        return {};
    if (preference.mode == read_mode::primary)
        return bad_preference(
            "read preference primary cannot be combined with "
            "maxStalenessSeconds");
    const duration needed = heartbeat_frequency + idle_write_period;
    if (is_replica_set(t.type) && (*preference.max_staleness < smallest_max_staleness ||
                                   *preference.max_staleness < needed)) {
        using std::chrono::ceil;
        const auto least = std::max(smallest_max_staleness, ceil<std::chrono::seconds>(needed));
        return bad_preference("maxStalenessSeconds is " +
                              std::to_string(preference.max_staleness->count()) +
                              ", the least is " + std::to_string(least.count()) +
                              ": 90, and heartbeatFrequencyMS plus 10 s");
    }
    return {};
}

staleness_reference staleness_reference_of(const topology_description& t)
{
    staleness_reference found;
    const auto primary = std::ranges::find_if(
        t.servers, [](const server_ptr& s) { return s->type == server_type::rs_primary; });
    if (primary != t.servers.end() && (*primary)->last_write_date)
        found.primary = primary->get();
    for (const server_ptr& s : t.servers) {
        if (s->type == server_type::rs_secondary)
            found.newest_write = std::max(found.newest_write, s->last_write_date);
    }
    return found;
}

duration staleness(const server_description& secondary, const staleness_reference& reference,
                   duration heartbeat_frequency)
{
    if (!secondary.last_write_date)
        return heartbeat_frequency;  // it has not said; only a set without writes is so
    if (const server_description* const primary = reference.primary) {
        const duration checked_later = secondary.last_update_time - primary->last_update_time;
        return checked_later - (*secondary.last_write_date - *primary->last_write_date) +
               heartbeat_frequency;
    }
    const auto newest = std::max(*secondary.last_write_date,
                                 reference.newest_write.value_or(*secondary.last_write_date));
    return newest - *secondary.last_write_date + heartbeat_frequency;
}

result<std::vector<server_ptr>> suitable_servers(const topology_description& t,
                                                 const selection_request& request,
                                                 const selection_settings& settings)
{
    if (t.compatibility_error)
        return error{errc::incompatible_server, *t.compatibility_error};
    if (request.only != nullptr) {
        const server_ptr one = t.find(*request.only);
        return one && !is_unknown(one->type) ? servers{one} : servers{};
    }
    if (request.writes_output && kind_in(t, request.kind, true) != request.kind) {
        selection_request plain = request;
        plain.kind = operation_kind::write;
        plain.writes_output = false;
        return suitable_servers(t, plain, settings);
    }
    if (request.kind == operation_kind::read) {
        auto checked = check_preference(request.preference, t, settings.heartbeat_frequency);
        if (!checked)
            return std::move(checked).error();
    }
    servers found;
    if (!request.deprioritised.empty()) {
        servers fresh;
        std::ranges::copy_if(t.servers, std::back_inserter(fresh), [&](const server_ptr& s) {
            return std::ranges::find(request.deprioritised, s->address) ==
                   request.deprioritised.end();
        });
        found = suitable_among(fresh, t, request, settings.heartbeat_frequency);
    }
    if (found.empty())
        found = suitable_among(t.servers, t, request, settings.heartbeat_frequency);
    if (settings.selector && !found.empty())
        found = settings.selector(found);
    return found;
}

std::vector<server_ptr> in_latency_window(std::span<const server_ptr> from,
                                          duration local_threshold)
{
    servers found;
    if (from.empty())
        return found;
    const auto rtt = [](const server_ptr& s) {
        return s->round_trip_time.value_or(duration::zero());
    };
    const duration fastest = rtt(*std::ranges::min_element(from, {}, rtt));
    std::ranges::copy_if(from, std::back_inserter(found),
                         [&](const server_ptr& s) { return rtt(s) <= fastest + local_threshold; });
    return found;
}

}  // namespace holdfast::core::mongo
