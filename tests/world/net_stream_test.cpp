#include "world/net_party.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <optional>
#include <string>
#include <vector>

// What is special about streams on sockets; all that any stream promises is in tests/contract.

namespace holdfast::net_stream_test {
namespace {

using namespace std::chrono_literals;
using proof::as_bytes;
using proof::connected;
using proof::net_party;
using proof::read_once;
using runtime::awaitable;
using runtime::stream;
namespace asio = boost::asio;
namespace errc = boost::system::errc;

/// The descriptor of this process that is connected to this port; -1 if there is none.
int descriptor_to(std::uint16_t port)
{
    for (int i = 0; i < 1000; ++i) {
        sockaddr_in peer{};
        socklen_t size = sizeof peer;
        if (::getpeername(i, reinterpret_cast<sockaddr*>(&peer), &size) == 0 &&
            peer.sin_family == AF_INET && ntohs(peer.sin_port) == port)
            return i;
    }
    return -1;
}

std::uint16_t port_in(const std::string& name)
{
    return static_cast<std::uint16_t>(std::stoi(name.substr(name.rfind(':') + 1)));
}

int option(int descriptor, int level, int name)
{
    int value = -1;
    socklen_t size = sizeof value;
    ::getsockopt(descriptor, level, name, &value, &size);
    return value;
}

TEST(net_stream, sockets_have_no_delay_and_keep_alive_on_both_sides)
{
    net_party here;
    const auto test = [&]() -> awaitable<void> {
        const auto both = co_await connected(here.world);
        if (!both.client)
            co_return;
        const stream* const ends[] = {both.client.get(), both.server.get()};
        for (const stream* end : ends) {
            const int it = descriptor_to(port_in(end->peer()));
            EXPECT_GE(it, 0);
            EXPECT_EQ(option(it, IPPROTO_TCP, TCP_NODELAY), 1);
            EXPECT_EQ(option(it, SOL_SOCKET, SO_KEEPALIVE), 1);
            EXPECT_EQ(option(it, IPPROTO_TCP, TCP_KEEPIDLE), 120);
            EXPECT_EQ(option(it, IPPROTO_TCP, TCP_KEEPINTVL), 10);
            EXPECT_EQ(option(it, IPPROTO_TCP, TCP_KEEPCNT), 9);
        }
    };
    here.run(test());
}

TEST(net_stream, deadline_expiring_between_operations_is_kept)
{
    net_party here;
    const auto test = [&]() -> awaitable<void> {
        const auto both = co_await connected(here.world);
        if (!both.client)
            co_return;
        both.server->write_now(as_bytes("hello"));
        both.client->expires_at(here.in(2ms));
        co_await runtime::sleep_until(here.world, here.in(10ms));

        const auto late = co_await read_once(*both.client);
        EXPECT_EQ(late.why, errc::timed_out) << late.why.message();
        EXPECT_EQ(both.client->write_now(as_bytes("x")).why, errc::timed_out);
        const error_code writable = co_await both.client->writable();
        EXPECT_EQ(writable, errc::timed_out) << writable.message();

        both.client->expires_at(here.in(-1ms));
        EXPECT_EQ(both.client->write_now(as_bytes("x")).why, errc::timed_out)
            << "the past is no better";

        both.client->expires_at(here.in(10s));
        const auto now = co_await read_once(*both.client);
        EXPECT_EQ(now.text, "hello") << "no byte is lost: " << now.why.message();
        EXPECT_EQ(both.client->write_now(as_bytes("x")).bytes, 1U);
    };
    here.run(test());
}

TEST(net_stream, cancel_ends_pending_and_later_operations)
{
    net_party here;
    const auto test = [&]() -> awaitable<void> {
        const auto both = co_await connected(here.world);
        if (!both.client)
            co_return;
        both.client->expires_at(here.in(1ms));
        const auto late = co_await read_once(*both.client);
        EXPECT_EQ(late.why, errc::timed_out);
        both.client->cancel();
        both.client->cancel();
        for (int i = 0; i < 2; ++i) {
            const auto read = co_await read_once(*both.client);
            EXPECT_EQ(read.why, errc::operation_canceled) << read.why.message();
            const error_code writable = co_await both.client->writable();
            EXPECT_EQ(writable, errc::operation_canceled) << writable.message();
            EXPECT_EQ(both.client->write_now(as_bytes("x")).why, errc::operation_canceled);
            both.client->expires_at(here.in(10s));  // does not help
        }
    };
    here.run(test());
}

/// What a coroutine saw that may be cancelled from outside.
struct reader {
    asio::cancellation_signal stop = {};
    std::optional<proof::text_or_error> first = {};
    std::optional<proof::text_or_error> second = {};
    bool again = false;

