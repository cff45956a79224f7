#pragma once
#include "core/mongo/operation/command.hpp"
#include "holdfast/error.hpp"

#include <string>

namespace holdfast::core::mongo {

/// "shop.orders", or the database alone if the command is not about one collection.
std::string namespace_of(const command& sent);

/// The error of a command, with the operation and its namespace in its context: "insert into
/// shop.orders". An error that has them is left alone.
error with_operation(error why, const command& sent);

}  // namespace holdfast::core::mongo
