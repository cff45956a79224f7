#include "runtime/run_queue.hpp"
#include "world/dns_party.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>

#include <atomic>
#include <thread>

/// What only the asynchronous driver promises: to be cancelled, shared and torn down at any time.
namespace holdfast::dns_async_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using proof::code_of;
using proof::text_of;
using runtime::awaitable;
using runtime::errc;
using manner = proof::dns_stub::manner;
using texts = std::vector<std::string>;

struct dns_async : ::testing::Test, proof::dns_party {
    dns_async() : proof::dns_party{proof::dns_driver::asynchronous} {}

    awaitable<void> look_up(std::string name, std::string& came, duration limit = 10s)
    {
        runtime::world& in = world();
        const auto got = co_await in.resolve(std::move(name), in.steady_now() + limit);
        came = code_of(got);
    }
};

TEST_F(dns_async, cancelled_lookup_ends_at_once_and_leaves_nothing)
{
    stub.add_address("first.example.com", "127.0.0.1");
    ASSERT_TRUE(addresses("first.example.com"));  // what is opened once has been
    stub.behave(manner::holds);
    const auto files = proof::open_files();
    for (int progress = 0; progress < 3; ++progress) {
        asio::cancellation_signal stop;
        std::string came;
        asio::co_spawn(context, look_up("db.example.com", came),
                       asio::bind_cancellation_slot(stop.slot(), asio::detached));
        const std::size_t asked_before = stub.questions();
        for (int i = 0; i < progress; ++i)
            context.poll_one();
        if (progress == 2) {
            context.poll();
            ASSERT_TRUE(stub.wait_for_questions(asked_before + 2));
        }
        asio::post(context, [&stop] { stop.emit(asio::cancellation_type::terminal); });
        context.poll();
        context.restart();
        EXPECT_EQ(came, text_of(errc::cancelled)) << progress;
        EXPECT_EQ(proof::open_files(), files);
    }
}

TEST_F(dns_async, lookup_in_a_cancelled_coroutine_returns_an_error)
{
    asio::cancellation_signal stop;
    std::string came;
    const auto late = [&]() -> awaitable<void> {
        co_await asio::this_coro::throw_if_cancelled(false);
        stop.emit(asio::cancellation_type::terminal);
        co_await look_up("db.example.com", came);
    };
    asio::co_spawn(context, late(), asio::bind_cancellation_slot(stop.slot(), asio::detached));
    context.run();
    EXPECT_EQ(came, text_of(errc::cancelled));
    EXPECT_EQ(stub.questions(), 0u);
}

TEST_F(dns_async, answer_after_the_deadline_is_ignored)
{
    settings.dns.timeout = 30s;
    stub.add_address("db.example.com", "127.0.0.1");
    stub.behave(manner::holds);
    std::string came;
    asio::co_spawn(context, look_up("db.example.com", came, 20ms), asio::detached);
    while (came.empty())
        context.run_one();
    EXPECT_EQ(came, text_of(errc::connect_timed_out));
    stub.behave(manner::answers);
    EXPECT_EQ(addresses("db.example.com").value(), texts{"127.0.0.1"});
}

TEST_F(dns_async, many_concurrent_lookups_all_complete)
{
    constexpr int count = 300;
    for (int i = 0; i < count; i += 2)
        stub.add_address("db" + std::to_string(i) + ".example.com", "127.0.0.1");
    std::vector<std::string> came(count);
    int left = count;
    const auto one = [&](int i) -> awaitable<void> {
        co_await look_up("db" + std::to_string(i) + ".example.com",
                         came[static_cast<std::size_t>(i)]);
        --left;
    };
    for (int i = 0; i < count; ++i)
        asio::co_spawn(context, one(i), asio::detached);
    while (left != 0)
        context.run_one();
    for (int i = 0; i < count; ++i)
        EXPECT_EQ(came[static_cast<std::size_t>(i)],
                  i % 2 == 0 ? "no error" : text_of(errc::name_not_found));
}

