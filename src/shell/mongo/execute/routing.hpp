#pragma once
#include "holdfast/bson/builder.hpp"
#include "shell/mongo/execute/command_order.hpp"
#include "shell/mongo/topology/topology.hpp"

namespace holdfast::shell::mongo {

/// Puts "$readPreference" into a read where the server would otherwise not know that it may answer,
/// or where to send it on.
void write_read_preference(bson::builder& command, const command_order& order,
                           const selected_server& on);

}  // namespace holdfast::shell::mongo
