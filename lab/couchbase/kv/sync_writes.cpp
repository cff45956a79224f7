#include "lab/couchbase/kv/sync_writes.hpp"

#include "lab/couchbase/kv/exchange.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace holdfast::lab::couchbase {

namespace {

constexpr std::chrono::seconds default_durability_timeout{30};

std::size_t majority_of(const vbucket& at)
{
    return at.chain().size() / 2 + 1;
}

std::size_t copies_of(const vbucket& at)
{
    return static_cast<std::size_t>(
        std::ranges::count_if(at.chain(), [](int node) { return node != no_node; }));
}

bool has_majority(const bucket& in, const vbucket& at, const prepared_write& waits)
{
    const std::uint64_t seqno = waits.content.seqno;
    if (waits.level != kv_durability::majority && at.persisted_seqno() < seqno)
        return false;
    std::size_t count = 1;
    const auto acks = in.acks.find(at.id());
    for (std::size_t n = 1; n < at.chain().size() && acks != in.acks.end(); ++n) {
        const auto ack = acks->second.find(at.chain()[n]);
        if (ack == acks->second.end())
            continue;
        const bool persists = waits.level == kv_durability::persist_to_majority;
        count += (persists ? ack->second.persisted : ack->second.received) >= seqno ? 1 : 0;
    }
    // What was taken over may be known to its client as done, and cannot be given up: it is
    // committed, with the copies that there are.
    const std::size_t wanted = majority_of(at);
    return count >= (waits.taken_over ? std::min(wanted, copies_of(at)) : wanted);
}

void finish(node& on, const std::string& bucket, std::uint16_t vbucket, std::uint64_t seqno,
            const mutation_reply& outcome)
{
    const auto found = std::ranges::find_if(on.sync_writes, [&](const sync_write_ptr& one) {
        return one->seqno == seqno && one->vbucket == vbucket && one->bucket == bucket;
    });
    if (found == on.sync_writes.end())
        return;
    const sync_write_ptr done = *found;
    on.sync_writes.erase(found);
    done->outcome = outcome;
    if (done->wake)
        done->wake();
}

}  // namespace

bool check_readable(const vbucket& in, const doc_key& key, kv_reply& reply)
{
    const prepared_write* const other = in.find_prepared(key);
    if (!other || !other->taken_over || in.current_state() != vbucket::state::active)
        return true;
    reply.fail(kv_status::sync_write_re_commit_in_progress);
    return false;
}

bool check_no_sync_write(const kv_request& what, kv_reply& reply)
{
    const prepared_write* const other = what.partition->find_prepared(what.key);
    if (!other)
        return true;
    reply.fail(other->taken_over ? kv_status::sync_write_re_commit_in_progress
                                 : kv_status::sync_write_in_progress);
    return false;
}

bool begin_write(const kv_request& what, kv_reply& reply)
{
    if (!check_no_sync_write(what, reply))
        return false;
    if (what.infos.durability == kv_durability::none)
        return true;
    if (copies_of(*what.partition) < majority_of(*what.partition)) {
        reply.fail(kv_status::durability_impossible);
        return false;
    }
    what.partition->prepare_next(what.infos.durability);
    return true;
}

void await_copies(node& on, kv_request& what, kv_reply& reply)
{
    if (!what.partition)
        return;
    const prepared_write* const made = what.partition->find_prepared(what.key);
    if (!made)
        return;
    const auto waits = std::make_shared<sync_write>();
    waits->bucket = what.in->layout.name;
    waits->vbucket = what.partition->id();
    waits->key = what.key;
    waits->seqno = made->content.seqno;
    const auto timeout = what.infos.durability_timeout_ms;
    waits->deadline = on.world.steady_now() +
                      (timeout ? std::chrono::milliseconds{*timeout} : default_durability_timeout);
    on.sync_writes.push_back(waits);
    reply.waits_for = waits;
    settle_sync_writes(on, *what.in, *what.partition);
}

void finish_durable(const kv_client& client, kv_reply& reply)
{
    const mutation_reply done = *std::exchange(reply.waits_for, nullptr)->outcome;
    if (done.code != kv_status::success) {
        reply = {};
        reply.fail(done.code);
        return;
    }
    reply.cas = done.cas;
    if (!client.has(kv_feature::mutation_seqno))
        return;
    reply.extras = {};
    reply.extras.add(done.uuid).add(done.seqno);
}

void settle_sync_writes(node& on, bucket& in, vbucket& at)
{
    if (at.current_state() != vbucket::state::active || at.prepared().empty())
        return;
    std::map<std::uint64_t, doc_key> ready;  // in the order in which they were prepared
    for (const auto& [key, waits] : at.prepared()) {
        if (has_majority(in, at, waits))
            ready.emplace(waits.content.seqno, key);
    }
    for (const auto& [seqno, key] : ready) {
        const document& made = at.commit(key);
        finish(on, in.layout.name, at.id(), seqno, stored_reply(at, made));
    }
    if (!ready.empty())
        on.changed(in.layout.name, at.id());
}

void acknowledge(node& on, bucket& in, std::uint16_t vbucket, int replica, replica_ack ack)
{
    in.acks[vbucket][replica] = ack;
    if (auto* const at = in.find_active(vbucket))
        settle_sync_writes(on, in, *at);
    on.progressed();
}

time_point end_late_sync_writes(node& on)
{
    const time_point now = on.world.steady_now();
    std::vector<sync_write_ptr> late;
    time_point next = runtime::never;
    for (const sync_write_ptr& one : on.sync_writes) {
        if (one->deadline <= now)
            late.push_back(one);
        else
            next = std::min(next, one->deadline);
    }
    for (const sync_write_ptr& one : late) {
        bucket* const in = on.find_bucket(one->bucket);
        vbucket* const at = in ? in->find_active(one->vbucket) : nullptr;
        const prepared_write* const waits = at ? at->find_prepared(one->key) : nullptr;
        if (waits && waits->content.seqno == one->seqno) {
            at->abort(one->key);
            on.changed(one->bucket, one->vbucket);
        }
        finish(on, one->bucket, one->vbucket, one->seqno,
               failed_mutation(kv_status::sync_write_ambiguous));
    }
    return next;
}

void abandon_sync_writes(node& on, std::string_view bucket, std::uint16_t vbucket)
{
    std::vector<sync_write_ptr> lost;
    std::ranges::copy_if(on.sync_writes, std::back_inserter(lost), [&](const sync_write_ptr& one) {
        return one->vbucket == vbucket && one->bucket == bucket;
    });
    for (const sync_write_ptr& one : lost)
        finish(on, one->bucket, one->vbucket, one->seqno,
               failed_mutation(kv_status::sync_write_ambiguous));
}

}  // namespace holdfast::lab::couchbase
