#pragma once
#include "lab/mongo/set/set_member.hpp"

/// The commands of a set, see MongoDB's manual, and the few that members send to each other.
namespace holdfast::lab::mongo::set_commands {

// Of members only: member_commands.cpp.
result<progress> heartbeat(set_member& on, request& what, bson::builder& reply);
result<progress> request_votes(set_member& on, request& what, bson::builder& reply);
result<progress> update_position(set_member& on, request& what, bson::builder& reply);
result<progress> copy(set_member& on, request& what, bson::builder& reply);

// election_commands.cpp
result<progress> step_down(set_member& on, request& what, bson::builder& reply);
result<progress> step_up(set_member& on, request& what, bson::builder& reply);
result<progress> freeze(set_member& on, request& what, bson::builder& reply);
result<progress> maintenance(set_member& on, request& what, bson::builder& reply);

// config_commands.cpp
result<progress> initiate(set_member& on, request& what, bson::builder& reply);
result<progress> reconfig(set_member& on, request& what, bson::builder& reply);
result<progress> get_config(set_member& on, request& what, bson::builder& reply);

// status_command.cpp
result<progress> get_status(set_member& on, request& what, bson::builder& reply);

/// 94: the member has no configuration.
error not_initialized();

}  // namespace holdfast::lab::mongo::set_commands
