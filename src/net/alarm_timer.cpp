#include "net/alarm_timer.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace holdfast::net {
namespace {

constexpr duration first_look = std::chrono::milliseconds{10};
constexpr duration last_look = std::chrono::seconds{1};

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
    used_ |= when != runtime::never;
    if (!alarms_.set(which, when) || when >= waits_until_)
        return;
    if (waits_until_ == runtime::never)
        look_after_ = first_look;
    wait_until(when);
}

void alarm_timer::clear(runtime::alarm& which) noexcept
{
    const std::scoped_lock lock{mutex_};
    alarms_.clear(which);
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
    waits_until_ = std::min(when, std::chrono::steady_clock::now() + look_after_);
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
    const bool used = std::exchange(used_, false);
    if (alarms_.empty() && !used)
        return;
    if (!alarms_.empty())
        look_after_ = std::min(2 * look_after_, last_look);
    wait_until(alarms_.next());
}

}  // namespace holdfast::net
