#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/node/first_data.hpp"
#include "lab/mongo/set/set_commands.hpp"
#include "lab/mongo/set/message_fields.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace holdfast::lab::mongo {

namespace {

constexpr int already_initialized = 23;
constexpr int not_yet_initialized = 94;

bson::datetime date_of(const optime& at)
{
    return bson::datetime{std::chrono::seconds{at.ts.seconds}};
}

error not_initialized()
{
    return refuse(not_yet_initialized, "no replset config has been received");
}

}  // namespace

result<progress> set_commands::initiate(set_member& on, request& what, bson::builder&)
{
    if (on.has_config_)
        return refuse(already_initialized, "already initialized");
    const bson::element given = *what.body.begin();
    set_config config;
    if (given.type() == bson::type::document && !given.as_document().empty()) {
        auto read = read_config(given.as_document());
        if (!read)
            return std::move(read).error();
        config = *std::move(read);
    } else {
        config.name = "rs0";
        member_config self;
        self.host = on.node_.options.own_address;
        config.members.push_back(std::move(self));
    }
    if (auto fine = check_config(config); !fine)
        return std::move(fine).error();
    if (!config.by_host(on.node_.options.own_address))
        return refuse(server_code::node_not_found,
                      "No host described in new configuration for "
                      "replica set " +
                          config.name + " maps to this node");
    on.node_.world.random(config.id.bytes);
    config.term = 0;
    const bson::datetime wall = on.node_.wall_now();
    set_member::install(*on.node_.data, config, on.last() == optime{}, wall);
    write_first_data(*on.node_.data, on.node_.options.version, wall);
    on.adopt_config(std::move(config));
    on.election_at_ = on.node_.now();
    on.wake_.notify();
    return progress::done;
}

/// An entry that all others will have after the change, so that a majority of the new set is known.
void set_commands::note_reconfig(set_member& on)
{
    const bson::document note = document_of([&](bson::builder& out) {
        out.add("msg", "Reconfig set")
            .add("version", static_cast<std::int32_t>(on.config_.version));
    });
    const change noted{.op = 'n', .ns = "", .o = note.view()};
    (void)on.node_.write(noted);
}

result<progress> set_commands::reconfig(set_member& on, request& what, bson::builder&)
{
    if (!on.has_config_)
        return not_initialized();
    const bool force = flag_or(what.body.find("force"), false);
    if (on.state_ != member_state::primary && !force)
        return refuse(server_code::not_writable_primary,
                      "New config is rejected. replSetReconfig should only be run on a writable "
                      "PRIMARY. Current state " +
                          std::string{name_of(on.state_)} + ";");
    const bson::element given = *what.body.begin();
    if (given.type() != bson::type::document)
        return refuse(server_code::type_mismatch, "no configuration specified");
    auto next = read_config(given.as_document());
    if (!next)
        return std::move(next).error();
    if (auto fine = check_reconfig(on.config_, *next, force); !fine)
        return std::move(fine).error();
    if (!force && !next->by_host(on.node_.options.own_address))
        return refuse(server_code::node_not_found,
                      "No host described in new configuration for "
                      "replica set " +
                          next->name + " maps to this node");
    next->id = on.config_.id;
    next->term = force ? -1 : on.term();
    if (force)
        next->version = std::max(next->version, on.config_.version) + 10'000 +
                        static_cast<std::int64_t>(on.node_.world.chance() * 10'000);
    on.adopt_config(*std::move(next));
    if (on.state_ == member_state::primary)
        note_reconfig(on);
    return progress::done;
}

result<progress> set_commands::get_config(set_member& on, request& what, bson::builder& reply)
{
    if (!on.has_config_)
        return not_initialized();
    {
        bson::builder config = reply.document("config");
        write_config(config, on.config_);
    }
    if (flag_or(what.body.find("commitmentStatus"), false))
        reply.add("commitmentStatus", true);
    return progress::done;
}

void set_commands::write_member(const set_member& of, const member_config& who, bson::builder& into)
{
    const bool self = who.id == of.self_id_;
    const auto found = of.links_.find(who.id);
    const set_member::link* const with = found == of.links_.end() ? nullptr : found->second.get();
    member_state state = self ? of.state_ : with ? with->state : member_state::unknown;
    if (self && of.maintenance_)
        state = member_state::recovering;
    const bool healthy = self || (with && with->up);
    const optime at = self ? of.last() : with ? with->applied : optime{};
    const auto uptime = std::chrono::duration_cast<std::chrono::seconds>(of.node_.now() -
                                                                         of.started_at_);
    into.add("_id", who.id)
        .add("name", who.host)
        .add("health", healthy ? 1.0 : 0.0)
        .add("state", static_cast<std::int32_t>(state))
        .add("stateStr", name_of(state))
        .add("uptime", healthy ? static_cast<std::int32_t>(uptime.count()) : 0);
    if (who.has_data()) {
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
    const bool follows = self && of.source_id_ >= 0;
    into.add("syncSourceHost", follows ? std::string_view{of.source_host_} : "")
        .add("syncSourceId", follows ? of.source_id_ : -1)
        .add("infoMessage", "");
    if (self && of.writable())
        into.add("electionTime", of.elected_at_.ts).add("electionDate", date_of(of.elected_at_));
    into.add("configVersion", static_cast<std::int32_t>(self   ? of.config_.version
                                                        : with ? with->config_version
                                                               : -1))
        .add("configTerm", self   ? of.config_.term
                           : with ? with->config_term
                                  : -1);
    if (self)
        into.add("self", true);
}

void set_commands::write_members(const set_member& of, bson::builder& reply)
{
    bson::array_builder members = reply.array("members");
    for (const member_config& m : of.config_.members) {
        bson::builder one = members.document();
        write_member(of, m, one);
    }
}

result<progress> set_commands::get_status(set_member& on, request&, bson::builder& reply)
{
    if (!on.has_config_)
        return not_initialized();
    if (on.self_id_ < 0)
        return refuse(93, "Our replica set config is invalid or we are not a member of it");
    const bool follows = on.source_id_ >= 0;
    reply.add("set", on.config_.name)
        .add("date", on.node_.wall_now())
        .add("myState", static_cast<std::int32_t>(on.state_))
        .add("term", on.term())
        .add("syncSourceHost", follows ? std::string_view{on.source_host_} : "")
        .add("syncSourceId", on.source_id_)
        .add("heartbeatIntervalMillis", std::int64_t{on.config_.heartbeat_interval.count()})
        .add("majorityVoteCount", static_cast<std::int32_t>(on.config_.majority()))
        .add("writeMajorityCount", static_cast<std::int32_t>(on.config_.write_majority()))
        .add("votingMembersCount", static_cast<std::int32_t>(on.config_.voters()))
        .add("writableVotingMembersCount", static_cast<std::int32_t>(on.config_.data_voters()));
    {
        bson::builder times = reply.document("optimes");
        write_optime(times, "lastCommittedOpTime", on.committed_);
        times.add("lastCommittedWallTime", date_of(on.committed_));
        write_optime(times, "readConcernMajorityOpTime", on.committed_);
        write_optime(times, "appliedOpTime", on.last());
        write_optime(times, "durableOpTime", on.last());
        times.add("lastAppliedWallTime", date_of(on.last()))
            .add("lastDurableWallTime", date_of(on.last()));
    }
    write_members(on, reply);
    return progress::done;
}

}  // namespace holdfast::lab::mongo
