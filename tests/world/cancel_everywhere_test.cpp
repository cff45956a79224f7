#include "net/world.hpp"
#include "runtime/errc.hpp"
#include "sim/simulation.hpp"
#include "support/dns_stub.hpp"
#include "world/loopback.hpp"
#include "world/world_fixture.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>

#include <chrono>
#include <iostream>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

// One scenario that does all that can wait, stopped after each of its steps in turn: whatever it
// was waiting for, it ends once, at once, and leaves nothing behind.

namespace holdfast::cancel_everywhere_test {
namespace {

using namespace std::chrono_literals;
using runtime::awaitable;
using runtime::destination;
using runtime::listener;
using runtime::listener_ptr;
using runtime::world;
namespace asio = boost::asio;

enum class who { client, server };
enum class stop_mode {
    quietly,   // the root asks for error codes
    throwing,  // the root has not asked, so that Asio throws at its next co_await
    dropped,   // not cancelled at all: the executor goes, and the coroutines with it
};

struct ending {
    int completions = 0;
    time_point when = {};
};

/// The scenario with all that outlives it.
struct play {
    bool said_all = false;  // the client has come to its end undisturbed
    ending client = {};
    ending server = {};
    asio::cancellation_signal stop_client = {};
    asio::cancellation_signal stop_server = {};
    listener* door = nullptr;

