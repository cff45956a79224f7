#include "holdfast/couchbase/errc.hpp"
#include "lab/couchbase/cluster/roles.hpp"
#include "lab/couchbase/cluster/state.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

using holdfast::couchbase::errc;
using std::chrono::milliseconds;

/// A copy that has not arrived after so long will not.
constexpr milliseconds copy_timeout{30'000};
/// So long durable writes are waited for before a vbucket is handed over; what is left then is
/// ambiguous to its clients, and committed by the new node.
constexpr milliseconds prepared_timeout{50};
constexpr std::size_t most_members = 100;

bool contains(const std::vector<int>& row, int node)
{
    return std::ranges::find(row, node) != row.end();
}

error broken_off(std::string reason)
{
    return error{errc::request_canceled, std::move(reason)};
}

}  // namespace

void cluster_state::install(bucket_record& of, std::uint16_t id, const std::vector<int>& row,
                            std::optional<std::uint64_t> new_uuid)
{
    of.layout.map.rows.at(id) = row;
    for (const int number : row) {
        if (number == no_node)
            continue;
        bucket& in = at(number).buckets.at(of.layout.name);
        const bool active = number == row.front();
        assign_row(at(number), in, id, row, active ? new_uuid : std::nullopt,
                   [this] { return draw(); });
        in.find(id)->stall_disk(at(number).disk_stalled);
        if (active)
            of.histories.at(id) = in.find(id)->uuid();
    }
}

void cluster_state::leave_row(bucket_record& of, std::uint16_t id, int number, bool stays)
{
    std::vector<int> row = of.layout.map.rows.at(id);
    const bool was_active = row.front() == number;
    const int left = stays ? number : no_node;
    if (!was_active) {
        std::ranges::replace(row, number, left);
        install(of, id, row, std::nullopt);
        return;
    }
    std::vector<std::optional<copy_rank>> ranks(row.size());
    for (std::size_t n = 1; n != row.size(); ++n) {
        if (row[n] == no_node)
            continue;
        const vbucket* const copy = at(row[n]).buckets.at(of.layout.name).find(id);
        if (copy)
            ranks[n] = {member(static_cast<std::size_t>(row[n])).running,
                        copy->uuid() == of.histories.at(id), copy->consistent_seqno()};
    }
    const auto best = best_copy(ranks);
    if (!best) {
        row.front() = left;
        install(of, id, row, std::nullopt);
        return;
    }
    const int chosen = row[*best];
    row.erase(row.begin() + static_cast<std::ptrdiff_t>(*best));
    row.front() = chosen;
    row.push_back(left);
    install(of, id, row, draw());
}

bool cluster_state::loses_nothing(int number) const
{
    for (const auto& [name, record] : buckets) {
        for (const std::vector<int>& row : record.layout.map.rows) {
            const bool has_other = std::ranges::any_of(row, [&](int other) {
                return other != no_node && other != number &&
                       members.at(static_cast<std::size_t>(other))->running;
            });
            if (row.front() == number && !has_other)
                return false;
        }
    }
    return true;
}

