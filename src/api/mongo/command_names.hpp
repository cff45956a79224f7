#pragma once
#include "api/mongo/collection_settings.hpp"
#include "core/mongo/operation/operation_name.hpp"
#include "holdfast/mongo/operations.hpp"

#include <string_view>
#include <utility>

/// The names of operations that could not be written as a command, which would have them.
namespace holdfast::mongo {

template <class Operation>
inline constexpr std::string_view command_name = {};

template <>
inline constexpr std::string_view command_name<core::mongo::insert_one_operation> = "insert";
template <>
inline constexpr std::string_view command_name<core::mongo::update_operation> = "update";
template <>
inline constexpr std::string_view command_name<core::mongo::replace_one_operation> = "update";
template <>
inline constexpr std::string_view command_name<core::mongo::delete_operation> = "delete";
template <>
inline constexpr std::string_view command_name<core::mongo::find_one_and_update_operation> =
    "findAndModify";
template <>
inline constexpr std::string_view command_name<core::mongo::find_one_and_replace_operation> =
    "findAndModify";
template <>
inline constexpr std::string_view command_name<core::mongo::find_one_and_delete_operation> =
    "findAndModify";
template <>
inline constexpr std::string_view command_name<core::mongo::find_one_operation> = "find";
template <>
inline constexpr std::string_view command_name<core::mongo::count_documents_operation> =
    "aggregate";
template <>
inline constexpr std::string_view command_name<core::mongo::estimated_document_count_operation> =
    "count";
template <>
inline constexpr std::string_view command_name<core::mongo::distinct_operation> = "distinct";
template <>
inline constexpr std::string_view command_name<core::mongo::create_index_operation> =
    "createIndexes";
template <>
inline constexpr std::string_view command_name<core::mongo::create_indexes_operation> =
    "createIndexes";
template <>
inline constexpr std::string_view command_name<core::mongo::drop_index_operation> = "dropIndexes";
template <>
inline constexpr std::string_view command_name<core::mongo::drop_indexes_operation> = "dropIndexes";
template <>
inline constexpr std::string_view command_name<core::mongo::drop_collection_operation> = "drop";
template <>
inline constexpr std::string_view command_name<core::mongo::rename_collection_operation> =
    "renameCollection";
template <>
inline constexpr std::string_view command_name<core::mongo::create_collection_operation> = "create";
template <>
inline constexpr std::string_view command_name<core::mongo::modify_collection_operation> =
    "collMod";
template <>
inline constexpr std::string_view command_name<core::mongo::drop_database_operation> =
    "dropDatabase";
template <>
inline constexpr std::string_view command_name<core::mongo::list_databases_operation> =
    "listDatabases";
template <>
inline constexpr std::string_view command_name<core::mongo::list_database_names_operation> =
    "listDatabases";

/// Adds the command that it would have been, and the namespace: not all operations are about the
/// collection or the database that starts them.
template <class Operation>
error unwritten(error why, const Operation& operation, core::mongo::operation_space in)
{
    std::string_view command = command_name<Operation>;
    if constexpr (requires { operation.body; }) {  // as the application has written it
        if (!operation.database.empty())
            in.database = operation.database;
        command = operation.body.empty() ? "run_command" : (*operation.body.begin()).key();
    } else {
        static_assert(!command_name<Operation>.empty());
    }
    if constexpr (requires { in.collection = operation.name; })
        in.collection = operation.name;
    if (in.database.empty())
        in.database = "admin";
    return core::mongo::with_operation(std::move(why), command, in);
}

}  // namespace holdfast::mongo
