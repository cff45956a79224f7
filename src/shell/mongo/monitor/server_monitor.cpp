#include "shell/mongo/monitor/server_monitor.hpp"

#include "core/mongo/error/server_error.hpp"
#include "core/mongo/handshake/hello.hpp"
#include "core/mongo/sdam/reply.hpp"
#include "core/mongo/wire/message_builder.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::shell::mongo {

using core::mongo::monitoring_mode;
using core::mongo::server_description;

struct server_monitor::check_result {
    std::optional<bson::document> reply = {};
    std::optional<error> failure = {};
    bool awaited = false;
};

namespace {

/// The server has replied, with an error, as opposed to not at all.
bool is_answer(const error& why)
{
    return why.code().category() == core::mongo::category() ||
           why.code().category() == core::mongo::server_category();
}

}  // namespace

std::shared_ptr<server_monitor> server_monitor::make(runtime::world& in, monitor_options options,
                                                     std::shared_ptr<event_hub> events,
                                                     std::weak_ptr<monitor_listener> to)
{
    return std::shared_ptr<server_monitor>{
        new server_monitor{in, std::move(options), std::move(events), std::move(to)}};
}

server_monitor::server_monitor(runtime::world& in, monitor_options options,
                               std::shared_ptr<event_hub> events,
                               std::weak_ptr<monitor_listener> to)
    : world_{in},
      options_{std::move(options)},
      events_{std::move(events)},
      to_{std::move(to)},
      tasks_{in},
      requested_{in}
{
}

void server_monitor::start()
{
    tasks_.start(run(shared_from_this()));
}

void server_monitor::request_check(bool last_known_unknown)
{
    {
        // A server that streams does not reply until something changes, and the errors of
        // operations are no change to it.
        const std::scoped_lock lock{mutex_};
        if (last_known_unknown && awaiting_ && connection_) {
            cancelled_ = true;
            connection_->cancel();
        }
    }
    requested_.notify();
}

void server_monitor::cancel_check()
{
    const std::scoped_lock lock{mutex_};
    cancelled_ = true;
    if (connection_)
        connection_->cancel();
}

void server_monitor::stop()
{
    {
        const std::scoped_lock lock{mutex_};
        stopped_ = true;
    }
    tasks_.stop();
}

runtime::awaitable<void> server_monitor::ended()
{
    const auto self = shared_from_this();
    co_await self->tasks_.ended();
}

runtime::awaitable<void> server_monitor::run(std::shared_ptr<server_monitor> self)
{
    for (;;) {
        const std::uint64_t seen = self->requested_.count();
        const time_point began = self->world_.steady_now();
        const bool was_known = self->last_ && !core::mongo::is_unknown(self->last_->type);
        bool must_drop = false;  // between two checks
        {
            const std::scoped_lock lock{self->mutex_};
            must_drop = std::exchange(self->cancelled_, false);
        }
        if (must_drop)
            self->drop_connection();
        const check_result found = co_await self->check();
        const time_point ended = self->world_.steady_now();
        bool cancelled = false;
        {
            const std::scoped_lock lock{self->mutex_};
            // What came too late to end the check ends its connection, before the next one.
            cancelled = self->cancelled_ && found.failure;
            if (cancelled)
                self->cancelled_ = false;
            if (self->stopped_)
                break;
        }
        if (cancelled) {
            // The operation that cancelled it has reported the failure of the server already.
            self->forget();
        } else if (!self->report(found)) {
            break;
        }
        const bool lost = found.failure && !is_answer(*found.failure) && was_known;
        // A connection that broke is tried once more before we wait.
        const bool at_once = !cancelled && (lost || self->may_stream());
        // A hello that the server kept until we cancelled it was no work since it was sent.
        const time_point done = cancelled && found.awaited ? began : ended;
        bool go_on = false;
        if (at_once)
            go_on = co_await self->keep_pace(ended);
        else
            go_on = co_await self->wait_for_next_check(seen, done);
        if (!go_on)
            break;
    }
    self->drop_connection();
}

