#include "shell/mongo/pool/server_pool.hpp"

#include "core/pool/errc.hpp"
#include "runtime/wait.hpp"
#include "shell/mongo/connection/authenticate.hpp"
#include "shell/mongo/connection/establish.hpp"
#include "shell/mongo/pool/pool_events.hpp"
#include "shell/planted.hpp"

#include <chrono>
#include <string_view>

namespace holdfast::shell::mongo {
namespace {

using core::mongo::application_error;
using core::mongo::connection_phase;
using core::mongo::failure_kind;

/// How long a late reply is waited for before its connection is given up.
constexpr std::chrono::milliseconds drain_time{400};

/// How often idle and missing connections are looked for.
constexpr std::chrono::seconds upkeep_interval{10};

/// Each service behind a load balancer has generations of its own.
std::optional<core::pool_partition> partition_of(const std::optional<bson::object_id>& service)
{
    if (!service)
        return std::nullopt;
    return core::pool_partition{service->bytes};
}

/// What a connection that could not be opened means to the topology.
application_error as_application_error(const endpoint& server, std::uint32_t generation,
                                       const error& why)
{
    application_error reported{.server = server, .generation = generation, .cause = why};
    const bool authenticating = why.context("phase") == phase_authentication;
    reported.phase = authenticating ? connection_phase::authenticating
                                    : connection_phase::connecting;
    if (authenticating && why.code().category() == core::mongo::category())
        reported.kind = failure_kind::authentication;
    else
        reported.kind = core::mongo::kind_of_broken_connection(why.code());
    // Behind a load balancer only the service that refused is concerned, once it is known.
    if (const auto service = bson::object_id::parse(why.context("service")))
        reported.service_id = *service;
    return reported;
}

}  // namespace

/// A caller in line.
struct server_pool::waiter {
    explicit waiter(runtime::world& in) : answered{in} {}

    runtime::event answered;
    std::optional<result<connection_id>> answer = {};
};

/// What the shell knows of one of the machine's connections.
struct server_pool::entry {
    connection_ptr idle = {};
    connection* in_use = nullptr;
    runtime::background::task opening = {};
};

/// What has to be done once the mutex is free. It happens when this goes.
struct server_pool::pending_work {
    server_pool& pool;
    std::vector<core::open_connection> to_open = {};
    std::vector<std::shared_ptr<waiter>> to_wake = {};
    std::vector<connection_ptr> to_close = {};
    std::vector<runtime::background::task> to_stop = {};

