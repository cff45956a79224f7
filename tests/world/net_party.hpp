#pragma once
#include "net/world.hpp"
#include "runtime/wait.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::proof {

/// After that a test has failed.
inline constexpr std::chrono::seconds net_timeout{20};

/// For co_spawn: an exception that came out is a failure.
struct no_exception {
    void operator()(const std::exception_ptr& thrown) const
    {
        EXPECT_FALSE(thrown) << "an exception came out of a coroutine";
    }
};

/// A world of sockets on a context of its own, for one thread.
class net_party {
public:
    explicit net_party(net::world_settings settings = {})
        : world{context.get_executor(), std::move(settings)}
    {
    }

    void start(runtime::awaitable<void> what)
    {
        boost::asio::co_spawn(context, std::move(what), no_exception{});
    }
    /// Runs all to its end, which must come.
    void run()
    {
        context.restart();
        context.run_for(net_timeout);
        EXPECT_TRUE(context.stopped()) << "something is still pending";
    }
    void run(runtime::awaitable<void> what)
    {
        start(std::move(what));
        run();
    }
    time_point in(duration from_now) const { return world.steady_now() + from_now; }

    boost::asio::io_context context;
    net::async_world world;
};

/// How many files and sockets this process has open.
std::size_t open_descriptors();

struct stream_pair {
    runtime::stream_ptr client;
    runtime::stream_ptr server;
};

/// Two ends of one connection. Empty if that failed, which is reported.
runtime::awaitable<stream_pair> connected(runtime::world& in, runtime::destination where);
runtime::awaitable<stream_pair> connected(runtime::world& in);  // by TCP on loopback

std::span<const std::uint8_t> as_bytes(std::string_view text);

struct text_or_error {
    std::string text;
    error_code why;
};

runtime::awaitable<text_or_error> read_once(runtime::stream& from);

}  // namespace holdfast::proof