/// Reports what was found to the topology. False if the topology is gone.
bool server_monitor::report(const check_result& found)
{
    const auto listener = to_.lock();
    if (!listener)
        return false;
    if (found.failure) {
        forget();
        const auto kind = is_answer(*found.failure)
                              ? core::mongo::failure_kind::command
                              : core::mongo::kind_of_broken_connection(found.failure->code());
        listener->check_failed(options_.server, *found.failure, kind);
        return true;
    }
    auto described = parse_hello(options_.server, found.reply->view(), round_trips(),
                                 world_.steady_now(), last_.get());
    const bson::element version = found.reply->find("topologyVersion");
    topology_version_.reset();
    if (version.type() == bson::type::document)
        topology_version_.emplace(version.as_document());
    last_ = std::make_shared<server_description>(described);
    listener->checked(std::move(described));
    if (may_stream() && !std::exchange(measuring_, true))
        tasks_.start(measure(shared_from_this()));
    return true;
}

/// The server is not available: what was known of it, and of the way to it, does not count.
void server_monitor::forget()
{
    drop_connection();
    last_.reset();
    const std::scoped_lock lock{mutex_};
    round_trips_.reset();
}

bool server_monitor::may_stream() const
{
    if (options_.mode == monitoring_mode::poll)
        return false;
    if (options_.mode == monitoring_mode::automatic && options_.function_as_a_service)
        return false;
    return topology_version_.has_value();
}

runtime::awaitable<server_monitor::check_result> server_monitor::check()
{
    const bool connected = connection_ != nullptr;
    const bool awaited = connected && may_stream();
    if (!connected)
        ++connections_made_;
    const connection_id mine{connections_made_};
    const auto theirs = connected ? connection_->description().server_connection_id
                                  : std::optional<std::int64_t>{};
    if (!events_->silent()) {
        events_->queue(events::server_heartbeat_started{options_.server, awaited, mine, theirs});
        events_->deliver();
    }
    const time_point began = world_.steady_now();
    check_result found;
    if (connected)
        found = co_await ask(awaited);
    else
        found = co_await first_check();
    found.awaited = awaited;
    if (events_->silent())
        co_return found;
    const duration took = world_.steady_now() - began;
    if (found.failure)
        events_->queue(
            heartbeat_failure{options_.server, awaited, took, *found.failure, mine, theirs});
    else
        events_->queue(heartbeat_reply{options_.server, awaited, took, *found.reply, mine,
                                       connection_->description().server_connection_id});
    co_return found;
}

std::optional<time_point> server_monitor::connecting_since() const
{
    const std::scoped_lock lock{mutex_};
    return connecting_since_;
}

void server_monitor::note_connecting(std::optional<time_point> since)
{
    const std::scoped_lock lock{mutex_};
    connecting_since_ = since;
}

/// Connecting is a check by itself: the first hello has all fields.
runtime::awaitable<server_monitor::check_result> server_monitor::first_check()
{
    check_result found;
    note_connecting(world_.steady_now());
    auto opened = co_await handshake(world_, *options_.config, options_.server, runtime::never);
    note_connecting(std::nullopt);
    if (opened) {
        record(opened->took);
        found.reply = std::move(opened->reply);
        use(std::move(opened->connection));
    } else {
        found.failure = std::move(opened).error();
    }
    co_return found;
}

/// One hello on the connection that is there; or, while the server streams, its next reply.
runtime::awaitable<server_monitor::check_result> server_monitor::ask(bool awaited)
{
    check_result found;
    connection& to = *connection_;
    const auto limit = options_.config->connect_timeout;
    if (limit.count() == 0)
        to.expires_at(runtime::never);
    else
        to.expires_at(world_.steady_now() + limit +
                      (awaited ? options_.heartbeat_frequency : duration::zero()));
    {
        const std::scoped_lock lock{mutex_};
        awaiting_ = awaited;
    }
    const time_point sent = world_.steady_now();
    std::optional<result<core::mongo::message>> reply;
    if (std::exchange(more_to_come_, false)) {
        auto next = co_await to.next_reply("hello", skips_to_newest_);
        reply.emplace(std::move(next));
    } else {
        auto next = co_await say_hello(to, awaited);
        reply.emplace(std::move(next));
    }
    {
        const std::scoped_lock lock{mutex_};
        awaiting_ = false;
    }
    if (!*reply) {
        found.failure = std::move(*reply).error();
        co_return found;
    }
    if (!core::mongo::is_ok((*reply)->body)) {
        found.failure = core::mongo::make_server_error((*reply)->body);
        co_return found;
    }
    if (!awaited)
        record(world_.steady_now() - sent);
    more_to_come_ = (*reply)->flags.more_to_come;
    found.reply.emplace((*reply)->body);
    co_return found;
}

