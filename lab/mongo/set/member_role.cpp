#include "lab/mongo/set/member_role.hpp"

#include "lab/mongo/set/stored_config.hpp"
#include "lab/mongo/set/votes.hpp"

#include <chrono>
#include <utility>

namespace holdfast::lab::mongo {

using namespace std::chrono_literals;

namespace {

// A term above this is an attack or a mistake: it would leave no terms for further elections.
constexpr std::int64_t greatest_term = std::int64_t{1} << 53;

// Servers take 2 to 500 ms.
constexpr duration step_down_lasts = 2ms;

}  // namespace

void member_role::load_config()
{
    auto stored = stored_config(*context_.node.data);
    if (!stored)
        return;
    config_ = *std::move(stored);
    has_config_ = true;
    place_self();
}

void member_role::replace_config(set_config next)
{
    store_config(*context_.node.data, next);
    config_ = std::move(next);
    has_config_ = true;
    place_self();
    if (config_.by_id(primary_id_) == nullptr)
        lost_primary();
}

/// Derives the own id and role from the configuration.
void member_role::place_self()
{
    const member_config* const own = config_.by_host(context_.node.options.own_address);
    self_id_ = own ? own->id : -1;
    if (!own) {
        become(member_state::removed);
    } else if (own->arbiter_only) {
        become(member_state::arbiter);
    } else if (state_ == member_state::startup || state_ == member_state::removed ||
               state_ == member_state::arbiter) {
        become(last() == optime{} ? member_state::startup2 : member_state::secondary);
    } else if (primary() && !own->may_stand()) {
        step_down();
    }
}

member_state member_role::shown_state() const noexcept
{
    return maintenance_ ? member_state::recovering : state_;
}

bool member_role::readable() const noexcept
{
    return primary() || (state_ == member_state::secondary && !maintenance_);
}

void member_role::set_maintenance(bool on)
{
    maintenance_ = on;
    context_.node.topology_changed();
    announce();
}

void member_role::become(member_state next)
{
    if (state_ == next)
        return;
    state_ = next;
    context_.node.topology_changed();
    announce();
}

void member_role::adopt_term(std::int64_t newest)
{
    if (newest <= term() || newest > greatest_term)
        return;
    context_.node.data->set_term(newest);
    if (primary())
        step_down();
    lost_primary();
}

void member_role::step_down()
{
    if (!primary())
        return;
    primary_id_ = -1;
    put_off_election();
    stepping_down_ = true;
    become(member_state::secondary);
    context_.tasks.start(end_step_down());
    // Servers before 4.2 close the connections of clients when they step down.
    const node& own = context_.node;
    if (own.options.version < server_version{4, 2, 0} && own.close_connections)
        own.close_connections(false);
}

runtime::awaitable<void> member_role::end_step_down()
{
    const auto end = co_await runtime::sleep_until(context_.node.world,
                                                   context_.now() + step_down_lasts);
    if (end == runtime::wait_end::cancelled || !stepping_down_)
        co_return;
    stepping_down_ = false;
    context_.node.topology_changed();
}

void member_role::become_primary()
{
    stepping_down_ = false;
    primary_id_ = self_id_;
    become(member_state::primary);
}

std::string_view member_role::primary_host() const noexcept
{
    const member_config* const leads = config_.by_id(primary_id_);
    return leads ? std::string_view{leads->host} : std::string_view{};
}

bool member_role::is_new_primary(std::int32_t id) const noexcept
{
    return id != self_id_ && !primary() && primary_id_ != id;
}

void member_role::heard_primary(std::int32_t id)
{
    if (id == self_id_ || primary())
        return;
    put_off_election();
    if (primary_id_ == id)
        return;
    primary_id_ = id;
    primary_since_ = context_.now();
    context_.node.topology_changed();
    context_.changed.notify();
}

void member_role::lost_primary()
{
    if (primary_id_ < 0 || primary())
        return;
    primary_id_ = -1;
    context_.node.topology_changed();
    context_.changed.notify();
}

bool member_role::may_stand() const noexcept
{
    const member_config* const own = self();
    return own && own->may_stand() && state_ == member_state::secondary && !maintenance_ &&
           context_.active();
}

void member_role::put_off_election()
{
    election_at_ = context_.now() + election_delay(config_, context_.node.world.chance());
}

void member_role::announce()
{
    ++announcements_;
    context_.changed.notify();
}

}  // namespace holdfast::lab::mongo
