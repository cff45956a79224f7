#pragma once
#include "net/blocking/handler_slot.hpp"
#include "net/blocking/job.hpp"
#include "runtime/alarm_heap.hpp"
#include "runtime/run_queue.hpp"

#include <exception>
#include <mutex>

namespace holdfast::net {

/// Runs coroutines on the thread that asks for it, and lets that thread sleep while there is
/// nothing to do. One coroutine lives as long as the runner and runs all jobs, one after the other:
/// that is a quarter of the cost of spawning each of them.
class blocking_runner final : public runtime::alarm_clock {
public:
    blocking_runner();
    ~blocking_runner();

    runtime::executor executor() { return queue_.get_executor(); }

    /// Until the job is done. What is queued already, or due, comes first.
    void run(blocking_job& what);

    /// Drops all coroutines, also those that wait. Nothing runs afterwards.
    void stop();

    void set(runtime::alarm& which, time_point when) override;
    void clear(runtime::alarm& which) noexcept override;

private:
    struct park;

    runtime::awaitable<void> run_jobs();
    bool run_some();
    void run_until_done();
    void sleep();
    void ring_due();

    std::mutex alarms_mutex_;
    runtime::alarm_heap alarms_;
    bool asleep_ = false;  // so an earlier alarm must wake the thread

    runtime::run_queue queue_;
    handler_slot idle_;  // the coroutine, while it has no job
    blocking_job* job_ = nullptr;
    bool done_ = true;
    std::exception_ptr stray_;  // thrown by a queued function, which has no caller
};

}  // namespace holdfast::net
