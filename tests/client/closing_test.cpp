#include "client/reading.hpp"
#include "client/traffic.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

namespace holdfast::proof::closing_test {
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

/// Events but those of commands, which belong to their operations.
std::size_t queued_events(const recorder& heard_by)
{
    return heard_by.all().size() - heard_by.count(heard::command_started) -
           heard_by.count(heard::command_succeeded) - heard_by.count(heard::command_failed);
}

TEST(client_close, listener_gets_no_event_after_the_last_handle_is_gone)
{
    scene s{{.hosts = {"a", "b"}}};
    s.server("a").on_command("insert", in_turn({keep_silent()}));
    s.connect();
    s.settle();
    const operation& running = s.start_write(1);
    s.simulation.run_for(10ms);  // with a check of each server and a write under way
    s.client.reset();
    EXPECT_EQ(s.events().count(heard::topology_closed), 1U);
    const std::size_t before = queued_events(s.events());
    s.simulation.run_for(30s);
    EXPECT_TRUE(running.outcome.has_value());
    EXPECT_EQ(queued_events(s.events()), before);
}

TEST(client_close, listener_gets_no_event_after_close)
{
    scene s{{.hosts = {"a", "b"}}};
    s.server("a").on_command("insert", in_turn({keep_silent()}));
    s.connect();
    s.settle();
    s.start_write(1);
    s.simulation.run_for(10ms);
    std::size_t before = 0;
    asio::co_spawn(s.client->executor(), s.client->close(),
                   [&](const std::exception_ptr&) { before = queued_events(s.events()); });
    s.simulation.run_for(30s);
    EXPECT_GT(before, 0U);
    EXPECT_EQ(queued_events(s.events()), before);
    EXPECT_EQ(s.events().count(heard::connection_closed),
              s.events().count(heard::connection_created));
}

/// A client with one write under way, which the server answers after 200 ms.
struct closing_scene {
    scene s{{.hosts = {"a"}}};
    bool closed = false;
    time_point closed_at{};

    closing_scene()
    {
        scripted_reply late = good_write();
        late.delay = 200ms;
        s.connect();
        s.settle();
        s.server("a").on_command("insert", in_turn({late}));
    }
    void close(mongo::close_options options)
    {
        asio::co_spawn(s.client->executor(), s.client->close(options),
                       [this](const std::exception_ptr&) {
                           closed = true;
                           closed_at = s.simulation.now();
                       });
    }
};

TEST(client_close, drain_waits_for_operations_under_way_and_refuses_new_ones)
{
    closing_scene c;
    const operation& running = c.s.start_write(1);
    c.s.simulation.run_for(10ms);
    c.close({.drain = 5s});
    c.s.simulation.run_for(10ms);
    const operation& refused = c.s.start_write(2);
    ASSERT_TRUE(c.s.finish_all());
    EXPECT_TRUE(running.good()) << running.explain();
    ASSERT_FALSE(refused.good());
    EXPECT_EQ(refused.outcome->error().message(), "the client is closed");
    EXPECT_LT(refused.took(), 1ms);
    c.s.simulation.run_for(1s);
    EXPECT_TRUE(c.closed);
    EXPECT_LT(c.closed_at - running.ended, 100ms) << "it does not wait any longer";
    expect_clean(c.s);
}

TEST(client_close, drain_ends_with_its_limit)
{
    closing_scene c;
    const operation& running = c.s.start_write(1);
    c.s.simulation.run_for(10ms);
    c.close({.drain = 50ms});
    ASSERT_TRUE(c.s.finish_all());
    ASSERT_FALSE(running.good());
    EXPECT_LT(running.took(), 150ms) << running.explain();
    c.s.simulation.run_for(1s);
    EXPECT_TRUE(c.closed);
    expect_clean(c.s);
}

/// A client that drains while a cursor has read its first batch.
struct draining_reader {
    reading r;
    mongo::cursor cursor;
    bool closed = false;

    explicit draining_reader(mongo::find_options options = {})
        : r{first(42, R"([{"_id": 1}])"),
            {more(42, R"([{"_id": 2}])"), more(0, R"([{"_id": 3}])")}},
          cursor{r.find(options)}
    {
        EXPECT_EQ(r.next(cursor), 1);
        asio::co_spawn(r.s.client->executor(), r.s.client->close({.drain = 5s}),
                       [this](const std::exception_ptr&) { closed = true; });
        r.s.simulation.run_for(10ms);
        EXPECT_FALSE(closed) << "the cursor has not been read to its end";
    }
};

TEST(client_close, drain_waits_for_a_cursor_that_is_read_to_its_end)
{
    draining_reader d;
    EXPECT_EQ(d.r.next(d.cursor), 2);
    d.r.s.simulation.run_for(10ms);
    EXPECT_FALSE(d.closed);
    EXPECT_EQ(d.r.next(d.cursor), 3);
    d.r.s.simulation.run_for(10ms);
    EXPECT_TRUE(d.closed);
    EXPECT_EQ(d.r.next(d.cursor), 0);
    expect_clean(d.r.s);
}

TEST(client_close, drain_ends_cursors_at_their_limit)
{
    draining_reader d{{.limit = 2}};
    EXPECT_EQ(d.r.next(d.cursor), 2);
    EXPECT_EQ(d.r.next(d.cursor), 0);
    EXPECT_EQ(d.r.server.count("getMore"), 1U);
    expect_clean(d.r.s);
}

TEST(client_close, second_drain_waits_as_well)
{
    draining_reader d;
    bool closed_again = false;
    asio::co_spawn(d.r.s.client->executor(), d.r.s.client->close({.drain = 5s}),
                   [&](const std::exception_ptr&) { closed_again = true; });
    d.r.s.simulation.run_for(10ms);
    EXPECT_FALSE(closed_again);
    EXPECT_EQ(d.r.next(d.cursor), 2);
    EXPECT_EQ(d.r.next(d.cursor), 3);
    d.r.s.simulation.run_for(10ms);
    EXPECT_TRUE(d.closed && closed_again);
    expect_clean(d.r.s);
}

TEST(client_close, close_without_drain_cancels_operations_under_way)
{
    closing_scene c;
    const operation& running = c.s.start_write(1);
    c.s.simulation.run_for(10ms);
    c.close({});
    ASSERT_TRUE(c.s.finish_all());
    ASSERT_FALSE(running.good());
    EXPECT_LT(running.took(), 100ms) << running.explain();
    expect_clean(c.s);
}

}  // namespace
}  // namespace holdfast::proof::closing_test
