#include "runtime/errc.hpp"
#include "world/world_fixture.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// What a world promises about names, connecting and listening.

namespace holdfast::connect_test {
namespace {

using namespace std::chrono_literals;
using proof::contract;
using proof::long_enough;
using runtime::awaitable;
using runtime::destination;
using runtime::errc;
using runtime::listener;
using runtime::stream_ptr;
using runtime::world;
namespace asio = boost::asio;

class connecting : public contract {};
HOLDFAST_ALL_WORLDS(connecting);

TEST_P(connecting, connect_gives_a_two_way_stream)
{
    std::pair<std::string, std::string> of_client, of_server;  // the ends, by their own account
    run_connected(
        [&](world&, stream_ptr with) -> awaitable<void> {
            EXPECT_EQ(with->peer().rfind(both->client_address() + ':', 0), 0U) << with->peer();
            of_server = {with->local(), with->peer()};
            co_await proof::echo(*with);
        },
        [&](world&, stream_ptr with) -> awaitable<void> {
            EXPECT_EQ(with->peer().rfind(both->server_address() + ':', 0), 0U) << with->peer();
            of_client = {with->local(), with->peer()};
            const error_code sent = co_await write_all(*with, proof::bytes_of("hello"));
            EXPECT_FALSE(sent) << sent.message();
            const auto answer = co_await proof::read_text(*with, 5);
            EXPECT_EQ(answer.text, "hello");
        });
    EXPECT_FALSE(of_client.first.empty());
    EXPECT_EQ(of_client.first, of_server.second) << "each end knows itself as the other knows it";
    EXPECT_EQ(of_client.second, of_server.first);
}

TEST_P(connecting, connect_by_name_reaches_the_same_server)
{
    run(
        [](world&, listener& door) -> awaitable<void> {
            auto came = co_await door.accept();
            REQUIRE(came.has_value());
        },
        [&](world& in, destination where) -> awaitable<void> {
            const std::string address = to_string(where);
            where.host = both->server_name();
            const auto made = co_await in.connect(where, in.steady_now() + long_enough);
            REQUIRE(made.has_value());
            EXPECT_EQ((*made)->peer(), address);
        });
}

TEST_P(connecting, refused_connect_names_server_phase_and_cause)
{
    run_client([&](world& in, destination where) -> awaitable<void> {
        where.port = 1;
        const auto made = co_await in.connect(where, in.steady_now() + long_enough);
        REQUIRE(!made.has_value());
        EXPECT_EQ(made.error().code(), errc::connect_failed) << made.error().explain();
        EXPECT_EQ(made.error().context("server"), to_string(where));
        EXPECT_EQ(made.error().context("phase"), runtime::phase_connect);
        EXPECT_NE(made.error().context("cause").find("refused"), std::string::npos)
            << made.error().explain();
        EXPECT_NE(made.error().message().find(to_string(where)), std::string::npos)
            << made.error().message();
    });
}

TEST_P(connecting, unknown_name_fails_in_the_resolve_phase)
{
    run_client([](world& in, destination) -> awaitable<void> {
        const destination where{"absent.invalid", 27017};
        const auto made = co_await in.connect(where, in.steady_now() + long_enough);
        REQUIRE(!made.has_value());
        EXPECT_EQ(made.error().code(), errc::name_not_found) << made.error().explain();
        EXPECT_EQ(made.error().context("server"), "absent.invalid:27017");
        EXPECT_EQ(made.error().context("phase"), runtime::phase_resolve);
        EXPECT_FALSE(made.error().context("cause").empty());
    });
}

TEST_P(connecting, silent_server_ends_at_the_deadline)
{
    const destination where = both->silent_server();
    run_client([&](world& in, destination) -> awaitable<void> {
        const time_point until = in.steady_now() + 50ms;
        const auto made = co_await in.connect(where, until);
        REQUIRE(!made.has_value());
        EXPECT_EQ(made.error().code(), errc::connect_timed_out) << made.error().explain();
        EXPECT_EQ(made.error().context("server"), to_string(where));
        EXPECT_EQ(made.error().context("phase"), runtime::phase_connect);
        EXPECT_GE(in.steady_now(), until);
        EXPECT_LT(in.steady_now(), until + 5s);
    });
}

TEST_P(connecting, expired_deadline_ends_at_once)
{
    const destination where = both->silent_server();
    run_client([&](world& in, destination) -> awaitable<void> {
        const time_point now = in.steady_now();
        const auto made = co_await in.connect(where, now - 1ms);
        REQUIRE(!made.has_value());
        EXPECT_EQ(made.error().code(), errc::connect_timed_out) << made.error().explain();
        EXPECT_LT(in.steady_now(), now + 5s);
    });
}

/// The deadline of connect() is over when there is a connection.
TEST_P(connecting, connect_deadline_does_not_apply_to_the_stream)
{
    run(
        [](world& in, listener& door) -> awaitable<void> {
            const auto came = co_await door.accept();
            REQUIRE(came.has_value());
            co_await runtime::sleep_until(in, in.steady_now() + 400ms);
            const error_code sent = co_await write_all(**came, proof::bytes_of("late"));
            EXPECT_FALSE(sent) << sent.message();
        },
        [](world& in, destination where) -> awaitable<void> {
            const auto made = co_await in.connect(where, in.steady_now() + 300ms);
            REQUIRE(made.has_value());
            const auto got = co_await proof::read_text(**made, 4);
            EXPECT_EQ(got.text, "late") << got.why.message();
        });
}

TEST_P(connecting, pending_connect_can_be_cancelled)
{
    if (blocks())
        return differs("the thread is inside connect(); only its deadline ends it");
    const destination where = both->silent_server();
    run_client([&](world& in, destination) -> awaitable<void> {
        asio::cancellation_signal stop;
        runtime::event ended{in};
        const auto before = ended.count();
        std::optional<error_code> outcome;
        const auto attempt = [&]() -> awaitable<void> {
            co_await asio::this_coro::throw_if_cancelled(false);
            const auto made = co_await in.connect(where, runtime::never);
            outcome = made ? error_code{} : made.error().code();
            ended.notify();
        };
        const auto done = [](const std::exception_ptr& thrown) { EXPECT_FALSE(thrown); };
        asio::co_spawn(in.executor(), attempt, asio::bind_cancellation_slot(stop.slot(), done));
        co_await runtime::sleep_until(in, in.steady_now() + 20ms);
        EXPECT_FALSE(outcome.has_value());
        stop.emit(asio::cancellation_type::terminal);
        co_await ended.wait(before, in.steady_now() + 5s);
        EXPECT_EQ(outcome, error_code{errc::cancelled});
    });
}

TEST_P(connecting, fifty_concurrent_connects_succeed)
{
    constexpr int count = 50;
    const auto serve = [](world& in, listener& door) -> awaitable<void> {
        std::vector<std::function<awaitable<void>()>> echoes;
        for (int i = 0; i < count; ++i) {
            auto came = co_await door.accept();
            REQUIRE(came.has_value());
            std::shared_ptr<runtime::stream> with = *std::move(came);
            echoes.emplace_back([with]() -> awaitable<void> { return proof::echo(*with); });
        }
        co_await proof::all_of(in, echoes);
    };
    int answers = 0;
    run(serve, [&](world& in, destination where) -> awaitable<void> {
        std::vector<stream_ptr> streams;
        std::vector<std::function<awaitable<void>()>> attempts;
        for (int i = 0; i < count; ++i) {
            attempts.emplace_back([&]() -> awaitable<void> {
                auto made = co_await in.connect(where, in.steady_now() + long_enough);
                REQUIRE(made.has_value());
                streams.push_back(*std::move(made));
            });
        }
        co_await proof::all_of(in, attempts);
        for (const auto& with : streams) {
            const std::string text = "number " + with->peer();
            co_await write_all(*with, proof::bytes_of(text));
        }
        for (const auto& with : streams) {
            const std::string expected = "number " + with->peer();
            const auto got = co_await proof::read_text(*with, expected.size());
            answers += got.text == expected;
        }
    });
    EXPECT_EQ(answers, count);
}

class listening : public contract {};
HOLDFAST_ALL_WORLDS(listening);

TEST_P(listening, port_zero_chooses_a_free_port)
{
    for (world* in : {&both->client_world(), &both->server_world()}) {
        const bool client = in == &both->client_world();
        const std::string here = client ? both->client_address() : both->server_address();
        const auto one = in->listen({here, 0});
        const auto other = in->listen({here, 0});
        ASSERT_TRUE(one.has_value()) << one.error().explain();
        ASSERT_TRUE(other.has_value()) << other.error().explain();
        EXPECT_NE((*one)->port(), 0);
        EXPECT_NE((*one)->port(), (*other)->port());
    }
}

TEST_P(listening, port_in_use_is_refused_until_it_is_free)
{
    world& in = both->client_world();
    auto one = in.listen({both->client_address(), 0});
    ASSERT_TRUE(one.has_value());
    const destination same{both->client_address(), (*one)->port()};
    const auto other = in.listen(same);
    ASSERT_FALSE(other.has_value());
    EXPECT_EQ(other.error().code(), errc::listen_failed);
    EXPECT_NE(other.error().message().find(to_string(same)), std::string::npos)
        << other.error().message();

    one->reset();
    const auto again = in.listen(same);
    ASSERT_TRUE(again.has_value()) << again.error().explain();
    EXPECT_EQ((*again)->port(), same.port);
}

TEST_P(listening, cancel_ends_current_and_later_accepts)
{
    run(
        [](world& in, listener& door) -> awaitable<void> {
            const auto stopper = [&]() -> awaitable<void> {
                co_await runtime::sleep_until(in, in.steady_now() + 10ms);
                door.cancel();
                door.cancel();
            };
            const auto taker = [&]() -> awaitable<void> {
                for (int i = 0; i < 2; ++i) {
                    const auto came = co_await door.accept();
                    REQUIRE(!came.has_value());
                    EXPECT_EQ(came.error().code(), errc::cancelled) << came.error().explain();
                }
            };
            std::vector<std::function<awaitable<void>()>> both_of_them{taker, stopper};
            co_await proof::all_of(in, both_of_them);
        },
        [](world&, destination) -> awaitable<void> { co_return; });
}

/// The client listens, so that the blocking world has its turn: the server calls, and then ends the
/// listening, from its own thread if it has one.
TEST_P(listening, client_world_can_listen_too)
{
    std::atomic<listener*> opened = nullptr;
    runtime::event ready{both->server_world()};
    runtime::event let_go{both->client_world()};  // so that no thread is inside cancel() at the end
    const auto before = ready.count();
    const auto held = let_go.count();
    run(
        [&](world& in, listener&) -> awaitable<void> {
            co_await ready.wait(before, in.steady_now() + long_enough);
            listener* const door = opened.load();
            REQUIRE(door != nullptr);
            const destination where{both->client_address(), door->port()};
            const auto made = co_await in.connect(where, in.steady_now() + long_enough);
            REQUIRE(made.has_value());
            co_await write_all(**made, proof::bytes_of("called"));
            const auto answer = co_await proof::read_text(**made, 6);
            EXPECT_EQ(answer.text, "called") << answer.why.message();
            co_await runtime::sleep_until(in, in.steady_now() + 10ms);
            door->cancel();
            let_go.notify();
        },
        [&](world& in, destination) -> awaitable<void> {
            const auto door = in.listen({both->client_address(), 0});
            REQUIRE(door.has_value());
            opened = door->get();
            ready.notify();
            const auto came = co_await (*door)->accept();
            REQUIRE(came.has_value());
            const auto text = co_await proof::read_text(**came, 6);
            co_await write_all(**came, proof::bytes_of(text.text));
            const auto none = co_await (*door)->accept();
            REQUIRE(!none.has_value());
            EXPECT_EQ(none.error().code(), errc::cancelled) << none.error().explain();
            co_await let_go.wait(held, in.steady_now() + long_enough);
        });
}

TEST_P(listening, unix_socket_accepts_connections)
{
    const destination path{
        (std::filesystem::temp_directory_path() / ("holdfast-" + std::to_string(::getpid())))
            .string()};
    world& in = both->server_world();
    auto door = in.listen(path);
    if (simulated()) {
        ASSERT_FALSE(door.has_value());
        EXPECT_EQ(door.error().code(), errc::not_available);
        return differs("simulated hosts have no Unix sockets");
    }
    ASSERT_TRUE(door.has_value()) << door.error().explain();
    EXPECT_EQ((*door)->port(), 0);
    run(
        [&](world&, listener&) -> awaitable<void> {
            const auto came = co_await (*door)->accept();
            REQUIRE(came.has_value());
            co_await proof::echo(**came);
        },
        [&](world& from, destination) -> awaitable<void> {
            const auto made = co_await from.connect(path, from.steady_now() + long_enough);
            REQUIRE(made.has_value());
            EXPECT_EQ((*made)->peer(), path.host);
            co_await write_all(**made, proof::bytes_of("hello"));
            const auto answer = co_await proof::read_text(**made, 5);
            EXPECT_EQ(answer.text, "hello");
        });
    door->reset();
    EXPECT_FALSE(std::filesystem::exists(path.host)) << "the file goes with the listener";
}

class resolving : public contract {};
HOLDFAST_ALL_WORLDS(resolving);

TEST_P(resolving, numeric_address_resolves_to_itself)
{
    run_client([](world& in, destination) -> awaitable<void> {
        constexpr const char* addresses[] = {"127.0.0.1", "10.20.30.40", "::1"};
        for (const char* address : addresses) {
            const auto found = co_await in.resolve(address, in.steady_now() + long_enough);
            REQUIRE(found.has_value());
            EXPECT_EQ(*found, std::vector<std::string>{address});
        }
    });
}

TEST_P(resolving, localhost_resolves_to_loopback)
{
    run_client([](world& in, destination) -> awaitable<void> {
        const auto found = co_await in.resolve("localhost", in.steady_now() + long_enough);
        REQUIRE(found.has_value());
        EXPECT_FALSE(found->empty());
        EXPECT_NE(std::count(found->begin(), found->end(), "127.0.0.1"), 0);
    });
}

TEST_P(resolving, unknown_name_is_name_not_found)
{
    run_client([](world& in, destination) -> awaitable<void> {
        const time_point until = in.steady_now() + long_enough;
        const auto addresses = co_await in.resolve("absent.invalid", until);
        REQUIRE(!addresses.has_value());
        EXPECT_EQ(addresses.error().code(), errc::name_not_found) << addresses.error().explain();
        EXPECT_NE(addresses.error().message().find("absent.invalid"), std::string::npos);

        const auto services = co_await in.resolve_srv("_mongodb._tcp.absent.invalid", until);
        REQUIRE(!services.has_value());
        EXPECT_EQ(services.error().code(), errc::name_not_found) << services.error().explain();

        const auto texts = co_await in.resolve_txt("absent.invalid", until);
        REQUIRE(texts.has_value());
        EXPECT_TRUE(texts->empty()) << "no text is no error";
    });
}

}  // namespace
}  // namespace holdfast::connect_test
