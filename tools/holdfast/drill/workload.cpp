#include "tools/holdfast/drill/workload.hpp"

#include "net/world.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <deque>
#include <future>
#include <thread>
#include <utility>

namespace holdfast::drill {

using namespace std::chrono_literals;
using runtime::awaitable;

namespace {

/// A future needs a value that can be default-constructed.
template <class T>
awaitable<void> keep(awaitable<result<T>> what, std::optional<result<T>>& into)
{
    auto outcome = co_await std::move(what);
    into.emplace(std::move(outcome));
}

awaitable<void> close(client_ptr which)
{
    co_await which->close();
}

}  // namespace

struct workload::parts {
    explicit parts(std::unique_ptr<connector> by) : clients{std::move(by)} {}
    parts(const parts&) = delete;
    parts& operator=(const parts&) = delete;
    ~parts()
    {
        progress.stop = true;
        for (const worker& one : workers)
            close_quietly(one.client());
        if (reader)
            close_quietly(reader);
        reader.reset();
        // Their operations have ended with their clients.
        for (int n = 0; n < 200 && progress.working > 0; ++n)
            std::this_thread::sleep_for(10ms);
        busy.reset();
        loop.stop();
        thread.join();
        workers.clear();
    }

    void close_quietly(const client_ptr& which)
    {
        auto closed = boost::asio::co_spawn(loop, close(which), boost::asio::use_future);
        (void)closed.wait_for(5s);
    }

    /// Runs it on the thread of the clients, and waits for it.
    template <class T>
    result<T> run(awaitable<result<T>> what)
    {
        std::optional<result<T>> outcome;
        boost::asio::co_spawn(loop, keep(std::move(what), outcome), boost::asio::use_future).get();
        return *std::move(outcome);
    }

    std::unique_ptr<connector> clients;
    boost::asio::io_context loop{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> busy{
        loop.get_executor()};
    net::async_world world{loop.get_executor()};
    storm_progress progress;
    client_ptr reader;
    std::deque<worker> workers;
    std::thread thread{[this] { loop.run(); }};
};

workload::workload(std::unique_ptr<parts> made) noexcept : parts_{std::move(made)} {}
workload::~workload() = default;

result<std::unique_ptr<workload>> workload::open(std::unique_ptr<connector> by,
                                                 const workload_options& options)
{
    auto made = std::make_unique<parts>(std::move(by));
    auto reader = made->clients->connect_reader(made->world);
    if (!reader)
        return std::move(reader).error();
    made->reader = *std::move(reader);
    for (std::size_t n = 0; n < options.clients; ++n) {
        auto client = made->clients->connect(made->world);
        if (!client)
            return std::move(client).error();
        work_options work;
        work.client = n;
        work.seed = options.seed;
        work.mix = options.mix;
        work.bound = options.bound;
        work.pause = options.pause;
        work.repeats_by_itself = options.repeats_by_itself;
        made->workers.emplace_back(made->world, *std::move(client), work, made->progress);
    }
    return std::unique_ptr<workload>{new workload{std::move(made)}};
}

result<void> workload::prepare()
{
    return parts_->run(parts_->reader->prepare());
}

void workload::begin()
{
    parts_->progress.working = parts_->workers.size();
    for (worker& one : parts_->workers)
        boost::asio::co_spawn(parts_->loop, one.run(), boost::asio::use_future);
}

bool workload::finish(std::chrono::milliseconds time_limit)
{
    parts_->progress.stop = true;
    const auto limit = std::chrono::steady_clock::now() + time_limit;
    while (parts_->progress.working > 0 && std::chrono::steady_clock::now() < limit)
        std::this_thread::sleep_for(10ms);
    return parts_->progress.working == 0;
}

std::vector<operation> workload::history() const
{
    std::promise<std::vector<operation>> all;
    boost::asio::post(parts_->loop, [&] {
        std::vector<operation> kept;
        for (const worker& one : parts_->workers)
            kept.insert(kept.end(), one.history().begin(), one.history().end());
        all.set_value(std::move(kept));
    });
    return all.get_future().get();
}

result<found_state> workload::read_back(std::chrono::milliseconds time_limit)
{
    const time_point until = parts_->world.steady_now() + time_limit;
    return parts_->run(parts_->reader->read_all(until));
}

void workload::clean_up()
{
    (void)parts_->run(parts_->reader->remove_all()).has_value();
}

storm_progress& workload::progress() noexcept
{
    return parts_->progress;
}

std::uint64_t workload::retries() const noexcept
{
    return parts_->clients->counts().retries + parts_->progress.repeats;
}

std::uint64_t workload::refusals() const noexcept
{
    return parts_->clients->counts().refusals;
}

std::string workload::leader() const
{
    return parts_->clients->leader();
}

}  // namespace holdfast::drill
