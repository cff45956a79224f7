#include "net/blocking/connect.hpp"
#include "net/blocking/world.hpp"
#include "support/dns_stub.hpp"
#include "world/loopback.hpp"
#include "world/raw_peer.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::blocking_connect_test {
namespace {

using namespace std::chrono_literals;
using net::blocking_world;
using runtime::destination;
using runtime::stream_ptr;

constexpr auto long_enough = 10s;

std::uint16_t free_port()
{
    return proof::raw_door{}.port();
}

std::string temporary_path(const char* name)
{
    const auto file = std::to_string(::getpid()) + name;
    return (std::filesystem::temp_directory_path() / file).string();
}

std::size_t open_files()
{
    const std::filesystem::directory_iterator files{"/proc/self/fd"};
    return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

class blocking_connect : public ::testing::Test {
protected:
    time_point from_now(duration time) const { return world.steady_now() + time; }
    result<stream_ptr> connect(const destination& where, duration within)
    {
        return world.run(world.connect(where, from_now(within)));
    }
    result<stream_ptr> race(const std::vector<std::string>& addresses, std::uint16_t port,
                            duration head_start, duration within)
    {
        std::vector<net::stream_endpoint> endpoints;
        for (const auto& one : net::parse_addresses(addresses))
            endpoints.push_back(net::tcp_endpoint(one, port));
        return net::connect_blocking({"db1", port}, endpoints, head_start, from_now(within), end);
    }

    blocking_world world;
    net::wake_up end;
};

TEST_F(blocking_connect, refused_connect_names_server_phase_and_cause)
{
    const std::uint16_t port = free_port();
    const auto made = connect({"127.0.0.1", port}, long_enough);
    ASSERT_FALSE(made);
    const std::string server = "127.0.0.1:" + std::to_string(port);
    EXPECT_EQ(made.error().code(), runtime::errc::connect_failed);
    EXPECT_EQ(made.error().message(), "cannot connect to " + server + ": connection refused");
    EXPECT_EQ(made.error().context("server"), server);
    EXPECT_EQ(made.error().context("phase"), "connect");
    EXPECT_EQ(made.error().context("cause"), "connection refused");
}

TEST_F(blocking_connect, unanswered_connect_ends_at_the_deadline)
{
    const proof::full_backlog silent;
    const auto begin = world.steady_now();
    const auto made = connect({"127.0.0.1", silent.port()}, 60ms);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code(), runtime::errc::connect_timed_out);
    EXPECT_EQ(made.error().context("phase"), "connect");
    EXPECT_GE(world.steady_now(), begin + 60ms);
    EXPECT_LT(world.steady_now(), begin + 60ms + 500ms);
}

TEST_F(blocking_connect, expired_deadline_is_connect_timed_out)
{
    const proof::raw_door door;
    const auto made = connect({"127.0.0.1", door.port()}, -1s);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code(), runtime::errc::connect_timed_out);
}

TEST_F(blocking_connect, cancel_from_another_thread_ends_connect)
{
    const proof::full_backlog silent;
    std::thread other{[this, me = proof::this_thread()] {
        proof::wait_until_asleep(me);
        world.cancel();
    }};
    const destination where{"127.0.0.1", silent.port()};
    const auto made = connect(where, long_enough);
    other.join();
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code(), runtime::errc::cancelled);
    EXPECT_EQ(connect(where, long_enough).error().code(), runtime::errc::cancelled) << "for good";
}

TEST_F(blocking_connect, next_address_starts_when_the_first_fails)
{
    const proof::raw_door door;  // at 127.0.0.1 alone
    const auto begin = world.steady_now();
    const auto made = race({"127.0.0.9", "127.0.0.1"}, door.port(), 1h, long_enough);
    ASSERT_TRUE(made) << made.error().explain();
    EXPECT_EQ((*made)->peer(), "127.0.0.1:" + std::to_string(door.port()));
    EXPECT_LT(world.steady_now(), begin + long_enough);
}

TEST_F(blocking_connect, next_address_starts_after_the_head_start)
{
    const proof::full_backlog silent;  // at 127.0.0.1
    const proof::raw_door door{"127.0.0.2", silent.port()};
    const auto begin = world.steady_now();
    const auto made = race({"127.0.0.1", "127.0.0.2"}, door.port(), 30ms, long_enough);
    ASSERT_TRUE(made) << made.error().explain();
    EXPECT_EQ((*made)->peer(), "127.0.0.2:" + std::to_string(door.port()));
    EXPECT_GE(world.steady_now(), begin + 30ms);
    EXPECT_LT(world.steady_now(), begin + long_enough);
}

TEST_F(blocking_connect, first_address_to_connect_wins)
{
    const proof::raw_door one;
    const proof::raw_door two{"127.0.0.2", one.port()};
    const auto made = race({"127.0.0.1", "127.0.0.2"}, one.port(), 1h, long_enough);
    ASSERT_TRUE(made) << made.error().explain();
    EXPECT_EQ((*made)->peer(), "127.0.0.1:" + std::to_string(one.port()));
}

TEST_F(blocking_connect, deadline_covers_all_addresses_together)
{
    const proof::full_backlog silent;
    const std::vector<std::string> same(5, "127.0.0.1");
    const auto begin = world.steady_now();
    const std::size_t files = open_files();
    const auto made = race(same, silent.port(), 10ms, 80ms);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code(), runtime::errc::connect_timed_out);
    EXPECT_GE(world.steady_now(), begin + 80ms);
    EXPECT_LT(world.steady_now(), begin + 80ms + 500ms);
    EXPECT_EQ(open_files(), files);
}

