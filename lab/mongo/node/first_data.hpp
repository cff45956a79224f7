#pragma once
#include "lab/mongo/node/node.hpp"

namespace holdfast::lab::mongo {

/// What a server has before any client comes: admin.system.version, where a document says which
/// version the data is for. A set has it from its initiator.
void write_first_data(disk& on, const server_version& version, bson::datetime wall);

}  // namespace holdfast::lab::mongo
