#include "holdfast/mongo/client.hpp"
#include "world/net_party.hpp"
#include "world/socket_server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <string>

// An application may destroy its context first, with a client and all its work still on it.

namespace holdfast::proof::client_lifetime_test {
namespace {

namespace asio = boost::asio;
using clock = std::chrono::steady_clock;
using reply = result<bson::document>;

struct deserted {
    socket_server server;
    std::optional<asio::io_context> loop{std::in_place};
    std::optional<mongo::client> client{std::in_place, loop->get_executor(),
                                        server.uri("&minPoolSize=2")};

    deserted()
    {
        server.ask([](scripted_server& script) {
            script.on_command("slow", [](const scripted_command&) { return keep_silent(); });
        });
    }
    bool runs_until(const std::function<bool()>& done)
    {
        const auto limit = clock::now() + net_timeout;
        while (!done() && clock::now() < limit)
            loop->run_one_for(std::chrono::milliseconds{10});
        return done();
    }
    /// No connection of the client is left at the server: nothing was leaked.
    bool is_left_alone()
    {
        const auto limit = clock::now() + net_timeout;
        while (server.open_connections() != 0 && clock::now() < limit)
            std::this_thread::yield();
        return server.open_connections() == 0;
    }
};

TEST(client_lifetime, io_context_destroyed_during_an_operation_leaves_nothing)
{
    deserted s;
    bool answered = false;
    bool ready = false;
    s.client->run_command("sea", bson::doc("ping", 1), {},
                          [&](const reply& r) { ready = r.has_value(); });
    ASSERT_TRUE(s.runs_until([&] { return ready; }));
    s.client->run_command("sea", bson::doc("slow", 1), {}, [&](const reply&) { answered = true; });
    ASSERT_TRUE(s.runs_until([&] { return s.server.count("slow") == 1; }));
    s.loop.reset();
    EXPECT_TRUE(s.is_left_alone());
    const mongo::client copy = *s.client;
    s.client.reset();
    EXPECT_FALSE(answered) << "a handler was called although its context never ran";
}

TEST(client_lifetime, io_context_destroyed_before_run_leaves_nothing)
{
    deserted s;
    bool answered = false;
    s.client->run_command("sea", bson::doc("ping", 1), {}, [&](const reply&) { answered = true; });
    s.loop.reset();
    s.client.reset();
    EXPECT_FALSE(answered);
    EXPECT_TRUE(s.is_left_alone());
}

TEST(client_lifetime, client_destroyed_first_lets_operations_complete)
{
    deserted s;
    std::optional<reply> got;
    s.client->run_command("sea", bson::doc("ping", 1), {}, [&](reply r) { got = std::move(r); });
    s.client.reset();
    ASSERT_TRUE(s.runs_until([&] { return got.has_value(); }));
    EXPECT_TRUE(got->has_value()) << got->error().explain();
    s.loop->restart();
    EXPECT_TRUE(s.runs_until([&] { return s.server.open_connections() == 0; }));
}

// Nothing of a closed client keeps a loop running: io_context::run() returns at once.

constexpr std::chrono::milliseconds at_once{20};

/// A client that has worked for a while: monitors between two heartbeats, a full pool, operations
/// that come to their end, and some that get no reply.
struct busy_client : deserted {
    int answers = 0;
    clock::time_point last_answer{};

    explicit busy_client(const std::string& more)
    {
        client.emplace(loop->get_executor(),
                       server.uri("&minPoolSize=2&maxIdleTimeMS=60000" + more));
        const auto until = clock::now() + std::chrono::milliseconds{300};
        while (clock::now() < until) {
            start("ping");
            const int before = answers;
            if (!runs_until([&] { return answers > before; }))
                return;
        }
        start("slow");
        start("slow");
        EXPECT_TRUE(runs_until([&] { return server.count("slow") == 2; }));
    }
    void start(const char* command)
    {
        client->run_command("sea", bson::doc(command, 1), {}, [this](const reply&) {
            ++answers;
            last_answer = clock::now();
        });
    }
    /// How long the loop goes on after `since`, or the last answer if that is later.
    clock::duration time_to_end(const clock::time_point& since)
    {
        loop->restart();
        loop->run_for(net_timeout);
        EXPECT_TRUE(loop->stopped()) << "the loop never ended";
        return clock::now() - std::max(since, last_answer);
    }
};

/// The shortest of a few times. What else the machine does can only add to them; a timer that is
/// left behind is in all.
template <class Measure>
clock::duration shortest_of(const Measure& measure)
{
    clock::duration shortest = clock::duration::max();
    for (int n = 0; n != 5 && shortest >= at_once; ++n)
        shortest = std::min(shortest, measure());
    return shortest;
}

TEST(client_lifetime, loop_of_a_closed_client_ends_with_its_last_operation)
{
    for (const char* const more : {"", "&serverMonitoringMode=poll", "&timeoutMS=10000"}) {
        const auto after_close = [more] {
            busy_client s{more};
            clock::time_point closed;
            asio::co_spawn(*s.loop, s.client->close(),
                           [&](const std::exception_ptr&) { closed = clock::now(); });
            const clock::duration took = s.time_to_end(closed);
            EXPECT_NE(closed, clock::time_point{});
            return took;
        };
        EXPECT_LT(shortest_of(after_close), at_once) << more;
    }
}

TEST(client_lifetime, loop_of_a_destroyed_client_ends_with_its_last_operation)
{
    for (const char* const more : {"", "&serverMonitoringMode=poll", "&timeoutMS=500"}) {
        const auto after_destruction = [more] {
            busy_client s{more};
            s.server.ask([](scripted_server& script) { script.drop_connections(); });
            s.client.reset();
            return s.time_to_end(clock::now());
        };
        EXPECT_LT(shortest_of(after_destruction), at_once) << more;
    }
}

}  // namespace
}  // namespace holdfast::proof::client_lifetime_test
