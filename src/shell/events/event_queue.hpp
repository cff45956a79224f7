#pragma once
#include <atomic>
#include <concepts>
#include <mutex>
#include <utility>
#include <vector>

namespace holdfast::shell {

/// Events on their way to the application. push() may be called under any lock of the owner, and
/// fixes the order; drain() is called where no lock is held, and delivers in that order, one event
/// at a time: while one thread drains, drain() of the others returns at once and leaves the new
/// events to it. That holds for a listener, too, that calls back into the client.
template <class Event>
class event_queue {
public:
    void push(Event what)
    {
        const std::scoped_lock lock{mutex_};
        if (closed_)
            return;
        queue_.push_back(std::move(what));
        pending_.store(true, std::memory_order_relaxed);
    }

    /// `deliver` must not throw.
    template <std::invocable<const Event&> Deliver>
    void drain(const Deliver& deliver)
    {
        if (!pending_.load(std::memory_order_relaxed))
            return;
        std::vector<Event> batch;
        while (take(batch)) {
            for (const Event& one : batch) {
                if (!closed_.load(std::memory_order_acquire))
                    deliver(one);
            }
            batch.clear();
            const std::scoped_lock lock{mutex_};
            draining_ = false;
        }
    }

    /// Nothing is delivered from now on, but an event that a drainer has already begun with.
    void close()
    {
        const std::scoped_lock lock{mutex_};
        closed_.store(true, std::memory_order_release);
        queue_.clear();
    }

private:
    /// False if there is nothing to deliver, or if another call is delivering.
    bool take(std::vector<Event>& batch)
    {
        const std::scoped_lock lock{mutex_};
        if (draining_)
            return false;
        if (queue_.empty()) {
            pending_.store(false, std::memory_order_relaxed);
            return false;
        }
        batch.swap(queue_);
        draining_ = true;
        return true;
    }

    std::mutex mutex_;
    std::vector<Event> queue_;
    std::atomic<bool> pending_{false};  // false: nothing is queued, which drain() sees without lock
    std::atomic<bool> closed_{false};
    bool draining_ = false;
};

}  // namespace holdfast::shell
