#pragma once
#include "core/couchbase/wire/frame_info.hpp"

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::lab::couchbase {

using core::couchbase::kv_durability;
using wall_time = std::chrono::system_clock::time_point;

struct doc_key {
    std::uint32_t collection = 0;
    std::string name = {};

    friend auto operator<=>(const doc_key&, const doc_key&) = default;
};

/// A document, or the tombstone of one, which has metadata and perhaps extended attributes.
struct document {
    std::string value = {};   // as the client has it: not compressed
    std::string xattrs = {};  // the text of a JSON object; empty if there are none
    std::uint32_t flags = 0;
    std::uint32_t expiry = 0;  // seconds since 1970; 0: never
    bool json = false;
    bool compressed = false;  // it arrived so, and is given back so to who can read it
    bool deleted = false;
    std::uint64_t cas = 0;
    std::uint64_t seqno = 0;
    std::uint64_t revision = 0;  // how often it was changed
    wall_time modified = {};
    wall_time locked_until = {};  // and until then `cas` is the key to it

    bool locked(wall_time now) const noexcept { return now < locked_until; }
};

/// From `seqno` on, the history is that of `uuid`.
struct failover_entry {
    std::uint64_t uuid = 0;
    std::uint64_t seqno = 0;
};

/// A durable write before its commit: readers do not see it.
struct prepared_write {
    document content = {};
    kv_durability level = kv_durability::majority;
    /// The node that had prepared it is no longer the active one; its client gets no answer.
    bool taken_over = false;
};

/// One step of a vbucket's history, as replicas get it. An abort has a key and a sequence number.
struct change {
    enum class kind : std::uint8_t { document, prepare, abort };

    kind what = kind::document;
    doc_key key = {};
    document content = {};
    kv_durability level = kv_durability::none;  // of a prepare
};

/// Changes in their order. Of several changes to a document only the last is left, so that a copy
/// is as consistent as its source only when it has all of them.
struct change_batch {
    std::vector<change> changes = {};
    bool complete = true;  // up to the high sequence number
};

/// One partition of a bucket on one node. Time and chance come in as arguments; a vbucket uuid is
/// drawn by the caller.
class vbucket {
public:
    enum class state : std::uint8_t { active, replica, pending, dead };

    vbucket(std::uint16_t id, std::uint64_t uuid, state in = state::active);

    std::uint16_t id() const noexcept { return id_; }
    std::uint64_t uuid() const noexcept { return failovers_.front().uuid; }
    std::uint64_t high_seqno() const noexcept { return seqno_; }
    state current_state() const noexcept { return state_; }
    void set_state(state next) noexcept;

    /// Newest first.
    const std::vector<failover_entry>& failover_log() const noexcept { return failovers_; }
    /// A replica becomes active after the active copy was lost.
    void begin_history(std::uint64_t uuid);
    /// Of the source, for a copy.
    void adopt_history(std::vector<failover_entry> log);
    /// Up to which sequence number a copy of that history agrees with this one; nothing if it does
    /// not know the history.
    std::optional<std::uint64_t> shared_until(std::uint64_t uuid) const;

    /// The nodes that have it: the active one first, then the replicas; no_node where one is
    /// missing.
    const std::vector<int>& chain() const noexcept { return chain_; }
    void set_chain(std::vector<int> nodes) { chain_ = std::move(nodes); }
    /// A node that is to have a copy and does not count for durability yet.
    const std::vector<int>& joining() const noexcept { return joining_; }
    void set_joining(std::vector<int> nodes) { joining_ = std::move(nodes); }

    /// What is stored under the key, a tombstone too, whether it has expired or not.
    const document* find(const doc_key& key) const;

    /// The CAS and sequence number that the next store() gives, for what must have them inside.
    std::uint64_t next_cas(wall_time now) const noexcept;
    std::uint64_t next_seqno() const noexcept { return seqno_ + 1; }

    /// Puts the document in the place of what was there, under a new CAS and sequence number. Locks
    /// end with it. Tombstones are stored likewise. While prepare_next() holds it is prepared only.
    const document& store(const doc_key& key, document made, wall_time now);
    /// The same for what is never prepared: the tombstone of an expired document.
    const document& expire(const doc_key& key, document tombstone, wall_time now);

    /// Of the write that is carried out now; kv_durability::none: store() stores.
    void prepare_next(kv_durability level) noexcept { level_of_next_ = level; }
    const prepared_write* find_prepared(const doc_key& key) const;
    const std::map<doc_key, prepared_write>& prepared() const noexcept { return prepared_; }
    /// Makes a prepared write visible, under its own CAS and a new sequence number.
    const document& commit(const doc_key& key);
    void abort(const doc_key& key);
    /// This copy is active now, and others have answered or will not answer the clients.
    void take_over_prepared();

    /// A change of the active copy, with the CAS and sequence number it got there.
    void apply(change made);
    /// All changes up to that one are here.
    void end_snapshot(std::uint64_t seqno);
    /// Of the last snapshot that arrived whole; of an active copy the high sequence number.
    std::uint64_t consistent_seqno() const noexcept;
    change_batch changes_after(std::uint64_t seqno, std::size_t most_bytes) const;

    /// What is on the disk, which may be stalled: it stores no more then.
    std::uint64_t persisted_seqno() const noexcept;
    void stall_disk(bool on);

    /// A document that is there gets a new CAS, which is given, but no sequence number: neither
    /// replicas nor the disk know of locks.
    std::uint64_t lock(const doc_key& key, wall_time until, wall_time now);
    void unlock(const doc_key& key);

    /// Forgets, without a trace, all documents of collections that were dropped.
    void keep_collections(const std::function<bool(std::uint32_t)>& is_known);

    /// Documents that are not deleted.
    std::size_t documents() const noexcept { return documents_.size() - tombstones_.size(); }

private:
    /// What a sequence number stands for.
    struct log_entry {
        doc_key key;
        change::kind what;
    };

    void stamp(const doc_key& key, document& made, wall_time now);
    void put(const doc_key& key, document made);
    void forget_prepared(const doc_key& key);
    void put_abort(const doc_key& key, std::uint64_t seqno);

    std::uint16_t id_;
    state state_;
    std::uint64_t seqno_ = 0;
    std::uint64_t last_cas_ = 0;
    std::vector<failover_entry> failovers_;
    std::map<doc_key, document> documents_;
    std::map<std::uint64_t, doc_key> tombstones_;  // by sequence number
    std::map<doc_key, prepared_write> prepared_;
    std::map<doc_key, std::uint64_t> aborted_;  // the last abort of a key
    std::map<std::uint64_t, log_entry> log_;
    std::vector<int> chain_;
    std::vector<int> joining_;
    kv_durability level_of_next_ = kv_durability::none;
    std::uint64_t snapshot_end_ = 0;
    std::optional<std::uint64_t> stalled_at_;
};

}  // namespace holdfast::lab::couchbase
