#include "shell/observe/observation.hpp"

#include "runtime/wait.hpp"

#include <utility>

namespace holdfast::shell {

namespace {

/// An observer that hangs must not keep a client from closing.
constexpr duration longest_delivery = std::chrono::seconds{1};

std::shared_ptr<observer_feed> make_feed(runtime::world& in, observation_options& what)
{
    if (what.observers.empty())
        return nullptr;
    return std::make_shared<observer_feed>(in, std::move(what.observers), std::move(what.deliver),
                                           what.queue);
}

}  // namespace

std::shared_ptr<observation> observation::make(runtime::world& in, observation_options what)
{
    const bool reports = what.report && (!what.thresholds.empty() || what.reports_orphans);
    if (what.observers.empty() && !reports)
        return nullptr;
    if (!reports) {
        what.thresholds.clear();
        what.reports_orphans = false;
    }
    return std::make_shared<observation>(in, std::move(what));
}

observation::observation(runtime::world& in, observation_options what)
    : world_{in},
      thresholds_{std::move(what.thresholds)},
      reports_orphans_{what.reports_orphans},
      interval_{what.interval},
      sample_{what.sample},
      report_{std::move(what.report)},
      feed_{make_feed(in, what)},
      slow_{core::request_report{sample_}},
      orphans_{core::request_report{sample_}},
      tasks_{in}
{
}

bool observation::is_slow(std::string_view service, duration total) const noexcept
{
    for (const service_threshold& one : thresholds_) {
        if (one.service == service)
            return total > one.longest;
    }
    return false;
}

/// The first request of a report decides when it is made, so that nothing runs while there is none.
void observation::add(request_report_kind kind,
                      const std::function<void(core::request_report&)>& put)
{
    {
        const std::scoped_lock lock{mutex_};
        if (is_abandoned_)
            return;
        pending_report& to = of(kind);
        put(to.requests);
        if (std::exchange(to.is_scheduled, true))
            return;
    }
    tasks_.start(report_later(shared_from_this(), kind));
}

runtime::awaitable<void> observation::report_later(std::shared_ptr<observation> self,
                                                   request_report_kind kind)
{
    // A cancellation means that the client is closed: what there is, is reported at once.
    co_await runtime::sleep_until(self->world_, self->world_.steady_now() + self->interval_);
    self->report_now(kind);
}

void observation::report_now(request_report_kind kind)
{
    core::request_report made{sample_};
    {
        const std::scoped_lock lock{mutex_};
        pending_report& from = of(kind);
        from.is_scheduled = false;
        if (is_abandoned_ || from.requests.empty())
            return;
        std::swap(made, from.requests);
    }
    report_(kind, made.to_json());
}

void observation::reply_orphaned(observer_records::reply_orphaned what,
                                 std::chrono::milliseconds timeout)
{
    if (reports_orphans_) {
        add(request_report_kind::orphaned, [&](core::request_report& to) {
            to.add(what.service, what.total, [&] {
                core::reported_request made;
                made.total = what.total;
                made.last_dispatch = what.since_dispatch;
                made.last_server = made.total_server = what.server_duration;
                made.operation = what.name;
                made.local_id = what.over->id;
                made.operation_id = what.request;
                made.local_socket = what.over->local;
                made.remote_socket = what.over->server.value();
                made.timeout = timeout;
                made.reason = name_of(what.cause);
                return made;
            });
        });
    }
    if (feed_)
        feed_->push(std::move(what));
}

runtime::awaitable<void> observation::close()
{
    const auto self = shared_from_this();
    tasks_.stop();
    co_await tasks_.ended();
    if (!feed_)
        co_return;
    co_await feed_->delivered(world_.steady_now() + longest_delivery);
    feed_->close();
}

void observation::abandon()
{
    {
        const std::scoped_lock lock{mutex_};
        is_abandoned_ = true;
    }
    if (feed_)
        feed_->close();
    tasks_.stop();
}

}  // namespace holdfast::shell
