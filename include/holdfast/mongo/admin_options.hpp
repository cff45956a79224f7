#pragma once
#include "holdfast/mongo/arguments.hpp"
#include "holdfast/mongo/concern.hpp"
#include "holdfast/mongo/crud_options.hpp"
#include "holdfast/options.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

/// What may be said of operations on databases, collections as a whole, and indexes.
namespace holdfast::mongo {

class session;
using std::chrono::milliseconds;

/// Of drop_database, drop_collection, rename.
struct drop_options {
    const mongo::session* session = nullptr;
    std::optional<milliseconds> timeout = {};
    std::optional<mongo::write_concern> write_concern = {};
    any_value comment = {};
};
static_assert(option_struct<drop_options>);

struct rename_options {
    const mongo::session* session = nullptr;
    std::optional<milliseconds> timeout = {};
    std::optional<mongo::write_concern> write_concern = {};
    std::optional<bool> drop_target = {};
    any_value comment = {};
};
static_assert(option_struct<rename_options>);

/// Of create_collection and, as far as the server takes them, modify_collection. `more` are fields
/// of the command that have no name here, sent as they are.
struct create_collection_options {
    const mongo::session* session = nullptr;
    std::optional<milliseconds> timeout = {};
    std::optional<mongo::write_concern> write_concern = {};
    std::optional<bool> capped = {};
    std::optional<std::int64_t> size = {};
    std::optional<std::int64_t> max = {};
    std::optional<bson::view> storage_engine = {};
    std::optional<bson::view> validator = {};
    std::string_view validation_level = {};
    std::string_view validation_action = {};
    std::optional<bson::view> index_option_defaults = {};
    std::string_view view_on = {};
    std::optional<bson::array_view> pipeline = {};  // of a view
    std::optional<bson::view> collation = {};
    std::optional<bson::view> time_series = {};
    std::optional<std::int64_t> expire_after_seconds = {};
    std::optional<bson::view> clustered_index = {};
    std::optional<bson::view> change_stream_pre_and_post_images = {};
    any_value comment = {};
    bson::view more = {};
};
static_assert(option_struct<create_collection_options>);

/// Of list_collections, list_collection_names, list_databases, list_database_names, list_indexes.
struct list_options {
    const mongo::session* session = nullptr;
    std::optional<milliseconds> timeout = {};
    std::optional<bson::view> filter = {};  // not of list_indexes
    std::optional<bool> name_only = {};  // not of list_indexes
    std::optional<bool> authorized_only = {};  // names: only what the user may see
    std::optional<std::int32_t> batch_size = {};
    any_value comment = {};
    std::optional<bool> raw_data = {};
};
static_assert(option_struct<list_options>);

/// Of create_indexes and drop_indexes.
struct index_options {
    const mongo::session* session = nullptr;
    std::optional<milliseconds> timeout = {};
    std::optional<mongo::write_concern> write_concern = {};
    any_value commit_quorum = {};  // a number, "majority", "votingMembers"; not of drop_indexes
    std::optional<milliseconds> max_time = {};
    any_value comment = {};
    std::optional<bool> raw_data = {};
};
static_assert(option_struct<index_options>);

/// One index to be created. `options` are its further fields as the server has them:
/// `doc("unique", true)`. Without a name it is called after its keys.
struct index_model {
    bson::view keys = {};
    std::string_view name = {};
    bson::view options = {};
};
static_assert(option_struct<index_model>);

/// Which servers a command may go to, and how it is retried.
enum class command_kind : std::uint8_t {
    generic,  // goes where the options say, or to a writable server; retried only if the server
              // was too busy to look at it
    read,  // goes where the read preference says, and is retried if it is a retryable read
    write,  // carries a transaction number if the server would take one (no statement writes to
            // several documents), so that it can be retried safely
};

struct command_options {
    command_kind kind = command_kind::generic;
    const mongo::session* session = nullptr;  // null: the client takes one of its own
    std::optional<milliseconds> timeout = {};  // empty: the client's timeoutMS
    std::optional<mongo::read_preference> read_preference = {};
};
static_assert(option_struct<command_options>);

/// Of run_cursor_command: how the batches after the first are asked for.
struct cursor_command_options {
    const mongo::session* session = nullptr;
    std::optional<milliseconds> timeout = {};
    std::optional<mongo::read_preference> read_preference = {};
    std::optional<std::int32_t> batch_size = {};
    std::optional<milliseconds> max_time = {};  // for each further batch: of tailable cursors
    any_value comment = {};
    cursor_kind cursor = cursor_kind::plain;
};
static_assert(option_struct<cursor_command_options>);

/// How a session behaves. A causally consistent one sees its own writes, and never older data than
/// it has seen before; a snapshot session reads everything as it was at one time.
struct session_options {
    std::optional<bool> causal_consistency = {};  // empty: yes, unless it is a snapshot session
    bool snapshot = false;
    std::optional<bson::timestamp> snapshot_time = {};  // empty: that of its first read
};
static_assert(option_struct<session_options>);

}  // namespace holdfast::mongo
