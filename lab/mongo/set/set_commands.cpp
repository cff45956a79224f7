#include "lab/mongo/set/set_commands.hpp"

#include "lab/mongo/document/server_code.hpp"

#include <array>
#include <string>

namespace holdfast::lab::mongo {

namespace {

using handler = result<progress> (*)(set_member&, request&, bson::builder&);

/// The node's part in its set; on a standalone there is none.
template <handler Run>
result<progress> in_set(node& on, request& what, bson::builder& reply)
{
    if (!on.member->in_set())
        return refuse(server_code::not_a_replica_set, "not running with --replSet");
    return Run(static_cast<set_member&>(*on.member), what, reply);
}

/// The same for commands that only members send to each other.
template <handler Run>
result<progress> among_members(node& on, request& what, bson::builder& reply)
{
    if (!what.client.internal)
        return refuse(server_code::unauthorized,
                      std::string{what.name} + " is for members of the set only");
    return in_set<Run>(on, what, reply);
}

}  // namespace

error set_commands::not_initialized()
{
    return refuse(94, "no replset config has been received");  // NotYetInitialized
}

std::span<const command> all_set_commands() noexcept
{
    namespace c = set_commands;
    static constexpr std::array table{
        command{.name = "replSetHeartbeat", .run = among_members<c::heartbeat>, .admin_only = true},
        command{.name = "replSetRequestVotes",
                .run = among_members<c::request_votes>,
                .admin_only = true},
        command{.name = "replSetUpdatePosition",
                .run = among_members<c::update_position>,
                .admin_only = true},
        command{.name = "replSetStepDown", .run = in_set<c::step_down>, .admin_only = true},
        command{.name = "replSetStepUp", .run = in_set<c::step_up>, .admin_only = true},
        command{.name = "replSetFreeze", .run = in_set<c::freeze>, .admin_only = true},
        command{.name = "replSetMaintenance", .run = in_set<c::maintenance>, .admin_only = true},
        command{.name = "replSetInitiate", .run = in_set<c::initiate>, .admin_only = true},
        command{.name = "replSetReconfig", .run = in_set<c::reconfig>, .admin_only = true},
        command{.name = "replSetGetConfig", .run = in_set<c::get_config>, .admin_only = true},
        command{.name = "replSetGetStatus", .run = in_set<c::get_status>, .admin_only = true},
        command{.name = "_labSnapshot", .run = among_members<c::copy>, .admin_only = true},
    };
    return table;
}

}  // namespace holdfast::lab::mongo
