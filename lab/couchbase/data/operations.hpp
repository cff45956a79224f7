#pragma once
#include "lab/couchbase/data/status.hpp"
#include "lab/couchbase/data/vbucket.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Operations on whole documents of an active vbucket, with the outcomes of a real server. `now` is
/// the time of day: documents expire, and locks end, when they are next looked at.
namespace holdfast::lab::couchbase {

inline constexpr std::size_t max_value_bytes = 20 * 1024 * 1024;
inline constexpr std::size_t max_key_bytes = 250;
inline constexpr std::chrono::seconds default_lock_time{15};
inline constexpr std::chrono::seconds max_lock_time{30};
/// The CAS that readers of a locked document see: none that they could use.
inline constexpr std::uint64_t locked_cas = ~std::uint64_t{0};

struct read_reply {
    kv_status code = kv_status::success;
    std::uint64_t cas = 0;
    std::uint32_t flags = 0;
    std::string value = {};
    bool json = false;
    bool compressed = false;
};

struct mutation_reply {
    kv_status code = kv_status::success;
    std::uint64_t cas = 0;
    std::uint64_t uuid = 0;  // with seqno: the mutation token
    std::uint64_t seqno = 0;
};

struct counter_reply {
    mutation_reply base = {};
    std::uint64_t value = 0;
};

struct metadata_reply {
    kv_status code = kv_status::success;
    std::uint64_t cas = 0;
    bool deleted = false;
    bool json = false;
    bool has_xattrs = false;
    std::uint32_t flags = 0;
    std::uint32_t expiry = 0;
    std::uint64_t revision = 0;
};

/// What a client sends with a document. `expiry` is as on the wire: up to 30 days it is relative.
struct new_content {
    std::string value = {};
    std::uint32_t flags = 0;
    std::uint32_t expiry = 0;
    std::uint64_t cas = 0;  // 0: whatever there is
    bool compressed = false;
    bool preserve_expiry = false;
};

struct counter_change {
    std::uint64_t delta = 0;
    std::uint64_t initial = 0;
    std::uint32_t expiry = 0;  // 0xffffffff: a missing counter is not created
    std::uint64_t cas = 0;
    bool decrement = false;
};

enum class store_mode : std::uint8_t { set, add, replace };
enum class extend_at : std::uint8_t { front, back };

/// The document if it exists and has not expired. An expired one becomes a tombstone.
const document* find_live(vbucket& in, const doc_key& key, wall_time now);
/// Seconds since 1970 of an expiry as it is sent.
std::uint32_t absolute_expiry(std::uint32_t sent, wall_time now);
/// Success, or why a mutation with this CAS (0: any) may not touch the document.
kv_status check_cas(const document& at, std::uint64_t cas, wall_time now);
mutation_reply stored_reply(const vbucket& in, const document& made);
mutation_reply failed_mutation(kv_status why);
/// The xattrs that a tombstone keeps: those of the system, whose names begin with an underscore.
std::string system_xattrs(std::string_view xattrs);

read_reply get(vbucket& in, const doc_key& key, wall_time now);
read_reply get_and_touch(vbucket& in, const doc_key& key, std::uint32_t expiry, wall_time now);
mutation_reply touch(vbucket& in, const doc_key& key, std::uint32_t expiry, wall_time now);
read_reply get_and_lock(vbucket& in, const doc_key& key, std::uint32_t seconds, wall_time now);
kv_status unlock(vbucket& in, const doc_key& key, std::uint64_t cas, wall_time now);

mutation_reply store(vbucket& in, store_mode mode, const doc_key& key, new_content content,
                     wall_time now);
mutation_reply remove(vbucket& in, const doc_key& key, std::uint64_t cas, wall_time now);
mutation_reply extend(vbucket& in, extend_at where, const doc_key& key, std::string_view bytes,
                      std::uint64_t cas, wall_time now);
counter_reply count(vbucket& in, const doc_key& key, const counter_change& change, wall_time now);

/// Tombstones too, as success with `deleted`.
metadata_reply get_metadata(vbucket& in, const doc_key& key, wall_time now);

/// As a replica answers, which neither expires documents nor knows of locks.
read_reply get_from_replica(const vbucket& in, const doc_key& key, wall_time now);

/// Which key states OBSERVE reports; everything in the lab counts as persisted.
enum class observed_state : std::uint8_t { persisted = 0x01, absent = 0x80, deleted = 0x81 };
struct observation {
    observed_state state = observed_state::absent;
    std::uint64_t cas = 0;
};
observation observe(vbucket& in, const doc_key& key, wall_time now);

}  // namespace holdfast::lab::couchbase
