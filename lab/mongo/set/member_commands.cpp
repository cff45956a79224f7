#include "lab/mongo/set/message_fields.hpp"
#include "lab/mongo/set/set_commands.hpp"

#include <string>
#include <utility>

namespace holdfast::lab::mongo::set_commands {

result<progress> heartbeat(set_member& on, request& what, bson::builder& reply)
{
    member_parts& parts = on.parts();
    parts.snapshots.drop_unused(parts.context.now());  // heartbeats come for ever: a cheap timer
    if (auto fine = parts.heartbeats.answer(what.body, reply); !fine)
        return std::move(fine).error();
    return progress::done;
}

result<progress> request_votes(set_member& on, request& what, bson::builder& reply)
{
    if (!on.parts().role.has_config())
        return not_initialized();
    const vote_request from{
        .set = std::string{text_or(what.body.find("setName"), "")},
        .dry_run = flag_or(what.body.find("dryRun"), false),
        .term = number_or(what.body.find("term"), 0),
        .candidate = static_cast<std::int32_t>(number_or(what.body.find("candidateIndex"), -1)),
        .config_version = number_or(what.body.find("configVersion"), 0),
        .config_term = number_or(what.body.find("configTerm"), -1),
        .last = read_optime(what.body.find("lastAppliedOpTime")),
    };
    const vote given = on.parts().election.answer(from);
    reply.add("term", on.term()).add("voteGranted", given.granted).add("reason", given.reason);
    return progress::done;
}

result<progress> update_position(set_member& on, request& what, bson::builder& reply)
{
    const std::int64_t their_term = number_or(what.body.find("term"), 0);
    on.parts().role.adopt_term(their_term);
    const bson::element all = what.body.find("optimes");
    if (all.type() == bson::type::array && their_term == on.term())
        on.parts().replication.positions_reported(all.as_array());
    reply.add("term", on.term());
    write_optime(reply, "committed", on.committed());
    return progress::done;
}

result<progress> copy(set_member& on, request& what, bson::builder& reply)
{
    member_parts& parts = on.parts();
    node& own = parts.context.node;
    if (auto fine = parts.snapshots.answer(*own.data, own.now(), what.body, reply); !fine)
        return std::move(fine).error();
    return progress::done;
}

}  // namespace holdfast::lab::mongo::set_commands
