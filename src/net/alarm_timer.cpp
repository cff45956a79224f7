#include "net/alarm_timer.hpp"

#include <chrono>
#include <utility>

namespace holdfast::net {
namespace {

/// How long the timer outlives the last alarm. Operations that set and clear one alarm after the
/// other touch it twice in this time, not twice each.
constexpr duration linger = std::chrono::milliseconds{5};

}  // namespace

alarm_timer::alarm_timer(const runtime::executor& on, std::shared_ptr<context_registry> at)
    : context_bound{std::move(at)}, timer_{on}
{
    register_self();
}

alarm_timer::~alarm_timer()
{
    unregister();
}

void alarm_timer::set(runtime::alarm& which, time_point when)
{
    const std::scoped_lock lock{mutex_};
    if (alarms_.set(which, when) && when < waits_until_)
        wait_until(when);
    else if (when == runtime::never)
        end_if_unused();
}

void alarm_timer::clear(runtime::alarm& which) noexcept
{
    const std::scoped_lock lock{mutex_};
    alarms_.clear(which);
    end_if_unused();
}

void alarm_timer::end_if_unused()
{
    if (!alarms_.empty() || lingers_ || waits_until_ == runtime::never)
        return;
    const time_point end = std::chrono::steady_clock::now() + linger;
    if (end < waits_until_)
        wait_until(end);
    lingers_ = true;
}

void alarm_timer::stop() noexcept
{
    const std::scoped_lock lock{mutex_};
    timer_.reset();
}

void alarm_timer::context_gone() noexcept
{
    stop();
}

void alarm_timer::wait_until(time_point when)
{
    if (!timer_)
        return;
    waits_until_ = when;
    lingers_ = false;
    timer_->expires_at(waits_until_);  // ends the wait before, if there is one
    timer_->async_wait([self = shared_from_this(), wait = ++waits_](const error_code& why) {
        if (!why)
            self->gone_off(wait);
    });
}

void alarm_timer::gone_off(std::uint64_t wait) noexcept
{
    const std::scoped_lock lock{mutex_};
    if (!timer_)
        return;
    alarms_.ring_until(std::chrono::steady_clock::now());
    if (wait != waits_)
        return;  // the timer was set again while this was on its way
    waits_until_ = runtime::never;
    lingers_ = false;
    if (!alarms_.empty())
        wait_until(alarms_.next());
}

}  // namespace holdfast::net
