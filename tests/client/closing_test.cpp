#include "client/traffic.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

namespace holdfast::proof {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

TEST(client_close, close_started_after_the_client_is_destroyed_completes)
{
    scene s{{.hosts = {"a"}}};
    s.simulation.run_for(1ms);  // the server begins to listen
    const auto before = s.simulation.left();
    s.connect();
    ASSERT_TRUE(s.write().good());
    const auto on = s.client->executor();
    auto closing = s.client->close();
    auto readying = s.client->ready();
    s.client.reset();
    asio::co_spawn(on, std::move(readying), asio::detached);
    asio::co_spawn(on, std::move(closing), asio::detached);
    s.simulation.run_for(30s);
    EXPECT_EQ(s.events().count(heard::topology_closed), 1U);
    EXPECT_EQ(s.simulation.left(), before);
}

/// A caller that does not wait for the end has still asked for it.
TEST(client_close, cancelled_close_leaves_no_streams_or_alarms)
{
    for (const duration timeout : {0us, 500us, 1000us, 1500us, 2500us}) {
        scene s{{.hosts = {"a"}}};
        s.simulation.run_for(1ms);
        const auto before = s.simulation.left();
        s.server("a").on_command("endSessions", in_turn({keep_silent()}));
        s.connect();
        ASSERT_TRUE(s.write().good());
        const auto on = s.client->executor();
        asio::cancellation_signal enough;
        asio::co_spawn(on, s.client->close(),
                       asio::bind_cancellation_slot(enough.slot(), asio::detached));
        s.simulation.run_for(timeout);
        asio::post(on, [&] { enough.emit(asio::cancellation_type::terminal); });
        s.simulation.run_for(100us);
        s.client.reset();
        s.simulation.run_for(30s);
        EXPECT_EQ(s.events().count(heard::topology_closed), 1U) << timeout.count();
        EXPECT_EQ(s.simulation.left(), before) << timeout.count();
    }
}

}  // namespace
}  // namespace holdfast::proof
