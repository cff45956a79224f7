#include "shell/mongo/topology/topology.hpp"

#include "core/pool/errc.hpp"
#include "shell/mongo/topology/sdam_events.hpp"
#include "shell/planted.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace holdfast::shell::mongo {

using core::mongo::selection_request;
using core::mongo::topology_description;
using core::mongo::transition;

namespace {

bson::object_id random_id(runtime::world& in)
{
    bson::object_id id;
    in.random(id.bytes);
    return id;
}

}  // namespace

std::shared_ptr<topology> topology::make(runtime::world& in, topology_options options,
                                         std::shared_ptr<event_hub> events)
{
    return std::shared_ptr<topology>{new topology{in, std::move(options), std::move(events)}};
}

topology::topology(runtime::world& in, topology_options options, std::shared_ptr<event_hub> events)
    : world_{in},
      options_{std::move(options)},
      events_{std::move(events)},
      id_{random_id(in)},
      changed_{in},
      tasks_{in},
      known_{std::make_shared<topology_description>()}
{
    publish(known_);
}

topology::~topology()
{
    for (const auto& [address, one] : servers_) {
        if (one->monitor)
            one->monitor->stop();
        one->pool->close(true);
    }
}

void topology::open()
{
    change([this] {
        if (options_.start.load_balanced) {  // it has no monitor, so no effect adds it
            for (const endpoint& balancer : options_.start.seeds)
                add_server(balancer);
            if (!events_->silent())
                overdue_watch_ = tasks_.start(watch_overdue(weak_from_this(), world_));
        }
        if (options_.srv)
            srv_polling_ = tasks_.start(poll_srv(weak_from_this(), world_, *options_.srv));
        return std::optional{core::mongo::open_topology(options_.start)};
    });
}

std::shared_ptr<const published_topology> topology::current() const
{
    const std::scoped_lock lock{mutex_};
    return published_;
}

void topology::handle(const core::mongo::application_error& what)
{
    change([&]() -> std::optional<transition> {
        const auto at = servers_.find(what.server);
        if (at == servers_.end())
            return std::nullopt;
        const std::uint32_t generation = at->second->pool->generation(what.service_id);
        return core::mongo::apply_error(known_, what, generation, options_.profile,
                                        world_.steady_now());
    });
}

void topology::handshake_done(const endpoint& by, bson::view hello)
{
    change([&]() -> std::optional<transition> {
        const core::mongo::server_ptr known = known_->find(by);
        if (!known || core::mongo::is_unknown(known->type))
            return std::nullopt;
        const core::mongo::round_trip_times times{known->round_trip_time,
                                                  known->min_round_trip_time};
        auto described = parse_hello(by, hello, times, world_.steady_now(), known.get());
        if (described == *known)
            return std::nullopt;
        return core::mongo::apply_check(known_, std::move(described));
    });
}

bool topology::is_closed() const
{
    const std::scoped_lock lock{mutex_};
    return closed_;
}

void topology::close()
{
    change([this] {
        closed_ = true;
        srv_polling_.stop();
        overdue_watch_.stop();
        return std::optional{core::mongo::close_topology(known_)};
    });
}

runtime::awaitable<void> topology::ended()
{
    const auto self = shared_from_this();
    co_await self->tasks_.ended();
    self->events_->deliver();
}

void topology::checked(core::mongo::server_description found)
{
    change([&]() -> std::optional<transition> {
        if (!servers_.contains(found.address))
            return std::nullopt;
        return core::mongo::apply_check(known_, std::move(found));
    });
    events_->report_overdue(world_.steady_now());
}

void topology::check_failed(const endpoint& server, const error& why,
                            core::mongo::failure_kind kind)
{
    change([&]() -> std::optional<transition> {
        if (!servers_.contains(server))
            return std::nullopt;
        return core::mongo::apply_failed_check(known_, server, why, kind, world_.steady_now());
    });
    events_->report_overdue(world_.steady_now());
}

/// Monitors look whether commands are overdue; behind a load balancer there are none.
runtime::awaitable<void> topology::watch_overdue(std::weak_ptr<topology> which, runtime::world& in)
{
    for (;;) {
        const runtime::wait_end end = co_await runtime::sleep_until(in, in.steady_now() +
                                                                            overdue_after / 3);
        const auto self = which.lock();
        if (end == runtime::wait_end::cancelled || !self)
            co_return;
        self->events_->report_overdue(in.steady_now());
    }
}

core::mongo::server_ptr topology::last_known(const endpoint& server) const
{
    const std::scoped_lock lock{mutex_};
    return known_->find(server);
}

void topology::apply(const transition& next)
{
    if (!events_->silent()) {
        for (const core::mongo::sdam_event& event : next.events)
            events_->queue(event_of_sdam(event, id_));
    }
    known_ = next.after;
    for (const core::mongo::effect& effect : next.effects)
        perform(effect);
    publish(known_);
}

