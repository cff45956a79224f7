#include "net/blocking/world.hpp"
#include "world/raw_peer.hpp"

#include <boost/asio/error.hpp>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>

namespace holdfast::blocking_stream_test {
namespace {

using namespace std::chrono_literals;
using runtime::io_result;
namespace asio = boost::asio;
namespace errc = boost::system::errc;

constexpr auto long_enough = 10s;

std::span<const std::uint8_t> bytes_of(std::string_view text)
{
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// Our end is on the thread of the test; the other one is plain.
class blocking_stream : public ::testing::Test {
protected:
    time_point from_now(duration time) const { return world.steady_now() + time; }
    runtime::stream_ptr connect()
    {
        return world.run(world.connect({"127.0.0.1", door.port()}, from_now(long_enough))).value();
    }
    io_result read() { return world.run(ours->read_some(buffer)); }
    std::string text(const io_result& of) const
    {
        return {reinterpret_cast<const char*>(buffer), of.bytes};
    }
    void expect_time_out_after(duration time)
    {
        const auto begin = world.steady_now();
        ours->expires_at(begin + time);
        EXPECT_EQ(read().why, errc::timed_out);
        EXPECT_GE(world.steady_now(), begin + time);
        EXPECT_LT(world.steady_now(), begin + time + 500ms);  // a tenth of that on an idle machine
    }

    proof::raw_door door;
    net::blocking_world world;
    runtime::stream_ptr ours = connect();
    proof::raw_peer peer = door.accept();
    std::uint8_t buffer[4096];
};

TEST_F(blocking_stream, bytes_are_written_and_read)
{
    const auto sent = ours->write_now(bytes_of("ping"));
    EXPECT_FALSE(sent.why);
    EXPECT_EQ(sent.bytes, 4U);
    EXPECT_EQ(peer.read(4), "ping");
    peer.write("pong!");
    const auto got = read();
    EXPECT_FALSE(got.why);
    EXPECT_EQ(text(got), "pong!");
    EXPECT_EQ(ours->peer(), "127.0.0.1:" + std::to_string(door.port()));
    EXPECT_FALSE(world.run(ours->writable()));
}

TEST_F(blocking_stream, eof_is_reported_after_all_bytes)
{
    peer.write("last words");
    peer.close_writing();
    EXPECT_EQ(text(read()), "last words");
    EXPECT_EQ(read().why, asio::error::eof);
    EXPECT_FALSE(ours->write_now(bytes_of("but I can still talk")).why);
    EXPECT_EQ(peer.read(20), "but I can still talk");
}

TEST_F(blocking_stream, reset_is_connection_reset)
{
    peer.reset();
    EXPECT_EQ(read().why, errc::connection_reset);
    EXPECT_TRUE(ours->write_now(bytes_of("x")).why);
}

TEST_F(blocking_stream, read_deadline_loses_no_byte)
{
    expect_time_out_after(5ms);  // by poll alone
    expect_time_out_after(150ms);  // by the socket's limit, then by poll
    expect_time_out_after(60ms);  // the limit that is set is too long
    expect_time_out_after(400ms);  // and now too short
    EXPECT_EQ(read().why, errc::timed_out) << "the time stays over until it is moved";
    EXPECT_EQ(ours->write_now(bytes_of("late")).why, errc::timed_out);
    peer.write("still here");
    ours->expires_at(from_now(long_enough));
    EXPECT_EQ(text(read()), "still here");
}

TEST_F(blocking_stream, shorter_deadline_replaces_a_longer_one)
{
    ours->expires_at(from_now(long_enough));
    peer.write("a");
    EXPECT_EQ(text(read()), "a");  // half of that is the limit now
    expect_time_out_after(60ms);
    ours->expires_at(runtime::never);
    peer.write("b");
    EXPECT_EQ(text(read()), "b");
    expect_time_out_after(10ms);
}

TEST_F(blocking_stream, removed_deadline_waits_beyond_the_old_limit)
{
    ours->expires_at(from_now(100ms));
    peer.write("a");
    EXPECT_EQ(text(read()), "a");  // half of that is the limit now
    ours->expires_at(runtime::never);
    std::thread other{[this] {
        std::this_thread::sleep_for(150ms);  // long enough for the limit to come: that is the test
        peer.write("b");
    }};
    EXPECT_EQ(text(read()), "b");
    other.join();
}

TEST_F(blocking_stream, write_deadline_ends_a_blocked_write)
{
    const std::string much(32 << 20, 'x');
    const auto begin = world.steady_now();
    ours->expires_at(begin + 50ms);
    const auto sent = ours->write_now(bytes_of(much));
    EXPECT_EQ(sent.why, errc::timed_out);
    EXPECT_GT(sent.bytes, 0U);
    EXPECT_LT(sent.bytes, much.size());
    EXPECT_GE(world.steady_now(), begin + 50ms);
    ours->expires_at(from_now(20ms));
    EXPECT_EQ(world.run(ours->writable()), errc::timed_out);
    ours.reset();
    EXPECT_EQ(peer.read(much.size()).size(), sent.bytes) << "what it said it sent";
}

TEST_F(blocking_stream, cancel_from_another_thread_ends_a_read_for_good)
{
    const duration limits[] = {long_enough,
                               duration{}};  // by recv() with its own limit, and without
    for (const auto limit : limits) {
        auto stream = connect();
        stream->expires_at(limit == duration{} ? runtime::never : from_now(limit));
        std::thread other{[&, me = proof::this_thread()] {
            proof::wait_until_asleep(me);
            stream->cancel();
        }};
        EXPECT_EQ(world.run(stream->read_some(buffer)).why, errc::operation_canceled);
        other.join();
        EXPECT_EQ(stream->write_now(bytes_of("x")).why, errc::operation_canceled);
        EXPECT_EQ(world.run(stream->writable()), errc::operation_canceled);
        stream->cancel();
        EXPECT_EQ(door.accept().read(1), "") << "the peer sees the end";
    }
}

TEST_F(blocking_stream, cancel_from_another_thread_ends_a_write)
{
    const std::string much(32 << 20, 'x');
    std::thread other{[this, me = proof::this_thread()] {
        proof::wait_until_asleep(me);
        ours->cancel();
    }};
    const auto sent = ours->write_now(bytes_of(much));
    EXPECT_EQ(sent.why, errc::operation_canceled);
    other.join();
}

TEST_F(blocking_stream, cancelled_stream_reads_no_pending_bytes)
{
    peer.write("too late");
    ours->cancel();
    EXPECT_EQ(read().why, errc::operation_canceled);
}

TEST_F(blocking_stream, signals_do_not_change_the_deadline)
{
    struct sigaction ignore{};
    struct sigaction before{};
    ignore.sa_handler = [](int) {};
    ::sigaction(SIGUSR2, &ignore, &before);
    std::atomic<bool> stop = false;
    std::thread other{[&, me = ::pthread_self()] {
        while (!stop) {
            ::pthread_kill(me, SIGUSR2);
            std::this_thread::sleep_for(1ms);
        }
    }};
    expect_time_out_after(30ms);
    expect_time_out_after(200ms);
    stop = true;
    other.join();
    ::sigaction(SIGUSR2, &before, nullptr);
}

/// Bytes that depend on their position.
std::string pattern(std::size_t length)
{
    std::string bytes(length, '\0');
    for (std::size_t i = 0; i < length; ++i)
        bytes[i] = static_cast<char>((i * 31) ^ (i >> 9));
    return bytes;
}

TEST_F(blocking_stream, large_transfer_works_in_both_directions)
{
    const std::string much = pattern(24 << 20);
    std::thread echo{[&, this] { peer.write(peer.read(much.size())); }};
    ours->expires_at(from_now(long_enough));
    const auto sent = ours->write_now(bytes_of(much));
    EXPECT_FALSE(sent.why);
    EXPECT_EQ(sent.bytes, much.size());
    std::string back;
    for (io_result got = read(); !got.why; got = read()) {
        back += text(got);
        if (back.size() == much.size())
            break;
    }
    echo.join();
    EXPECT_TRUE(back == much);
}

/// Our own socket, which the stream does not show: the one that is connected to this port.
int socket_to(std::uint16_t port)
{
    for (int number = 0; number < 1024; ++number) {
        sockaddr_in to{};
        socklen_t size = sizeof to;
        const int got = ::getpeername(number, reinterpret_cast<sockaddr*>(&to), &size);
        if (got == 0 && to.sin_family == AF_INET && ntohs(to.sin_port) == port)
            return number;
    }
    return -1;
}

int option(int socket, int level, int name)
{
    int value = -1;
    socklen_t size = sizeof value;
    ::getsockopt(socket, level, name, &value, &size);
    return value;
}

TEST_F(blocking_stream, sockets_have_no_delay_and_keep_alive)
{
    const int socket = socket_to(door.port());
    EXPECT_EQ(option(socket, IPPROTO_TCP, TCP_NODELAY), 1);
    EXPECT_EQ(option(socket, SOL_SOCKET, SO_KEEPALIVE), 1);
    EXPECT_EQ(option(socket, IPPROTO_TCP, TCP_KEEPIDLE), 120);
    EXPECT_EQ(option(socket, IPPROTO_TCP, TCP_KEEPINTVL), 10);
    EXPECT_EQ(option(socket, IPPROTO_TCP, TCP_KEEPCNT), 9);
    EXPECT_EQ(::fcntl(socket, F_GETFL) & O_NONBLOCK, 0);
    EXPECT_EQ(::fcntl(socket, F_GETFD), FD_CLOEXEC);
}

}  // namespace
}  // namespace holdfast::blocking_stream_test
