#pragma once
#include "holdfast/couchbase/document.hpp"
#include "holdfast/couchbase/retry.hpp"
#include "holdfast/observer.hpp"
#include "holdfast/options.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

/// What may be said of single operations on documents. Those that all have in common:
///   timeout   of the whole operation with all its retries; empty: the cluster's kv_timeout, or its
///             kv_durable_timeout if a durability is asked for
///   strategy  decides on retries, in place of the cluster's; copied when the operation begins
///   context   is there for a strategy to see; copied likewise
///   parent    is there for the cluster's observers, such as a span of a tracer; copied likewise
/// And those of changes:
///   durability       when the change is acknowledged
///   expiry           when the document ceases to exist
///   preserve_expiry  leaves the document's expiry as it is
///   cas              the change is made only if the document still has this version
namespace holdfast::couchbase {

using std::chrono::milliseconds;

struct get_options {
    std::optional<milliseconds> timeout = {};
    bool with_expiry = false;  // costs more: it is a sub-document lookup
    /// Only these paths, "a.b" or "a[0]"; what is missing is left out. Up to 16 paths are cut out
    /// by the server, and more of them by the client.
    std::span<const std::string_view> project = {};
    const retry_strategy_ptr* strategy = nullptr;
    const client_context* context = nullptr;
    const trace_parent* parent = nullptr;
};
static_assert(option_struct<get_options>);

struct upsert_options {
    std::optional<milliseconds> timeout = {};
    couchbase::durability durability = couchbase::durability::none;
    couchbase::expiry expiry = {};
    bool preserve_expiry = false;
    const retry_strategy_ptr* strategy = nullptr;
    const client_context* context = nullptr;
    const trace_parent* parent = nullptr;
};
static_assert(option_struct<upsert_options>);

struct insert_options {
    std::optional<milliseconds> timeout = {};
    couchbase::durability durability = couchbase::durability::none;
    couchbase::expiry expiry = {};
    const retry_strategy_ptr* strategy = nullptr;
    const client_context* context = nullptr;
    const trace_parent* parent = nullptr;
};
static_assert(option_struct<insert_options>);

struct replace_options {
    std::optional<milliseconds> timeout = {};
    couchbase::cas cas = {};
    couchbase::durability durability = couchbase::durability::none;
    couchbase::expiry expiry = {};
    bool preserve_expiry = false;
    const retry_strategy_ptr* strategy = nullptr;
    const client_context* context = nullptr;
    const trace_parent* parent = nullptr;
};
static_assert(option_struct<replace_options>);

struct remove_options {
    std::optional<milliseconds> timeout = {};
    couchbase::cas cas = {};
    couchbase::durability durability = couchbase::durability::none;
    const retry_strategy_ptr* strategy = nullptr;
    const client_context* context = nullptr;
    const trace_parent* parent = nullptr;
};
static_assert(option_struct<remove_options>);

/// Of exists, touch, get_and_touch, get_and_lock and unlock.
struct key_options {
    std::optional<milliseconds> timeout = {};
    const retry_strategy_ptr* strategy = nullptr;
    const client_context* context = nullptr;
    const trace_parent* parent = nullptr;
};
static_assert(option_struct<key_options>);

/// Of append and prepend.
struct append_options {
    std::optional<milliseconds> timeout = {};
    couchbase::cas cas = {};
    couchbase::durability durability = couchbase::durability::none;
    const retry_strategy_ptr* strategy = nullptr;
    const client_context* context = nullptr;
    const trace_parent* parent = nullptr;
};
static_assert(option_struct<append_options>);

/// Of increment and decrement. A decrement stops at zero.
struct counter_options {
    std::optional<milliseconds> timeout = {};
    std::uint64_t delta = 1;
    std::optional<std::uint64_t> initial = {};  // empty: a missing counter is an error
    couchbase::durability durability = couchbase::durability::none;
    couchbase::expiry expiry = {};  // of a counter that is made
    bool preserve_expiry = false;
    const retry_strategy_ptr* strategy = nullptr;
    const client_context* context = nullptr;
    const trace_parent* parent = nullptr;
};
static_assert(option_struct<counter_options>);

struct lookup_in_options {
    std::optional<milliseconds> timeout = {};
    bool access_deleted = false;  // also the attributes of a deleted document
    const retry_strategy_ptr* strategy = nullptr;
    const client_context* context = nullptr;
    const trace_parent* parent = nullptr;
};
static_assert(option_struct<lookup_in_options>);

/// Whether mutate_in changes a document or makes one.
enum class store_semantics : std::uint8_t {
    replace,  // the document must exist
    upsert,  // it is made if it does not
    insert,  // it must not exist
    revive,  // it must be a deleted one
};

struct mutate_in_options {
    std::optional<milliseconds> timeout = {};
    couchbase::cas cas = {};
    couchbase::store_semantics store_semantics = couchbase::store_semantics::replace;
    couchbase::durability durability = couchbase::durability::none;
    couchbase::expiry expiry = {};
    bool preserve_expiry = false;
    bool access_deleted = false;
    bool create_as_deleted = false;  // attributes only
    const retry_strategy_ptr* strategy = nullptr;
    const client_context* context = nullptr;
    const trace_parent* parent = nullptr;
};
static_assert(option_struct<mutate_in_options>);

/// Which nodes the copies of a document are read from.
enum class read_preference : std::uint8_t {
    none,  // all that have one
    selected_server_group,  // only those of the server group that the cluster was given
    selected_server_group_or_all,  // those, or all if that group has no copy
};

/// Of get_any_replica, get_all_replicas and their lookup_in twins.
struct replica_options {
    std::optional<milliseconds> timeout = {};
    couchbase::read_preference read_preference = couchbase::read_preference::none;
    const retry_strategy_ptr* strategy = nullptr;
    const client_context* context = nullptr;
    const trace_parent* parent = nullptr;
};
static_assert(option_struct<replica_options>);

}  // namespace holdfast::couchbase
