#include "runtime/background.hpp"
#include "world/loopback.hpp"
#include "world/net_party.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <string>

// An application may destroy its executor first, with everything still pending on it.

namespace holdfast::net_lifetime_test {
namespace {

using namespace std::chrono_literals;
using proof::as_bytes;
using proof::read_once;
using runtime::awaitable;
using runtime::destination;
using runtime::listener;
using runtime::stream;
using runtime::stream_ptr;
namespace asio = boost::asio;
namespace errc = boost::system::errc;

/// Counts those who are waiting, and those who went without an answer.
struct census {
    int waiting = 0;
    int dropped = 0;

    struct person {
        census& in;
        bool answered = false;
        explicit person(census& c) : in{c} { ++in.waiting; }
        person(const person&) = delete;
        person& operator=(const person&) = delete;
        ~person()
        {
            --in.waiting;
            in.dropped += !answered;
        }
    };
};

awaitable<void> wait_to_read(stream& from, census& all)
{
    census::person me{all};
    const auto got = co_await read_once(from);
    me.answered = true;
    ADD_FAILURE() << "an answer: " << got.why.message();
}

awaitable<void> own_and_read(stream_ptr from, census& all)
{
    from->expires_at(std::chrono::steady_clock::now() + 1h);
    co_await wait_to_read(*from, all);
}

awaitable<void> wait_to_write(stream& to, census& all)
{
    census::person me{all};
    const std::string text(100'000, 'x');
    error_code why;
    while (!why)
        why = to.write_now(as_bytes(text)).why;
    EXPECT_EQ(why, errc::operation_would_block);
    why = co_await to.writable();
    me.answered = true;
}

awaitable<void> wait_to_accept(listener& at, census& all)
{
    census::person me{all};
    const auto came = co_await at.accept();
    me.answered = true;
}

awaitable<void> wait_to_connect(runtime::world& in, destination where, census& all)
{
    census::person me{all};
    const auto made = co_await in.connect(where, in.steady_now() + 1h);
    me.answered = true;
}

awaitable<void> wait_for_an_event(runtime::world& in, census& all)
{
    census::person me{all};
    runtime::event news{in};
    const auto seen = news.count();
    co_await news.wait(seen, in.steady_now() + 1h);
    me.answered = true;
}

awaitable<void> sleep_long(runtime::world& in, census& all)
{
    census::person me{all};
    co_await runtime::sleep_until(in, in.steady_now() + 1h);
    me.answered = true;
}

/// What is left when the executor has gone.
struct leftovers {
    stream_ptr client;
    stream_ptr server;
    runtime::listener_ptr door;
};

awaitable<void> begin_all(runtime::world& in, destination silent, census& all, leftovers& left)
{
    auto kept = co_await proof::connected(in);
    auto owned = co_await proof::connected(in);
    left.client = std::move(kept.client);
    left.server = std::move(kept.server);
    left.door = in.listen({"127.0.0.1", 0}).value();
    const runtime::executor here = in.executor();
    const proof::no_exception done;
    asio::co_spawn(here, wait_to_read(*left.client, all), done);
    asio::co_spawn(here, wait_to_write(*left.client, all), done);
    asio::co_spawn(here, own_and_read(std::move(owned.client), all), done);
    asio::co_spawn(here, own_and_read(std::move(owned.server), all), done);
    asio::co_spawn(here, wait_to_accept(*left.door, all), done);
    asio::co_spawn(here, wait_to_connect(in, silent, all), done);
    asio::co_spawn(here, wait_for_an_event(in, all), done);
    asio::co_spawn(here, sleep_long(in, all), done);
}

void expect_harmless(runtime::world& in, leftovers& left)
{
    EXPECT_FALSE(in.executor());
    EXPECT_EQ(left.client->write_now(as_bytes("x")).why, errc::operation_canceled);
    left.client->expires_at(in.steady_now() + 1s);
    left.client->cancel();
    left.door->cancel();
    EXPECT_FALSE(left.client->peer().empty());
    EXPECT_NE(left.door->port(), 0);
    left.client.reset();
}

TEST(net_lifetime, io_context_may_be_destroyed_before_the_world)
{
    const proof::full_backlog silent;
    const std::size_t files = proof::open_descriptors();
    census all;
    {
        std::optional<asio::io_context> context{std::in_place};
        net::async_world world{context->get_executor()};
        leftovers left;
        const destination none_found{"127.0.0.1", silent.port()};
        asio::co_spawn(*context, begin_all(world, none_found, all, left), proof::no_exception{});
        while (all.waiting < 8)
            context->run_one_for(proof::net_timeout);
        context->poll();
        context.reset();
        EXPECT_EQ(all.waiting, 0) << "coroutines that were not destroyed";
        EXPECT_EQ(all.dropped, 8);
        expect_harmless(world, left);
    }
    EXPECT_EQ(proof::open_descriptors(), files);
}

TEST(net_lifetime, strand_executor_may_be_destroyed_with_its_context)
{
    const proof::full_backlog silent;
    census all;
    std::optional<asio::io_context> context{std::in_place};
    std::optional<net::async_world> world{std::in_place, asio::make_strand(*context)};
    leftovers left;
    const destination none_found{"127.0.0.1", silent.port()};
    asio::co_spawn(world->executor(), begin_all(*world, none_found, all, left),
                   proof::no_exception{});
    while (all.waiting < 8)
        context->run_one_for(proof::net_timeout);
    context->poll();
    context.reset();
    EXPECT_EQ(all.dropped, 8);
    expect_harmless(*world, left);
}

TEST(net_lifetime, thread_pool_executor_is_supported)
{
    std::optional<asio::thread_pool> pool{2U};
    net::async_world world{pool->get_executor()};
    std::atomic<bool> answered = false;
    const auto test = [&]() -> awaitable<void> {
        const auto both = co_await proof::connected(world);
        both.server->write_now(as_bytes("hello"));
        both.client->expires_at(world.steady_now() + 10s);
        const auto got = co_await read_once(*both.client);
        answered = got.text == "hello";
    };
    asio::co_spawn(*pool, test(), proof::no_exception{});
    pool->join();
    EXPECT_TRUE(answered);
    pool.reset();
}

/// As a client does whose coroutines own what they work on.
TEST(net_lifetime, world_owned_by_a_coroutine_is_destroyed_with_the_executor)
{
    census all;
    {
        asio::io_context context;
        auto world = std::make_shared<net::async_world>(context.get_executor());
        const auto owner = [](std::shared_ptr<net::async_world> owned,
                              census& everybody) -> awaitable<void> {
            const auto both = co_await proof::connected(*owned);
            both.client->expires_at(owned->steady_now() + 1h);
            co_await wait_to_read(*both.client, everybody);
        };
        asio::co_spawn(context, owner(std::move(world), all), proof::no_exception{});
        while (all.waiting < 1)
            context.run_one_for(proof::net_timeout);
    }
    EXPECT_EQ(all.dropped, 1);
}

/// A context destroys its handlers in its own order: that of the world may go before that of a
/// stream, which then still has an alarm to clear.
TEST(net_lifetime, stream_and_event_own_the_clock_of_their_world)
{
    asio::io_context context;
    auto world = std::make_shared<net::async_world>(context.get_executor());
    const std::weak_ptr<runtime::alarm_clock> clock = world->shared_alarms();
    stream_ptr kept;
    const auto test = [&]() -> awaitable<void> {
        auto both = co_await proof::connected(*world);
        both.client->expires_at(world->steady_now() + 1h);
        kept = std::move(both.client);
    };
    asio::co_spawn(context, test(), proof::no_exception{});
    for (int i = 0; i < 1'000 && !kept; ++i)
        context.run_one_for(proof::net_timeout);
    ASSERT_TRUE(kept);
    auto news = std::make_unique<runtime::event>(*world);
    world.reset();
    context.restart();
    context.poll();  // the handler of the timer, which owned the clock as well
    EXPECT_FALSE(clock.expired());
    kept.reset();
    EXPECT_FALSE(clock.expired());
    news.reset();
    EXPECT_TRUE(clock.expired());
}

TEST(net_lifetime, background_task_owns_its_shared_world)
{
    std::optional<asio::io_context> context{std::in_place};
    auto world = std::make_shared<net::async_world>(context->get_executor());
    const std::weak_ptr<runtime::world> seen = world;
    auto tasks = std::make_unique<runtime::background>(*world);
    const auto wait = [](runtime::world& in) -> awaitable<void> {
        co_await runtime::sleep_until(in, in.steady_now() + 1h);
    };
    tasks->start(wait(*world));
    context->poll();
    ASSERT_EQ(tasks->running(), 1u);
    world.reset();
    tasks.reset();  // stops the task, which has not ended yet
    EXPECT_FALSE(seen.expired());
    context.reset();
    EXPECT_TRUE(seen.expired());
}

/// Starts another task when it goes, as a pool does that gets a connection back.
struct starts_another {
    runtime::background& tasks;
    std::shared_ptr<int> kept;

    ~starts_another() { tasks.start(hold(kept)); }
    static awaitable<void> hold(std::shared_ptr<int> what)
    {
        co_await asio::post(asio::use_awaitable);
        EXPECT_TRUE(what == nullptr) << "it ran";
    }
};

TEST(net_lifetime, background_task_started_while_the_context_goes_is_dropped)
{
    std::optional<asio::io_context> context{std::in_place};
    const auto world = std::make_shared<net::async_world>(context->get_executor());
    runtime::background tasks{*world};
    const auto kept = std::make_shared<int>(1);
    const auto own = [](std::unique_ptr<starts_another> what) -> awaitable<void> {
        co_await asio::post(asio::use_awaitable);
        EXPECT_TRUE(what == nullptr) << "it ran";
    };
    // Its first step is in the queue of its strand when that is destroyed with the context.
    tasks.start(own(std::make_unique<starts_another>(tasks, kept)));
    context.reset();
    EXPECT_EQ(tasks.running(), 0u);
    EXPECT_EQ(kept.use_count(), 1);
}

TEST(net_lifetime, two_worlds_on_one_executor_are_independent)
{
    asio::io_context context;
    net::async_world first{context.get_executor()};
    bool answered = false;
    {
        net::async_world second{context.get_executor()};
        const auto test = [&]() -> awaitable<void> {
            const auto both = co_await proof::connected(second);
            EXPECT_TRUE(both.client != nullptr);
        };
        asio::co_spawn(context, test(), proof::no_exception{});
        context.run_for(proof::net_timeout);
    }
    const auto test = [&]() -> awaitable<void> {
        const auto both = co_await proof::connected(first);
        both.server->write_now(as_bytes("hello"));
        const auto got = co_await read_once(*both.client);
        answered = got.text == "hello";
    };
    asio::co_spawn(context, test(), proof::no_exception{});
    context.restart();
    context.run_for(proof::net_timeout);
    EXPECT_TRUE(answered);
}

}  // namespace
}  // namespace holdfast::net_lifetime_test