/// A hello after the first one, and its reply. `awaited`: streamed, once something has changed.
runtime::awaitable<result<core::mongo::message>> server_monitor::say_hello(connection& to,
                                                                           bool awaited)
{
    core::mongo::monitor_hello hello;
    hello.api = declared(options_.config->server_api);
    hello.command = to.description().hello_ok ? core::mongo::hello_command::hello
                                              : core::mongo::hello_command::legacy;
    core::mongo::message_flags flags;
    if (awaited) {
        hello.topology_version = topology_version_->view();
        hello.max_await_time = std::chrono::duration_cast<std::chrono::milliseconds>(
            options_.heartbeat_frequency);
        flags.exhaust_allowed = true;
    }
    const request_id id = to.next_request();
    core::mongo::message_builder out{to.outgoing(), id, flags};
    core::mongo::write_hello(out.command(), hello);
    const auto request = out.finish();
    if (!request)
        co_return request.error();
    co_return co_await to.round_trip(*request, id, "hello");
}

/// Before a check that follows at once. False if there will be none.
runtime::awaitable<bool> server_monitor::keep_pace(time_point now)
{
    const duration rest = pace_.next(now);
    skips_to_newest_ = rest > duration::zero();
    if (!skips_to_newest_)
        co_return true;
    const runtime::wait_end end = co_await runtime::sleep_until(world_, now + rest);
    co_return end != runtime::wait_end::cancelled;
}

/// False if there will be no next check.
runtime::awaitable<bool> server_monitor::wait_for_next_check(std::uint64_t seen,
                                                             time_point last_ended)
{
    const time_point next = world_.steady_now() + options_.heartbeat_frequency;
    const runtime::wait_end end = co_await requested_.wait(seen, next);
    if (end == runtime::wait_end::cancelled)
        co_return false;
    const time_point earliest = last_ended + options_.min_heartbeat_frequency;
    if (world_.steady_now() >= earliest)
        co_return true;
    const runtime::wait_end rest = co_await runtime::sleep_until(world_, earliest);
    co_return rest != runtime::wait_end::cancelled;
}

/// While the server is streaming, the time of its replies is no round-trip time.
runtime::awaitable<void> server_monitor::measure(std::shared_ptr<server_monitor> self)
{
    runtime::world& in = self->world_;
    connection_ptr to;
    for (;;) {
        const runtime::wait_end end = co_await runtime::sleep_until(
            in, in.steady_now() + self->options_.heartbeat_frequency);
        if (end == runtime::wait_end::cancelled)
            co_return;
        if (!to || !to->usable()) {
            auto opened = co_await handshake(in, *self->options_.config, self->options_.server,
                                             runtime::never);
            if (!opened)
                continue;
            self->record(opened->took);
            to = std::move(opened->connection);
            continue;
        }
        if (self->options_.config->connect_timeout.count() != 0)
            to->expires_at(in.steady_now() + self->options_.config->connect_timeout);
        const time_point sent = in.steady_now();
        const auto reply = co_await self->say_hello(*to, false);
        if (reply)
            self->record(in.steady_now() - sent);
        else
            to.reset();
    }
}

void server_monitor::use(connection_ptr made)
{
    const std::scoped_lock lock{mutex_};
    connection_ = std::move(made);
    if (cancelled_ || stopped_)
        connection_->cancel();
}

void server_monitor::drop_connection()
{
    connection_ptr old;
    {
        const std::scoped_lock lock{mutex_};
        old = std::move(connection_);
    }
    more_to_come_ = false;
    topology_version_.reset();
}

core::mongo::round_trip_times server_monitor::round_trips() const
{
    const std::scoped_lock lock{mutex_};
    return {.average = round_trips_.average(), .minimum = round_trips_.minimum()};
}

}  // namespace holdfast::shell::mongo
