#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/set/message_fields.hpp"
#include "lab/mongo/set/set_commands.hpp"

namespace holdfast::lab::mongo::set_commands {

namespace {

bson::datetime date_of(const optime& at)
{
    return bson::datetime{std::chrono::seconds{at.ts.seconds}};
}

void write_member(const set_member& of, const member_config& one, bson::builder& into)
{
    const bool self = one.id == of.parts().role.self_id();
    const remote_member* const with = of.parts().others.find(one.id);
    const member_state state = self   ? of.parts().role.shown_state()
                               : with ? with->state
                                      : member_state::unknown;
    const bool healthy = self || (with && with->up);
    const optime at = self ? of.last() : with ? with->applied : optime{};
    const auto uptime = std::chrono::duration_cast<std::chrono::seconds>(
        of.parts().context.now() - of.parts().context.started_at);
    into.add("_id", one.id)
        .add("name", one.host)
        .add("health", healthy ? 1.0 : 0.0)
        .add("state", static_cast<std::int32_t>(state))
        .add("stateStr", name_of(state))
        .add("uptime", healthy ? static_cast<std::int32_t>(uptime.count()) : 0);
    if (one.has_data()) {
        write_optime(into, "optime", at);
        into.add("optimeDate", date_of(at));
    }
    if (with) {
        const auto ping = std::chrono::duration_cast<std::chrono::milliseconds>(with->ping);
        into.add("lastHeartbeat", with->asked_at)
            .add("lastHeartbeatRecv", with->answered_at)
            .add("pingMs", std::int64_t{ping.count()})
            .add("lastHeartbeatMessage", with->trouble);
    }
    const bool follows = self && of.parts().replication.source_id() >= 0;
    into.add("syncSourceHost", follows ? of.parts().replication.source_host() : "")
        .add("syncSourceId", follows ? of.parts().replication.source_id() : -1)
        .add("infoMessage", "");
    if (self && of.writable())
        into.add("electionTime", of.parts().election.elected_at().ts)
            .add("electionDate", date_of(of.parts().election.elected_at()));
    into.add("configVersion", static_cast<std::int32_t>(self   ? of.config().version
                                                        : with ? with->config_version
                                                               : -1))
        .add("configTerm", self   ? of.config().term
                           : with ? with->config_term
                                  : -1);
    if (self)
        into.add("self", true);
}

void write_members(const set_member& of, bson::builder& reply)
{
    bson::array_builder members = reply.array("members");
    for (const member_config& m : of.config().members) {
        bson::builder into = members.document();
        write_member(of, m, into);
    }
}

}  // namespace

result<progress> get_status(set_member& on, request&, bson::builder& reply)
{
    if (!on.parts().role.has_config())
        return not_initialized();
    if (on.parts().role.self_id() < 0)
        return refuse(93, "Our replica set config is invalid or we are not a member of it");
    const bool follows = on.parts().replication.source_id() >= 0;
    reply.add("set", on.config().name)
        .add("date", on.parts().context.node.wall_now())
        .add("myState", static_cast<std::int32_t>(on.state()))
        .add("term", on.term())
        .add("syncSourceHost", follows ? on.parts().replication.source_host() : "")
        .add("syncSourceId", on.parts().replication.source_id())
        .add("heartbeatIntervalMillis", std::int64_t{on.config().heartbeat_interval.count()})
        .add("majorityVoteCount", static_cast<std::int32_t>(on.config().majority()))
        .add("writeMajorityCount", static_cast<std::int32_t>(on.config().write_majority()))
        .add("votingMembersCount", static_cast<std::int32_t>(on.config().voters()))
        .add("writableVotingMembersCount", static_cast<std::int32_t>(on.config().data_voters()));
    {
        bson::builder times = reply.document("optimes");
        write_optime(times, "lastCommittedOpTime", on.committed());
        times.add("lastCommittedWallTime", date_of(on.committed()));
        write_optime(times, "readConcernMajorityOpTime", on.committed());
        write_optime(times, "appliedOpTime", on.last());
        write_optime(times, "durableOpTime", on.last());
        times.add("lastAppliedWallTime", date_of(on.last()))
            .add("lastDurableWallTime", date_of(on.last()));
    }
    write_members(on, reply);
    return progress::done;
}

}  // namespace holdfast::lab::mongo::set_commands
