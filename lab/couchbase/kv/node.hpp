#pragma once
#include "lab/couchbase/data/operations.hpp"
#include "lab/couchbase/data/vbucket.hpp"
#include "lab/couchbase/kv/faults.hpp"
#include "lab/couchbase/map/configuration.hpp"
#include "lab/couchbase/map/manifest.hpp"
#include "lab/sasl/scram.hpp"
#include "runtime/world.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab::couchbase {

/// The mechanisms by the names that Couchbase has for them: there is no second hyphen.
struct scram_mechanism {
    std::string_view name;
    scram_hash hash;
};
inline constexpr scram_mechanism scram_mechanisms[] = {
    {"SCRAM-SHA512", scram_hash::sha_512},
    {"SCRAM-SHA256", scram_hash::sha_256},
    {"SCRAM-SHA1", scram_hash::sha_1},
};

struct user_account {
    std::map<scram_hash, scram_keys> keys = {};
    std::vector<std::string> buckets = {};  // what the user may open; empty: all
    bool without_buckets = false;  // none at all

    bool may_open(std::string_view bucket) const;
};

/// Derives the keys of all mechanisms, with salts from `world`.
result<user_account> make_account(runtime::world& world, std::string_view password);

bool is_password(const user_account& of, std::string_view password);

/// Up to where a replica has the changes of a vbucket, in memory and on its disk.
struct replica_ack {
    std::uint64_t received = 0;
    std::uint64_t persisted = 0;
};

/// What one node has of a bucket.
struct bucket {
    bucket_layout layout = {};
    bucket_layout previous_layout = {};  // for those who get a stale one
    manifest collections = {};
    std::map<std::uint16_t, vbucket> vbuckets = {};
    /// Copies that arrive from the beginning. Each takes the place of the old one when it is whole,
    /// so that meanwhile nothing is lost that was acknowledged.
    std::map<std::uint16_t, vbucket> incoming = {};
    /// By vbucket and node, for active ones.
    std::map<std::uint16_t, std::map<int, replica_ack>> acks = {};

    vbucket* find(std::uint16_t id);
    vbucket* find_active(std::uint16_t id);
    vbucket* find_replica(std::uint16_t id);
};

/// Makes the vbuckets that the layout gives to this node and drops those that it has no more.
/// `draw_uuid` gives the uuid of a history that begins here.
void adopt_layout(bucket& of, int node, bucket_layout layout,
                  const std::function<std::uint64_t()>& draw_uuid);

/// The expiry of a document without one of its own, if its collection has one.
std::uint32_t usual_expiry(const bucket& in, std::uint32_t collection, wall_time now);

struct node_options {
    bool plain_without_tls = false;  // whether PLAIN is offered on plain TCP
    std::string version = "7.6.0";
    host_style hosts = host_style::by_name;
    /// Who is logged in on connections with TLS; for ports that ask for clients' certificates.
    std::string certificate_user = {};
    std::size_t http_chunk_size = 0;  // not 0: replies of HTTP are in chunks of so many bytes
    bool index_held = false;  // its indexes do not learn of changes
    std::chrono::milliseconds index_lag{0};  // they learn of them so much later
};

/// What clients that asked for it get to know of new configurations.
struct push_policy {
    bool enabled = true;
    bool brief = false;  // never with the configuration itself
    bool short_extras = false;  // 4 bytes, the revision alone, as servers before 7.6 have them
    int copies = 1;
    bool older_only = false;  // it names the revision before
    bool then_older = false;  // and that one is announced after the new one, too
};

/// What NOT_MY_VBUCKET carries.
enum class refusal_body : std::uint8_t { full, empty, stale, garbage, other_bucket };

struct kv_client;

/// One connection, as its node sees it.
class kv_session {
public:
    virtual kv_client& client() noexcept = 0;
    /// The configuration has changed: it is announced if the client has asked for that.
    virtual void announce_configuration() = 0;
    /// Something has happened that the connection may have been waiting for.
    virtual void wake() = 0;
    virtual void close() = 0;

protected:
    ~kv_session() = default;
};

/// A durable write that waits for other copies.
struct sync_write {
    std::string bucket = {};
    std::uint16_t vbucket = 0;
    doc_key key = {};
    std::uint64_t seqno = 0;  // of the prepare
    time_point deadline = {};
    std::optional<mutation_reply> outcome = {};
    std::function<void()> wake = {};  // null: the connection is gone
};
using sync_write_ptr = std::shared_ptr<sync_write>;

/// One data node: what its connections see and change. All on one thread.
struct node {
    node(runtime::world& in, int number, node_options with)
        : world{in}, id{number}, options{std::move(with)}
    {
    }

    runtime::world& world;
    int id;
    node_options options;
    cluster_members members = {};
    std::map<std::string, user_account, std::less<>> users = {};
    std::map<std::string, bucket, std::less<>> buckets = {};
    std::map<std::string, std::string, std::less<>> tokens = {};  // and whose they are
    /// Buckets that the cluster has; this node may lack some.
    std::vector<std::string> known_buckets = {};
    kv_fault_plan faults = {};

    /// Where the other nodes are, and what lets a node in without a login.
    std::map<int, runtime::destination> peers = {};
    std::string cluster_key = {};
    /// Called when a vbucket has new changes or another role; for replication.
    std::function<void(const std::string& bucket, std::uint16_t id)> on_change = {};
    /// Called when a copy has come closer to its source.
    std::function<void()> on_progress = {};
    std::list<sync_write_ptr> sync_writes = {};  // by deadline only if these are equally long
    std::map<std::uint64_t, kv_session*> sessions = {};  // in the order of their beginning
    std::uint64_t sessions_so_far = 0;
    bool frozen = false;
    bool replicates = true;  // whether changes are sent to replicas
    bool disk_stalled = false;
    std::uint64_t disk_news = 0;  // counts how often the disk has gone on
    time_point warm_at = {};  // until then data cannot be read or written
    push_policy push = {};
    refusal_body refusals = refusal_body::full;
    config_damage damage = config_damage::none;
    std::optional<std::string> error_map = {};  // instead of the usual one
    std::uint64_t rights_version = 0;  // counts changes of users
    cluster_members previous_members = {};

    void changed(const std::string& bucket, std::uint16_t id) const;
    void progressed() const;
    bucket* find_bucket(std::string_view name);
    std::string configuration() const;
    std::string configuration(const bucket& of) const;
};

}  // namespace holdfast::lab::couchbase
