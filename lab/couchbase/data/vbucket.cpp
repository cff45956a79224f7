#include "lab/couchbase/data/vbucket.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

/// The oldest are forgotten, as a server does after some days.
constexpr std::size_t most_tombstones = 4096;
constexpr std::size_t longest_failover_log = 25;
/// The low bits of a CAS count changes within one tick of the clock.
constexpr std::uint64_t logical_bits = 0xffff;

}  // namespace

vbucket::vbucket(std::uint16_t id, std::uint64_t uuid, state in)
    : id_{id}, state_{in}, failovers_{failover_entry{uuid, 0}}
{
}

void vbucket::begin_history(std::uint64_t uuid)
{
    failovers_.insert(failovers_.begin(), failover_entry{uuid, seqno_});
    if (failovers_.size() > longest_failover_log)
        failovers_.pop_back();
}

const document* vbucket::find(const doc_key& key) const
{
    const auto found = documents_.find(key);
    return found == documents_.end() ? nullptr : &found->second;
}

std::uint64_t vbucket::next_cas(wall_time now) const noexcept
{
    const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch());
    return std::max(static_cast<std::uint64_t>(since.count()) & ~logical_bits, last_cas_ + 1);
}

void vbucket::stamp(const doc_key& key, document& made, wall_time now)
{
    const document* const before = find(key);
    made.cas = last_cas_ = next_cas(now);
    made.seqno = ++seqno_;
    made.revision = before ? before->revision + 1 : 1;
    made.modified = now;
    made.locked_until = {};
}

const document& vbucket::store(const doc_key& key, document made, wall_time now)
{
    if (level_of_next_ == kv_durability::none)
        return expire(key, std::move(made), now);
    stamp(key, made, now);
    change prepare{change::kind::prepare, key, std::move(made), level_of_next_};
    apply(std::move(prepare));
    return prepared_.at(key).content;
}

const document& vbucket::expire(const doc_key& key, document tombstone, wall_time now)
{
    stamp(key, tombstone, now);
    put(key, std::move(tombstone));
    return *find(key);
}

void vbucket::put(const doc_key& key, document made)
{
    document& at = documents_[key];
    log_.erase(at.seqno);
    if (at.deleted)
        tombstones_.erase(at.seqno);
    at = std::move(made);
    log_.insert_or_assign(at.seqno, log_entry{key, change::kind::document});
    if (!at.deleted)
        return;
    tombstones_.emplace(at.seqno, key);
    if (tombstones_.size() > most_tombstones) {
        log_.erase(tombstones_.begin()->first);
        documents_.erase(tombstones_.begin()->second);
        tombstones_.erase(tombstones_.begin());
    }
}

std::uint64_t vbucket::lock(const doc_key& key, wall_time until, wall_time now)
{
    document& at = documents_.at(key);
    at.cas = last_cas_ = next_cas(now);
    at.locked_until = until;
    return at.cas;
}

void vbucket::unlock(const doc_key& key)
{
    documents_.at(key).locked_until = {};
}

void vbucket::keep_collections(const std::function<bool(std::uint32_t)>& is_known)
{
    const auto dropped = [&](const doc_key& key) { return !is_known(key.collection); };
    std::erase_if(log_, [&](const auto& one) { return dropped(one.second.key); });
    std::erase_if(tombstones_, [&](const auto& one) { return dropped(one.second); });
    std::erase_if(documents_, [&](const auto& one) { return dropped(one.first); });
    std::erase_if(prepared_, [&](const auto& one) { return dropped(one.first); });
    std::erase_if(aborted_, [&](const auto& one) { return dropped(one.first); });
}

}  // namespace holdfast::lab::couchbase
