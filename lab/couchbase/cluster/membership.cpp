// Who belongs to the cluster: nodes join, leave and are failed over.
#include "holdfast/couchbase/errc.hpp"
#include "lab/couchbase/cluster/roles.hpp"
#include "lab/couchbase/cluster/state.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

using holdfast::couchbase::errc;
using std::chrono::milliseconds;

constexpr std::size_t most_members = 100;

}  // namespace

result<void> cluster_state::fail_over(std::size_t number, milliseconds departure)
{
    if (auto known = check_member(number); !known)
        return known;
    cluster_member& lost = member(number);
    const auto has_data = [](const auto& one) { return one->in_view && one->has_data(); };
    if (lost.has_data() && std::ranges::count_if(members, has_data) == 1)
        return error{errc::invalid_argument, "the last node with data cannot be failed over"};
    const int id = lost.entry.id;
    ++failovers;
    lost.in_view = false;
    lost.departing = lost.running && departure.count() != 0;
    for (auto& [name, record] : buckets) {
        for (std::size_t n = 0; n != record.layout.map.rows.size(); ++n) {
            const std::vector<int>& row = record.layout.map.rows[n];
            if (std::ranges::find(row, id) == row.end())
                continue;
            const auto vbucket = static_cast<std::uint16_t>(n);
            leave_row(record, vbucket, id, false);
            if (!lost.configuration_held)
                retire_copy(*lost.data, lost.data->buckets.at(name), vbucket);
        }
        record.layout.forward.reset();
    }
    update_view();
    publish();
    if (lost.departing)
        tasks->start(depart(number));
    return {};
}

runtime::awaitable<void> cluster_state::depart(std::size_t number)
{
    const time_point when = manager().steady_now() + options.departure;
    const auto end = co_await runtime::sleep_until(manager(), when);
    cluster_member& of = member(number);
    if (end == runtime::wait_end::cancelled || !of.departing)
        co_return;
    of.departing = false;
    update_view();
    publish();
}

runtime::awaitable<void> cluster_state::eject(std::size_t number)
{
    cluster_member& of = member(number);
    if (of.in_view && of.running && options.departure.count() != 0) {
        of.in_view = false;
        of.departing = true;
        co_await depart(number);
    } else {
        of.in_view = false;
        of.departing = false;
        update_view();
        publish();
    }
    // Clients close their connections when they are not shown the node any more; some of them keep
    // requests for other nodes aside if this one is faster.
    if (of.running && options.departure.count() != 0) {
        const time_point when = manager().steady_now() + options.departure;
        (void)co_await runtime::sleep_until(manager(), when);
    }
    of.removed = true;
    of.running = false;
    of.stop_ports();
    if (of.replication)
        of.replication->stop();
    co_await of.ports_ended();
    if (of.replication)
        co_await of.replication->ended();
    of.drop_ports();
    of.running_services.clear();
    of.replication.reset();
}

result<std::size_t> cluster::add_node(node_place at)
{
    if (auto added = state_->add_member(at); !added)
        return std::move(added).error();
    state_->connect_all();
    state_->update_view();
    state_->publish();
    const std::size_t number = state_->members.size() - 1;
    if (state_->silence.count() != 0)
        auto_failover(state_->silence);
    return number;
}

result<std::size_t> cluster::add_node(std::optional<service_set> services)
{
    if (!state_->options.next_place || nodes() >= most_members)
        return error{errc::invalid_argument, "there is no place for another node"};
    node_place at = state_->options.next_place(nodes());
    if (services)
        at.services = std::move(services);
    return add_node(std::move(at));
}

result<void> cluster::fail_over(std::size_t number)
{
    return state_->fail_over(number, state_->options.departure);
}

bool cluster::rebalancing() const noexcept
{
    return state_->rebalancing;
}

result<void> administration::may_hand_over(std::size_t number) const
{
    if (auto known = all_.check_member(number); !known)
        return known;
    if (all_.rebalancing)
        return broken_off("a rebalance is running");
    if (!all_.loses_nothing(static_cast<int>(number)))
        return error{errc::invalid_argument, "no other node has all that it has"};
    return {};
}

result<void> administration::may_rebalance(const std::vector<std::size_t>& out) const
{
    bool any_stays = false;
    for (std::size_t n = 0; n != all_.members.size(); ++n) {
        const cluster_member& one = all_.member(n);
        any_stays = any_stays ||
                    (one.in_view && one.has_data() && std::ranges::find(out, n) == out.end());
    }
    if (!any_stays)
        return broken_off("no node with data would stay");
    if (all_.rebalancing)
        return broken_off("a rebalance is running");
    return {};
}

runtime::awaitable<result<void>> cluster::fail_over_gracefully(std::size_t number)
{
    cluster_state& all = *state_;
    if (auto can = admin().may_hand_over(number); !can)
        co_return can;
    const int leaving = static_cast<int>(number);
    all.rebalancing = true;
    result<void> outcome;
    for (const std::string& name : buckets()) {
        vbucket_map target = all.find(name)->layout.map;
        for (std::vector<int>& row : target.rows) {
            const auto other = std::find_if(row.begin() + 1, row.end(),
                                            [](int node) { return node != no_node; });
            if (row.front() == leaving && other != row.end())
                std::swap(row.front(), *other);
        }
        outcome = co_await all.move_all(name, std::move(target), 16);
        if (!outcome)
            break;
    }
    all.rebalancing = false;
    if (outcome)
        outcome = all.fail_over(number, all.options.departure);
    co_return outcome;
}

runtime::awaitable<result<void>> cluster::rebalance(std::vector<std::size_t> out, std::size_t batch)
{
    cluster_state& all = *state_;
    if (auto can = admin().may_rebalance(out); !can)
        co_return can;
    std::vector<int> data;
    for (std::size_t n = 0; n != all.members.size(); ++n) {
        const cluster_member& one = all.member(n);
        if (one.in_view && one.has_data() && std::ranges::find(out, n) == out.end())
            data.push_back(static_cast<int>(n));
    }
    all.rebalancing = true;
    result<void> outcome;
    for (const std::string& name : buckets()) {
        const bucket_record* const record = all.find(name);
        if (!record)
            continue;
        const balance_options wanted{record->layout.replicas, record->layout.map.rows.size()};
        outcome = co_await all.move_all(name, balance(data, wanted, record->layout.map), batch);
        if (!outcome)
            break;
    }
    all.rebalancing = false;
    if (!outcome)
        co_return outcome;
    for (std::size_t n = 0; n != all.members.size(); ++n) {
        const cluster_member& one = all.member(n);
        const bool stays = one.in_view && std::ranges::find(out, n) == out.end();
        if (!stays && !one.removed)
            co_await all.eject(n);
    }
    co_return outcome;
}

runtime::awaitable<result<void>> cluster::remove_node(std::size_t number)
{
    if (auto known = state_->check_member(number); !known)
        co_return known;
    std::vector<std::size_t> out{number};
    auto done = co_await rebalance(std::move(out));
    co_return done;
}

}  // namespace holdfast::lab::couchbase
