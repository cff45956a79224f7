#include "world/world_fixture.hpp"

#include "net/blocking/world.hpp"
#include "net/world.hpp"
#include "sim/simulation.hpp"
#include "support/dns_stub.hpp"
#include "world/loopback.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iostream>
#include <random>
#include <thread>
#include <utility>

namespace holdfast::proof {
namespace {

using namespace std::chrono_literals;
using runtime::awaitable;
using runtime::destination;
using runtime::world;
namespace asio = boost::asio;

/// After that a test on real sockets has failed.
constexpr auto timeout = 20s;
/// The executor may notice a little late that its timer has no waiter left.
constexpr auto linger = 3s;

awaitable<void> play_server(const server_script& script, world& in, runtime::listener& door,
                            std::atomic<int>& ended)
{
    co_await script(in, door);
    ++ended;
}

awaitable<void> play_client(const client_script& script, world& in, destination where,
                            std::atomic<int>& ended)
{
    co_await script(in, std::move(where));
    ++ended;
}

void report(const std::exception_ptr& thrown)
{
    if (!thrown)
        return;
    try {
        std::rethrow_exception(thrown);
    } catch (const std::exception& e) {
        ADD_FAILURE() << "an exception came out: " << e.what();
    }
}

/// An asynchronous world with its context.
class sockets {
public:
    sockets() : world{std::make_unique<net::async_world>(context.get_executor(), settings())} {}
    ~sockets()
    {
        // Coroutines that did not end go with the context, and need their world until then.
        if (failed)
            static_cast<void>(world.release());
    }

    net::world_settings settings() const
    {
        net::world_settings with;
        with.dns.servers.push_back(names.address());
        return with;
    }
    runtime::listener_ptr open_door() { return world->listen({"127.0.0.1", 0}).value(); }
    void start(awaitable<void> what) { asio::co_spawn(context, std::move(what), report); }

    /// Runs until the executor has nothing left to wait for, which is soon after the last coroutine
    /// has ended.
    void run(const std::atomic<int>& ended, int expected)
    {
        context.restart();
        const auto limit = std::chrono::steady_clock::now() + timeout;
        while (ended < expected && context.run_one_until(limit) > 0) {}
        context.run_for(linger);
        failed = !context.stopped();
        EXPECT_FALSE(failed) << "something is still pending: "
                             << (ended < expected ? "a coroutine" : "though all have ended");
    }

    dns_stub names;  // knows no name at all, so that no test needs a network
    asio::io_context context;
    std::unique_ptr<net::async_world> world;
    bool failed = false;
};

class net_parties : public parties {
public:
    world_kind kind() const override { return world_kind::net; }
    world& client_world() override { return *here_.world; }
    world& server_world() override { return *here_.world; }
    std::string server_address() override { return "127.0.0.1"; }
    std::string client_address() override { return "127.0.0.1"; }
    std::string server_name() override { return "localhost"; }

    void run(server_script server, client_script client) override
    {
        std::atomic<int> ended = 0;
        const auto door = here_.open_door();
        here_.start(play_server(server, *here_.world, *door, ended));
        here_.start(play_client(client, *here_.world, {"127.0.0.1", door->port()}, ended));
        here_.run(ended, 2);
        EXPECT_EQ(ended, 2) << "of the two parties";
    }
    destination silent_server() override { return {"127.0.0.1", silence_.port()}; }

private:
    sockets here_;
    full_backlog silence_;
};

class blocking_parties : public parties {
public:
    world_kind kind() const override { return world_kind::blocking; }
    world& client_world() override { return client_; }
    world& server_world() override { return *there_.world; }
    std::string server_address() override { return "127.0.0.1"; }
    std::string client_address() override { return "127.0.0.1"; }
    std::string server_name() override { return "localhost"; }

    void run(server_script server, client_script client) override
    {
        std::atomic<int> ended = 0;
        std::atomic<int> client_ended = 0;
        const auto door = there_.open_door();
        there_.start(play_server(server, *there_.world, *door, ended));
        std::thread background{[&] { there_.run(ended, 1); }};
        try {
            client_.run(play_client(client, client_, {"127.0.0.1", door->port()}, client_ended));
        } catch (...) {
            report(std::current_exception());
        }
        background.join();
        EXPECT_EQ(ended + client_ended, 2) << "of the two parties";
    }
    destination silent_server() override { return {"127.0.0.1", silence_.port()}; }

private:
    sockets there_;
    net::blocking_world client_{there_.settings()};
    full_backlog silence_;
};

class sim_parties : public parties {
public:
    world_kind kind() const override { return world_kind::sim; }
    world& client_world() override { return client_.world(); }
    world& server_world() override { return server_.world(); }
    std::string server_address() override { return server_.address(); }
    std::string client_address() override { return client_.address(); }
    std::string server_name() override { return server_.name(); }