    explicit pending_work(server_pool& of) : pool{of} {}
    pending_work(pending_work&&) = default;
    ~pending_work()
    {
        for (runtime::background::task& task : to_stop)
            task.stop();
        for (const core::open_connection& one : to_open) {
            auto task = pool.tasks_.start(open(pool.shared_from_this(), one.id, one.generation));
            const std::scoped_lock lock{pool.mutex_};
            if (const auto at = pool.entries_.find(one.id); at != pool.entries_.end())
                at->second.opening = std::move(task);
        }
        for (const auto& one : to_wake)
            one->answered.notify();
    }
};

std::shared_ptr<server_pool> server_pool::make(runtime::world& in, pool_options options,
                                               std::shared_ptr<event_hub> events,
                                               opening_handlers heard)
{
    std::shared_ptr<server_pool> made{
        new server_pool{in, std::move(options), std::move(events), std::move(heard)}};
    const std::scoped_lock lock{made->mutex_};
    made->queue_events();
    return made;
}

server_pool::server_pool(runtime::world& in, pool_options options,
                         std::shared_ptr<event_hub> events, opening_handlers heard)
    : world_{in},
      options_{std::move(options)},
      events_{std::move(events)},
      heard_{std::move(heard)},
      tasks_{in},
      machine_{options_.limits, !events_->silent()}
{
}

std::optional<lease> server_pool::try_check_out(time_point now)
{
    std::optional<lease> got;
    {
        const std::scoped_lock lock{mutex_};
        const auto id = machine_.check_out_now(now);
        if (!id)
            return std::nullopt;
        got.emplace(shared_from_this(), take(*id));
        queue_events();
    }
    events_->deliver();
    return got;
}

runtime::awaitable<result<lease>> server_pool::check_out(time_point until)
{
    const auto self = shared_from_this();
    const auto mine = std::make_shared<waiter>(world_);
    core::checkout_id who;
    {
        std::unique_lock lock{mutex_};
        who = core::checkout_id{++last_checkout_};
        waiters_.emplace(who, mine);
        machine_.check_out(who, world_.steady_now());
        const pending_work work = settle();
        lock.unlock();
    }
    events_->deliver();
    runtime::wait_end end = runtime::wait_end::notified;
    for (;;) {
        const std::uint64_t seen = mine->answered.count();
        {
            std::unique_lock lock{mutex_};
            if (mine->answer)
                break;
            if (end != runtime::wait_end::notified) {
                const bool late = end == runtime::wait_end::timed_out;
                machine_.cancel(who,
                                late ? core::checkout_failure::timeout
                                     : core::checkout_failure::connection_error,
                                world_.steady_now());
                const pending_work work = settle();
                lock.unlock();
                continue;
            }
        }
        end = co_await mine->answered.wait(seen, until);
    }
    events_->deliver();
    const std::scoped_lock lock{mutex_};
    if (!*mine->answer)
        co_return std::move(*mine->answer).error();
    co_return lease{self, take(**mine->answer)};
}

runtime::awaitable<result<void>> server_pool::log_in_again(connection& which) const
{
    auto known = co_await authenticate(world_, *options_.config, which, std::nullopt);
    if (known)
        which.logged_in();
    co_return known;
}

void server_pool::mark_ready()
{
    std::unique_lock lock{mutex_};
    machine_.mark_ready(world_.steady_now());
    const bool needs_upkeep = options_.limits.min_size > 0 ||
                              options_.limits.max_idle != duration::zero();
    const bool start = needs_upkeep && !std::exchange(upkeep_started_, needs_upkeep);
    const pending_work work = settle();
    lock.unlock();
    if (start)
        tasks_.start(upkeep(weak_from_this(), world_));
}

void server_pool::clear(const error& why, std::optional<bson::object_id> service,
                        bool interrupt_in_use)
{
    std::unique_lock lock{mutex_};
    machine_.clear(why, partition_of(service), interrupt_in_use, world_.steady_now());
    const pending_work work = settle();
    lock.unlock();
}

void server_pool::close(bool interrupt)
{
    {
        std::unique_lock lock{mutex_};
        machine_.close(world_.steady_now());
        for (auto& [id, one] : entries_) {
            if (interrupt && one.in_use != nullptr)
                one.in_use->cancel();
        }
        const pending_work work = settle();
        lock.unlock();
    }
    tasks_.stop();
}

std::uint32_t server_pool::generation() const
{
    const std::scoped_lock lock{mutex_};
    return machine_.generation();
}

std::uint32_t server_pool::generation(const std::optional<bson::object_id>& service) const
{
    const std::scoped_lock lock{mutex_};
    return machine_.generation(partition_of(service));
}

pool_counts server_pool::counts() const
{
    const std::scoped_lock lock{mutex_};
    return {.total = machine_.total(),
            .idle = machine_.idle(),
            .opening = machine_.opening(),
            .waiting = machine_.waiting(),
            .generation = machine_.generation()};
}

runtime::awaitable<void> server_pool::ended()
{
    const auto self = shared_from_this();
    co_await self->tasks_.ended();
}

void server_pool::give_back(connection_ptr what, time_point now) noexcept
{
    if (planted.reuses_dirty_connections)
        return check_in(std::move(what), false, now);
    if (what->owes_reply() && !options_.make_blocking && would_keep(what->pool_id)) {
        const request_id owed = what->take_owed();  // or it would be drained again and again
        lease back{shared_from_this(), std::move(what)};
        tasks_.start(drain(std::move(back), owed, now + drain_time));
        return;
    }
    const bool broken = !what->usable();
    check_in(std::move(what), broken, now);
}

bool server_pool::would_keep(connection_id id) const
{
    const std::scoped_lock lock{mutex_};
    return machine_.would_keep(id);
}

void server_pool::check_in(connection_ptr what, bool broken, time_point now)
{
    {
        std::unique_lock lock{mutex_};
        const connection_id id = what->pool_id;
        const std::optional<error> why = broken ? what->failure() : std::nullopt;
        if (const auto at = entries_.find(id); at != entries_.end()) {
            at->second.in_use = nullptr;
            at->second.idle = std::move(what);
        }
        machine_.check_in(id, broken, now, why ? &*why : nullptr);
        if (machine_.has_effects()) {
            const pending_work work = settle();
            lock.unlock();
        } else {
            queue_events();
        }
    }
    events_->deliver();
}

/// Turns what the machine says into what to do. The mutex is held, and not when it is done.
server_pool::pending_work server_pool::settle()
{
    pending_work work{*this};
    for (core::pool_effect& effect : machine_.take_effects()) {
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
                at->second.in_use->cancel();
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
        }
    }
    queue_events();
    return work;
}

