#pragma once
#include "holdfast/mongo/arguments.hpp"
#include "holdfast/mongo/concern.hpp"
#include "holdfast/options.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

/// What may be said of single operations of a collection. Nothing that is left out is sent. Those
/// that all have in common:
///   session   the operation is part of it; null: the client takes one of its own
///   timeout   of the whole operation with all its retries; empty: the collection's; 0: no limit;
///             what is less has passed already
///   comment   is found again in the server's log
///   let       variables for expressions: $$name
///   raw_data  servers from 8.2 on: time series collections as they are stored
namespace holdfast::mongo {

class session;
using std::chrono::milliseconds;

struct insert_one_options {
    const mongo::session* session = nullptr;
    std::optional<milliseconds> timeout = {};
    std::optional<mongo::write_concern> write_concern = {};
    std::optional<bool> bypass_document_validation = {};
    any_value comment = {};
    std::optional<bool> raw_data = {};
};
static_assert(option_struct<insert_one_options>);

struct insert_many_options {
    const mongo::session* session = nullptr;
    std::optional<milliseconds> timeout = {};
    std::optional<mongo::write_concern> write_concern = {};
    bool ordered = true;  // false: what comes after a failed one is inserted all the same
    std::optional<bool> bypass_document_validation = {};
    any_value comment = {};
    std::optional<bool> raw_data = {};
};
static_assert(option_struct<insert_many_options>);

/// Of update_one, update_many and replace_one.
struct update_options {
    const mongo::session* session = nullptr;
    std::optional<milliseconds> timeout = {};
    std::optional<mongo::write_concern> write_concern = {};
    std::optional<bool> upsert = {};
    std::optional<bson::view> sort = {};  // which one, of several that match; servers from 8.0 on
    std::optional<bson::array_view> array_filters = {};  // not of replace_one
    std::optional<bson::view> collation = {};
    index_hint hint = {};
    std::optional<bson::view> let = {};
    std::optional<bool> bypass_document_validation = {};
    any_value comment = {};
    std::optional<bool> raw_data = {};
};
static_assert(option_struct<update_options>);

/// Of delete_one and delete_many.
struct delete_options {
    const mongo::session* session = nullptr;
    std::optional<milliseconds> timeout = {};
    std::optional<mongo::write_concern> write_concern = {};
    std::optional<bson::view> collation = {};
    index_hint hint = {};
    std::optional<bson::view> let = {};
    any_value comment = {};
    std::optional<bool> raw_data = {};
};
static_assert(option_struct<delete_options>);

enum class return_document : std::uint8_t { before, after };

/// Of find_one_and_update, find_one_and_replace and find_one_and_delete, which takes no upsert,
/// returns, array_filters or bypass_document_validation.
struct find_and_modify_options {
    const mongo::session* session = nullptr;
    std::optional<milliseconds> timeout = {};
    std::optional<mongo::write_concern> write_concern = {};
    std::optional<bson::view> projection = {};
    std::optional<bson::view> sort = {};
    std::optional<bool> upsert = {};
    std::optional<return_document> returns = {};  // before, if nothing is said
    std::optional<bson::array_view> array_filters = {};
    std::optional<bson::view> collation = {};
    index_hint hint = {};
    std::optional<bson::view> let = {};
    std::optional<bool> bypass_document_validation = {};
    std::optional<milliseconds> max_time = {};
    any_value comment = {};
    std::optional<bool> raw_data = {};
};
static_assert(option_struct<find_and_modify_options>);

enum class cursor_kind : std::uint8_t {
    plain,
    tailable,  // of a capped collection: does not end when all has been read
    tailable_await,  // ... and the server waits a while for what comes next
};

struct find_options {
    const mongo::session* session = nullptr;
    std::optional<milliseconds> timeout = {};
    std::optional<mongo::read_concern> read_concern = {};
    std::optional<mongo::read_preference> read_preference = {};
    std::optional<bson::view> projection = {};
    std::optional<bson::view> sort = {};
    std::optional<std::int64_t> skip = {};
    std::optional<std::int64_t> limit = {};  // negative: so many in a single batch
    std::optional<std::int32_t> batch_size = {};
    cursor_kind cursor = cursor_kind::plain;
    std::optional<milliseconds> max_await_time = {};  // of tailable_await
    std::optional<milliseconds> max_time = {};
    std::optional<bson::view> collation = {};
    index_hint hint = {};
    std::optional<bson::view> let = {};
    std::optional<bson::view> min = {};
    std::optional<bson::view> max = {};
    std::optional<bool> allow_disk_use = {};
    std::optional<bool> allow_partial_results = {};
    std::optional<bool> no_cursor_timeout = {};
    std::optional<bool> oplog_replay = {};  // without effect since 4.4
    std::optional<bool> return_key = {};
    std::optional<bool> show_record_id = {};
    any_value comment = {};
    std::optional<bool> raw_data = {};
};
static_assert(option_struct<find_options>);

struct aggregate_options {
    const mongo::session* session = nullptr;
    std::optional<milliseconds> timeout = {};
    std::optional<mongo::read_concern> read_concern = {};
    std::optional<mongo::read_preference> read_preference = {};
    std::optional<mongo::write_concern> write_concern = {};  // of a pipeline with $out or $merge
    std::optional<std::int32_t> batch_size = {};
    std::optional<milliseconds> max_time = {};
    std::optional<milliseconds> max_await_time = {};
    std::optional<bool> allow_disk_use = {};
    std::optional<bool> bypass_document_validation = {};
    std::optional<bson::view> collation = {};
    index_hint hint = {};
    std::optional<bson::view> let = {};
    any_value comment = {};
    std::optional<bool> raw_data = {};
};
static_assert(option_struct<aggregate_options>);

/// Of count_documents and, without skip, limit, collation and hint, estimated_document_count.
struct count_options {
    const mongo::session* session = nullptr;
    std::optional<milliseconds> timeout = {};
    std::optional<mongo::read_concern> read_concern = {};
    std::optional<mongo::read_preference> read_preference = {};
    std::optional<std::int64_t> skip = {};
    std::optional<std::int64_t> limit = {};
    std::optional<milliseconds> max_time = {};
    std::optional<bson::view> collation = {};
    index_hint hint = {};
    any_value comment = {};
    std::optional<bool> raw_data = {};
};
static_assert(option_struct<count_options>);

struct distinct_options {
    const mongo::session* session = nullptr;
    std::optional<milliseconds> timeout = {};
    std::optional<mongo::read_concern> read_concern = {};
    std::optional<mongo::read_preference> read_preference = {};
    std::optional<milliseconds> max_time = {};
    std::optional<bson::view> collation = {};
    index_hint hint = {};
    any_value comment = {};
    std::optional<bool> raw_data = {};
};
static_assert(option_struct<distinct_options>);

/// Of collection and client bulk writes.
struct bulk_write_options {
    const mongo::session* session = nullptr;
    std::optional<milliseconds> timeout = {};
    std::optional<mongo::write_concern> write_concern = {};
    bool ordered = true;
    std::optional<bool> bypass_document_validation = {};
    std::optional<bson::view> let = {};
    any_value comment = {};
    bool verbose_results = false;  // of client bulk writes: one result for each write
    std::optional<bool> raw_data = {};
};
static_assert(option_struct<bulk_write_options>);

}  // namespace holdfast::mongo
