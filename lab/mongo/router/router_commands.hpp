#pragma once
#include "lab/mongo/node/command.hpp"

#include <span>

namespace holdfast::lab::mongo {

/// What routers know and members do not.
std::span<const command> router_commands() noexcept;

}  // namespace holdfast::lab::mongo
