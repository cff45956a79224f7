#include "holdfast/couchbase/errc.hpp"
#include "lab/couchbase/cluster/roles.hpp"
#include "lab/couchbase/cluster/state.hpp"
#include "lab/couchbase/kv/sync_writes.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

void forget_process(cluster_member& of, node_memory memory)
{
    of.drop_ports();
    of.running_services.clear();
    of.replication.reset();
    of.running = false;
    node& on = *of.data;
    on.sessions.clear();
    on.sync_writes.clear();
    on.frozen = false;
    on.on_progress = nullptr;
    for (auto& [name, in] : on.buckets) {
        in.incoming.clear();
        in.acks.clear();
    }
    if (memory == node_memory::lost)
        of.memory_lost = true;
}

/// A process on the data of the one before.
std::unique_ptr<node> successor_of(node& before, runtime::world& in)
{
    auto made = std::make_unique<node>(in, before.id, before.options);
    made->members = before.members;
    made->previous_members = before.previous_members;
    made->users = before.users;
    made->tokens = before.tokens;
    made->buckets = std::move(before.buckets);
    made->known_buckets = before.known_buckets;
    made->faults = before.faults;
    made->peers = before.peers;
    made->cluster_key = before.cluster_key;
    made->push = before.push;
    made->refusals = before.refusals;
    made->damage = before.damage;
    made->error_map = before.error_map;
    made->rights_version = before.rights_version;
    return made;
}

/// As Couchbase does after an unclean end: what the node had and others have not is of another
/// history.
void recover(cluster_state& of, cluster_member& back)
{
    const int id = back.entry.id;
    for (auto& [name, record] : of.buckets) {
        bucket* const in = back.data->find_bucket(name);
        for (std::size_t n = 0; in && n != record.layout.map.rows.size(); ++n) {
            const auto vbucket_id = static_cast<std::uint16_t>(n);
            const std::vector<int> row = record.layout.map.rows[n];
            if (back.memory_lost)
                in->vbuckets.erase(vbucket_id);
            if (std::ranges::find(row, id) == row.end())
                continue;
            if (row.front() == id && back.memory_lost) {
                of.leave_row(record, vbucket_id, id, true);
            } else if (vbucket* const at = in->find(vbucket_id); at && row.front() == id) {
                at->begin_history(of.draw());
                at->take_over_prepared();
                record.histories[n] = at->uuid();
            } else {
                of.install(record, vbucket_id, row, std::nullopt);
            }
        }
    }
    back.memory_lost = false;
}

}  // namespace

runtime::awaitable<void> cluster::crash(std::size_t number, node_memory memory)
{
    cluster_member& of = state_->member(number);
    if (!of.running)
        co_return;
    of.running = false;
    of.data->frozen = false;
    of.stop_ports();
    of.replication->stop();
    co_await of.ports_ended();
    co_await of.replication->ended();
    forget_process(of, memory);
}

void cluster::lost(std::size_t number, node_memory memory)
{
    forget_process(state_->member(number), memory);
}

result<void> cluster::restart(std::size_t number, runtime::world* in)
{
    cluster_member& of = state_->member(number);
    if (of.running || of.removed)
        return error{holdfast::couchbase::errc::invalid_argument,
                     "node " + std::to_string(number) + " runs, or was removed"};
    if (in)
        of.at.world = in;
    auto before = std::exchange(of.data, successor_of(*of.data, *of.at.world));
    before.reset();
    state_->start_services(of);
    if (auto opened = state_->open_ports(of); !opened)
        return opened;
    of.data->warm_at = of.at.world->steady_now() + state_->options.warm_up;
    state_->start_process(of);
    recover(*state_, of);
    state_->publish();
    if (of.in_view && state_->silence.count() != 0)
        of.last_seen = state_->manager().steady_now();
    of.replication->mark_all();
    return {};
}

void cluster::freeze(std::size_t number, bool on)
{
    cluster_member& of = state_->member(number);
    of.data->frozen = on;
    if (on || !of.running)
        return;
    for (const member_port& one : of.ports) {
        if (one.open)
            one.open->wake_connections();
    }
    of.replication->wake();
}

void cluster::hold_replication(std::size_t number, bool on)
{
    cluster_member& of = state_->member(number);
    of.data->replicates = !on;
    if (!on && of.running)
        of.replication->wake();
}

void cluster::stall_disk(std::size_t number, bool on)
{
    node& of = at(number);
    of.disk_stalled = on;
    for (auto& [name, in] : of.buckets) {
        for (auto& [id, copy] : in.vbuckets)
            copy.stall_disk(on);
    }
    if (on)
        return;
    ++of.disk_news;
    for (const auto& [session_number, session] : of.sessions)
        session->wake();
    for (auto& [name, in] : of.buckets) {
        for (auto& [id, copy] : in.vbuckets)
            settle_sync_writes(of, in, copy);
    }
}

}  // namespace holdfast::lab::couchbase
