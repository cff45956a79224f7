#pragma once
#include "holdfast/couchbase/document.hpp"
#include "holdfast/couchbase/retry.hpp"
#include "holdfast/options.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What is given to the administration of a cluster, and what it gives. What is given are views,
/// and copied by the call; what is unset is left to the server, or as it is.
namespace holdfast::couchbase {

using std::chrono::milliseconds;

/// Of every administrative operation.
struct admin_options {
    std::optional<milliseconds> timeout = {};  // empty: the cluster's management_timeout
    const retry_strategy_ptr* strategy = nullptr;  // as in kv_options.hpp
    const client_context* context = nullptr;
};
static_assert(option_struct<admin_options>);

// ---- Buckets ----

enum class bucket_type : std::uint8_t { couchbase, ephemeral };
enum class eviction_policy : std::uint8_t {
    value_only,
    full,
    no_eviction,  // this and the next one: of ephemeral buckets
    not_recently_used,
};
enum class compression_mode : std::uint8_t { off, passive, active };
enum class conflict_resolution : std::uint8_t { sequence_number, timestamp, custom };
enum class storage_backend : std::uint8_t { couchstore, magma };

struct bucket_settings {
    std::optional<std::uint64_t> ram_quota_mb = {};  // create(): 100
    std::optional<std::uint32_t> replicas = {};
    std::optional<bool> flush_enabled = {};
    std::optional<bool> replica_indexes = {};
    std::optional<bucket_type> type = {};  // create() only, as the two at the end
    std::optional<eviction_policy> eviction = {};
    std::optional<compression_mode> compression = {};
    std::optional<durability> minimum_durability = {};
    std::optional<std::chrono::seconds> max_expiry = {};
    std::optional<conflict_resolution> conflicts = {};
    std::optional<storage_backend> storage = {};
};
static_assert(option_struct<bucket_settings>);

struct bucket_info {
    std::string name = {};
    std::string uuid = {};
    std::uint64_t ram_quota_mb = 0;  // on each node
    std::uint32_t replicas = 0;
    bool flush_enabled = false;
    bool replica_indexes = false;
    bucket_type type = bucket_type::couchbase;
    eviction_policy eviction = eviction_policy::value_only;
    compression_mode compression = compression_mode::passive;
    durability minimum_durability = durability::none;
    std::chrono::seconds max_expiry{0};
    conflict_resolution conflicts = conflict_resolution::sequence_number;
    storage_backend storage = storage_backend::couchstore;
};

// ---- Scopes and collections ----

struct collection_settings {
    /// Documents without an expiry of their own get this one; zero: the bucket's.
    std::optional<std::chrono::seconds> max_expiry = {};
    std::optional<bool> history = {};
};
static_assert(option_struct<collection_settings>);

struct collection_info {
    std::string name = {};
    std::string scope = {};
    std::chrono::seconds max_expiry{0};
    bool history = false;
};

struct scope_info {
    std::string name = {};
    std::vector<collection_info> collections = {};
};

// ---- Users ----

/// What a user may do, and where: {"admin"}, {"data_reader", "travel"}.
struct role {
    std::string_view name = {};
    std::string_view bucket = {};  // "*": all
    std::string_view scope = {};
    std::string_view collection = {};
};
static_assert(option_struct<role>);

struct user_settings {
    std::string_view password = {};  // of a new user it must be set
    std::string_view display_name = {};
    std::span<const role> roles = {};
    std::span<const std::string_view> groups = {};
};
static_assert(option_struct<user_settings>);

struct granted_role {
    std::string name = {};
    std::string bucket = {};
    std::string scope = {};
    std::string collection = {};
    /// The groups that it comes from; it may be granted to the user as well.
    std::vector<std::string> from_groups = {};
    bool from_user = true;
};

struct user_info {
    std::string name = {};
    std::string display_name = {};
    std::vector<granted_role> roles = {};
    std::vector<std::string> groups = {};
    std::string password_changed = {};  // a date, as the server writes it
};

struct role_info {
    std::string name = {};
    std::string display_name = {};
    std::string description = {};
    std::string bucket = {};  // not empty: it is granted for a bucket
};

// ---- Query indexes ----

/// What an index is of: {"travel", "inventory", "airline"}, or a bucket's default collection.
struct index_keyspace {
    std::string_view bucket = {};
    std::string_view scope = {};
    std::string_view collection = {};
};
static_assert(option_struct<index_keyspace>);

struct index_settings {
    bool ignore_if_exists = false;
    bool deferred = false;  // until build_deferred()
    std::optional<std::uint32_t> replicas = {};
    std::string_view name = {};  // of a primary index; empty: the server's own name
    std::string_view condition = {};  // WHERE ...
};
static_assert(option_struct<index_settings>);

struct drop_index_settings {
    bool ignore_if_missing = false;
    std::string_view name = {};  // of a primary index; empty: the server's own name
};
static_assert(option_struct<drop_index_settings>);

struct query_index {
    std::string name = {};
    bool is_primary = false;
    std::string type = {};   // "gsi"
    std::string state = {};  // "online", "deferred", "building" ...
    std::string bucket = {};
    std::string scope = {};  // empty as well as the next one: the default collection
    std::string collection = {};
    std::vector<std::string> keys = {};
    std::string condition = {};
    std::string partition = {};
};

}  // namespace holdfast::couchbase
