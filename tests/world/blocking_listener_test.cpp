#include "net/blocking/world.hpp"
#include "world/raw_peer.hpp"

#include <boost/asio/error.hpp>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

namespace holdfast::blocking_listener_test {
namespace {

using namespace std::chrono_literals;
using net::blocking_world;
using runtime::awaitable;
using runtime::destination;
namespace asio = boost::asio;

constexpr auto long_enough = 10s;

/// Gives back what it gets from one client, then waits for cancel().
awaitable<error> serve_one(runtime::listener& door)
{
    auto came = co_await door.accept();
    if (!came)
        co_return std::move(came).error();
    runtime::stream& client = **came;
    for (;;) {
        std::uint8_t buffer[64];
        const auto got = co_await client.read_some(buffer);
        if (got.why)
            break;
        const error_code why = co_await write_all(client, std::span{buffer, got.bytes});
        if (why)
            break;
    }
    came->reset();
    auto next = co_await door.accept();
    co_return std::move(next).error();
}

awaitable<std::string> ask(runtime::world& in, destination where, std::string question)
{
    auto made = co_await in.connect(where, in.steady_now() + long_enough);
    if (!made)
        co_return made.error().message();
    runtime::stream& server = **made;
    server.expires_at(in.steady_now() + long_enough);
    const std::span bytes{reinterpret_cast<const std::uint8_t*>(question.data()), question.size()};
    const error_code why = co_await write_all(server, bytes);
    if (why)
        co_return why.message();
    std::uint8_t buffer[64];
    const auto got = co_await server.read_some(buffer);
    co_return std::string{reinterpret_cast<const char*>(buffer), got.bytes};
}

void ask_and_cancel(const destination& at)
{
    blocking_world server;
    blocking_world client;
    auto door = server.listen(at).value();
    std::thread other{[&, serving = door.get()] {
        const destination where{at.host, serving->port()};
        EXPECT_EQ(client.run(ask(client, where, "who is there?")), "who is there?");
        serving->cancel();
    }};
    const error why = server.run(serve_one(*door));
    other.join();
    EXPECT_EQ(why.code(), runtime::errc::cancelled);
    EXPECT_EQ(server.run(serve_one(*door)).code(), runtime::errc::cancelled) << "for good";
}

TEST(blocking_listener, two_worlds_exchange_bytes_over_tcp)
{
    ask_and_cancel({"127.0.0.1", 0});
    ask_and_cancel({"localhost", 0});
}

TEST(blocking_listener, two_worlds_exchange_bytes_over_a_unix_socket)
{
    const auto file = std::to_string(::getpid()) + ".door";
    const std::string path = (std::filesystem::temp_directory_path() / file).string();
    ask_and_cancel({path, 0});
    EXPECT_FALSE(std::filesystem::exists(path)) << "it goes with the listener";
}

TEST(blocking_listener, cancel_from_another_thread_ends_accept)
{
    blocking_world world;
    const auto door = world.listen({"127.0.0.1", 0}).value();
    std::thread other{[&, me = proof::this_thread()] {
        proof::wait_until_asleep(me);
        door->cancel();
    }};
    EXPECT_EQ(world.run(door->accept()).error().code(), runtime::errc::cancelled);
    other.join();
}

TEST(blocking_listener, listen_error_names_address_and_cause)
{
    blocking_world world;
    const proof::raw_door taken;
    const auto second = world.listen({"127.0.0.1", taken.port()});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code(), runtime::errc::listen_failed);
    EXPECT_EQ(second.error().message(),
              "cannot listen at 127.0.0.1:" + std::to_string(taken.port()) +
                  ": address already in use");
    const auto foreign = world.listen({"192.0.2.1", 0});
    ASSERT_FALSE(foreign);
    EXPECT_EQ(foreign.error().code(), runtime::errc::listen_failed);
    EXPECT_FALSE(world.listen({"not.an.address", 0}));
}

TEST(blocking_world, random_bytes_and_chance_differ_per_draw)
{
    blocking_world world;
    std::uint8_t some[16] = {};
    std::uint8_t more[16] = {};
    world.random(some);
    world.random(more);
    EXPECT_NE((std::string{std::begin(some), std::end(some)}),
              (std::string{std::begin(more), std::end(more)}));
    EXPECT_GE(world.chance(), 0.0);
    EXPECT_LT(world.chance(), 1.0);
}

TEST(blocking_world, tls_and_resolve_are_available)
{
    blocking_world world;
    EXPECT_TRUE(world.tls({}));
    const auto found = world.run(world.resolve("127.0.0.1", world.steady_now() + long_enough));
    ASSERT_TRUE(found);
    EXPECT_EQ(*found, std::vector<std::string>{"127.0.0.1"});
}

}  // namespace
}  // namespace holdfast::blocking_listener_test