TEST_F(blocking_connect, error_names_all_addresses_if_all_fail)
{
    const std::uint16_t port = free_port();
    const std::string number = std::to_string(port);
    const auto made = race({"127.0.0.2", "127.0.0.1"}, port, 1h, long_enough);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code(), runtime::errc::connect_failed);
    EXPECT_EQ(made.error().message(), "cannot connect to db1:" + number +
                                          ": connection refused (tried 127.0.0.2:" + number +
                                          ", 127.0.0.1:" + number + ")");
}

TEST_F(blocking_connect, unknown_name_fails_in_the_resolve_phase)
{
    const proof::dns_stub names;  // knows none
    net::world_settings settings;
    settings.dns.servers.push_back(names.address());
    blocking_world here{settings};
    const destination where{"nowhere.example", 27017};
    const auto made = here.run(here.connect(where, here.steady_now() + long_enough));
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code(), runtime::errc::name_not_found);
    EXPECT_EQ(made.error().context("phase"), "resolve");
    EXPECT_EQ(made.error().context("server"), "nowhere.example:27017");
    EXPECT_EQ(
        made.error().message(),
        "cannot connect to nowhere.example:27017: cannot look up nowhere.example: no such host");
    EXPECT_EQ(made.error().context("cause"), "no such host");
}

TEST_F(blocking_connect, every_address_of_a_name_is_tried)
{
    proof::dns_stub names;
    names.add_address("db.example", "127.0.0.9");
    names.add_address("db.example", "127.0.0.1");
    names.add_address("db.example", "::1");
    net::world_settings settings;
    settings.dns.servers.push_back(names.address());
    blocking_world here{settings};
    const proof::raw_door door;
    const destination where{"db.example", door.port()};
    const auto made = here.run(here.connect(where, here.steady_now() + long_enough));
    ASSERT_TRUE(made) << made.error().explain();
    EXPECT_EQ((*made)->peer(), "127.0.0.1:" + std::to_string(door.port()));
}

TEST_F(blocking_connect, silent_name_server_ends_at_the_deadline)
{
    proof::dns_stub names;
    names.behave(proof::dns_stub::manner::is_silent);
    net::world_settings settings;
    settings.dns.servers.push_back(names.address());
    blocking_world here{settings};
    const auto begin = here.steady_now();
    const destination where{"db.example", 27017};
    const auto made = here.run(here.connect(where, begin + 50ms));
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code(), runtime::errc::connect_timed_out);
    EXPECT_EQ(made.error().context("phase"), "resolve");
    EXPECT_GE(here.steady_now(), begin + 50ms);
    EXPECT_LT(here.steady_now(), begin + 50ms + 500ms);
}

TEST_F(blocking_connect, localhost_is_resolved)
{
    const proof::raw_door door;
    const auto made = connect({"localhost", door.port()}, long_enough);
    ASSERT_TRUE(made) << made.error().explain();
    EXPECT_EQ((*made)->peer(), "127.0.0.1:" + std::to_string(door.port()));
}

TEST_F(blocking_connect, missing_unix_socket_fails)
{
    const std::string path = temporary_path(".none");
    const auto made = connect({path, 0}, long_enough);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code(), runtime::errc::connect_failed);
    EXPECT_EQ(made.error().message(), "cannot connect to " + path + ": no such file or directory");
    const auto too_long = connect({"/" + std::string(200, 'x'), 0}, long_enough);
    ASSERT_FALSE(too_long);
    EXPECT_EQ(too_long.error().code(), runtime::errc::connect_failed);
}

/// A Unix socket whose queue can be filled.
class small_door {
public:
    explicit small_door(std::string path) : path_{std::move(path)}
    {
        sockaddr_un at{};
        at.sun_family = AF_UNIX;
        path_.copy(at.sun_path, sizeof at.sun_path - 1);
        const bool bound = ::bind(socket_, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0;
        EXPECT_TRUE(bound && ::listen(socket_, 0) == 0) << std::strerror(errno);
    }
    ~small_door()
    {
        ::close(socket_);
        ::unlink(path_.c_str());
    }
    proof::raw_peer accept() const { return proof::raw_peer{::accept(socket_, nullptr, nullptr)}; }

private:
    std::string path_;
    int socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
};

TEST_F(blocking_connect, full_backlog_of_a_unix_socket_is_waited_for)
{
    const std::string path = temporary_path(".full");
    const small_door door{path};
    std::vector<stream_ptr> queued;
    for (;;) {
        auto made = connect({path, 0}, 30ms);
        if (!made) {
            EXPECT_EQ(made.error().code(), runtime::errc::connect_timed_out);
            break;
        }
        queued.push_back(*std::move(made));
        ASSERT_LT(queued.size(), 10U);
    }
    std::thread other{[&, me = proof::this_thread()] {
        proof::wait_until_asleep(me);
        door.accept();
    }};
    auto made = connect({path, 0}, long_enough);
    other.join();
    ASSERT_TRUE(made) << made.error().explain();
    EXPECT_EQ((*made)->peer(), path);
}

}  // namespace
}  // namespace holdfast::blocking_connect_test
