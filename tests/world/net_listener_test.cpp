#include "world/net_party.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/this_coro.hpp>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

namespace holdfast::net_listener_test {
namespace {

using namespace std::chrono_literals;
using proof::net_party;
using runtime::awaitable;
using runtime::destination;
using runtime::errc;
namespace asio = boost::asio;
namespace fs = std::filesystem;

std::string free_path(const std::string& name)
{
    std::string path = ::testing::TempDir() + name;
    fs::remove(path);
    return path;
}

TEST(net_listener, ipv4_ipv6_and_localhost_accept_connections)
{
    net_party here;
    const auto test = [&]() -> awaitable<void> {
        const char* const hosts[] = {"127.0.0.1", "::1", "localhost"};
        for (const std::string host : hosts) {
            const destination where{host, 0};
            const auto both = co_await proof::connected(here.world, where);
            EXPECT_TRUE(both.client && both.server) << host;
        }
    };
    here.run(test());
}

TEST(net_listener, listen_error_names_address_and_cause)
{
    net_party here;
    const auto name = here.world.listen({"no-address", 1});
    ASSERT_FALSE(name.has_value());
    EXPECT_EQ(name.error().code(), errc::listen_failed);
    EXPECT_EQ(name.error().context("server"), "no-address:1");
    const auto elsewhere = here.world.listen({"192.0.2.1", 0});
    ASSERT_FALSE(elsewhere.has_value());
    EXPECT_FALSE(elsewhere.error().context("cause").empty());
    EXPECT_FALSE(here.world.listen({'/' + std::string(200, 'x'), 0}).has_value());
    EXPECT_FALSE(here.world.listen({"/nowhere/at.sock", 0}).has_value());
}

TEST(net_listener, unix_socket_is_removed_only_by_its_listener)
{
    const std::string path = free_path("net_listener_own.sock");
    net_party here;
    {
        const auto door = here.world.listen({path, 0});
        ASSERT_TRUE(door.has_value()) << door.error().explain();
        EXPECT_EQ((*door)->port(), 0);
        EXPECT_TRUE(fs::is_socket(path));
    }
    EXPECT_FALSE(fs::exists(path));
    {
        const auto door = here.world.listen({path, 0});
        ASSERT_TRUE(door.has_value());
        fs::remove(path);
        std::ofstream{path} << "a file of another program";
    }
    EXPECT_TRUE(fs::is_regular_file(path));
    EXPECT_FALSE(here.world.listen({path, 0}).has_value()) << "a file is not overwritten";
    EXPECT_TRUE(fs::is_regular_file(path));
    fs::remove(path);
}

TEST(net_listener, stale_unix_socket_is_replaced_and_a_live_one_is_not)
{
    const std::string path = free_path("net_listener_stale.sock");
    const int dead = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    ASSERT_EQ(::bind(dead, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ::close(dead);
    ASSERT_TRUE(fs::is_socket(path));

    net_party here;
    const auto door = here.world.listen({path, 0});
    ASSERT_TRUE(door.has_value()) << door.error().explain();
    const auto second = here.world.listen({path, 0});
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(second.error().context("cause"), "address already in use");
    EXPECT_TRUE(fs::is_socket(path));
}

TEST(net_listener, cancel_from_another_thread_ends_accept)
{
    net_party here;
    const auto door = here.world.listen({"127.0.0.1", 0}).value();
    std::optional<error_code> why;
    const auto taker = [&]() -> awaitable<void> {
        const auto came = co_await door->accept();
        why = came ? error_code{} : came.error().code();
    };
    here.start(taker());
    here.context.poll();
    std::thread other{[&] { door->cancel(); }};
    here.run();
    other.join();
    EXPECT_EQ(why, error_code{errc::cancelled});
}

TEST(net_listener, cancelled_accept_leaves_the_listener_usable)
{
    net_party here;
    const auto door = here.world.listen({"127.0.0.1", 0}).value();
    asio::cancellation_signal stop;
    std::optional<error_code> why;
    const auto taker = [&]() -> awaitable<void> {
        co_await asio::this_coro::throw_if_cancelled(false);
        for (int i = 0; i < 2; ++i) {  // the second time it is cancelled already
            const auto came = co_await door->accept();
            why = came ? error_code{} : came.error().code();
        }
    };
    asio::co_spawn(here.context, taker(),
                   asio::bind_cancellation_slot(stop.slot(), proof::no_exception{}));
    here.context.poll();
    stop.emit(asio::cancellation_type::terminal);
    here.run();
    EXPECT_EQ(why, error_code{errc::cancelled});

    const auto test = [&]() -> awaitable<void> {
        const destination where{"127.0.0.1", door->port()};
        const auto client = co_await here.world.connect(where, here.in(5s));
        const auto server = co_await door->accept();
        EXPECT_TRUE(client && server);
    };
    here.run(test());
}

/// Lets no more files be opened as long as it lives.
class no_more_files {
public:
    no_more_files()
    {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        const int lowest = ::dup(0);
        ::close(lowest);
        rlimit now = before_;
        now.rlim_cur = static_cast<rlim_t>(lowest);
        ::setrlimit(RLIMIT_NOFILE, &now);
    }
    no_more_files(const no_more_files&) = delete;
    no_more_files& operator=(const no_more_files&) = delete;
    ~no_more_files() { ::setrlimit(RLIMIT_NOFILE, &before_); }

private:
    rlimit before_{};
};

TEST(net_listener, accept_recovers_from_running_out_of_descriptors)
{
    net_party here;
    const auto door = here.world.listen({"127.0.0.1", 0}).value();
    bool accepted = false;
    std::optional<no_more_files> shortage;
    const auto server = [&]() -> awaitable<void> {
        const auto came = co_await door->accept();
        EXPECT_TRUE(came.has_value());
        accepted = true;
    };
    const auto client = [&]() -> awaitable<void> {
        const destination where{"127.0.0.1", door->port()};
        const auto made = co_await here.world.connect(where, here.in(5s));
        EXPECT_TRUE(made.has_value());
        shortage.emplace();
        here.start(server());
        co_await runtime::sleep_until(here.world, here.in(50ms));
        EXPECT_FALSE(accepted);
        shortage.reset();
        const time_point timeout = here.in(5s);
        while (!accepted && here.world.steady_now() < timeout)
            co_await runtime::sleep_until(here.world, here.in(1ms));
    };
    here.run(client());
    EXPECT_TRUE(accepted);
}

}  // namespace
}  // namespace holdfast::net_listener_test