    void run(server_script server, client_script client) override
    {
        std::atomic<int> ended = 0;
        auto door = server_world().listen({server_.address(), 0}).value();
        server_.start(play_server(server, server_world(), *door, ended));
        client_.start(
            play_client(client, client_world(), {server_.address(), door->port()}, ended));
        try {
            simulation_.run();
        } catch (...) {
            report(std::current_exception());
        }
        EXPECT_EQ(ended, 2) << "of the two parties";
        door.reset();
        simulation_.run();
        EXPECT_EQ(simulation_.left().streams, 0U);
        EXPECT_EQ(simulation_.left().listeners, 0U);
        EXPECT_EQ(simulation_.left().alarms, 0U);
        EXPECT_EQ(simulation_.left().tasks, 0U);
    }
    destination silent_server() override
    {
        sim::host& dead = simulation_.add_host("dead");
        simulation_.partition(client_, dead);
        return {dead.address(), 27017};
    }
    void reset_connections() override { simulation_.reset_connections(client_, server_); }

private:
    sim::simulation simulation_{20260101};
    sim::host& server_ = simulation_.add_host("server");
    sim::host& client_ = simulation_.add_host("client");
};

}  // namespace

const char* name_of(world_kind kind)
{
    switch (kind) {
    case world_kind::net:
        return "net";
    case world_kind::blocking:
        return "blocking";
    case world_kind::sim:
        return "sim";
    }
    return "";
}

std::ostream& operator<<(std::ostream& out, world_kind kind)
{
    return out << name_of(kind);
}

std::unique_ptr<parties> make_parties(world_kind kind)
{
    switch (kind) {
    case world_kind::net:
        return std::make_unique<net_parties>();
    case world_kind::blocking:
        return std::make_unique<blocking_parties>();
    case world_kind::sim:
        return std::make_unique<sim_parties>();
    }
    return nullptr;
}

void contract::differs(const std::string& text)
{
    std::cout << "[ DIFFERS  ] " << GetParam() << ": " << text << std::endl;
    RecordProperty("differs", text);
}

void contract::run_client(client_script client)
{
    run([](world&, runtime::listener&) -> awaitable<void> { co_return; }, std::move(client));
}

void contract::run_connected(stream_script server, stream_script client)
{
    run(
        [&server](world& in, runtime::listener& door) -> awaitable<void> {
            auto came = co_await door.accept();
            REQUIRE(came.has_value());
            auto rest = server(in, *std::move(came));
            co_await std::move(rest);
        },
        [&client](world& in, destination where) -> awaitable<void> {
            auto made = co_await in.connect(where, in.steady_now() + long_enough);
            REQUIRE(made.has_value());
            auto rest = client(in, *std::move(made));
            co_await std::move(rest);
        });
}

std::span<const std::uint8_t> bytes_of(std::string_view text)
{
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

awaitable<text_read> read_text(runtime::stream& from, std::size_t length)
{
    text_read all;
    std::vector<std::uint8_t> buffer(65536);
    while (all.text.size() < length && !all.why) {
        const std::size_t wanted = std::min(buffer.size(), length - all.text.size());
        const auto got = co_await from.read_some(std::span{buffer.data(), wanted});
        EXPECT_TRUE(got.why ? got.bytes == 0 : got.bytes > 0 && got.bytes <= wanted)
            << got.why.message() << ' ' << got.bytes;
        all.text.append(reinterpret_cast<const char*>(buffer.data()), got.bytes);
        all.why = got.why;
    }
    co_return all;
}

awaitable<text_read> read_to_the_end(runtime::stream& from)
{
    return read_text(from, std::string::npos);
}

awaitable<void> echo(runtime::stream& with)
{
    std::vector<std::uint8_t> buffer(4096);
    for (;;) {
        const auto got = co_await with.read_some(buffer);
        if (got.why)
            break;
        const error_code why = co_await write_all(with, std::span{buffer.data(), got.bytes});
        if (why)
            break;
    }
}

namespace {

awaitable<void> counted(std::function<awaitable<void>()>& what, std::size_t& running,
                        runtime::event& ended)
{
    co_await what();
    --running;
    ended.notify();
}

}  // namespace

awaitable<void> all_of(world& in, std::vector<std::function<awaitable<void>()>>& what)
{
    runtime::event ended{in};
    std::size_t running = what.size();
    for (auto& one : what)
        asio::co_spawn(in.executor(), counted(one, running, ended), report);
    for (;;) {
        const auto seen = ended.count();
        if (running == 0)
            break;
        co_await ended.wait(seen);
    }
}

std::string pattern(std::size_t length, unsigned seed)
{
    std::minstd_rand random{seed + 1};
    std::string text(length, '\0');
    for (char& c : text)
        c = static_cast<char>(random() >> 8);
    return text;
}

}  // namespace holdfast::proof
