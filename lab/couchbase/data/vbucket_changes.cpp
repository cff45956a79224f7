#include "lab/couchbase/data/vbucket.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::lab::couchbase {

namespace {

constexpr std::size_t most_aborts = 4096;
/// What an entry costs beside its value.
constexpr std::size_t usual_entry_bytes = 100;

}  // namespace

void vbucket::set_state(state next) noexcept
{
    snapshot_end_ = std::max(snapshot_end_, consistent_seqno());  // of a source that is a copy now
    state_ = next;
}

void vbucket::adopt_history(std::vector<failover_entry> log)
{
    if (!log.empty())
        failovers_ = std::move(log);
}

std::optional<std::uint64_t> vbucket::shared_until(std::uint64_t uuid) const
{
    const auto known = std::find_if(failovers_.begin(), failovers_.end(),
                                    [&](const failover_entry& one) { return one.uuid == uuid; });
    if (known == failovers_.end())
        return std::nullopt;
    return known == failovers_.begin() ? seqno_ : (known - 1)->seqno;
}

const prepared_write* vbucket::find_prepared(const doc_key& key) const
{
    const auto found = prepared_.find(key);
    return found == prepared_.end() ? nullptr : &found->second;
}

const document& vbucket::commit(const doc_key& key)
{
    document made = std::move(prepared_.at(key).content);
    forget_prepared(key);
    log_.erase(made.seqno);
    made.seqno = ++seqno_;
    put(key, std::move(made));
    return *find(key);
}

void vbucket::abort(const doc_key& key)
{
    forget_prepared(key);
    put_abort(key, ++seqno_);
}

void vbucket::take_over_prepared()
{
    for (auto& [key, one] : prepared_)
        one.taken_over = true;
}

void vbucket::forget_prepared(const doc_key& key)
{
    if (const auto prepared = prepared_.find(key); prepared != prepared_.end()) {
        log_.erase(prepared->second.content.seqno);
        prepared_.erase(prepared);
    }
    if (const auto aborted = aborted_.find(key); aborted != aborted_.end()) {
        log_.erase(aborted->second);
        aborted_.erase(aborted);
    }
}

void vbucket::put_abort(const doc_key& key, std::uint64_t seqno)
{
    if (aborted_.size() >= most_aborts) {
        log_.erase(aborted_.begin()->second);
        aborted_.erase(aborted_.begin());
    }
    aborted_[key] = seqno;
    log_.insert_or_assign(seqno, log_entry{key, change::kind::abort});
}

void vbucket::apply(change made)
{
    const std::uint64_t seqno = made.content.seqno;
    seqno_ = std::max(seqno_, seqno);
    last_cas_ = std::max(last_cas_, made.content.cas);
    // A document is not changed while a write to it is prepared: what comes later has ended it.
    forget_prepared(made.key);
    switch (made.what) {
    case change::kind::document:
        put(made.key, std::move(made.content));
        break;
    case change::kind::prepare:
        log_.insert_or_assign(seqno, log_entry{made.key, change::kind::prepare});
        prepared_[made.key] = {std::move(made.content), made.level, false};
        break;
    case change::kind::abort:
        put_abort(made.key, seqno);
        break;
    }
}

void vbucket::end_snapshot(std::uint64_t seqno)
{
    seqno_ = std::max(seqno_, seqno);
    snapshot_end_ = std::max(snapshot_end_, seqno);
}

std::uint64_t vbucket::consistent_seqno() const noexcept
{
    const bool is_source = state_ == state::active || state_ == state::dead;
    return is_source ? seqno_ : snapshot_end_;
}

change_batch vbucket::changes_after(std::uint64_t seqno, std::size_t most_bytes) const
{
    change_batch batch;
    std::size_t bytes = 0;
    for (auto at = log_.upper_bound(seqno); at != log_.end(); ++at) {
        if (bytes >= most_bytes) {
            batch.complete = false;
            break;
        }
        change one{at->second.what, at->second.key, {}, kv_durability::none};
        if (one.what == change::kind::document) {
            one.content = documents_.at(one.key);
        } else if (one.what == change::kind::prepare) {
            const prepared_write& waits = prepared_.at(one.key);
            one.content = waits.content;
            one.level = waits.level;
        } else {
            one.content.seqno = at->first;
        }
        one.content.locked_until = {};
        bytes += usual_entry_bytes + one.key.name.size() + one.content.value.size() +
                 one.content.xattrs.size();
        batch.changes.push_back(std::move(one));
    }
    return batch;
}

std::uint64_t vbucket::persisted_seqno() const noexcept
{
    return std::min(stalled_at_.value_or(consistent_seqno()), consistent_seqno());
}

void vbucket::stall_disk(bool on)
{
    if (!on)
        stalled_at_.reset();
    else if (!stalled_at_)
        stalled_at_ = consistent_seqno();
}

}  // namespace holdfast::lab::couchbase
