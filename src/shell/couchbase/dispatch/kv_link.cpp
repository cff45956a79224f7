#include "shell/couchbase/dispatch/kv_link.hpp"

#include "core/retry/backoff.hpp"
#include "holdfast/couchbase/errc.hpp"

#include <chrono>
#include <utility>

namespace holdfast::shell::couchbase {

namespace {

using namespace std::chrono_literals;

constexpr duration first_reconnect_wait = 10ms;
constexpr duration longest_reconnect_wait = 1s;
/// A connection that was lost sooner counts as one that could not be opened.
constexpr duration stable_after = 1s;

error retired_error()
{
    return error{holdfast::couchbase::errc::request_canceled,
                 "the connection is not needed any more"};
}

}  // namespace

kv_link::kv_link(runtime::world& in, std::shared_ptr<const connection_config> config,
                 std::uint64_t number, endpoint server, std::string bucket,
                 std::optional<core::circuit_breaker_settings> breaker, link_hooks hooks)
    : world_{in},
      config_{std::move(config)},
      number_{number},
      server_{std::move(server)},
      bucket_{std::move(bucket)},
      hooks_{std::move(hooks)},
      exclusive_{config_->make_blocking && !bucket_.empty()
                     ? exclusive_pool::make(in, config_, server_, bucket_)
                     : nullptr},
      wake_{in},
      since_{in.steady_now()}
{
    if (breaker)
        breaker_.emplace(*breaker);
}

connect_target kv_link::target()
{
    connect_target to;
    to.server = server_;
    to.bucket = bucket_;
    if (hooks_.known_config)
        to.known_config = hooks_.known_config();
    to.on_server_request = [weak = weak_from_this()](const core::couchbase::frame& one) {
        if (const auto link = weak.lock(); link && link->hooks_.notified)
            link->hooks_.notified(link->server_, one);
    };
    to.on_end = [weak = weak_from_this()] {
        if (const auto link = weak.lock())
            link->wake_.notify();
    };
    return to;
}

runtime::awaitable<void> kv_link::run(std::shared_ptr<kv_link> self)
{
    std::uint32_t failures = 0;
    while (!self->retired_) {
        const std::uint64_t seen = self->wake_.count();
        auto outcome = co_await establish(self->world_, self->config_, self->target());
        if (auto* const made = std::get_if<established>(&outcome)) {
            const time_point opened_at = self->world_.steady_now();
            co_await self->keep(std::move(*made));
            const bool was_stable = self->world_.steady_now() - opened_at >= stable_after;
            failures = was_stable ? 0 : failures + 1;
        } else {
            self->failed_to_open(*std::get_if<establish_failure>(&outcome));
            ++failures;
        }
        if (self->retired_ || failures == 0)
            continue;
        const duration wait = core::equal_jitter(first_reconnect_wait, failures - 1,
                                                 longest_reconnect_wait, self->world_.chance());
        const auto end = co_await self->wake_.wait(seen, self->world_.steady_now() + wait);
        if (end == runtime::wait_end::cancelled)
            break;
    }
    if (!self->exclusive_)
        co_return;
    self->exclusive_->close(self->at_once_);
    co_await self->exclusive_->ended();
}

/// Until the connection is lost, or not needed any more.
runtime::awaitable<void> kv_link::keep(established made)
{
    const auto connection = made.connection;
    opened(made);
    while (!connection->has_ended() && !retired_) {
        const std::uint64_t seen = wake_.count();
        if (connection->has_ended() || retired_)
            break;
        const auto end = co_await wake_.wait(seen, runtime::never);
        if (end == runtime::wait_end::cancelled)
            retired_ = at_once_ = true;
    }
    co_await drain(*connection);
    connection->close(retired_error());
    lost(*connection->end_reason());
    co_await connection->ended(runtime::never);
}

/// Until the requests of a link that is not needed any more have ended, or have had their time.
runtime::awaitable<void> kv_link::drain(const kv_connection& connection)
{
    const drain_time limit{world_.steady_now()};
    const auto is_used = [&] {
        return connection.statistics().waiting != 0 ||
               (exclusive_ && !exclusive_->in_use().empty());
    };
    while (retired_ && !at_once_ && is_used() &&
           !limit.is_over(world_.steady_now(), connection.last_activity())) {
        const auto end = co_await runtime::sleep_until(world_,
                                                       world_.steady_now() + drain_time::step);
        if (end == runtime::wait_end::cancelled)
            at_once_ = true;
    }
    if (exclusive_ && retired_)
        exclusive_->close(true);
}

std::vector<late_requests> kv_link::waiting_for(const std::vector<bool>& vbuckets) const
{
    std::vector<std::shared_ptr<kv_connection>> all;
    if (exclusive_)
        all = exclusive_->in_use();
    if (auto shared = current())
        all.push_back(std::move(shared));
    std::vector<late_requests> found;
    for (auto& one : all) {
        late_requests late{std::move(one), vbuckets};
        if (!late.empty())
            found.push_back(std::move(late));
    }
    return found;
}

void kv_link::retire(bool at_once)
{
    if (at_once)
        at_once_ = true;
    retired_ = true;
    std::shared_ptr<kv_connection> open;
    {
        const std::scoped_lock lock{mutex_};
        stage_ = stage::retired;
        open = connection_;
    }
    wake_.notify();
    if (open && at_once)
        open->close(retired_error());
    if (exclusive_)
        exclusive_->close(at_once);
}

void kv_link::opened(established& made)
{
    if (exclusive_)
        exclusive_->mark_ready();
    {
        const std::scoped_lock lock{mutex_};
        connection_ = made.connection;
        if (stage_ != stage::retired)
            stage_ = stage::connected;
        since_ = world_.steady_now();
    }
    if (hooks_.opened)
        hooks_.opened(server_, made);
}

void kv_link::failed_to_open(const establish_failure& why)
{
    {
        const std::scoped_lock lock{mutex_};
        if (stage_ != stage::retired)
            stage_ = stage::reconnecting;
        last_failure_ = why.why;
        failed_at_ = world_.steady_now();
    }
    if (hooks_.failed)
        hooks_.failed(server_, why);
}

void kv_link::lost(const error& why)
{
    {
        const std::scoped_lock lock{mutex_};
        if (!connection_)
            return;
        connection_.reset();
        if (stage_ != stage::retired)
            stage_ = stage::reconnecting;
        since_ = failed_at_ = world_.steady_now();
        last_failure_ = why;
    }
    if (exclusive_)
        exclusive_->clear(why, std::nullopt, false);
    if (hooks_.lost)
        hooks_.lost(server_, why);
}

kv_link::snapshot kv_link::look() const
{
    const std::scoped_lock lock{mutex_};
    return {server_, stage_, since_, last_failure_, failed_at_, connection_};
}

bool kv_link::allows(time_point now) const
{
    const std::scoped_lock lock{mutex_};
    return !breaker_ || breaker_->allows(now);
}

void kv_link::sent(time_point now)
{
    const std::scoped_lock lock{mutex_};
    if (breaker_)
        breaker_->sent(now);
}

void kv_link::succeeded(time_point now, time_point sent_at)
{
    const std::scoped_lock lock{mutex_};
    if (breaker_)
        breaker_->succeeded(now, sent_at);
}

void kv_link::failed(time_point now, time_point sent_at)
{
    const std::scoped_lock lock{mutex_};
    if (breaker_)
        breaker_->failed(now, sent_at);
}

}  // namespace holdfast::shell::couchbase
