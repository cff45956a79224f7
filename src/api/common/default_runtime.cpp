#include "api/common/default_runtime.hpp"

#include "net/blocking/adopt.hpp"
#include "net/blocking/runner.hpp"
#include "net/world.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace holdfast::api {

std::shared_ptr<runtime::world> default_world(runtime::executor on,
                                              std::vector<std::string> name_servers)
{
    net::world_settings settings;
    settings.dns.servers = std::move(name_servers);
    return std::make_shared<net::async_world>(std::move(on), std::move(settings));
}

namespace {

class threaded_runtime final : public blocking_runtime {
public:
    explicit threaded_runtime(std::vector<std::string> name_servers)
        : world_{default_world(loop_.get_executor(), std::move(name_servers))},
          thread_{[this] { loop_.run(); }}
    {
    }
    threaded_runtime(const threaded_runtime&) = delete;
    threaded_runtime& operator=(const threaded_runtime&) = delete;
    ~threaded_runtime() override
    {
        loop_.stop();
        thread_.join();
    }

    const std::shared_ptr<runtime::world>& world() noexcept override { return world_; }

    void run(runtime::awaitable<void> what) override
    {
        auto runner = take();
        net::quiet_job job{std::move(what)};
        runner->run(job);
        give_back(std::move(runner));
    }

private:
    using runner_ptr = std::unique_ptr<net::blocking_runner>;

    runner_ptr take()
    {
        {
            const std::scoped_lock lock{mutex_};
            if (!idle_.empty()) {
                runner_ptr last = std::move(idle_.back());
                idle_.pop_back();
                return last;
            }
        }
        return std::make_unique<net::blocking_runner>();
    }

    void give_back(runner_ptr one)
    {
        const std::scoped_lock lock{mutex_};
        idle_.push_back(std::move(one));
    }

    boost::asio::io_context loop_{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> busy_{
        loop_.get_executor()};
    std::shared_ptr<runtime::world> world_;
    std::mutex mutex_;
    std::vector<runner_ptr> idle_;  // as many as there have been calls at one time
    std::thread thread_;
};

}  // namespace

std::unique_ptr<blocking_runtime> blocking_runtime::start(std::vector<std::string> name_servers)
{
    return std::make_unique<threaded_runtime>(std::move(name_servers));
}

runtime::stream_ptr blocking_runtime::make_blocking(runtime::stream_ptr from)
{
    return net::make_blocking(std::move(from));
}

}  // namespace holdfast::api
