#include "lab/mongo/set/set_commands.hpp"

#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/set/snapshot.hpp"
#include "lab/mongo/set/message_fields.hpp"

#include <array>
#include <string>
#include <utility>

namespace holdfast::lab::mongo {

using namespace std::chrono_literals;

namespace {

constexpr int not_secondary = 95;
constexpr int command_failed = 125;
constexpr int not_yet_initialized = 94;
constexpr std::size_t batch_bytes = 8 << 20;

using handler = result<progress> (*)(set_member&, request&, bson::builder&);

/// The node's part in its set; on a standalone there is none.
template <handler Run>
result<progress> in_set(node& on, request& what, bson::builder& reply)
{
    if (!on.member->in_set())
        return refuse(server_code::not_a_replica_set, "not running with --replSet");
    return Run(static_cast<set_member&>(*on.member), what, reply);
}

/// The same for what only members say to each other.
template <handler Run>
result<progress> among_members(node& on, request& what, bson::builder& reply)
{
    if (!what.client.internal)
        return refuse(server_code::unauthorized,
                      std::string{what.name} + " is for members of the set only");
    return in_set<Run>(on, what, reply);
}

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

result<progress> set_commands::heartbeat(set_member& on, request& what, bson::builder& reply)
{
    if (auto fine = on.heartbeat_asked(what.body, reply); !fine)
        return std::move(fine).error();
    return progress::done;
}

result<progress> set_commands::request_votes(set_member& on, request& what, bson::builder& reply)
{
    if (!on.has_config_)
        return refuse(not_yet_initialized, "no replset config has been received");
    const vote_request from{
        .set = std::string{text_or(what.body.find("setName"), "")},
        .dry_run = flag_or(what.body.find("dryRun"), false),
        .term = number_or(what.body.find("term"), 0),
        .candidate = static_cast<std::int32_t>(number_or(what.body.find("candidateIndex"), -1)),
        .config_version = number_or(what.body.find("configVersion"), 0),
        .config_term = number_or(what.body.find("configTerm"), -1),
        .last = read_optime(what.body.find("lastAppliedOpTime")),
    };
    const vote given = on.vote_asked(from);
    reply.add("term", on.term()).add("voteGranted", given.granted).add("reason", given.reason);
    return progress::done;
}

result<progress> set_commands::update_position(set_member& on, request& what, bson::builder& reply)
{
    const std::int64_t their_term = number_or(what.body.find("term"), 0);
    on.adopt_term(their_term);
    const bson::element all = what.body.find("optimes");
    if (all.type() == bson::type::array && their_term == on.term()) {
        for (const bson::element& one : all.as_array()) {
            if (one.type() != bson::type::document)
                continue;
            const bson::view from = one.as_document();
            const auto id = static_cast<std::int32_t>(number_or(from.find("memberId"), -1));
            auto* const with = on.find_link(id);
            if (!with)
                continue;
            with->heard = on.node_.now();
            with->applied = read_optime(from.find("appliedOpTime"));
            on.positions_[id] = with->applied;
        }
        on.update_commit();
        on.node_.news.notify();
        on.applied_.notify();
    }
    reply.add("term", on.term());
    write_optime(reply, "committed", on.committed_);
    return progress::done;
}

/// Waits until an electable secondary has all that there was when the command came, steps down, and
/// asks that one to stand.
result<progress> set_commands::step_down(set_member& on, request& what, bson::builder&)
{
    if (!what.kept) {
        auto plan = read_plan(what.body, on.node_.now());
        if (!plan)
            return std::move(plan).error();
        if (on.state_ != member_state::primary)
            return refuse(server_code::not_writable_primary, "not primary so can't step down");
        plan->target = on.last();
        what.kept = std::make_shared<step_down_plan>(*plan);
    }
    const auto& plan = *static_cast<const step_down_plan*>(what.kept.get());
    if (on.state_ != member_state::primary)
        return refuse(server_code::primary_stepped_down,
                      "While waiting for secondaries to catch up before stepping down, this node "
                      "decided to step down for other reasons");
    if (!on.others_have(plan.target)) {
        const bool expired = on.node_.now() >= plan.catch_up_until;
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
    on.not_before_ = on.node_.now() + std::chrono::seconds{plan.seconds};
    on.step_down();
    on.tasks_.start(on.hand_over());
    return progress::done;
}

result<progress> set_commands::step_up(set_member& on, request& what, bson::builder&)
{
    if (on.state_ == member_state::primary)
        return progress::done;
    if (what.seen == 0) {
        if (!on.may_stand())
            return refuse(command_failed, "Election failed: this member may not stand.");
        what.seen = static_cast<std::int64_t>(on.elections_lost_) + 1;
        on.asked_to_stand_ = true;
        on.not_before_ = time_point::min();
        on.wake_.notify();
    }
    // A first election that was under way already may be lost before the one that was asked for.
    const bool over = !on.asked_to_stand_ && !on.stands_ &&
                      static_cast<std::int64_t>(on.elections_lost_) >= what.seen;
    if (over || what.expired)
        return refuse(command_failed, "Election failed.");
    what.wait_until = what.arrived + 2 * on.config_.election_timeout;
    return progress::wait;
}

result<progress> set_commands::freeze(set_member& on, request& what, bson::builder& reply)
{
    auto seconds = seconds_of(*what.body.begin(), "replSetFreeze");
    if (!seconds)
        return std::move(seconds).error();
    if (on.state_ == member_state::primary)
        return refuse(not_secondary,
                      "cannot freeze node when primary or running for election. state: Primary");
    if (*seconds == 0) {
        on.not_before_ = time_point::min();
        reply.add("info", "unfreezing");
        on.wake_.notify();
        return progress::done;
    }
    if (*seconds == 1)
        reply.add("warning", "you really want to freeze for only 1 second?");
    on.not_before_ = on.node_.now() + std::chrono::seconds{*seconds};
    return progress::done;
}

result<progress> set_commands::maintenance(set_member& on, request& what, bson::builder&)
{
    const bool wanted = flag_or(*what.body.begin(), false);
    if (on.state_ == member_state::primary)
        return refuse(not_secondary, "primaries can't modify maintenance mode");
    if (!wanted && !on.maintenance_)
        return refuse(server_code::operation_failed, "already out of maintenance mode");
    on.maintenance_ = wanted;
    on.node_.topology_changed();
    on.announce();
    return progress::done;
}

/// A snapshot is taken by the first call, and the following ones fetch it in parts.
result<progress> set_commands::copy(set_member& on, request& what, bson::builder& reply)
{
    const std::int64_t id = number_or(what.body.find("id"), 0);
    if (id == 0) {
        const bool busy = on.snapshot_ && on.node_.now() - on.snapshot_->used < 5s;
        if (busy)
            return refuse(109, "another member is copying");
        on.snapshot_ = std::make_shared<snapshot>();
        on.snapshot_->id = ++on.snapshots_;
        take_snapshot(*on.node_.data, *on.snapshot_);
    }
    const auto from = static_cast<std::size_t>(number_or(what.body.find("from"), 0));
    const auto taken = on.snapshot_;
    if (!taken || (id != 0 && taken->id != id) || from > taken->parts.size())
        return refuse(server_code::cursor_not_found, "there is no such snapshot any more");
    taken->used = on.node_.now();
    reply.add("id", taken->id);
    write_optime(reply, "at", taken->at);
    if (id == 0) {
        if (const auto entry = on.node_.data->entry_at(taken->at.ts))
            reply.add("entry", entry->view());
    }
    std::size_t next = from;
    {
        bson::array_builder parts = reply.array("parts");
        for (std::size_t bytes = 0; next < taken->parts.size() && bytes < batch_bytes; ++next) {
            bytes += taken->parts[next].size();
            parts.add(taken->parts[next].view());
        }
    }
    const bool done = next == taken->parts.size();
    reply.add("done", done);
    if (done)
        on.snapshot_.reset();
    return progress::done;
}

std::span<const command> all_set_commands() noexcept
{
    using c = set_commands;
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

std::span<const command> set_member::commands() const noexcept
{
    return all_set_commands();
}

}  // namespace holdfast::lab::mongo
