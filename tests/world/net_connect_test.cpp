#include "net/address.hpp"
#include "net/connect.hpp"
#include "world/loopback.hpp"
#include "world/net_party.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/this_coro.hpp>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::net_connect_test {
namespace {

using namespace std::chrono_literals;
using proof::net_party;
using runtime::awaitable;
using runtime::destination;
using runtime::errc;
using runtime::stream_ptr;
namespace asio = boost::asio;

/// "127.0.0.1:27017" for short: the addresses of loopback are as good as several hosts.
net::stream_endpoint at(const std::string& host, std::uint16_t port)
{
    return net::tcp_endpoint(asio::ip::make_address(host), port);
}

/// connect() after the names are known.
awaitable<result<stream_ptr>> race(net_party& here, std::vector<net::stream_endpoint> to,
                                   duration head_start, time_point until)
{
    net::connector with{here.world, net::context_registry::of(here.context.get_executor()),
                        head_start};
    destination where{"db1", 27017};
    return net::connect_to_any(std::move(with), std::move(where), std::move(to), until);
}

struct outcome {
    std::string peer = {};
    std::optional<error> why = {};
    duration took = {};
};

outcome run_race(std::vector<net::stream_endpoint> to, duration head_start, duration limit)
{
    net_party here;
    outcome what;
    const std::size_t files = proof::open_descriptors();
    std::size_t files_after = 0;
    const auto test = [&]() -> awaitable<void> {
        const time_point start = here.world.steady_now();
        auto made = co_await race(here, to, head_start, start + limit);
        what.took = here.world.steady_now() - start;
        if (made)
            what.peer = (*made)->peer();
        else
            what.why = made.error();
        files_after = proof::open_descriptors() - (made ? 1 : 0);
    };
    here.run(test());
    EXPECT_EQ(files_after, files) << "the attempts that lost are not closed";
    return what;
}

TEST(net_connect, silent_address_delays_by_one_head_start)
{
    const proof::full_backlog silent;
    net_party there;
    const auto door = there.world.listen({"127.0.0.2", 0}).value();
    const auto what = run_race({at("127.0.0.1", silent.port()), at("127.0.0.2", door->port())},
                               30ms, 10s);
    EXPECT_EQ(what.peer, "127.0.0.2:" + std::to_string(door->port()));
    EXPECT_GE(what.took, 30ms);
    EXPECT_LT(what.took, 5s);
}

TEST(net_connect, refusing_address_is_skipped_at_once)
{
    net_party there;
    const auto door = there.world.listen({"127.0.0.2", 0}).value();
    const auto what = run_race(
        {at("127.0.0.1", 1), at("127.0.0.3", 1), at("127.0.0.2", door->port())}, 1h, 10s);
    EXPECT_EQ(what.peer, "127.0.0.2:" + std::to_string(door->port()));
    EXPECT_LT(what.took, 5s);
}

TEST(net_connect, first_address_wins_within_its_head_start)
{
    net_party there;
    const auto first = there.world.listen({"127.0.0.1", 0}).value();
    const auto second = there.world.listen({"127.0.0.2", 0}).value();
    const auto what = run_race({at("127.0.0.1", first->port()), at("127.0.0.2", second->port())},
                               10s, 20s);
    EXPECT_EQ(what.peer, "127.0.0.1:" + std::to_string(first->port()));
}

TEST(net_connect, error_names_all_addresses_if_all_refuse)
{
    const auto what = run_race({at("127.0.0.1", 1), at("::1", 1)}, 10ms, 10s);
    ASSERT_TRUE(what.why.has_value());
    EXPECT_EQ(what.why->code(), errc::connect_failed);
    const std::string& message = what.why->message();
    EXPECT_EQ(message.rfind("cannot connect to db1:27017: ", 0), 0U) << message;
    EXPECT_NE(message.find("127.0.0.1:1, [::1]:1"), std::string::npos) << message;
    EXPECT_EQ(what.why->context("server"), "db1:27017");
    EXPECT_EQ(what.why->context("phase"), runtime::phase_connect);
    EXPECT_FALSE(what.why->context("cause").empty());
}

TEST(net_connect, timeout_error_keeps_the_last_cause)
{
    const proof::full_backlog silent;
    const auto with_cause = run_race({at("127.0.0.1", 1), at("127.0.0.1", silent.port())}, 1h,
                                     40ms);
    ASSERT_TRUE(with_cause.why.has_value());
    EXPECT_EQ(with_cause.why->code(), errc::connect_timed_out);
    EXPECT_EQ(with_cause.why->context("cause"), "connection refused");
    EXPECT_GE(with_cause.took, 40ms);

    const auto without = run_race({at("127.0.0.1", silent.port())}, 1h, 40ms);
    ASSERT_TRUE(without.why.has_value());
    EXPECT_EQ(without.why->code(), errc::connect_timed_out);
    EXPECT_NE(without.why->message().find("no answer"), std::string::npos);
}

TEST(net_connect, cancellation_closes_all_attempts)
{
    const proof::full_backlog silent;
    net_party here;
    asio::cancellation_signal stop;
    std::optional<error_code> why;
    const std::size_t files = proof::open_descriptors();
    const auto attempt = [&]() -> awaitable<void> {
        co_await asio::this_coro::throw_if_cancelled(false);
        const std::vector<net::stream_endpoint> to(3, at("127.0.0.1", silent.port()));
        const auto made = co_await race(here, to, 1ms, runtime::never);
        why = made ? error_code{} : made.error().code();
        EXPECT_EQ(proof::open_descriptors(), files);
    };
    const auto stopper = [&]() -> awaitable<void> {
        while (proof::open_descriptors() < files + 3)
            co_await runtime::sleep_until(here.world, here.in(1ms));
        stop.emit(asio::cancellation_type::terminal);
    };
    asio::co_spawn(here.context, attempt(),
                   asio::bind_cancellation_slot(stop.slot(), proof::no_exception{}));
    here.start(stopper());
    here.run();
    EXPECT_EQ(why, error_code{errc::cancelled});
}

error failure_of(const destination& where)
{
    net_party here;
    std::optional<error> why;
    const auto test = [&]() -> awaitable<void> {
        const auto made = co_await here.world.connect(where, here.in(5s));
        if (!made)
            why = made.error();
    };
    here.run(test());
    EXPECT_TRUE(why.has_value());
    return why ? *why : error{{}, "none"};
}

TEST(net_connect, missing_unix_socket_error_names_the_cause)
{
    const error absent = failure_of({"/nowhere/at.sock", 0});
    EXPECT_EQ(absent.code(), errc::connect_failed);
    EXPECT_EQ(absent.message(), "cannot connect to /nowhere/at.sock: no such file or directory");

    const error too_long = failure_of({'/' + std::string(200, 'x'), 0});
    EXPECT_EQ(too_long.code(), errc::connect_failed);
    EXPECT_EQ(too_long.context("cause"), "file name too long");
}

/// The system says at once that the queue of a Unix socket is full, and that is no reason to fail.
TEST(net_connect, full_backlog_of_a_unix_socket_is_waited_for)
{
    const std::string path = ::testing::TempDir() + "net_connect_busy.sock";
    ::unlink(path.c_str());
    const int busy = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto here_it_is = net::unix_endpoint(path);
    ASSERT_TRUE(here_it_is.has_value());
    const auto size = static_cast<socklen_t>(here_it_is->size());
    ASSERT_EQ(::bind(busy, here_it_is->data(), size), 0);
    ASSERT_EQ(::listen(busy, 0), 0);
    const int first = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(::connect(first, here_it_is->data(), size), 0);
    net_party here;
    bool made = false;
    const auto client = [&]() -> awaitable<void> {
        const destination where{path, 0};
        const auto late = co_await here.world.connect(where, here.in(20ms));
        EXPECT_TRUE(!late && late.error().code() == errc::connect_timed_out)
            << (late ? "connected" : late.error().explain());
        const auto stream = co_await here.world.connect(where, here.in(10s));
        made = stream.has_value();
    };
    const auto server = [&]() -> awaitable<void> {
        co_await runtime::sleep_until(here.world, here.in(60ms));
        ::close(::accept(busy, nullptr, nullptr));
    };
    here.start(client());
    here.start(server());
    here.run();
    EXPECT_TRUE(made);
    ::close(first);
    ::close(busy);
    ::unlink(path.c_str());
}

}  // namespace
}  // namespace holdfast::net_connect_test
