#include "runtime/run_queue.hpp"

namespace holdfast::runtime {

run_queue::~run_queue()
{
    stop();
}

bool run_queue::run_one()
{
    auto next = pop();
    if (!next)
        return false;
    next.release()->run();
    return true;
}

std::size_t run_queue::run_ready()
{
    std::size_t count = 0;
    while (run_one())
        ++count;
    return count;
}

bool run_queue::wait_until(time_point when)
{
    std::unique_lock lock{mutex_};
    const auto something = [this] { return first_ != nullptr; };
    waiting_ = true;
    if (when == never)
        arrived_.wait(lock, something);
    else
        arrived_.wait_until(lock, when, something);
    waiting_ = false;
    return first_ != nullptr;
}

bool run_queue::empty() const
{
    const std::scoped_lock lock{mutex_};
    return first_ == nullptr;
}

void run_queue::stop()
{
    {
        const std::scoped_lock lock{mutex_};
        stopped_ = true;
    }
    shutdown();  // the services drop what waits, which may put more into the queue
    while (pop()) {}
}

void run_queue::push(std::unique_ptr<task> what) noexcept
{
    std::unique_lock lock{mutex_};
    if (stopped_) {
        lock.unlock();
        return;  // it goes, with whatever it holds
    }
    task* const added = what.release();
    (first_ == nullptr ? first_ : last_->next) = added;
    last_ = added;
    if (waiting_)
        arrived_.notify_one();
}

std::unique_ptr<run_queue::task> run_queue::pop() noexcept
{
    const std::scoped_lock lock{mutex_};
    task* const oldest = first_;
    if (oldest != nullptr)
        first_ = oldest->next;
    return std::unique_ptr<task>{oldest};
}

}  // namespace holdfast::runtime
