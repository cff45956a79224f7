#include "lab/mongo/set/set_member.hpp"

#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/set/snapshot.hpp"
#include "lab/mongo/set/stored_config.hpp"
#include "lab/mongo/set/message_fields.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::lab::mongo {

std::string_view name_of(member_state state) noexcept
{
    switch (state) {
    case member_state::startup:
        return "STARTUP";
    case member_state::primary:
        return "PRIMARY";
    case member_state::secondary:
        return "SECONDARY";
    case member_state::recovering:
        return "RECOVERING";
    case member_state::startup2:
        return "STARTUP2";
    case member_state::unknown:
        return "UNKNOWN";
    case member_state::arbiter:
        return "ARBITER";
    case member_state::down:
        return "(not reachable/healthy)";
    case member_state::rollback:
        return "ROLLBACK";
    case member_state::removed:
        return "REMOVED";
    }
    return "UNKNOWN";
}

set_member::set_member(node& of, set_options options)
    : node_{of}, options_{std::move(options)}, wake_{of.world}, applied_{of.world}, tasks_{of.world}
{
    load_config();
}

set_member::~set_member()
{
    errands_->end();
}

void set_member::install(disk& on, const set_config& config, bool initiator, bson::datetime wall)
{
    store_config(on, config);
    if (!initiator)
        return;
    const bson::document note = document_of(
        [](bson::builder& out) { out.add("msg", "initiating set"); });
    const change first{.op = 'n', .ns = "", .o = note.view()};
    (void)on.write(first, 0, wall);
}

void set_member::load_config()
{
    auto stored = stored_config(*node_.data);
    if (!stored)
        return;
    config_ = *std::move(stored);
    has_config_ = true;
    place_self();
}

void set_member::start()
{
    started_ = true;
    started_at_ = node_.now();
    put_off_election();
    // A set that has never had a primary, or has nobody else, need not wait for one.
    if ((term() == 0 || config_.voters() == 1) && may_stand())
        election_at_ = node_.now();
    make_links();
    tasks_.start(watch());
    tasks_.start(tail());
    tasks_.start(report());
}

void set_member::stop()
{
    stopping_ = true;
    errands_->end();
    tasks_.stop();
    wake_.notify();
    applied_.notify();
}

runtime::awaitable<void> set_member::ended()
{
    co_await tasks_.ended();
}

void set_member::pause(bool on)
{
    paused_ = on;
    if (on && tail_line_ != nullptr)
        tail_line_->cancel();
    wake_.notify();
    applied_.notify();
    node_.news.notify();
}

/// What the configuration makes of us.
void set_member::place_self()
{
    const member_config* const own = config_.by_host(node_.options.own_address);
    self_id_ = own ? own->id : -1;
    if (!own) {
        become(member_state::removed);
    } else if (own->arbiter_only) {
        become(member_state::arbiter);
    } else if (state_ == member_state::startup || state_ == member_state::removed ||
               state_ == member_state::arbiter) {
        become(last() == optime{} ? member_state::startup2 : member_state::secondary);
    } else if (state_ == member_state::primary && !own->may_stand()) {
        step_down();
    }
}

void set_member::adopt_config(set_config next)
{
    store_config(*node_.data, next);
    config_ = std::move(next);
    has_config_ = true;
    place_self();
    if (config_.by_id(primary_id_) == nullptr)
        lost_primary();
    if (started_)
        make_links();
    update_commit();
    announce();
    node_.topology_changed();
}

/// One line to each of the others; those that have left are let go.
void set_member::make_links()
{
    for (auto at = links_.begin(); at != links_.end();) {
        const member_config* const still = config_.by_id(at->first);
        if (still && still->host == at->second->host && self_id_ >= 0) {
            ++at;
            continue;
        }
        at->second->gone = true;
        at = links_.erase(at);
    }
    for (const member_config& m : config_.members) {
        if (m.id == self_id_ || self_id_ < 0 || links_.contains(m.id))
            continue;
        const auto made = std::make_shared<link>();
        made->id = m.id;
        made->host = m.host;
        links_.emplace(m.id, made);
        tasks_.start(heartbeats(made));
    }
    wake_.notify();
}

set_member::link* set_member::find_link(std::int32_t id) noexcept
{
    const auto found = links_.find(id);
    return found == links_.end() ? nullptr : found->second.get();
}

/// All others are to hear at once of what has changed.
void set_member::announce()
{
    ++announcements_;
    wake_.notify();
}

void set_member::become(member_state next)
{
    if (state_ == next)
        return;
    state_ = next;
    node_.topology_changed();
    announce();
}

std::string_view set_member::primary_host() const noexcept
{
    const member_config* const who = config_.by_id(primary_id_);
    return who ? std::string_view{who->host} : std::string_view{};
}

bool set_member::readable() const noexcept
{
    return state_ == member_state::primary || (state_ == member_state::secondary && !maintenance_);
}

bool set_member::may_stand() const noexcept
{
    const member_config* const own = self();
    return own && own->may_stand() && state_ == member_state::secondary && !maintenance_ &&
           !stopping_ && !paused_;
}

void set_member::put_off_election()
{
    election_at_ = node_.now() + election_delay(config_, node_.world.chance());
}

void set_member::wrote(const optime& at)
{
    positions_[self_id_] = at;
    if (config_.write_majority() <= 1)
        update_commit();
}

void set_member::update_commit()
{
    if (state_ != member_state::primary)
        return;
    const optime reached = commit_point(config_, positions_, term(), committed_);
    if (reached <= committed_)
        return;
    committed_ = reached;
    node_.news.notify();
    if (!std::exchange(commit_to_announce_, true))
        wake_.notify();  // the heartbeats tell the others, soon
}

/// What we have of it is committed here too. Entries of the primary's own term are only ever on one
/// line, so an optime of that term says that we have all before it.
void set_member::learn_commit(const optime& from_primary)
{
    heard_commit_ = std::max(heard_commit_, from_primary);
    const optime own = last();
    if (state_ == member_state::primary || heard_commit_.term != own.term)
        return;
    const optime reached = std::min(heard_commit_, own);
    if (reached <= committed_)
        return;
    committed_ = reached;
    node_.news.notify();
}

concern_state set_member::check(const optime& wrote, const write_concern& concern) const
{
    const bool met = node_.options.acknowledges_early ||
                     is_met(config_, positions_, committed_, wrote, concern);
    if (met && writable())
        return concern_state::met;
    return writable() && !stopping_ ? concern_state::pending : concern_state::impossible;
}

result<void> set_member::accepts(const write_concern& concern) const
{
    return check_satisfiable(config_, concern);
}

/// Majority, unless an arbiter stands where a majority of data would have to be.
write_concern set_member::default_concern() const
{
    write_concern made;
    const bool arbiters = config_.data_members() < config_.members.size();
    made.majority = !(arbiters && config_.data_voters() <= config_.majority());
    return made;
}

}  // namespace holdfast::lab::mongo
