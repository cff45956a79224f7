#pragma once
#include "net/context_registry.hpp"
#include "runtime/alarm_heap.hpp"

#include <boost/asio/steady_timer.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

namespace holdfast::net {

/// All alarms of a world behind one timer. The timer is touched only when an alarm is earlier than
/// what it waits for; when it goes off too early, because that alarm was cleared, it is just set
/// for the next one. So a deadline that is set and cleared around each operation costs no system
/// call.
///
/// A timer that waits keeps io_context::run() from returning. So a clock without alarms waits for a
/// few milliseconds only: the next operation may set one, or nothing is left to run.
class alarm_timer final : public runtime::alarm_clock,
                          public std::enable_shared_from_this<alarm_timer>,
                          private context_bound {
public:
    alarm_timer(const runtime::executor& on, std::shared_ptr<context_registry> at);
    ~alarm_timer();

    void set(runtime::alarm& which, time_point when) override;
    void clear(runtime::alarm& which) noexcept override;

    /// No alarm rings any more.
    void stop() noexcept;

private:
    void context_gone() noexcept override;
    void wait_until(time_point when);
    void end_if_unused();
    void gone_off(std::uint64_t wait) noexcept;

    std::mutex mutex_;
    runtime::alarm_heap alarms_;
    std::optional<asio::steady_timer> timer_;
    time_point waits_until_ = runtime::never;
    std::uint64_t waits_ = 0;  // how often the timer was set: identifies the last wait
    bool lingers_ = false;  // no alarm was left since the timer was set
};

}  // namespace holdfast::net