    void start(world& client_world, world& server_world, listener_ptr at, destination where,
               stop_mode manner);
    void stop(who which)
    {
        (which == who::client ? stop_client : stop_server).emit(asio::cancellation_type::terminal);
    }
};

awaitable<void> play_client(world& in, destination where, stop_mode manner, bool& said_all)
{
    if (manner != stop_mode::throwing)
        co_await asio::this_coro::throw_if_cancelled(false);
    const time_point limit = in.steady_now() + 10s;
    const auto unknown = co_await in.resolve("absent.invalid", limit);
    if (unknown || unknown.error().code() != runtime::errc::name_not_found)
        co_return;
    const auto with = co_await in.connect(where, limit);
    if (!with)
        co_return;
    (*with)->expires_at(limit);
    const std::string text(300'000, 'x');  // more than goes in one step
    const error_code sent = co_await write_all(**with, proof::bytes_of(text));
    if (sent)
        co_return;
    const auto reply = co_await proof::read_text(**with, 5);
    if (reply.why)
        co_return;
    const auto slept = co_await runtime::sleep_until(in, in.steady_now() + 1ms);
    if (slept != runtime::wait_end::timed_out)
        co_return;
    runtime::event news{in};
    const auto seen = news.count();
    const auto waited = co_await news.wait(seen, in.steady_now() + 1ms);
    said_all = waited == runtime::wait_end::timed_out;
}

awaitable<void> play_server(listener_ptr door, stop_mode manner)
{
    if (manner != stop_mode::throwing)
        co_await asio::this_coro::throw_if_cancelled(false);
    const auto with = co_await door->accept();
    if (!with)
        co_return;
    const auto text = co_await proof::read_text(**with, 300'000);
    if (text.why)
        co_return;
    const error_code sent = co_await write_all(**with, proof::bytes_of("reply"));
    if (sent)
        co_return;
    const auto end = co_await proof::read_to_the_end(**with);
    EXPECT_TRUE(end.why);
}

/// The only exception that may come out is Asio's own, and only if it was allowed to.
void expect_aborted(const std::exception_ptr& thrown, stop_mode manner)
{
    if (!thrown)
        return;
    EXPECT_EQ(manner, stop_mode::throwing);
    try {
        std::rethrow_exception(thrown);
    } catch (const boost::system::system_error& e) {
        EXPECT_EQ(e.code(), asio::error::operation_aborted) << e.what();
    } catch (const std::exception& e) {
        ADD_FAILURE() << "an exception came out: " << e.what();
    }
}

void play::start(world& client_world, world& server_world, listener_ptr at, destination where,
                 stop_mode manner)
{
    door = at.get();
    asio::co_spawn(
        server_world.executor(), play_server(std::move(at), manner),
        asio::bind_cancellation_slot(
            stop_server.slot(), [this, manner, &server_world](const std::exception_ptr& thrown) {
                expect_aborted(thrown, manner);
                ++server.completions;
                server.when = server_world.steady_now();
                door = nullptr;
                stop(who::client);  // if it still waits for an answer
            }));
    asio::co_spawn(
        client_world.executor(), play_client(client_world, std::move(where), manner, said_all),
        asio::bind_cancellation_slot(
            stop_client.slot(), [this, manner, &client_world](const std::exception_ptr& thrown) {
                expect_aborted(thrown, manner);
                ++client.completions;
                client.when = client_world.steady_now();
                if (door != nullptr)
                    door->cancel();  // no client will come
            }));
}

void expect_ended(const play& of, who stopped, time_point since, duration limit)
{
    EXPECT_EQ(of.client.completions, 1);
    EXPECT_EQ(of.server.completions, 1);
    const ending& which = stopped == who::client ? of.client : of.server;
    if (!of.said_all) {
        EXPECT_LE(which.when - since, limit) << "it did not end at once";
    }
}

/// True if the scenario was over before the stop.
bool stop_on_sockets_after(int steps, who stopped, stop_mode manner, const std::string& name_server)
{
    const std::size_t files = proof::files_and_sockets_open();
    bool over = false;
    {
        play scenario;
        std::optional<asio::io_context> context{std::in_place};
        net::world_settings settings;
        settings.dns.servers.push_back(name_server);
        net::async_world world{context->get_executor(), settings};
        auto door = world.listen({"127.0.0.1", 0}).value();
        const destination where{"127.0.0.1", door->port()};
        scenario.start(world, world, std::move(door), where, manner);
        for (int i = 0; i < steps && !context->stopped(); ++i)
            context->run_one_for(10s);
        over = scenario.client.completions + scenario.server.completions == 2;
        if (manner == stop_mode::dropped) {
            scenario.door = nullptr;
            context.reset();  // before the world, whose clock the coroutines still need
        } else {
            const time_point now = world.steady_now();
            scenario.stop(stopped);
            context->run_for(3s);
            EXPECT_TRUE(context->stopped()) << "something is still pending";
            expect_ended(scenario, stopped, now, 2s);
        }
    }
    EXPECT_EQ(proof::files_and_sockets_open(), files);
    return over;
}

bool stop_in_simulation_after(int steps, who stopped, stop_mode manner)
{
    play scenario;
    sim::simulation simulation{1};
    sim::host& server = simulation.add_host("server");
    sim::host& client = simulation.add_host("client");
    auto door = server.world().listen({server.address(), 0}).value();
    const destination where{server.address(), door->port()};
    scenario.start(client.world(), server.world(), std::move(door), where, manner);
    int done = 0;
    const bool over = !simulation.run_while_not([&] { return done++ == steps; });
    if (manner == stop_mode::dropped)
        return over;  // all that waits goes with the simulation
    const time_point now = simulation.now();
    scenario.stop(stopped);
    simulation.run();
    expect_ended(scenario, stopped, now, 0s);
    EXPECT_EQ(simulation.left(), sim::leftovers{});
    return over;
}

template <class Run>
void stop_everywhere(const char* where, Run run)
{
    constexpr int limit = 5000;
    int points = 0;
    for (; points < limit; ++points) {
        SCOPED_TRACE("stopped after step " + std::to_string(points));
        const bool over = run(points);
        if (over || ::testing::Test::HasFailure())
            break;
    }
    EXPECT_GT(points, 10);
    EXPECT_LT(points, limit) << "the scenario never came to its end";
    ::testing::Test::RecordProperty("steps", points);
    std::cout << "             " << where << ": stopped after each of " << points << " steps\n";
}

class cancel_everywhere : public ::testing::TestWithParam<std::tuple<who, stop_mode>> {};

TEST_P(cancel_everywhere, cancellation_at_any_step_on_sockets_leaves_nothing)
{
    const auto [stopped, manner] = GetParam();
    const proof::dns_stub names;
    static_cast<void>(  // what is opened once and for all is open after this
        stop_on_sockets_after(1'000'000, stopped, manner, names.address()));
    stop_everywhere("sockets", [&, s = stopped, m = manner](int steps) {
        return stop_on_sockets_after(steps, s, m, names.address());
    });
}

TEST_P(cancel_everywhere, cancellation_at_any_step_in_the_simulator_leaves_nothing)
{
    const auto [stopped, manner] = GetParam();
    stop_everywhere("simulator", [s = stopped, m = manner](int steps) {
        return stop_in_simulation_after(steps, s, m);
    });
}

std::string name_of_stop(const ::testing::TestParamInfo<std::tuple<who, stop_mode>>& of)
{
    constexpr const char* names_of_parties[] = {"client_", "server_"};
    constexpr const char* names_of_manners[] = {"quietly", "throwing", "dropped"};
    const auto [stopped, manner] = of.param;
    return std::string{names_of_parties[static_cast<int>(stopped)]} +
           names_of_manners[static_cast<int>(manner)];
}

INSTANTIATE_TEST_SUITE_P(contract, cancel_everywhere,
                         ::testing::Values(std::tuple{who::client, stop_mode::quietly},
                                           std::tuple{who::server, stop_mode::quietly},
                                           std::tuple{who::client, stop_mode::throwing},
                                           std::tuple{who::server, stop_mode::throwing},
                                           std::tuple{who::client, stop_mode::dropped}),
                         name_of_stop);

/// Virtual time is free: nothing of a connection ticks while it is idle.
TEST(idle_connections, idle_time_costs_no_events_in_the_simulator)
{
    sim::simulation simulation{1};
    sim::host& server = simulation.add_host("server");
    sim::host& client = simulation.add_host("client");
    std::string got;
    const auto serve = [&](world& in) -> awaitable<void> {
        const auto door = in.listen({server.address(), 27017});
        REQUIRE(door.has_value());
        const auto with = co_await (*door)->accept();
        REQUIRE(with.has_value());
        const auto text = co_await proof::read_text(**with, 4);
        got = text.text;
    };
    const auto idle = [&](world& in) -> awaitable<void> {
        const destination where{server.address(), 27017};
        const auto with = co_await in.connect(where, in.steady_now() + 10s);
        REQUIRE(with.has_value());
        co_await runtime::sleep_until(in, in.steady_now() + 1000s);
        co_await write_all(**with, proof::bytes_of("done"));
    };
    const time_point virtual_start = simulation.now();
    const auto start = std::chrono::steady_clock::now();
    server.start(serve(server.world()));
    client.start(idle(client.world()));
    simulation.run();
    EXPECT_GE(simulation.now() - virtual_start, 1000s);
    EXPECT_LT(std::chrono::steady_clock::now() - start, 1s);
    EXPECT_EQ(got, "done");
    EXPECT_EQ(simulation.left(), sim::leftovers{});
}

}  // namespace
}  // namespace holdfast::cancel_everywhere_test
