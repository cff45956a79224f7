#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/set/message_fields.hpp"
#include "lab/mongo/set/set_commands.hpp"

#include <memory>
#include <string>
#include <utility>

namespace holdfast::lab::mongo::set_commands {

namespace {

constexpr int not_secondary = 95;
constexpr int command_failed = 125;

result<std::int64_t> seconds_of(const bson::element& from, std::string_view name)
{
    const auto value = from.get<double>();
    if (!value)
        return refuse(server_code::type_mismatch,
                      "BSON field '" + std::string{name} + "' must be a number");
    if (!(*value >= 0 && *value < 1e9))
        return refuse(server_code::bad_value,
                      std::string{name} + " period must be a positive number of seconds");
    return static_cast<std::int64_t>(*value);
}

/// What a replSetStepDown that waits has to remember.
struct step_down_plan {
    optime target;
    time_point catch_up_until;
    std::int64_t seconds = 60;
    bool force = false;
};

result<step_down_plan> read_plan(bson::view from, time_point now)
{
    step_down_plan made;
    made.force = flag_or(from.find("force"), false);
    auto seconds = seconds_of(*from.begin(), "replSetStepDown");
    if (!seconds)
        return std::move(seconds).error();
    made.seconds = *seconds;
    std::int64_t timeout = made.seconds <= 10 ? made.seconds : 10;
    if (const bson::element given = from.find("secondaryCatchUpPeriodSecs")) {
        auto period = seconds_of(given, "secondaryCatchUpPeriodSecs");
        if (!period)
            return std::move(period).error();
        timeout = *period;
        if (timeout > made.seconds)
            return refuse(server_code::bad_value,
                          "stepdown period must be longer than secondaryCatchUpPeriodSecs");
    }
    made.catch_up_until = now + std::chrono::seconds{timeout};
    return made;
}

}  // namespace

/// Waits until an electable secondary has all that there was when the command came, steps down, and
/// asks that one to stand.
result<progress> step_down(set_member& on, request& what, bson::builder&)
{
    if (!what.kept) {
        auto plan = read_plan(what.body, on.parts().context.now());
        if (!plan)
            return std::move(plan).error();
        if (!on.writable())
            return refuse(server_code::not_writable_primary, "not primary so can't step down");
        plan->target = on.last();
        what.kept = std::make_shared<step_down_plan>(*plan);
    }
    const auto& plan = *static_cast<const step_down_plan*>(what.kept.get());
    if (!on.writable())
        return refuse(server_code::primary_stepped_down,
                      "While waiting for secondaries to catch up before stepping down, this node "
                      "decided to step down for other reasons");
    if (!on.parts().election.others_have(plan.target)) {
        const bool expired = on.parts().context.now() >= plan.catch_up_until;
        if (!expired) {
            what.wait_until = plan.catch_up_until;
            return progress::wait;
        }
        if (!plan.force)
            return refuse(server_code::exceeded_time_limit,
                          "No electable secondaries caught up as of this time. Please use the "
                          "replSetStepDown command with the argument {force: true} to force node "
                          "to step down.");
    }
    on.parts().election.resign(std::chrono::seconds{plan.seconds});
    return progress::done;
}

result<progress> step_up(set_member& on, request& what, bson::builder&)
{
    election& elections = on.parts().election;
    if (on.writable())
        return progress::done;
    if (what.seen == 0) {
        if (!on.parts().role.may_stand())
            return refuse(command_failed, "Election failed: this member may not stand.");
        what.seen = elections.request_election();
    }
    if (elections.is_lost(what.seen) || what.expired)
        return refuse(command_failed, "Election failed.");
    what.wait_until = what.arrived + 2 * on.config().election_timeout;
    return progress::wait;
}

result<progress> freeze(set_member& on, request& what, bson::builder& reply)
{
    auto seconds = seconds_of(*what.body.begin(), "replSetFreeze");
    if (!seconds)
        return std::move(seconds).error();
    if (on.writable())
        return refuse(not_secondary,
                      "cannot freeze node when primary or running for election. state: Primary");
    if (*seconds == 0) {
        reply.add("info", "unfreezing");
        on.parts().election.unfreeze();
        return progress::done;
    }
    if (*seconds == 1)
        reply.add("warning", "you really want to freeze for only 1 second?");
    on.parts().election.freeze_until(on.parts().context.now() + std::chrono::seconds{*seconds});
    return progress::done;
}

result<progress> maintenance(set_member& on, request& what, bson::builder&)
{
    const bool wanted = flag_or(*what.body.begin(), false);
    if (on.writable())
        return refuse(not_secondary, "primaries can't modify maintenance mode");
    if (!wanted && !on.parts().role.maintenance())
        return refuse(server_code::operation_failed, "already out of maintenance mode");
    on.parts().role.set_maintenance(wanted);
    return progress::done;
}

}  // namespace holdfast::lab::mongo::set_commands
