#pragma once
#include "lab/mongo/node/command.hpp"

#include <span>

namespace holdfast::lab::mongo {

/// The commands that a node may be given (node::add_commands), by what they are about.
std::span<const command> hello_commands();  // hello, logins, users
std::span<const command> crud_commands();
std::span<const command> cursor_commands();
std::span<const command> catalog_commands();
std::span<const command> session_commands();
std::span<const command> admin_commands();

/// All of them: `for (auto part : all_commands()) node.add_commands(part);`
std::span<const std::span<const command>> all_commands();

}  // namespace holdfast::lab::mongo