connection_ptr server_pool::take(connection_id id)
{
    entry& found = entries_.at(id);
    found.in_use = found.idle.get();
    return std::move(found.idle);
}

runtime::awaitable<void> server_pool::open(std::shared_ptr<server_pool> self, connection_id id,
                                           std::uint32_t generation)
{
    auto made = co_await establish(self->world_, *self->options_.config, self->options_.server,
                                   runtime::never);
    if (made) {
        connection_ptr opened = std::move(made->connection);
        if (self->options_.make_blocking)
            opened->change_stream(self->options_.make_blocking);
        opened->pool_id = id;
        opened->generation = generation;
        const auto service = opened->description().service_id;
        if (!service && generation == self->generation())
            self->heard_.handshake_done(self->options_.server, made->reply.view());
        std::unique_lock lock{self->mutex_};
        if (service)
            opened->generation = self->machine_.generation(partition_of(service));
        const auto at = self->entries_.find(id);
        if (at != self->entries_.end()) {
            at->second.opening = {};
            at->second.idle = std::move(opened);
        }
        self->machine_.opened(id, partition_of(service), self->world_.steady_now());
        const pending_work work = self->settle();
        lock.unlock();
    } else {
        const error& why = made.error();
        std::optional<pending_work> work;
        std::optional<pending_work> rest;
        std::vector<core::pool_event> later_events;
        {
            const std::scoped_lock lock{self->mutex_};
            self->machine_.fail_opening(id, why, self->world_.steady_now());
            if (!self->events_->silent())
                later_events = self->machine_.take_events();
            work.emplace(self->settle());
        }
        // The topology knows before whoever waited chooses again, and before listeners hear of it.
        if (why.code() != runtime::errc::cancelled) {
            auto reported = as_application_error(self->options_.server, generation, why);
            if (reported.service_id)
                reported.generation = self->generation(reported.service_id);
            self->heard_.failed(std::move(reported));
        }
        const std::scoped_lock lock{self->mutex_};
        self->queue_events(later_events);
        self->machine_.go_on(self->world_.steady_now());
        rest.emplace(self->settle());
    }
    self->events_->deliver();
}

/// However this ends, also if it never begins or is destroyed, the connection goes back.
runtime::awaitable<void> server_pool::drain(lease over, request_id owed, time_point until)
{
    co_await over->drain(owed, until);
}

runtime::awaitable<void> server_pool::upkeep(std::weak_ptr<server_pool> pool, runtime::world& in)
{
    for (;;) {
        const runtime::wait_end end = co_await runtime::sleep_until(in, in.steady_now() +
                                                                            upkeep_interval);
        const auto self = pool.lock();
        if (end == runtime::wait_end::cancelled || !self)
            co_return;
        std::unique_lock lock{self->mutex_};
        self->machine_.maintain(in.steady_now());
        {
            const pending_work work = self->settle();
            lock.unlock();
        }
        self->events_->deliver();
    }
}

}  // namespace holdfast::shell::mongo
