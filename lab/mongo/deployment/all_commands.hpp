#pragma once
#include "lab/mongo/node/node.hpp"

namespace holdfast::lab::mongo {

/// All that the lab knows, for a server of any kind.
void add_all_commands(node& to);

}  // namespace holdfast::lab::mongo
