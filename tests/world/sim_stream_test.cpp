#include "world/two_hosts.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

namespace holdfast::sim_stream_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

class sim_stream : public two_hosts {};

TEST_F(sim_stream, connect_takes_one_round_trip)
{
    connect();
    EXPECT_EQ(at_client_since, 2 * latency);
    EXPECT_EQ(at_server_since, 3 * latency);
    EXPECT_EQ(at_client->peer(), "10.0.0.2:27017");
    EXPECT_EQ(at_server->peer().substr(0, 9), "10.0.0.1:");
}

TEST_F(sim_stream, bytes_arrive_after_the_latency_and_in_order)
{
    connect();
    heard what;
    server.start(read_into(*at_server, what));
    EXPECT_EQ(write(*at_client, "hel").bytes, 3u);
    EXPECT_EQ(write(*at_client, "lo").bytes, 2u);
    net.run();
    EXPECT_EQ(what.text, "hel");
    EXPECT_EQ(what.at, 40ms);

    server.start(read_into(*at_server, what));
    net.run();
    EXPECT_EQ(what.text, "lo");
    EXPECT_EQ(what.at, 40ms);
}

TEST_F(sim_stream, closed_stream_delivers_its_bytes_then_eof)
{
    connect();
    write(*at_client, "last words");
    at_client = nullptr;
    heard first, second;
    net.run_for(1s);
    server.start(read_into(*at_server, first));
    net.run();
    server.start(read_into(*at_server, second));
    net.run();
    EXPECT_EQ(first.text, "last words");
    EXPECT_EQ(second.why, asio::error::eof);
}

TEST_F(sim_stream, write_to_a_closed_peer_is_reset)
{
    connect();
    at_server = nullptr;
    net.run_for(latency);
    heard end, broken;
    client.start(read_into(*at_client, end));
    net.run();
    EXPECT_EQ(end.why, asio::error::eof);

    EXPECT_EQ(write(*at_client, "are you there?").bytes, 14u);
    net.run_for(2 * latency - 1ns);
    EXPECT_EQ(write(*at_client, "really?").bytes, 7u);
    net.run_for(1ns);
    EXPECT_EQ(write(*at_client, "no.").why, connection_reset);
    client.start(wait_writable(*at_client, broken));
    net.run();
    EXPECT_EQ(broken.why, connection_reset);
}

TEST_F(sim_stream, full_window_blocks_the_writer_until_a_read)
{
    server.set_receive_buffer(10);
    connect();
    EXPECT_EQ(write(*at_client, "0123456789abcdef").bytes, 10u);
    EXPECT_EQ(write(*at_client, "abcdef").why, operation_would_block);
    heard woken, got;
    client.start(wait_writable(*at_client, woken));
    net.run_for(1min);  // a slow reader
    EXPECT_EQ(woken.at, 0ms);

    server.start(read_into(*at_server, got));
    net.run();
    EXPECT_EQ(got.text, "0123456789");
    EXPECT_EQ(woken.at, 30ms + 1min + latency);
    EXPECT_FALSE(woken.why);
    EXPECT_EQ(write(*at_client, "abcdef").bytes, 6u);
}

TEST_F(sim_stream, larger_receive_buffer_wakes_a_blocked_writer)
{
    server.set_receive_buffer(10);
    connect();
    EXPECT_EQ(write(*at_client, "0123456789").bytes, 10u);
    heard woken;
    client.start(wait_writable(*at_client, woken));
    net.run_for(1s);
    server.set_receive_buffer(1000);
    net.run();
    EXPECT_EQ(woken.at, 30ms + 1s + latency);
}

TEST_F(sim_stream, link_throughput_delays_bytes)
{
    sim::link slow = exact;
    slow.bytes_per_ms = 2;
    connect();
    net.set_link_one_way(client, server, slow);
    heard first, second;
    write(*at_client, "0123456789");  // 5 ms
    write(*at_client, "0123");        // 2 ms
    server.start(read_into(*at_server, first));
    net.run();
    server.start(read_into(*at_server, second));
    net.run();
    EXPECT_EQ(first.at, 30ms + 5ms + latency);
    EXPECT_EQ(now(), 30ms + 7ms + latency);
}

TEST_F(sim_stream, lost_bytes_arrive_late_and_in_order)
{
    connect();
    sim::link lossy = exact;
    lossy.loss = 1;
    lossy.resend = 200ms;
    net.set_link_one_way(client, server, lossy);
    write(*at_client, "first");
    net.set_link_one_way(client, server, exact);
    write(*at_client, "second");
    heard first, second;
    server.start(read_into(*at_server, first));
    net.run();
    server.start(read_into(*at_server, second));
    net.run();
    EXPECT_EQ(first.text, "first");
    EXPECT_EQ(first.at, 30ms + 15 * 200ms + latency);  // 15 times, then it gets through
    EXPECT_EQ(second.text, "second");
    EXPECT_EQ(second.at, first.at);
}

TEST_F(sim_stream, reset_breaks_both_ends)
{
    connect();
    sim::link bad = exact;
    bad.reset = 1;
    net.set_link_one_way(client, server, bad);
    heard there, here;
    server.start(read_into(*at_server, there));
    client.start(read_into(*at_client, here));
    write(*at_client, "lost");
    net.run();
    EXPECT_EQ(there.why, connection_reset);
    EXPECT_EQ(here.why, connection_reset);
    EXPECT_EQ(there.at, 40ms);
    EXPECT_EQ(here.at, 40ms);
    EXPECT_EQ(write(*at_client, "more").why, connection_reset);
}

