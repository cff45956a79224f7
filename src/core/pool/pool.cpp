#include "core/pool/pool.hpp"

#include "core/pool/errc.hpp"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

namespace holdfast::core {

using namespace pool_events;

connection_pool::connection_pool(pool_settings settings, bool with_events)
    : pool_outbox{with_events},
      settings_{settings},
      opening_{settings.max_connecting},
      pinned_{settings.pin_reasons}
{
    emit(created{});
}

bool connection_pool::is_stale(const connection& c) const noexcept
{
    return generations_.is_stale(c.generation, c.partition);
}

bool connection_pool::is_too_old(const connection& c, time_point now) const noexcept
{
    return settings_.max_idle != duration::zero() && now - c.since >= settings_.max_idle;
}

bool connection_pool::has_capacity() const noexcept
{
    return settings_.max_size == 0 || connections_.size() < settings_.max_size;
}

/// Each connection that opens already will serve a caller, also if it was begun for minPoolSize;
/// but one that is overdue may never come.
bool connection_pool::wants_another(time_point now) const noexcept
{
    return !waiting_.empty() && has_capacity() && opening_.may_begin(now) &&
           (opening_.count() < waiting_.size() || opening_.is_overdue(now));
}

std::optional<connection_id> connection_pool::check_out_now(time_point now)
{
    if (idle_.empty())  // as in every pool that is not ready, or that has waiting callers
        return std::nullopt;
    // The most recently used is the last to grow old: if it has, check_out() will find none either,
    // and report its end in the right order.
    const auto c = connections_.find(idle_.back());
    if (is_stale(c->second) || is_too_old(c->second, now) ||
        now - c->second.since >= settings_.look_after)
        return std::nullopt;
    idle_.pop_back();
    emit(checkout_started{});
    c->second.use = used_for::caller;
    emit(checked_out{c->first, duration::zero()});
    return c->first;
}

void connection_pool::check_out(checkout_id who, time_point now)
{
    emit(checkout_started{});
    switch (state_) {
    case state::closed:
        refuse_one({who, now}, checkout_failure::pool_closed,
                   error{pool_errc::closed,
                         "Attempted to check out a connection from closed connection pool"},
                   now);
        return;
    case state::paused:
        refuse_one({who, now}, checkout_failure::connection_error,
                   paused_because_.value_or(
                       error{pool_errc::cleared, "the server has not been found alive yet"}),
                   now);
        return;
    case state::ready:
        if (settings_.max_waiting != 0 && waiting_.size() >= settings_.max_waiting)
            return refuse_one({who, now}, checkout_failure::connection_error,
                              error{pool_errc::queue_full, "too many callers wait already"}, now);
        waiting_.push_back({who, now});
        go_on(now);
        return;
    }
}

void connection_pool::cancel(checkout_id who, checkout_failure why, time_point now)
{
    const auto at = std::ranges::find(waiting_, who, &caller::id);
    if (at == waiting_.end())
        return;
    const caller gone = *at;
    waiting_.erase(at);
    const bool late = why == checkout_failure::timeout;
    refuse_one(gone, why, late ? std::optional{timed_out()} : std::nullopt, now);
}

void connection_pool::check_in(connection_id id, bool broken, time_point now, const error* why)
{
    const auto c = connections_.find(id);
    if (c == connections_.end())
        return;
    assert(c->second.use == used_for::caller);
    emit(checked_in{id});
    if (state_ == state::closed)
        drop(c, close_reason::pool_closed);
    else if (c->second.interrupted)
        drop(c, close_reason::stale);  // it is broken because we broke it
    else if (broken || c->second.given_up)
        drop(c, close_reason::error, why);
    else if (is_stale(c->second))
        drop(c, close_reason::stale);
    else
        return keep_or_give(c, now);
    go_on(now);
}

bool connection_pool::would_keep(connection_id id) const noexcept
{
    const auto c = connections_.find(id);
    return c != connections_.end() && state_ != state::closed && !c->second.interrupted &&
           !c->second.given_up && !is_stale(c->second);
}

/// A good connection that is free: to the caller that waits longest, else to the idle ones.
void connection_pool::keep_or_give(connections::iterator c, time_point now)
{
    if (!waiting_.empty()) {
        const caller first = waiting_.front();
        waiting_.pop_front();
        return give(first, c, now);
    }
    c->second.use = used_for::nothing;
    c->second.since = now;
    idle_.push_back(c->first);
}

void connection_pool::opened(connection_id id, std::optional<pool_partition> partition,
                             time_point now)
{
    const auto c = connections_.find(id);
    if (c == connections_.end())
        return;  // given up while it was opening
    opening_.end();
    c->second.use = used_for::caller;
    if (partition) {
        // Which partition it reached is known only now, and so is the generation it belongs to.
        c->second.partition = partition;
        c->second.generation = generation(partition);
    }
    opening_.succeeded(now - c->second.since);
    emit(connection_ready{id, now - c->second.since});
    keep_or_give(c, now);
    go_on(now);
    fill(now);
}

void connection_pool::open_failed(connection_id id, const error& why, time_point now)
{
    fail_opening(id, why, now);
    go_on(now);
}

void connection_pool::fail_opening(connection_id id, const error& why, time_point now)
{
    const auto c = connections_.find(id);
    if (c == connections_.end())
        return;
    opening_.failed();
    const bool for_caller = c->second.use == used_for::opening_for_caller;
    drop(c, close_reason::error, &why);
    if (for_caller && !waiting_.empty()) {
        const caller first = waiting_.front();
        waiting_.pop_front();
        refuse_one(first, checkout_failure::connection_error, why, now);
    }
}

void connection_pool::woke(time_point now)
{
    opening_.woke();
    go_on(now);
}

void connection_pool::mark_ready(time_point now)
{
    if (state_ != state::paused)
        return;
    state_ = state::ready;
    paused_because_.reset();
    emit(pool_events::ready{});
    maintain(now);
}

void connection_pool::clear(const error& why, const std::optional<pool_partition>& partition,
                            bool interrupt_in_use, time_point now)
{
    if (state_ == state::closed)
        return;
    generations_.advance(partition);
    if (partition) {
        emit(cleared{partition, interrupt_in_use});
    } else {
        opening_.failed();
        if (state_ == state::ready)
            emit(cleared{std::nullopt, interrupt_in_use});
        state_ = state::paused;
        paused_because_ = error{pool_errc::cleared,
                                "Connection pool for the server was cleared "
                                "because another operation failed with: " +
                                    why.message()};
    }
    drop_stale(interrupt_in_use);
    if (!partition)
        refuse_all(checkout_failure::connection_error, *paused_because_, now);
}

void connection_pool::replaced(const error& why, std::span<const connection_id> interrupted,
                               time_point now)
{
    for (const connection_id id : interrupted) {
        const auto c = connections_.find(id);
        if (c == connections_.end() || c->second.use != used_for::caller || c->second.interrupted ||
            std::exchange(c->second.given_up, true))
            continue;
        perform(interrupt_connection{id});
    }
    refuse_all(checkout_failure::connection_error, why, now);
}

/// Idle connections and those that open are closed at once: no caller would get one of these, and
/// as long as one hangs it would count against maxConnecting. Those in use follow when they are
/// checked in, unless they are interrupted.
void connection_pool::drop_stale(bool interrupt_in_use)
{
    std::vector<connection_id> doomed;
    for (auto& [id, c] : connections_) {
        if (!is_stale(c))
            continue;
        if (c.use != used_for::caller) {
            doomed.push_back(id);
        } else if (interrupt_in_use && !c.interrupted) {
            c.interrupted = true;
            perform(interrupt_connection{id});
        }
    }
    for (const connection_id id : doomed) {
        const auto c = connections_.find(id);
        const bool interrupted = interrupt_in_use && c->second.use != used_for::nothing;
        drop(c, interrupted ? close_reason::error : close_reason::stale);
    }
}

void connection_pool::close(time_point now)
{
    if (state_ == state::closed)
        return;
    state_ = state::closed;
    refuse_all(
        checkout_failure::pool_closed,
        error{pool_errc::closed, "Attempted to check out a connection from closed connection pool"},
        now);
    std::vector<connection_id> doomed;
    for (const auto& [id, c] : connections_) {
        if (c.use != used_for::caller)
            doomed.push_back(id);
    }
    for (const connection_id id : doomed)
        drop(connections_.find(id), close_reason::pool_closed);
    emit(closed{});
}

void connection_pool::maintain(time_point now)
{
    drop_idle(now);
    fill(now);
}

/// Opens what is missing of minPoolSize, as many at a time as may open.
void connection_pool::fill(time_point now)
{
    if (state_ != state::ready)
        return;
    while (connections_.size() < settings_.min_size && has_capacity() && opening_.may_begin(now))
        open(used_for::opening_for_upkeep, now);
}

void connection_pool::drop_idle(time_point now)
{
    std::vector<connection_id> doomed;
    std::ranges::copy_if(idle_, std::back_inserter(doomed), [&](connection_id id) {
        const connection& c = connections_.at(id);
        return is_stale(c) || is_too_old(c, now);
    });
    for (const connection_id id : doomed) {
        const auto c = connections_.find(id);
        drop(c, is_stale(c->second) ? close_reason::stale : close_reason::idle);
    }
}

/// The most recently used idle connection; stale and old ones are dropped on the way.
std::optional<connection_pool::connections::iterator> connection_pool::take_idle(time_point now)
{
    while (!idle_.empty()) {
        const auto c = connections_.find(idle_.back());
        if (!is_stale(c->second) && !is_too_old(c->second, now)) {
            idle_.pop_back();
            return c;
        }
        drop(c, is_stale(c->second) ? close_reason::stale : close_reason::idle);
    }
    return std::nullopt;
}

/// Gives idle connections to waiting callers, in their order, and opens more for the rest.
void connection_pool::go_on(time_point now)
{
    if (state_ != state::ready) {
        assert(waiting_.empty());  // they were refused
        return;
    }
    while (!waiting_.empty()) {
        const auto c = take_idle(now);
        if (!c)
            break;
        const caller first = waiting_.front();
        waiting_.pop_front();
        give(first, *c, now);
    }
    while (wants_another(now))
        open(used_for::opening_for_caller, now);
    if (waiting_.empty() || !has_capacity())
        return;
    if (const auto overdue = opening_.set_wake_up())
        perform(wake_up{*overdue});
}

void connection_pool::open(used_for purpose, time_point now)
{
    last_id_ = connection_id{last_id_.value() + 1};
    connections_.emplace(last_id_, connection{generation(), purpose, std::nullopt, now});
    opening_.begin(now);
    emit(connection_created{last_id_});
    perform(open_connection{last_id_, generation()});
}

void connection_pool::give(const caller& who, connections::iterator c, time_point now)
{
    c->second.use = used_for::caller;
    emit(checked_out{c->first, now - who.since});
    perform(hand_out{who.id, c->first});
}

void connection_pool::refuse_one(const caller& who, checkout_failure why,
                                 std::optional<error> cause, time_point now)
{
    emit(checkout_failed{why, now - who.since, cause});
    perform(refuse{who.id, why, std::move(cause)});
}

void connection_pool::refuse_all(checkout_failure why, const error& cause, time_point now)
{
    for (const caller& who : std::exchange(waiting_, {}))
        refuse_one(who, why, cause, now);
}

void connection_pool::drop(connections::iterator c, close_reason reason, const error* cause)
{
    switch (c->second.use) {
    case used_for::nothing:
        std::erase(idle_, c->first);
        break;
    case used_for::opening_for_caller:
    case used_for::opening_for_upkeep:
        opening_.end();
        break;
    case used_for::caller:
        break;
    }
    emit(connection_closed{c->first, reason,
                           cause == nullptr ? std::nullopt : std::optional{*cause}});
    perform(close_connection{c->first, reason});
    connections_.erase(c);
}

}  // namespace holdfast::core
