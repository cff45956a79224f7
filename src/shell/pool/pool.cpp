#include "shell/pool/pool.hpp"

#include "runtime/wait.hpp"

#include <chrono>

namespace holdfast::shell {
/// A caller in the wait queue.
struct pool::waiter {
    explicit waiter(runtime::world& in) : answered{in} {}

    runtime::event answered;
    std::optional<result<connection_id>> answer = {};
};

/// What the state machine's effects leave to be done when the mutex is free.
struct pool::pending_work {
    std::vector<core::open_connection> to_open = {};
    std::vector<std::shared_ptr<waiter>> to_wake = {};
    std::vector<pooled_ptr> to_close = {};
    std::vector<runtime::background::task> to_stop = {};
    std::optional<time_point> wake_at = {};

    void run(pool& of) &&
    {
        for (runtime::background::task& task : to_stop)
            task.stop();
        for (const core::open_connection& one : to_open) {
            auto task = of.tasks_.start(open_one(of.shared_from_this(), one));
            const std::scoped_lock lock{of.mutex_};
            if (const auto at = of.entries_.find(one.id); at != of.entries_.end())
                at->second.opening = std::move(task);
            else  // cleared meanwhile, by another thread
                task.stop();
        }
        if (wake_at)
            of.tasks_.start(wake_up(of.weak_from_this(), of.world_, *wake_at));
        for (const auto& one : to_wake)
            one->answered.notify();
        to_close.clear();
    }
};

/// Changes the state machine, and does what that brings with it as soon as the mutex is free.
template <class Change>
void pool::change(const Change& what)
{
    std::unique_lock lock{mutex_};
    what();
    pending_work work = settle();
    lock.unlock();
    std::move(work).run(*this);
}

pool::pool(runtime::world& in, const core::pool_settings& limits, bool with_events)
    : world_{in},
      limits_{limits},
      with_events_{with_events},
      tasks_{in},
      machine_{limits, with_events}
{
}

pool::~pool() = default;

pooled_ptr pool::take_idle(time_point now)
{
    pooled_ptr got;
    {
        const std::scoped_lock lock{mutex_};
        const auto id = machine_.check_out_now(now);
        if (!id)
            return got;
        got = take(*id);
        queue_events();
    }
    if (with_events_)
        deliver();
    return got;
}

/// Looks at connections that were idle for long, until one is good. The mutex is held: the look
/// does not wait.
void pool::drop_lost_idle(time_point now)
{
    for (;;) {
        const auto id = machine_.next_to_look_at(now);
        if (!id || !entries_.at(*id).idle->peer_has_closed())
            return;
        machine_.lost_idle(*id);
    }
}

runtime::awaitable<result<lease<pooled_connection>>> pool::wait_for_connection(
    time_point until, bool may_go_elsewhere)
{
    const auto self = shared_from_this();
    const auto mine = std::make_shared<waiter>(world_);
    core::checkout_id who;
    change([&] {
        if (replaced_ && may_go_elsewhere) {
            mine->answer = *replaced_;
            return;
        }
        who = core::checkout_id{++last_checkout_};
        waiters_.emplace(who, mine);
        const time_point now = world_.steady_now();
        drop_lost_idle(now);
        machine_.check_out(who, now);
    });
    deliver();
    for (;;) {
        const std::uint64_t seen = mine->answered.count();
        {
            const std::scoped_lock lock{mutex_};
            if (mine->answer)
                break;
        }
        const runtime::wait_end end = co_await mine->answered.wait(seen, until);
        if (end == runtime::wait_end::notified)
            continue;
        const bool late = end == runtime::wait_end::timed_out;
        // Without effect if the answer came meanwhile; otherwise this answers.
        change([&] {
            machine_.cancel(who,
                            late ? core::checkout_failure::timeout
                                 : core::checkout_failure::connection_error,
                            world_.steady_now());
        });
    }
    deliver();
    const std::scoped_lock lock{mutex_};
    if (!*mine->answer)
        co_return std::move(*mine->answer).error();
    co_return lease<pooled_connection>{self, take(**mine->answer)};
}

void pool::pin(core::pin_reason why)
{
    const std::scoped_lock lock{mutex_};
    machine_.pin(why);
}

void pool::unpin(core::pin_reason why)
{
    const std::scoped_lock lock{mutex_};
    machine_.unpin(why);
}

void pool::mark_ready()
{
    const bool needs_upkeep = limits_.min_size > 0 || limits_.max_idle != duration::zero();
    bool start_upkeep = false;
    change([&] {
        replaced_.reset();
        machine_.mark_ready(world_.steady_now());
        start_upkeep = needs_upkeep && !std::exchange(upkeep_started_, true);
    });
    if (start_upkeep)
        tasks_.start(upkeep(weak_from_this(), world_, limits_.upkeep_every));
}

void pool::clear(const error& why, const std::optional<core::pool_partition>& partition,
                 bool interrupt_in_use)
{
    change([&] { machine_.clear(why, partition, interrupt_in_use, world_.steady_now()); });
}

void pool::drop_idle()
{
    change([&] { machine_.lost_idle(); });
}

void pool::replaced(const error& why)
{
    change([&] {
        replaced_ = why;
        std::vector<connection_id> interrupted;
        for (const auto& [id, one] : entries_) {
            if (one.in_use == nullptr)
                continue;
            one.in_use->replaced = true;
            if (!one.in_use->repeatable)
                continue;
            one.in_use->given_up = true;
            interrupted.push_back(id);
        }
        machine_.replaced(why, interrupted, world_.steady_now());
    });
}

void pool::close(bool interrupt)
{
    change([&] {
        machine_.close(world_.steady_now());
        for (auto& [id, one] : entries_) {
            if (interrupt && one.in_use != nullptr)
                one.in_use->cancel();
        }
    });
    tasks_.stop();
}

std::uint32_t pool::generation(const std::optional<core::pool_partition>& of) const
{
    const std::scoped_lock lock{mutex_};
    return machine_.generation(of);
}

pool_counts pool::counts() const
{
    const std::scoped_lock lock{mutex_};
    return {.total = machine_.total(),
            .idle = machine_.idle(),
            .opening = machine_.opening(),
            .waiting = machine_.waiting(),
            .generation = machine_.generation()};
}

runtime::awaitable<void> pool::ended()
{
    const auto self = shared_from_this();
    co_await self->tasks_.ended();
}

bool pool::would_keep(connection_id id) const
{
    const std::scoped_lock lock{mutex_};
    return machine_.would_keep(id);
}

void pool::check_in(pooled_ptr what, bool broken, time_point now, const error* why)
{
    bool start_trimming = false;
    {
        std::unique_lock lock{mutex_};
        const connection_id id = what->pool_id;
        if (what->has_large_buffers()) [[unlikely]]
            start_trimming = !std::exchange(trimming_, true);
        if (const auto at = entries_.find(id); at != entries_.end()) {
            at->second.in_use = nullptr;
            at->second.idle = std::move(what);
            at->second.idle_since = now;
        }
        machine_.check_in(id, broken, now, why);
        if (machine_.has_effects()) {
            pending_work work = settle();
            lock.unlock();
            std::move(work).run(*this);
        } else {
            queue_events();
        }
    }
    if (start_trimming) [[unlikely]]
        tasks_.start(trim(weak_from_this(), world_));
    if (with_events_)
        deliver();
}

/// Turns effects into pending work. The mutex is held, and is not when the work is done.
pool::pending_work pool::settle()
{
    pending_work work;
    for (core::pool_effect& effect : machine_.take_effects())
        perform(effect, work);
    queue_events();
    return work;
}

void pool::perform(core::pool_effect& effect, pending_work& work)
{
    if (const auto* open_it = std::get_if<core::open_connection>(&effect)) {
        entries_.try_emplace(open_it->id);
        work.to_open.push_back(*open_it);
    } else if (const auto* close_it = std::get_if<core::close_connection>(&effect)) {
        if (auto gone = entries_.extract(close_it->id)) {
            work.to_stop.push_back(std::move(gone.mapped().opening));
            work.to_close.push_back(std::move(gone.mapped().idle));
        }
    } else if (const auto* stop_it = std::get_if<core::interrupt_connection>(&effect)) {
        const auto at = entries_.find(stop_it->id);
        if (at != entries_.end() && at->second.in_use != nullptr)
            at->second.in_use->interrupt();
    } else if (const auto* give_it = std::get_if<core::hand_out>(&effect)) {
        if (auto who = waiters_.extract(give_it->to)) {
            who.mapped()->answer = give_it->connection;
            entry& given = entries_.at(give_it->connection);
            given.in_use = given.idle.get();  // it may be interrupted before it is taken
            work.to_wake.push_back(std::move(who.mapped()));
        }
    } else if (auto* refuse_it = std::get_if<core::refuse>(&effect)) {
        if (auto who = waiters_.extract(refuse_it->who)) {
            error none{runtime::errc::cancelled, "cancelled while waiting for a connection"};
            who.mapped()->answer = refuse_it->cause ? *std::move(refuse_it->cause)
                                                    : std::move(none);
            work.to_wake.push_back(std::move(who.mapped()));
        }
    } else if (const auto* wake_it = std::get_if<core::wake_up>(&effect)) {
        work.wake_at = wake_it->at;
    }
}

void pool::queue_events()
{
    if (with_events_)
        queue(machine_.take_events());
}

pooled_ptr pool::take(connection_id id)
{
    entry& found = entries_.at(id);
    found.in_use = found.idle.get();
    found.in_use->replaced = replaced_.has_value();
    return std::move(found.idle);
}

runtime::awaitable<void> pool::open_one(std::shared_ptr<pool> self, core::open_connection which)
{
    auto made = co_await self->open(which.generation);
    if (made)
        self->opened(which.id, which.generation, *std::move(made));
    else
        self->failed(which.id, which.generation, made.error());
    self->deliver();
}

void pool::opened(connection_id id, std::uint32_t generation, opened_connection made)
{
    change([&] {
        made.connection->pool_id = id;
        made.connection->generation = made.partition ? machine_.generation(made.partition)
                                                     : generation;
        if (const auto at = entries_.find(id); at != entries_.end()) {
            at->second.opening = {};
            at->second.idle = std::move(made.connection);
        }
        machine_.opened(id, made.partition, world_.steady_now());
    });
}

void pool::failed(connection_id id, std::uint32_t generation, const error& why)
{
    std::vector<core::pool_event> later_events;
    pending_work work;
    {
        const std::scoped_lock lock{mutex_};
        machine_.fail_opening(id, why, world_.steady_now());
        if (with_events_)
            later_events = machine_.take_events();
        work = settle();
    }
    // The protocol reacts before the waiting caller chooses again, and before listeners know.
    if (why.code() != runtime::errc::cancelled)
        open_failed(why, generation);
    change([&] {
        if (with_events_)
            queue(later_events);
        machine_.go_on(world_.steady_now());
    });
    std::move(work).run(*this);
}

runtime::awaitable<void> pool::wake_up(std::weak_ptr<pool> which, runtime::world& in, time_point at)
{
    const runtime::wait_end end = co_await runtime::sleep_until(in, at);
    const auto self = which.lock();
    if (end == runtime::wait_end::cancelled || !self)
        co_return;
    self->change([&] { self->machine_.woke(in.steady_now()); });
    self->deliver();
}

runtime::awaitable<void> pool::upkeep(std::weak_ptr<pool> which, runtime::world& in, duration every)
{
    for (;;) {
        const time_point next = in.steady_now() + every;
        const runtime::wait_end end = co_await runtime::sleep_until(in, next);
        const auto self = which.lock();
        if (end == runtime::wait_end::cancelled || !self)
            co_return;
        self->change([&] { self->machine_.maintain(in.steady_now()); });
        self->deliver();
    }
}

}  // namespace holdfast::shell
