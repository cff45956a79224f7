#pragma once
#include "core/mongo/operation/command.hpp"
#include "core/mongo/operation/space.hpp"
#include "holdfast/error.hpp"

#include <string>
#include <string_view>

namespace holdfast::core::mongo {

/// "shop.orders", or the database alone if the command is not about one collection.
std::string namespace_of(const command& sent);

/// The error of a command, with the operation and its namespace in its context: "insert into
/// shop.orders". An error that has them is left alone.
error with_operation(error why, const command& sent);
/// The same for what has no command yet, or no more: it could not be written, or its reply not be
/// read.
error with_operation(error why, std::string_view command, const operation_space& in);
error with_operation(error why, std::string_view command, std::string space);

}  // namespace holdfast::core::mongo
