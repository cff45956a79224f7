#pragma once
#include "core/mongo/operation/command.hpp"
#include "core/retry/deadline.hpp"
#include "holdfast/error.hpp"
#include "holdfast/id.hpp"
#include "shell/mongo/execute/running_operations.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace holdfast::shell::mongo {

struct session_state;
struct pinned_connection;

/// Facts about the server that has replied, for a next command to the same server.
struct answer_facts {
    endpoint server = {};
    std::int32_t wire_version = 0;
    operation_id operation = {};
    /// Behind a load balancer the connection is kept here for the commands of a cursor: it alone
    /// leads to the server that has the cursor.
    std::shared_ptr<pinned_connection> pin = {};
    /// The attempts of the first command some of whose many writes were refused.
    std::vector<attempt> refused = {};
};

/// One command, and how its operation wants it executed.
struct command_order {
    core::mongo::command command = {};
    core::deadline until = {};
    operation_id operation = {};  // 0: a new one. Commands of one bulk write share theirs
    std::shared_ptr<session_state> session = {};  // null: one is taken
    answer_facts* facts = nullptr;  // filled in when the command was answered; outlives it
    running_operation counted = {};  // as long as it is under way; internal commands are not
    bool continues = false;  // the operation has begun before: a client that drains still takes it
    bool opens_cursor = false;  // behind a load balancer facts->pin is filled in, if one is open
};

}  // namespace holdfast::shell::mongo
