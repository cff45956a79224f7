#pragma once
#include "runtime/alarm_heap.hpp"
#include "runtime/run_queue.hpp"
#include "runtime/world.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace holdfast::proof {

/// The smallest world there is: time that passes when nothing else is left to do, and no peer to
/// talk to. For tests of what only waits; what talks is tested in the simulator.
class virtual_world final : public runtime::world, private runtime::alarm_clock {
public:
    ~virtual_world() override { queue.stop(); }

    runtime::executor executor() override { return queue.get_executor(); }
    time_point steady_now() const noexcept override { return now_; }
    runtime::wall_time wall_now() const noexcept override { return runtime::wall_time{}; }
    void random(std::span<std::uint8_t> into) override
    {
        for (std::uint8_t& byte : into) {
            numbers_ = numbers_ * 6364136223846793005U + 1442695040888963407U;
            byte = static_cast<std::uint8_t>(numbers_ >> 56);
        }
    }
    runtime::alarm_clock& alarms() noexcept override { return *this; }

    runtime::awaitable<result<runtime::stream_ptr>> connect(runtime::destination,
                                                            time_point) override
    {
        co_return nothing_there();
    }
    result<runtime::listener_ptr> listen(runtime::destination) override { return nothing_there(); }
    runtime::awaitable<result<std::vector<std::string>>> resolve(std::string, time_point) override
    {
        co_return nothing_there();
    }
    runtime::awaitable<result<std::vector<runtime::srv_record>>> resolve_srv(std::string,
                                                                             time_point) override
    {
        co_return nothing_there();
    }
    runtime::awaitable<result<std::vector<std::string>>> resolve_txt(std::string,
                                                                     time_point) override
    {
        co_return nothing_there();
    }
    result<runtime::tls_ptr> tls(const runtime::tls_options&) override { return nothing_there(); }

    /// Runs one function or, if there is none, rings the next alarm; false if there is neither.
    bool step() { return queue.run_one() || ring_next(runtime::never); }

    /// Runs until nothing can happen any more.
    void run()
    {
        do
            queue.run_ready();
        while (ring_next(runtime::never));
    }

    /// Runs all that happens up to then, and it is then.
    void run_until(time_point when)
    {
        do
            queue.run_ready();
        while (ring_next(when));
        now_ = when;
    }
    void run_for(duration length) { run_until(now_ + length); }

    std::size_t alarms_set() const
    {
        const std::scoped_lock lock{mutex_};
        return heap_.size();
    }

    runtime::run_queue queue;

private:
    static error nothing_there() { return {runtime::errc::not_available, "no peer is here"}; }

    void set(runtime::alarm& which, time_point when) override
    {
        const std::scoped_lock lock{mutex_};
        heap_.set(which, when);
    }
    void clear(runtime::alarm& which) noexcept override
    {
        const std::scoped_lock lock{mutex_};
        heap_.clear(which);
    }
    bool ring_next(time_point limit)
    {
        const std::scoped_lock lock{mutex_};
        if (heap_.empty() || heap_.next() > limit)
            return false;
        if (now_ < heap_.next())
            now_ = heap_.next();
        heap_.ring_first();
        return true;
    }

    mutable std::mutex mutex_;
    runtime::alarm_heap heap_;
    time_point now_{std::chrono::seconds{1000}};
    std::uint64_t numbers_ = 1;
};

}  // namespace holdfast::proof