void topology::perform(const core::mongo::effect& what)
{
    namespace sdam = core::mongo;
    if (const auto* start = std::get_if<sdam::start_monitor>(&what))
        return add_server(start->server);
    if (const auto* stop = std::get_if<sdam::stop_monitor>(&what))
        return remove_server(stop->server);
    const auto with = [this](const endpoint& address, auto&& act) {
        if (const auto at = servers_.find(address); at != servers_.end())
            act(*at->second);
    };
    if (const auto* ready = std::get_if<sdam::mark_pool_ready>(&what)) {
        with(ready->server, [](server& s) { s.pool->mark_ready(); });
    } else if (const auto* clear = std::get_if<sdam::clear_pool>(&what)) {
        with(clear->server, [&](server& s) {
            if (planted.clears_pool_later) {
                boost::asio::post(world_.executor(), [pool = s.pool, effect = *clear] {
                    pool->clear(effect.cause, effect.service_id, effect.interrupt_in_use);
                });
                return;
            }
            s.pool->clear(clear->cause, clear->service_id, clear->interrupt_in_use);
        });
    } else if (const auto* check = std::get_if<sdam::request_check>(&what)) {
        with(check->server, [](server& s) {
            if (s.monitor)
                s.monitor->request_check();
        });
    } else if (const auto* warning = std::get_if<sdam::warn>(&what)) {
        events_->queue(queued_warning{.text = warning->text});
    } else if (const auto* cancel = std::get_if<sdam::cancel_check>(&what)) {
        with(cancel->server, [](server& s) {
            if (s.monitor)
                s.monitor->cancel_check();
        });
    } else if (const auto* release = std::get_if<sdam::release_operations>(&what)) {
        if (!options_.rescue_from_deposed_primary)
            return;
        with(release->server, [&](server& s) {
            s.pool->replaced(error{core::pool_errc::replaced,
                                   release->server.value() + " was deposed by a newer primary, " +
                                       release->newer.value()});
        });
    }
}

void topology::add_server(const endpoint& address)
{
    auto added = std::make_shared<server>();
    added->address = address;
    pool_options pool;
    pool.server = address;
    pool.limits = options_.pool;
    pool.reported = options_.pool_events;
    pool.config = options_.config;
    pool.make_blocking = options_.make_blocking;
    server_pool::opening_handlers handlers;
    handlers.failed = [self = weak_from_this()](const core::mongo::application_error& failed) {
        if (const auto alive = self.lock())
            alive->handle(failed);
    };
    handlers.handshake_done = [self = weak_from_this()](const endpoint& by, bson::view hello) {
        if (const auto alive = self.lock())
            alive->handshake_done(by, hello);
    };
    added->pool = server_pool::make(world_, std::move(pool), events_, std::move(handlers));
    if (!options_.start.load_balanced) {
        monitor_options monitor;
        monitor.server = address;
        monitor.config = options_.monitor_config;
        monitor.heartbeat_frequency = options_.selection.heartbeat_frequency;
        monitor.mode = options_.monitoring;
        monitor.function_as_a_service = options_.function_as_a_service;
        const std::weak_ptr<topology> self = weak_from_this();
        added->monitor = server_monitor::make(world_, std::move(monitor), events_, self.lock());
        added->monitor->start();
    }
    servers_.insert_or_assign(address, std::move(added));
}

void topology::remove_server(const endpoint& address)
{
    auto gone = servers_.extract(address);
    if (!gone)
        return;
    if (gone.mapped()->monitor)
        gone.mapped()->monitor->stop();
    gone.mapped()->pool->close(closed_);  // a removed server may finish what it has begun
    tasks_.start(await_shutdown(std::move(gone.mapped())));
}

/// Keeps a server that is no longer part of the topology until nothing of it runs any more.
runtime::awaitable<void> topology::await_shutdown(std::shared_ptr<server> gone)
{
    if (gone->monitor)
        co_await gone->monitor->ended();
    co_await gone->pool->ended();
}

void topology::publish(const core::mongo::topology_ptr& next)
{
    std::vector<std::shared_ptr<server>> servers;
    servers.reserve(next->servers.size());
    for (const core::mongo::server_ptr& s : next->servers) {
        const auto at = servers_.find(s->address);
        servers.push_back(at == servers_.end() ? nullptr : at->second);
    }
    published_ = std::make_shared<published_topology>(published_topology{
        core::mongo::selection_snapshot{next, options_.selection}, std::move(servers)});
}

std::string topology::dump() const
{
    const auto from = current();
    const topology_description& t = *from->snapshot.topology();
    std::string text{name_of(t.type)};
    if (t.set_name)
        text += " " + *t.set_name;
    for (std::size_t at = 0; at < t.servers.size(); ++at) {
        const core::mongo::server_description& s = *t.servers[at];
        text += "\n  " + s.address.value() + " ";
        text += name_of(s.type);
        if (s.failure)
            text += ": " + s.failure->message();
        if (from->servers[at] == nullptr)
            continue;
        const pool_counts pool = from->servers[at]->pool->counts();
        text += "\n    connections: " + std::to_string(pool.total) + " (" +
                std::to_string(pool.idle) + " idle, " + std::to_string(pool.opening) +
                " opening), waiting: " + std::to_string(pool.waiting) + ", generation " +
                std::to_string(pool.generation) + ", operations: " +
                std::to_string(from->servers[at]->operations.load(std::memory_order_relaxed));
    }
    return text;
}

}  // namespace holdfast::shell::mongo