/// Ends in every way there is, on four threads.
TEST_F(dns_async, lookups_from_several_threads_all_complete)
{
    constexpr int count = 240;
    settings.dns.timeout = 200ms;
    world();
    for (int i = 0; i < count; ++i)
        stub.add_address("db" + std::to_string(i) + ".example.com", "127.0.0.1");
    std::vector<std::string> came(count);
    std::atomic<int> left = count;
    const auto one = [&](int i) -> awaitable<void> {
        // Every third has no time for it.
        const duration limit = i % 3 == 0 ? duration{1ms} : duration{10s};
        co_await look_up("db" + std::to_string(i) + ".example.com",
                         came[static_cast<std::size_t>(i)], limit);
        --left;
    };
    for (int i = 0; i < count; ++i)
        asio::co_spawn(context, one(i), asio::detached);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([this] { context.run(); });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(left, 0);
    for (int i = 0; i < count; ++i) {
        const std::string& got = came[static_cast<std::size_t>(i)];
        EXPECT_TRUE(got == "no error" || (i % 3 == 0 && got == text_of(errc::connect_timed_out)))
            << i << ": " << got;
    }
}

/// The coroutines are dropped where they wait, and take all with them.
TEST(dns_teardown, io_context_may_be_destroyed_first)
{
    proof::dns_stub stub;
    stub.behave(manner::is_silent);
    net::world_settings settings;
    settings.dns.servers = {stub.address()};
    const auto files = proof::open_files();
    {
        auto context = std::make_unique<asio::io_context>();
        net::async_world world{context->get_executor(), settings};
        bool ended = false;
        const auto wait = [&]() -> awaitable<void> {
            const auto got = co_await world.resolve_txt("db.example.com", runtime::never);
            ended = true;
        };
        asio::co_spawn(*context, wait(), asio::detached);
        asio::co_spawn(*context, wait(), asio::detached);
        context->poll();
        ASSERT_TRUE(stub.wait_for_questions(2));
        context.reset();
        EXPECT_FALSE(ended);
    }
    EXPECT_EQ(proof::open_files(), files);
}

/// A coroutine that waits elsewhere must not wait for ever.
TEST(dns_teardown, waiter_on_another_context_gets_an_error)
{
    proof::dns_stub stub;
    stub.behave(manner::is_silent);
    net::world_settings settings;
    settings.dns.servers = {stub.address()};
    auto context = std::make_unique<asio::io_context>();
    net::async_world world{context->get_executor(), settings};
    runtime::run_queue elsewhere;
    std::string came;
    const auto wait = [&]() -> awaitable<void> {
        const auto got = co_await world.resolve_txt("db.example.com", runtime::never);
        came = code_of(got);
    };
    asio::co_spawn(elsewhere.get_executor(), wait(), asio::detached);
    elsewhere.run_ready();
    ASSERT_TRUE(stub.wait_for_questions(1));
    EXPECT_EQ(came, "");
    context.reset();
    elsewhere.run_ready();
    EXPECT_EQ(came, text_of(errc::cancelled));
}

TEST(dns_teardown, world_may_be_destroyed_after_lookups)
{
    proof::dns_stub stub;
    stub.add_txt("db.example.com", {"here"});
    net::world_settings settings;
    settings.dns.servers = {stub.address()};
    asio::io_context context;
    auto world = std::make_unique<net::async_world>(context.get_executor(), settings);
    std::size_t count = 0;
    const auto ask = [&]() -> awaitable<void> {
        const auto got = co_await world->resolve_txt("db.example.com", runtime::never);
        count = got.value().size();
    };
    asio::co_spawn(context, ask(), asio::detached);
    while (count == 0)
        context.run_one();
    world.reset();
    context.run();
    EXPECT_EQ(count, 1u);
}

}  // namespace
}  // namespace holdfast::dns_async_test
