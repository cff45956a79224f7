#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"
#include "holdfast/mongo/admin_options.hpp"
#include "holdfast/mongo/arguments.hpp"
#include "holdfast/mongo/bulk.hpp"
#include "holdfast/mongo/crud_options.hpp"
#include "holdfast/mongo/results.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::mongo {
class collection;
}

/// The operations of collections, databases and clients, which start them; not for applications.
/// An operation of one command is one struct: its arguments and
///   build  writes the command, and decides how it may be retried: as a read, as a write with a
///          transaction number, or not at all. An error means that nothing may be sent.
///   read   makes the result of the reply, or of the error that came instead of one; `sent` is the
///          command that it answers.
namespace holdfast::core::mongo {

struct command;
struct operation_space;
class id_source;
class command_outcome;
using maybe_document = std::optional<bson::document>;

struct insert_one_operation {
    using result_type = holdfast::mongo::insert_one_result;
    holdfast::mongo::document_argument document;
    holdfast::mongo::insert_one_options options = {};

    /// A document without an _id gets one of `ids`, as its first field.
    result<command> build(const operation_space& in, id_source& ids) const;
    static result<result_type> read(command_outcome outcome, const command& sent);
};

struct update_operation {
    using result_type = holdfast::mongo::update_result;
    bson::view filter;
    holdfast::mongo::update_view change;
    holdfast::mongo::update_options options = {};
    bool multi = false;  // update_many

    result<command> build(const operation_space& in) const;
    static result<result_type> read(command_outcome outcome, const command& sent);
};

struct replace_one_operation {
    using result_type = holdfast::mongo::update_result;
    bson::view filter;
    holdfast::mongo::document_argument by;
    holdfast::mongo::update_options options = {};

    result<command> build(const operation_space& in) const;
    static result<result_type> read(command_outcome outcome, const command& sent);
};

struct delete_operation {
    using result_type = holdfast::mongo::delete_result;
    bson::view filter;
    holdfast::mongo::delete_options options = {};
    bool multi = false;  // delete_many

    result<command> build(const operation_space& in) const;
    static result<result_type> read(command_outcome outcome, const command& sent);
};

struct find_one_and_update_operation {
    using result_type = maybe_document;
    bson::view filter;
    holdfast::mongo::update_view change;
    holdfast::mongo::find_and_modify_options options = {};

    result<command> build(const operation_space& in) const;
    static result<result_type> read(command_outcome outcome, const command& sent);
};

struct find_one_and_replace_operation {
    using result_type = maybe_document;
    bson::view filter;
    bson::view by;
    holdfast::mongo::find_and_modify_options options = {};

    result<command> build(const operation_space& in) const;
    static result<result_type> read(command_outcome outcome, const command& sent);
};

struct find_one_and_delete_operation {
    using result_type = maybe_document;
    bson::view filter;
    holdfast::mongo::find_and_modify_options options = {};

    result<command> build(const operation_space& in) const;
    static result<result_type> read(command_outcome outcome, const command& sent);
};

/// find with a limit of one, in one batch.
struct find_one_operation {
    using result_type = maybe_document;
    bson::view filter;
    holdfast::mongo::find_options options = {};

    result<command> build(const operation_space& in) const;
    static result<result_type> read(command_outcome outcome, const command& sent);
};

struct count_documents_operation {
    using result_type = std::int64_t;
    bson::view filter;
    holdfast::mongo::count_options options = {};

    result<command> build(const operation_space& in) const;
    static result<result_type> read(command_outcome outcome, const command& sent);
};

struct estimated_document_count_operation {
    using result_type = std::int64_t;
    holdfast::mongo::count_options options = {};

    result<command> build(const operation_space& in) const;
    /// A collection that does not exist has no documents: NamespaceNotFound (26) is 0.
    static result<result_type> read(command_outcome outcome, const command& sent);
};

struct distinct_operation {
    using result_type = bson::array;
    std::string_view field;
    bson::view filter;
    holdfast::mongo::distinct_options options = {};

