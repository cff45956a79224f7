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
    {"aggregate", "collMod", "count", "create", "createIndexes", "delete", "distinct", "drop",
     "dropIndexes", "find", "findAndModify", "insert", "listIndexes", "update"});

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
    std::string name = sent.database;
    if (const std::string_view collection = collection_of(sent); !collection.empty())
        name.append(".").append(collection);
    return name;
}

error with_operation(error why, const command& sent)
{
    if (!why.context("operation").empty() || sent.body.name().empty())
        return why;
    std::string space = namespace_of(sent);
    std::string operation{sent.body.name()};
    if (!space.empty())
        operation.append(preposition_of(operation)).append(space);
    return std::move(why)
        .with_context("operation", std::move(operation))
        .with_context("namespace", std::move(space));
}

}  // namespace holdfast::core::mongo
