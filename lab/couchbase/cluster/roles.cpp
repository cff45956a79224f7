#include "lab/couchbase/cluster/roles.hpp"

#include "lab/couchbase/kv/sync_writes.hpp"

#include <algorithm>

namespace holdfast::lab::couchbase {

namespace {

using state = vbucket::state;

bool has_part(const std::vector<int>& row, int node)
{
    return std::ranges::find(row, node) != row.end();
}

}  // namespace

void assign_row(node& on, bucket& in, std::uint16_t id, const std::vector<int>& row,
                std::optional<std::uint64_t> new_uuid, const std::function<std::uint64_t()>& draw)
{
    if (!has_part(row, on.id)) {
        drop_copy(on, in, id);
        return;
    }
    const bool active = row.front() == on.id;
    const state wanted = active ? state::active : state::replica;
    if (!in.find(id))
        in.vbuckets.emplace(id, vbucket{id, draw(), wanted});
    vbucket& at = *in.find(id);
    const bool was_active = at.current_state() == state::active;
    if (active && !was_active) {
        if (new_uuid)
            at.begin_history(*new_uuid);
        at.take_over_prepared();
        in.acks.erase(id);
    }
    at.set_state(wanted);
    at.set_chain(row);
    at.set_joining({});
    in.incoming.erase(id);
    if (was_active && !active)
        abandon_sync_writes(on, in.layout.name, id);
    if (active)
        settle_sync_writes(on, in, at);
    on.changed(in.layout.name, id);
}

void drop_copy(node& on, bucket& in, std::uint16_t id)
{
    if (in.vbuckets.erase(id) == 0)
        return;
    in.incoming.erase(id);
    in.acks.erase(id);
    abandon_sync_writes(on, in.layout.name, id);
    on.changed(in.layout.name, id);
}

void retire_copy(node& on, bucket& in, std::uint16_t id)
{
    vbucket* const at = in.find(id);
    if (!at)
        return;
    at->set_state(state::dead);
    at->set_chain({});
    at->set_joining({});
    in.incoming.erase(id);
    abandon_sync_writes(on, in.layout.name, id);
    on.changed(in.layout.name, id);
}

bool has_caught_up(bucket& copy_of, const vbucket& source)
{
    const vbucket* const at = copy_of.find(source.id());
    return at && !copy_of.incoming.contains(source.id()) && at->uuid() == source.uuid() &&
           at->consistent_seqno() >= source.high_seqno();
}

std::optional<std::size_t> best_copy(const std::vector<std::optional<copy_rank>>& row)
{
    std::optional<std::size_t> best;
    for (std::size_t n = 0; n != row.size(); ++n) {
        if (row[n] && (!best || *row[n] > *row[*best]))
            best = n;
    }
    return best;
}

}  // namespace holdfast::lab::couchbase