result<void> cluster_state::fail_over(std::size_t number)
{
    if (auto known = check_member(number); !known)
        return known;
    if (view.nodes.size() == 1)
        return error{errc::invalid_argument, "the last node cannot be failed over"};
    cluster_member& lost = member(number);
    const int id = lost.entry.id;
    ++failovers;
    lost.in_view = false;
    for (auto& [name, record] : buckets) {
        for (std::size_t n = 0; n != record.layout.map.rows.size(); ++n) {
            if (!contains(record.layout.map.rows[n], id))
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
    return {};
}

runtime::awaitable<bool> cluster_state::caught_up(std::string bucket, std::uint16_t id,
                                                  std::vector<int> copies, time_point until)
{
    const std::uint64_t generation = failovers;
    for (;;) {
        const std::uint64_t seen = progress->count();
        const bucket_record* const record = find(bucket);
        if (!record || generation != failovers)
            co_return false;
        const vbucket* const source = at(record->layout.map.active(id)).buckets.at(bucket).find(id);
        bool all = source != nullptr;
        for (const int copy : copies)
            all = all && has_caught_up(at(copy).buckets.at(bucket), *source);
        if (all)
            co_return true;
        const auto end = co_await progress->wait(seen, until);
        if (end != runtime::wait_end::notified)
            co_return false;
    }
}

namespace {

/// Where a copy is to arrive.
void prepare_copies(cluster_state& of, const std::string& bucket, std::uint16_t id, int source,
                    const std::vector<int>& joining)
{
    for (const int number : joining) {
        node& on = of.at(number);
        auto& copies = on.buckets.at(bucket).vbuckets;
        copies.erase(id);
        vbucket made{id, of.draw(), vbucket::state::pending};
        made.set_chain({source});
        copies.emplace(id, std::move(made));
    }
    node& from = of.at(source);
    from.buckets.at(bucket).find(id)->set_joining(joining);
    from.changed(bucket, id);
}

void drop_copies(cluster_state& of, const std::string& bucket, std::uint16_t id,
                 const std::vector<int>& nodes)
{
    for (const int number : nodes) {
        node& on = of.at(number);
        if (on.find_bucket(bucket))
            drop_copy(on, on.buckets.at(bucket), id);
    }
}

std::vector<int> without(const std::vector<int>& row, const std::vector<int>& other)
{
    std::vector<int> rest;
    for (const int node : row) {
        if (node != no_node && !contains(other, node))
            rest.push_back(node);
    }
    return rest;
}

/// From here on the old active copy refuses all, until the new one is active or it fails.
void pause_source(cluster_state& of, const std::string& bucket, std::uint16_t id, int source,
                  bool on)
{
    vbucket* const at = of.at(source).buckets.at(bucket).find(id);
    if (at && at->current_state() == (on ? vbucket::state::active : vbucket::state::dead))
        at->set_state(on ? vbucket::state::dead : vbucket::state::active);
}

runtime::awaitable<void> await_no_prepared(cluster_state& of, std::string bucket, std::uint16_t id,
                                           int source)
{
    const time_point until = of.manager().steady_now() + prepared_timeout;
    for (;;) {
        const std::uint64_t seen = of.progress->count();
        const vbucket* const at = of.at(source).buckets.at(bucket).find(id);
        if (!at || at->prepared().empty())
            break;
        const auto end = co_await of.progress->wait(seen, until);
        if (end != runtime::wait_end::notified || !of.find(bucket))
            break;
    }
}

}  // namespace

runtime::awaitable<result<void>> cluster_state::move(std::string bucket, vbucket_move step)
{
    const std::uint16_t id = step.vbucket;
    const std::vector<int> from = find(bucket)->layout.map.rows.at(id);
    const int source = from.front();
    const std::uint64_t generation = failovers;
    if (source == no_node) {
        install(*find(bucket), id, step.to, draw());
        co_return result<void>{};
    }
    const std::vector<int> joining = without(step.to, from);
    prepare_copies(*this, bucket, id, source, joining);
    const time_point until = manager().steady_now() + copy_timeout;
    const std::vector<int> copies = without(step.to, std::vector<int>{source});
    bool moved = co_await caught_up(bucket, id, copies, until);
    const bool hands_over = step.to.front() != source;
    if (moved && hands_over) {
        co_await await_no_prepared(*this, bucket, id, source);
        if (!find(bucket) || generation != failovers)
            co_return broken_off("the cluster has changed meanwhile");
        pause_source(*this, bucket, id, source, true);
        std::vector<int> next{step.to.front()};
        const bool has_all = co_await caught_up(bucket, id, std::move(next), until);
        moved = has_all;
    }
    if (!find(bucket) || generation != failovers)
        co_return broken_off("the cluster has changed meanwhile");
    if (!moved) {
        if (hands_over)
            pause_source(*this, bucket, id, source, false);
        prepare_copies(*this, bucket, id, source, {});
        drop_copies(*this, bucket, id, joining);
        co_return broken_off("a copy of vbucket " + std::to_string(id) + " has not arrived");
    }
    install(*find(bucket), id, step.to, std::nullopt);
    drop_copies(*this, bucket, id, without(from, step.to));
    co_return result<void>{};
}

runtime::awaitable<result<void>> cluster_state::move_all(std::string bucket, vbucket_map target,
                                                         std::size_t batch)
{
    const auto steps = moves_between(find(bucket)->layout.map, target);
    if (steps.empty())
        co_return result<void>{};
    find(bucket)->layout.forward = target;
    publish();
    std::size_t moved = 0;
    result<void> outcome;
    for (const vbucket_move& step : steps) {
        outcome = co_await move(bucket, step);
        if (!outcome || !find(bucket))
            break;
        if (++moved % std::max<std::size_t>(batch, 1) == 0)
            publish();
    }
    if (find(bucket)) {
        find(bucket)->layout.forward.reset();
        publish();
    }
    co_return outcome;
}

runtime::awaitable<void> cluster_state::eject(std::size_t number)
{
    cluster_member& of = member(number);
    of.in_view = false;
    update_view();
    publish();
    of.removed = true;
    of.running = false;
    of.stop_ports();
    if (of.replication)
        of.replication->stop();
    co_await of.ports_ended();
    if (of.replication)
        co_await of.replication->ended();
    of.drop_ports();
    of.management.reset();
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

result<std::size_t> cluster::add_node()
{
    if (!state_->options.next_place || nodes() >= most_members)
        return error{errc::invalid_argument, "there is no place for another node"};
    return add_node(state_->options.next_place(nodes()));
}

result<void> cluster::fail_over(std::size_t number)
{
    return state_->fail_over(number);
}

bool cluster::rebalancing() const noexcept
{
    return state_->rebalancing;
}

runtime::awaitable<result<void>> cluster::fail_over_gracefully(std::size_t number)
{
    cluster_state& all = *state_;
    if (auto known = all.check_member(number); !known)
        co_return known;
    if (all.rebalancing)
        co_return broken_off("a rebalance is running");
    const int leaving = static_cast<int>(number);
    if (!all.loses_nothing(leaving))
        co_return error{errc::invalid_argument, "no other node has all that it has"};
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
        outcome = all.fail_over(number);
    co_return outcome;
}

runtime::awaitable<result<void>> cluster::rebalance(std::vector<std::size_t> out, std::size_t batch)
{
    cluster_state& all = *state_;
    std::vector<int> staying;
    for (const node_entry& one : all.view.nodes) {
        if (std::ranges::find(out, static_cast<std::size_t>(one.id)) == out.end())
            staying.push_back(one.id);
    }
    if (all.rebalancing || staying.empty())
        co_return broken_off(staying.empty() ? "no node would stay" : "a rebalance is running");
    all.rebalancing = true;
    result<void> outcome;
    for (const std::string& name : buckets()) {
        const bucket_record* const record = all.find(name);
        if (!record)
            continue;
        const balance_options wanted{record->layout.replicas, record->layout.map.rows.size()};
        outcome = co_await all.move_all(name, balance(staying, wanted, record->layout.map), batch);
        if (!outcome)
            break;
    }
    all.rebalancing = false;
    if (!outcome)
        co_return outcome;
    for (std::size_t n = 0; n != all.members.size(); ++n) {
        const bool stays = std::ranges::find(staying, static_cast<int>(n)) != staying.end();
        if (!stays && !all.member(n).removed)
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
