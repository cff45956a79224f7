#pragma once
#include "core/mongo/operation/command.hpp"
#include "core/mongo/operation/query.hpp"
#include "core/mongo/operation/space.hpp"
#include "holdfast/mongo/operations.hpp"

#include <string>

/// Lists of collections and indexes; see operations.hpp for what is no list.
namespace holdfast::core::mongo {

result<query> list_collections(const operation_space& database,
                               const holdfast::mongo::list_options& options);
/// The same for names only: as little as the server can be asked for.
holdfast::mongo::list_options names_only(const holdfast::mongo::list_options& options);
/// A collection without indexes does not exist: NamespaceNotFound (26) is an empty list, which the
/// rules of the cursor say.
result<query> list_indexes(const operation_space& space,
                           const holdfast::mongo::list_options& options);

std::string index_name(bson::view keys);  // "owner_1_born_-1"

}  // namespace holdfast::core::mongo
