#pragma once
#include "core/mongo/operation/command.hpp"
#include "core/mongo/operation/query.hpp"
#include "core/mongo/operation/space.hpp"
#include "holdfast/mongo/admin_options.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Databases, collections as a whole, and indexes.
namespace holdfast::core::mongo {

result<command> create_collection(const operation_space& database, std::string_view name,
                                  const holdfast::mongo::create_collection_options& options);
result<command> modify_collection(const operation_space& database, std::string_view name,
                                  bson::view changes, const holdfast::mongo::drop_options& options);
result<command> drop_collection(const operation_space& space,
                                const holdfast::mongo::drop_options& options);
/// A collection that does not exist has been dropped: NamespaceNotFound (26) is no error.
result<void> read_drop(result<bson::document> outcome);
result<command> rename_collection(const operation_space& space, std::string_view to,
                                  const holdfast::mongo::rename_options& options);
result<command> drop_database(const operation_space& database,
                              const holdfast::mongo::drop_options& options);
result<query> list_collections(const operation_space& database,
                               const holdfast::mongo::list_options& options);
/// The same for names only: as little as the server can be asked for.
holdfast::mongo::list_options names_only(const holdfast::mongo::list_options& options);
result<command> list_databases(const operation_space& admin,
                               const holdfast::mongo::list_options& options);
result<std::vector<bson::document>> read_databases(result<bson::document> outcome);
result<std::vector<std::string>> read_database_names(result<bson::document> outcome);

result<command> create_indexes(const operation_space& space,
                               std::span<const holdfast::mongo::index_model> indexes,
                               const holdfast::mongo::index_options& options);
/// The names of the indexes that a createIndexes command is about.
std::vector<std::string> index_names(const command& sent);
std::string index_name(bson::view keys);  // "owner_1_born_-1"
/// One index; the server's name for all of them, "*", is refused.
result<command> drop_index(const operation_space& space, holdfast::mongo::index_hint which,
                           const holdfast::mongo::index_options& options);
result<command> drop_all_indexes(const operation_space& space,
                                 const holdfast::mongo::index_options& options);
/// A collection without indexes does not exist: NamespaceNotFound (26) is an empty list, which the
/// rules of the cursor say.
result<query> list_indexes(const operation_space& space, const holdfast::mongo::list_options& options);

}  // namespace holdfast::core::mongo
