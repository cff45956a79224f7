#include "net/blocking/runner.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>

#include <cassert>
#include <chrono>
#include <utility>

namespace holdfast::net {

namespace asio = boost::asio;

namespace {
constexpr int batch = 64;  // functions between two looks at the alarms, and before a job
}  // namespace

struct blocking_runner::park {
    template <class Handler>
    void operator()(Handler&& handler, blocking_runner* in) const
    {
        in->idle_.put(std::forward<Handler>(handler));
    }
};

blocking_runner::blocking_runner()
{
    asio::co_spawn(queue_.get_executor(), run_jobs(), asio::detached);
    queue_.run_ready();
    assert(idle_.full());
}

blocking_runner::~blocking_runner()
{
    stop();
}

void blocking_runner::stop()
{
    idle_.drop();  // Asio sends it to the queue, to be destroyed from there
    queue_.stop();
}

runtime::awaitable<void> blocking_runner::run_jobs()
{
    const park here;
    for (;;) {
        co_await asio::async_initiate<const asio::deferred_t, void()>(here, asio::deferred, this);
        co_await job_->start();
        done_ = true;
    }
}

void blocking_runner::run(blocking_job& what)
{
    assert(done_ && "a blocking world is run by one thread, and not from inside itself");
    done_ = false;
    ring_due();
    run_some();
    job_ = &what;
    idle_.call();
    if (!done_)
        run_until_done();
    if (stray_)
        std::rethrow_exception(std::exchange(stray_, nullptr));
}

/// False if it came to the end of what is queued.
bool blocking_runner::run_some()
{
    for (int count = 0; count < batch; ++count) {
        try {
            if (!queue_.run_one())
                return false;
        } catch (...) {
            // The job refers to its caller's stack, so it must come to its end all the same.
            if (!stray_)
                stray_ = std::current_exception();
        }
        if (done_)
            return true;
    }
    return true;
}

void blocking_runner::run_until_done()
{
    while (!done_) {
        if (!run_some())
            sleep();
        ring_due();
    }
}

void blocking_runner::sleep()
{
    time_point until;
    {
        const std::scoped_lock lock{alarms_mutex_};
        until = alarms_.next();
        asleep_ = true;
    }
    queue_.wait_until(until);
    const std::scoped_lock lock{alarms_mutex_};
    asleep_ = false;
}

void blocking_runner::ring_due()
{
    const std::scoped_lock lock{alarms_mutex_};
    if (!alarms_.empty())
        alarms_.ring_until(std::chrono::steady_clock::now());
}

void blocking_runner::set(runtime::alarm& which, time_point when)
{
    bool wake = false;
    {
        const std::scoped_lock lock{alarms_mutex_};
        wake = alarms_.set(which, when) && asleep_;
    }
    if (wake)
        queue_.get_executor().execute([] {});
}

void blocking_runner::clear(runtime::alarm& which) noexcept
{
    const std::scoped_lock lock{alarms_mutex_};
    alarms_.clear(which);
}

}  // namespace holdfast::net
