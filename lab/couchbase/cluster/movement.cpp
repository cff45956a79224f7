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

bool contains(const std::vector<int>& row, int node)
{
    return std::ranges::find(row, node) != row.end();
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

}  // namespace holdfast::lab::couchbase