    result<command> build(const operation_space& in) const;
    static result<result_type> read(command_outcome outcome, const command& sent);
};

struct create_indexes_operation {
    using result_type = std::vector<std::string>;
    std::span<const holdfast::mongo::index_model> indexes;
    holdfast::mongo::index_options options = {};

    result<command> build(const operation_space& in) const;
    static result<result_type> read(command_outcome outcome, const command& sent);
};

struct create_index_operation {
    using result_type = std::string;
    holdfast::mongo::index_model index;
    holdfast::mongo::index_options options = {};

    result<command> build(const operation_space& in) const;
    static result<result_type> read(command_outcome outcome, const command& sent);
};

/// One index; the server's name for all of them, "*", is refused.
struct drop_index_operation {
    using result_type = void;
    holdfast::mongo::index_hint which;
    holdfast::mongo::index_options options = {};

    result<command> build(const operation_space& in) const;
    static result<result_type> read(command_outcome outcome, const command& sent);
};

struct drop_indexes_operation {
    using result_type = void;
    holdfast::mongo::index_options options = {};

    result<command> build(const operation_space& in) const;
    static result<result_type> read(command_outcome outcome, const command& sent);
};

struct drop_collection_operation {
    using result_type = void;
    holdfast::mongo::drop_options options = {};

    result<command> build(const operation_space& in) const;
    /// A collection that does not exist has been dropped: NamespaceNotFound (26) is no error.
    static result<result_type> read(command_outcome outcome, const command& sent);
};

struct rename_collection_operation {
    using result_type = void;
    std::string_view to;
    holdfast::mongo::rename_options options = {};

    result<command> build(const operation_space& in) const;
    static result<result_type> read(command_outcome outcome, const command& sent);
};

/// The collection itself is made by the database that starts it, once the server has replied.
struct create_collection_operation {
    using result_type = holdfast::mongo::collection;
    std::string_view name;
    holdfast::mongo::create_collection_options options = {};

    result<command> build(const operation_space& in) const;
    static result<void> read(command_outcome outcome, const command& sent);
};

/// collMod.
struct modify_collection_operation {
    using result_type = bson::document;
    std::string_view name;
    bson::view changes;
    holdfast::mongo::drop_options options = {};

    result<command> build(const operation_space& in) const;
    static result<result_type> read(command_outcome outcome, const command& sent);
};

struct drop_database_operation {
    using result_type = void;
    holdfast::mongo::drop_options options = {};

    result<command> build(const operation_space& in) const;
    static result<result_type> read(command_outcome outcome, const command& sent);
};

struct list_databases_operation {
    using result_type = std::vector<bson::document>;
    holdfast::mongo::list_options options = {};

    result<command> build(const operation_space& in) const;
    static result<result_type> read(command_outcome outcome, const command& sent);
};

struct list_database_names_operation {
    using result_type = std::vector<std::string>;
    holdfast::mongo::list_options options = {};

    result<command> build(const operation_space& in) const;
    static result<result_type> read(command_outcome outcome, const command& sent);
};

/// A command as the application has written it.
struct run_command_operation {
    using result_type = bson::document;
    bson::view body;
    holdfast::mongo::command_options options = {};
    std::string_view database = {};  // empty: that of the space

    /// Its read preference is not inherited from a database, but a read has that of the `client`.
    result<command> build(const operation_space& in, const operation_space& client) const;
    static result<result_type> read(command_outcome outcome, const command& sent);
};

// Operations of several commands: how these follow each other is said in src/api/mongo.

struct insert_many_operation {
    using result_type = holdfast::mongo::insert_many_result;
    holdfast::mongo::details::write_list list;
    holdfast::mongo::insert_many_options options = {};
};

struct bulk_write_operation {
    using result_type = holdfast::mongo::bulk_write_result;
    holdfast::mongo::bulk_writes work;
    holdfast::mongo::bulk_write_options options = {};
};

struct client_bulk_write_operation {
    using result_type = holdfast::mongo::client_bulk_write_result;
    holdfast::mongo::client_bulk_writes work;
    holdfast::mongo::bulk_write_options options = {};
};

struct list_collection_names_operation {
    using result_type = std::vector<std::string>;
    holdfast::mongo::list_options options = {};
};

}  // namespace holdfast::core::mongo