    awaitable<void> run(stream& from)
    {
        co_await asio::this_coro::throw_if_cancelled(false);
        first = co_await read_once(from);
        if (again)
            second = co_await read_once(from);
    }
    void start(net_party& here, stream& from)
    {
        asio::co_spawn(here.context, run(from),
                       asio::bind_cancellation_slot(stop.slot(), proof::no_exception{}));
    }
};

TEST(net_stream, cancelled_read_leaves_the_stream_usable)
{
    net_party here;
    reader cancelled;
    const auto test = [&]() -> awaitable<void> {
        const auto both = co_await connected(here.world);
        if (!both.client)
            co_return;
        cancelled.start(here, *both.client);
        co_await runtime::sleep_until(here.world, here.in(2ms));
        EXPECT_FALSE(cancelled.first.has_value());
        cancelled.stop.emit(asio::cancellation_type::terminal);
        co_await runtime::sleep_until(here.world, here.in(2ms));
        EXPECT_TRUE(cancelled.first.has_value() &&
                    cancelled.first->why == errc::operation_canceled);
        both.server->write_now(as_bytes("still here"));
        const auto read = co_await read_once(*both.client);
        EXPECT_EQ(read.text, "still here") << read.why.message();
    };
    here.run(test());
}

TEST(net_stream, read_in_a_cancelled_coroutine_does_not_wait)
{
    net_party here;
    reader cancelled;
    cancelled.again = true;
    const auto test = [&]() -> awaitable<void> {
        const auto both = co_await connected(here.world);
        if (!both.client)
            co_return;
        cancelled.start(here, *both.client);
        co_await runtime::sleep_until(here.world, here.in(2ms));
        cancelled.stop.emit(asio::cancellation_type::terminal);
        co_await runtime::sleep_until(here.world, here.in(20ms));
        EXPECT_TRUE(cancelled.second.has_value()) << "it waits for no further cancellation";
        if (cancelled.second) {
            EXPECT_EQ(cancelled.second->why, errc::operation_canceled);
        }
        both.client->cancel();
    };
    here.run(test());
}

TEST(net_stream, unix_socket_stream_carries_bytes)
{
    const std::string path = ::testing::TempDir() + "net_stream_unix.sock";
    net_party here;
    const auto test = [&]() -> awaitable<void> {
        const runtime::destination where{path, 0};
        const auto both = co_await connected(here.world, where);
        if (!both.client)
            co_return;
        EXPECT_EQ(both.client->peer(), path);
        EXPECT_EQ(both.server->peer(), path);
        both.client->write_now(as_bytes("ping"));
        const auto got = co_await read_once(*both.server);
        EXPECT_EQ(got.text, "ping");
        both.client->expires_at(here.in(1ms));
        const auto none = co_await read_once(*both.client);
        EXPECT_EQ(none.why, errc::timed_out) << none.why.message();
    };
    here.run(test());
}

TEST(net_stream, write_to_a_closed_peer_is_an_error_without_sigpipe)
{
    net_party here;
    const auto test = [&]() -> awaitable<void> {
        auto both = co_await connected(here.world);
        if (!both.client)
            co_return;
        both.server.reset();
        const auto end = co_await read_once(*both.client);
        EXPECT_EQ(end.why, asio::error::eof) << end.why.message();
        error_code why;  // a write to a closed socket is a signal, unless one asks for none
        for (int i = 0; i < 100 && !why; ++i) {
            why = both.client->write_now(as_bytes("never read")).why;
            co_await runtime::sleep_until(here.world, here.in(1ms));
        }
        EXPECT_TRUE(why == errc::broken_pipe || why == errc::connection_reset) << why.message();
    };
    here.run(test());
}

}  // namespace
}  // namespace holdfast::net_stream_test
