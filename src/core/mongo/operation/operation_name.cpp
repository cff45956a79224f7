#include "core/mongo/operation/operation_name.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace holdfast::core::mongo {

namespace {

/// The commands whose first value is the name of a collection. That of others may be anything, even
/// the name of a user.
constexpr std::array of_collections = std::to_array<std::string_view>(
    {"aggregate", "collMod", "collStats", "count", "create", "createIndexes", "delete", "distinct",
     "drop", "dropIndexes", "find", "findAndModify", "insert", "killCursors", "listIndexes",
     "mapReduce", "update", "validate"});
/// The one that names a database as well, since it is sent to another.
constexpr std::string_view of_namespace = "renameCollection";

std::string_view collection_of(const command& sent)
{
    const std::string_view name = sent.body.name();
    bson::element found;
    if (name == "getMore")
        found = sent.body.find("collection");
    else if (std::ranges::find(of_collections, name) != of_collections.end())
        found = *sent.body.begin();
    return found.type() == bson::type::string ? found.as_string() : std::string_view{};
}

std::string_view preposition_of(std::string_view name)
{
    if (name == "insert")
        return " into ";
    return name == "delete" ? " from " : " in ";
}

}  // namespace

std::string namespace_of(const command& sent)
{
    if (sent.body.name() == of_namespace) {
        const bson::element whole = *sent.body.begin();
        if (whole.type() == bson::type::string)
            return std::string{whole.as_string()};
    }
    std::string name = sent.database;
    if (const std::string_view collection = collection_of(sent); !collection.empty())
        name.append(".").append(collection);
    return name;
}

error with_operation(error why, const command& sent)
{
    return with_operation(std::move(why), sent.body.name(), namespace_of(sent));
}

error with_operation(error why, std::string_view command, const operation_space& in)
{
    return with_operation(std::move(why), command,
                          in.collection.empty() ? in.database : in.full_name());
}

error with_operation(error why, std::string_view command, std::string space)
{
    if (!why.context("operation").empty() || command.empty())
        return why;
    std::string operation{command};
    if (!space.empty())
        operation.append(preposition_of(operation)).append(space);
    return std::move(why)
        .with_context("operation", std::move(operation))
        .with_context("namespace", std::move(space));
}

}  // namespace holdfast::core::mongo
