#include "tools/holdfast/drill/workload.hpp"

#include "holdfast/bson/builder.hpp"
#include "net/world.hpp"
#include "tools/holdfast/drill/mongo/read_back.hpp"
#include "tools/holdfast/drill/mongo/watcher.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <atomic>
#include <deque>
#include <future>
#include <optional>
#include <thread>
#include <utility>

namespace holdfast::drill {

using namespace std::chrono_literals;
using runtime::awaitable;

namespace {

constexpr const char* database = "holdfast_drill";

std::string with_option(std::string uri, const std::string& option)
{
    const std::size_t hosts = uri.find("://") + 3;
    if (uri.find('?') != std::string::npos)
        return uri + (uri.ends_with('?') || uri.ends_with('&') ? "" : "&") + option;
    return uri + (uri.find('/', hosts) != std::string::npos ? "?" : "/?") + option;
}

/// Futures want values that can be made of nothing.
template <class T>
awaitable<void> keep(awaitable<result<T>> what, std::optional<result<T>>& into)
{
    auto outcome = co_await std::move(what);
    into.emplace(std::move(outcome));
}

awaitable<void> close(mongo::client which)
{
    co_await which.close();
}

}  // namespace

struct stage::parts {
    explicit parts(stage_options initial) : options{std::move(initial)} {}
    parts(const parts&) = delete;
    parts& operator=(const parts&) = delete;
    ~parts()
    {
        progress.stop = true;
        for (const worker& one : workers)
            close_quietly(one.client());
        if (office)
            close_quietly(*office);
        office.reset();
        // Their operations have ended with their clients.
        for (int n = 0; n < 200 && progress.working > 0; ++n)
            std::this_thread::sleep_for(10ms);
        busy.reset();
        loop.stop();
        thread.join();
        workers.clear();
    }

    void close_quietly(const mongo::client& which)
    {
        auto closed = boost::asio::co_spawn(loop, close(which), boost::asio::use_future);
        (void)closed.wait_for(5s);
    }

    result<mongo::client> connect(const std::string& uri)
    {
        mongo::client_options client;
        watchers.push_back(std::make_shared<watcher>(counts));
        client.listeners.push_back(watchers.back());
        return mongo::client::create(loop.get_executor(), uri, std::move(client));
    }

    /// Runs it on the thread of the clients, and waits for it.
    template <class T>
    result<T> run(awaitable<result<T>> what)
    {
        std::optional<result<T>> outcome;
        boost::asio::co_spawn(loop, keep(std::move(what), outcome), boost::asio::use_future).get();
        return *std::move(outcome);
    }
    mongo::collection documents() const { return (*office)[database][options.collection]; }

    stage_options options;
    boost::asio::io_context loop{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> busy{
        loop.get_executor()};
    net::async_world world{loop.get_executor()};
    met counts;
    storm_progress progress;
    std::vector<std::shared_ptr<watcher>> watchers;
    std::optional<mongo::client> office;  // gives orders, and reads what is there in the end
    std::deque<worker> workers;
    std::thread thread{[this] { loop.run(); }};
};

stage::stage(std::unique_ptr<parts> made) noexcept : parts_{std::move(made)} {}
stage::~stage() = default;

result<std::unique_ptr<stage>> stage::open(stage_options initial)
{
    auto made = std::make_unique<parts>(std::move(initial));
    const stage_options& options = made->options;
    auto office = made->connect(options.uri);
    if (!office)
        return std::move(office).error();
    made->office.emplace(*std::move(office));
    const std::string uri = options.retryable_writes ? options.uri
                                                 : with_option(options.uri, "retryWrites=false");
    for (std::size_t n = 0; n < options.clients; ++n) {
        auto client = made->connect(uri);
        if (!client)
            return std::move(client).error();
        work_options work;
        work.client = n;
        work.seed = options.seed;
        work.database = database;
        work.collection = options.collection;
        work.timeout = options.timeout;
        work.bound = options.timeout + 1s;  // a busy machine is no broken promise
        work.pause = options.pause;
        work.repeats_by_itself = options.repeats_by_itself;
        made->workers.emplace_back(made->world, *std::move(client), std::move(work),
                                   made->progress);
    }
    return std::unique_ptr<stage>{new stage{std::move(made)}};
}

result<void> stage::prepare()
{
    return parts_->run(drill::prepare(parts_->documents()));
}

void stage::begin()
{
    parts_->progress.working = parts_->workers.size();
    for (worker& one : parts_->workers)
        boost::asio::co_spawn(parts_->loop, one.run(), boost::asio::use_future);
}

bool stage::finish(std::chrono::milliseconds time_limit)
{
    parts_->progress.stop = true;
    const auto limit = std::chrono::steady_clock::now() + time_limit;
    while (parts_->progress.working > 0 && std::chrono::steady_clock::now() < limit)
        std::this_thread::sleep_for(10ms);
    return parts_->progress.working == 0;
}

std::vector<operation> stage::history() const
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

result<found_state> stage::read_back(std::chrono::milliseconds time_limit)
{
    const time_point until = parts_->world.steady_now() + time_limit;
    return parts_->run(drill::read_back(parts_->world, parts_->documents(), until));
}

void stage::clean_up()
{
    (void)parts_->run(parts_->documents().drop({}, boost::asio::use_awaitable)).has_value();
}

storm_progress& stage::progress() noexcept
{
    return parts_->progress;
}

std::uint64_t stage::retries() const noexcept
{
    return parts_->counts.retries + parts_->progress.repeats;
}

std::uint64_t stage::refusals() const noexcept
{
    return parts_->counts.refusals;
}

std::string stage::primary() const
{
    return parts_->watchers.front()->primary();
}

result<void> stage::limit_requests(std::int32_t per_second)
{
    const bool on = per_second > 0;
    const std::int32_t rate = on ? per_second : 2147483647;
    // A tenth of a second's worth at once.
    const bson::document command = bson::doc("setParameter", 1, "ingressRequestAdmissionRatePerSec",
                                             rate, "ingressRequestAdmissionBurstCapacitySecs",
                                             on ? 0.1 : 1e9, "ingressRequestRateLimiterEnabled",
                                             on);
    auto done = parts_->run(
        parts_->office->run_command("admin", command, {}, boost::asio::use_awaitable));
    if (!done)
        return std::move(done).error();
    return {};
}

}  // namespace holdfast::drill
