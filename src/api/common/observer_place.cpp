#include "api/common/observer_place.hpp"

#include <boost/asio/post.hpp>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace holdfast::api {

namespace {

using job = std::function<void()>;

/// What the thread and its owner share.
struct job_queue {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<job> jobs;
    bool stopped = false;
    bool is_busy = false;  // with a job
};

void run_jobs(const std::shared_ptr<job_queue>& from)
{
    std::unique_lock lock{from->mutex};
    for (;;) {
        from->changed.wait(lock, [&] { return from->stopped || !from->jobs.empty(); });
        if (from->stopped)
            return;
        job next = std::move(from->jobs.front());
        from->jobs.pop_front();
        from->is_busy = true;
        lock.unlock();
        next();
        next = {};
        lock.lock();
        from->is_busy = false;
    }
}

class worker {
public:
    worker() : queue_{std::make_shared<job_queue>()}, thread_{[from = queue_] { run_jobs(from); }}
    {
    }
    worker(const worker&) = delete;
    worker& operator=(const worker&) = delete;
    ~worker()
    {
        bool is_busy = false;
        std::deque<job> dropped;
        {
            const std::scoped_lock lock{queue_->mutex};
            queue_->stopped = true;
            is_busy = queue_->is_busy;
            dropped.swap(queue_->jobs);
        }
        queue_->changed.notify_all();
        // A job may take as long as it likes; and this may be called by one.
        if (is_busy)
            thread_.detach();
        else
            thread_.join();
    }

    void post(job what)
    {
        {
            const std::scoped_lock lock{queue_->mutex};
            queue_->jobs.push_back(std::move(what));
        }
        queue_->changed.notify_one();
    }

private:
    const std::shared_ptr<job_queue> queue_;
    std::thread thread_;
};

}  // namespace

shell::run_later observers_in(std::shared_ptr<runtime::world> world)
{
    return [world = std::move(world)](job what) {
        if (const runtime::executor on = world->executor())
            boost::asio::post(on, std::move(what));
    };
}

shell::run_later observer_thread()
{
    return [owned = std::make_shared<worker>()](job what) { owned->post(std::move(what)); };
}

}  // namespace holdfast::api