TEST_F(sim_stream, received_bytes_are_readable_after_a_reset)
{
    connect();
    write(*at_client, "in time");
    net.run();
    net.reset_connections(server, client);
    heard first, second;
    server.start(read_into(*at_server, first));
    net.run();
    server.start(read_into(*at_server, second));
    net.run();
    EXPECT_EQ(first.text, "in time");
    EXPECT_EQ(second.why, connection_reset);
}

TEST_F(sim_stream, read_deadline_leaves_the_stream_usable)
{
    connect();
    heard late, past, again;
    at_server->expires_at(net.now() + 50ms);
    server.start(read_into(*at_server, late));
    net.run();
    EXPECT_EQ(late.why, timed_out);
    EXPECT_EQ(late.at, 80ms);
    server.start(read_into(*at_server, past));
    net.run();
    EXPECT_EQ(past.why, timed_out);
    EXPECT_EQ(past.at, 80ms);

    write(*at_client, "after all");
    net.run();
    server.start(read_into(*at_server, past));
    net.run();
    EXPECT_EQ(past.why, timed_out) << "also what has come";
    EXPECT_EQ(write(*at_server, "x").why, timed_out);
    at_server->expires_at(runtime::never);
    server.start(read_into(*at_server, again));
    net.run();
    EXPECT_EQ(again.text, "after all");
    EXPECT_EQ(net.left().alarms, 0u);
}

TEST_F(sim_stream, past_deadline_ends_pending_operations)
{
    server.set_receive_buffer(1);
    connect();
    write(*at_client, "x");
    heard reading, writing;
    client.start(read_into(*at_client, reading));
    client.start(wait_writable(*at_client, writing));
    net.run_for(1ms);
    at_client->expires_at(net.now() - 1h);
    net.run();
    EXPECT_EQ(reading.why, timed_out);
    EXPECT_EQ(writing.why, timed_out);
    EXPECT_EQ(writing.at, 31ms);
}

TEST_F(sim_stream, cancel_ends_pending_and_later_operations)
{
    connect();
    heard pending, later, writable;
    server.start(read_into(*at_server, pending));
    net.run_for(1ms);
    at_server->cancel();
    at_server->cancel();
    net.run();
    EXPECT_EQ(pending.why, operation_canceled);
    EXPECT_EQ(pending.at, 31ms);
    server.start(read_into(*at_server, later));
    server.start(wait_writable(*at_server, writable));
    net.run();
    EXPECT_EQ(later.why, operation_canceled);
    EXPECT_EQ(writable.why, operation_canceled);
    EXPECT_EQ(write(*at_server, "x").why, operation_canceled);
}

TEST_F(sim_stream, cancelled_read_leaves_the_stream_usable)
{
    connect();
    heard ended, got;
    asio::cancellation_signal stop;
    asio::co_spawn(server.world().executor(), read_into(*at_server, ended),
                   asio::bind_cancellation_slot(stop.slot(), asio::detached));
    net.run_for(1ms);
    stop.emit(asio::cancellation_type::terminal);
    net.run();
    EXPECT_EQ(ended.why, operation_canceled);
    write(*at_client, "still here");
    server.start(read_into(*at_server, got));
    net.run();
    EXPECT_EQ(got.text, "still here");
}

TEST_F(sim_stream, read_woken_and_cancelled_together_does_not_throw)
{
    connect();
    heard ended, got;
    asio::cancellation_signal stop;
    const auto cancel = [&] { stop.emit(asio::cancellation_type::terminal); };
    asio::co_spawn(server.world().executor(), read_into(*at_server, ended),
                   asio::bind_cancellation_slot(stop.slot(), asio::detached));
    net.run_for(1ms);
    write(*at_client, "news");
    server.freeze();
    net.run_for(1s);  // its kernel has the bytes and has woken the reader, who cannot run
    cancel();
    server.thaw();
    net.run();
    EXPECT_EQ(ended.text, "news");
}

TEST(sim_streams, latencies_of_connections_are_independent)
{
    sim::simulation net{7};
    sim::link wide;
    wide.latency_min = 0ms;
    wide.latency_max = 100ms;
    net.set_all_links(wide);
    sim::host& client = net.add_host("client");
    sim::host& server = net.add_host("server");
    std::string order;
    const auto take = [&](stream_ptr from) -> awaitable<void> {
        std::uint8_t byte = 0;
        const auto done = co_await from->read_some({&byte, 1});
        EXPECT_FALSE(done.why);
        order += static_cast<char>(byte);
    };
    const auto serve = [&]() -> awaitable<void> {
        auto at = server.world().listen({"", port});
        for (int n = 0; n < 8; ++n) {
            auto taken = co_await (*at)->accept();
            server.start(take(std::move(*taken)));
        }
    };
    std::vector<stream_ptr> made;
    const auto dial = [&]() -> awaitable<void> {
        runtime::destination where{"server", port};
        auto one = co_await client.world().connect(std::move(where), runtime::never);
        made.push_back(std::move(one).value());
    };
    server.start(serve());
    for (int n = 0; n < 8; ++n)
        client.start(dial());
    net.run();
    ASSERT_EQ(made.size(), 8u);
    for (std::size_t n = 0; n < made.size(); ++n)
        made[n]->write_now(as_bytes(std::string(1, static_cast<char>('0' + n))));
    net.run();
    EXPECT_EQ(order.size(), 8u);
    EXPECT_NE(order, "01234567");
}

}  // namespace
}  // namespace holdfast::sim_stream_test
