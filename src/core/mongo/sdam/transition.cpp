#include "core/mongo/sdam/transition.hpp"

#include "core/mongo/error/server_text.hpp"
#include "core/mongo/sdam/topology_update.hpp"
#include "holdfast/bson/errc.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

namespace holdfast::core::mongo {

namespace {

constexpr std::size_t max_set_name = 256;

/// A direct connection with a set name is only for a member of that set.
void check_single(const topology_description& t, server_description& s)
{
    if (t.type != topology_type::single || !t.set_name || is_unknown(s.type) ||
        t.set_name == s.set_name)
        return;
    error why{bson::errc::invalid_value, "the server is a member of replica set \"" +
                                             limited_text(s.set_name.value_or(""), max_set_name) +
                                             "\", the connection string names \"" + *t.set_name +
                                             "\""};
    s = unknown_server(s.address, std::move(why), s.version, s.last_update_time);
}

bool is_ready(const topology_description& t, const server_description& s) noexcept
{
    return is_data_bearing(s.type) || (!is_unknown(s.type) && t.type == topology_type::single);
}

server_description load_balancer(const endpoint& address)
{
    server_description s;
    s.address = address;
    s.type = server_type::load_balancer;
    return s;
}

}  // namespace

transition open_topology(const topology_settings& settings)
{
    static const topology_ptr nothing = std::make_shared<const topology_description>();
    topology_description seeds = initial_topology(settings);
    if (seeds.servers.empty()) {
        transition without_seeds{std::make_shared<const topology_description>(std::move(seeds))};
        without_seeds.effects.emplace_back(
            warn{"the client was made without seeds: no server can ever be found"});
        without_seeds.events = {topology_opening{}};
        return without_seeds;
    }
    transition first{std::make_shared<const topology_description>(std::move(seeds))};
    first.events = {topology_opening{}, topology_description_changed{nothing, first.after}};
    for (const server_ptr& s : first.after->servers)
        first.events.emplace_back(server_opening{s->address});
    if (!settings.load_balanced) {
        for (const server_ptr& s : first.after->servers)
            first.effects.emplace_back(start_monitor{s->address});
        return first;
    }
    // A load balancer is not monitored; it is known because the URI names it.
    transition known = apply_check(first.after,
                                   load_balancer(first.after->servers.front()->address));
    std::ranges::move(first.events, std::inserter(known.events, known.events.begin()));
    return known;
}

transition close_topology(const topology_ptr& before)
{
    transition last{std::make_shared<const topology_description>()};
    for (const server_ptr& s : before->servers) {
        last.effects.emplace_back(stop_monitor{s->address});
        last.events.emplace_back(server_closed{s->address});
    }
    last.events.emplace_back(topology_description_changed{before, last.after});
    last.events.emplace_back(topology_closed{});
    return last;
}

transition apply_check(const topology_ptr& before, server_description reported, wire_range client)
{
    const server_ptr current = before->find(reported.address);
    if (!current)
        return {before};  // we stopped following it while the reply was on its way
    if (compare(current->version, reported.version) > 0)
        return {before};  // an older word than the one we have

    check_single(*before, reported);
    if (is_unknown(reported.type)) {
        reported.round_trip_time.reset();
        reported.min_round_trip_time.reset();
    }
    topology_update update{before, client};
    const auto s = std::make_shared<const server_description>(std::move(reported));
    update.put(s);
    if (is_ready(*before, *s))
        update.does(mark_pool_ready{s->address});
    update.run_table(s);
    // The event has the description that was kept: a stale primary becomes Unknown.
    const server_ptr kept = update.next().find(s->address);
    const server_ptr published = kept ? kept : s;
    if (*current != *published)
        update.emit_first(server_description_changed{current, published});
    return update.finish();
}

transition apply_srv(const topology_ptr& before, const std::vector<endpoint>& resolved,
                     std::size_t max_hosts, wire_range client)
{
    if (resolved.empty())
        return {before};  // an answer without hosts must not take the topology away
    topology_update update{before, client};
    std::vector<std::string_view> names;
    for (const endpoint& host : resolved)
        names.push_back(host.value());
    std::vector<std::string_view> sorted = names;
    std::ranges::sort(sorted);
    update.keep_only(
        [&](std::string_view address) { return std::ranges::binary_search(sorted, address); });
    update.add_all(names, max_hosts == 0 ? std::numeric_limits<std::size_t>::max() : max_hosts);
    return update.finish();
}

}  // namespace holdfast::core::mongo
