#include "holdfast/mongo/client.hpp"
#include "world/net_party.hpp"
#include "world/socket_server.hpp"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>

// An application may destroy its context first, with a client and all its work still on it.

namespace holdfast::proof {
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

}  // namespace
}  // namespace holdfast::proof
