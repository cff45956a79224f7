#include "truth/couchbase/service.hpp"

#include "core/couchbase/route/vbucket.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::truth {

namespace {

/// Under which one request has written or read; empty if there were several.
std::string key_of(const drill::operation& one)
{
    switch (one.what) {
    case drill::action::increment:
        return one.counter;
    case drill::action::upsert:
    case drill::action::get:
        return one.record;
    case drill::action::insert_one:
        return "document " + std::to_string(one.inserted.front());
    case drill::action::compare_and_swap:
    case drill::action::insert_many:
    case drill::action::update_one:
    case drill::action::find_one_and_update:
    case drill::action::bulk_write:
    case drill::action::delete_one:
        break;
    }
    return {};
}

}  // namespace

std::size_t service_record::disturb(time_point when, std::size_t node)
{
    disturbances_.push_back({.from = when, .node = node});
    return disturbances_.size() - 1;
}

void service_record::calm(std::size_t disturbance, time_point when)
{
    disturbances_[disturbance].to = when;
}

void service_record::note_map(time_point when, const std::vector<std::vector<int>>& rows)
{
    routes_.resize(rows.size());
    for (std::size_t n = 0; n < rows.size(); ++n) {
        const int active = rows[n].empty() ? -1 : rows[n].front();
        if (routes_[n].empty() || routes_[n].back().node != active)
            routes_[n].push_back({when, active});
    }
}

/// The longest gap between disturbances, in a time in which the map is the same.
duration service_record::longest_calm(time_point from, time_point to, int node) const
{
    if (node < 0)
        return {};
    std::vector<std::pair<time_point, time_point>> bad;
    for (const disturbance& one : disturbances_) {
        const bool hits = one.node == every_node || one.node == static_cast<std::size_t>(node);
        if (hits && one.from < to && one.to > from)
            bad.emplace_back(one.from, one.to);
    }
    std::ranges::sort(bad);
    duration longest{};
    time_point since = from;
    for (const auto& [begins, ends] : bad) {
        longest = std::max(longest, begins - since);
        since = std::max(since, ends);
    }
    return std::max(longest, to - since);
}

duration service_record::longest_service(std::uint16_t vbucket, time_point from,
                                         time_point to) const
{
    const std::vector<route>& routes = routes_.at(vbucket);
    duration longest{};
    const auto add = [&](time_point begins, time_point ends, int node) {
        begins = std::max(begins, from);
        ends = std::min(ends, to);
        if (begins < ends)
            longest = std::max(longest, longest_calm(begins, ends, node));
    };
    for (std::size_t n = 0; n < routes.size(); ++n)
        add(routes[n].since, n + 1 < routes.size() ? routes[n + 1].since : time_point::max(),
            routes[n].node);
    return longest;
}

std::string check_waiting(std::span<const drill::operation> history, const service_record& by,
                          duration longest)
{
    using std::chrono::milliseconds;
    std::string made;
    for (const drill::operation& one : history) {
        const bool durable = one.durable && one.what != drill::action::get;
        const std::string key = durable ? std::string{} : key_of(one);
        if (key.empty() || one.ended - one.began <= longest)
            continue;
        const std::uint16_t vbucket = core::couchbase::vbucket_of(
            key, static_cast<std::uint32_t>(by.vbuckets()));
        const duration served = by.longest_service(vbucket, one.began, one.ended);
        if (served <= longest)
            continue;
        const auto in_ms = [](duration time) {
            return std::to_string(std::chrono::duration_cast<milliseconds>(time).count()) + " ms";
        };
        made += std::string{name_of(one.what)} + " of " + key + " by client " +
                std::to_string(one.client) + " took " + in_ms(one.ended - one.began) +
                ", and could have been served for " + in_ms(served) +
                (one.reason.empty() ? "" : ": " + one.reason) + '\n';
    }
    return made;
}

}  // namespace holdfast::truth
