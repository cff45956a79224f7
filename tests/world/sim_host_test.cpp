#include "world/two_hosts.hpp"

#include <stdexcept>

namespace holdfast::sim_host_test {
namespace {

using namespace std::chrono_literals;

class sim_host : public two_hosts {
protected:
    awaitable<void> sleep(sim::host& on, duration length, duration& woken)
    {
        co_await runtime::sleep_until(on.world(), net.now() + length);
        woken = now();
    }
};

TEST_F(sim_host, crash_resets_peer_connections)
{
    connect();
    heard what;
    client.start(read_into(*at_client, what));
    net.run_for(1ms);
    server.crash();
    EXPECT_FALSE(server.running());
    net.run();
    EXPECT_EQ(what.why, connection_reset);
    EXPECT_EQ(what.at, 31ms + latency);
    client.start(dial(runtime::never));
    net.run();
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->context("cause"), "Connection refused") << "its kernel goes on";
}

TEST_F(sim_host, silent_crash_leaves_half_open_peers)
{
    connect();
    heard what;
    client.start(read_into(*at_client, what));
    net.run_for(1ms);
    server.crash(true);
    EXPECT_EQ(write(*at_client, "hello?").bytes, 6u);
    net.run_for(1h);
    EXPECT_EQ(what.at, 0ms) << "half open, for ever";

    const duration restarted = now();
    server.restart({});
    net.run();
    EXPECT_EQ(what.why, connection_reset) << "it does not know the connection";
    EXPECT_EQ(what.at, restarted + exact.resend + 2 * latency);
}

TEST_F(sim_host, restarted_host_answers_old_connections_with_reset)
{
    connect();
    server.crash(true);
    server.restart({});
    heard what;
    client.start(read_into(*at_client, what));
    net.run_for(1h);
    EXPECT_EQ(what.at, 0ms) << "nothing was written";
    EXPECT_EQ(write(*at_client, "hello?").bytes, 6u);
    net.run();
    EXPECT_EQ(what.why, connection_reset);
    EXPECT_EQ(what.at, 30ms + 1h + 2 * latency);
}

TEST_F(sim_host, reset_lost_in_a_partition_leaves_a_half_open_peer)
{
    connect();
    net.partition(client, server);
    server.crash();
    heard what;
    client.start(read_into(*at_client, what));
    net.run_for(1s);
    net.heal(client, server);
    net.run_for(1h);
    EXPECT_EQ(what.at, 0ms);
    write(*at_client, "hello?");
    net.run();
    EXPECT_EQ(what.why, connection_reset);
}

TEST_F(sim_host, silent_crash_delivers_only_bytes_in_transit)
{
    connect();
    heard first, second;
    write(*at_server, "on its way");
    client.start(read_into(*at_client, first));
    server.crash(true);
    net.run();
    EXPECT_EQ(first.text, "on its way");

    at_client = nullptr;
    at_server = nullptr;
    server.restart({});
    connect();
    net.partition(client, server);
    write(*at_server, "swallowed");
    client.start(read_into(*at_client, second));
    net.run_for(1s);
    server.crash(true);
    net.heal(client, server);
    server.restart({});
    net.run();
    EXPECT_EQ(second.text, "");
    EXPECT_EQ(second.at, 0ms);
}

TEST_F(sim_host, closed_stream_delivers_its_bytes_after_a_crash)
{
    for (const bool silent : {false, true}) {
        SCOPED_TRACE(silent);
        connect();
        net.partition(client, server);
        write(*at_server, "the last");
        at_server = nullptr;  // closed before the crash: a matter of the kernel alone
        net.run_for(1s);
        server.crash(silent);
        server.restart({});
        net.heal(client, server);
        heard what;
        client.start(read_into(*at_client, what));
        net.run_for(1s);
        EXPECT_EQ(what.text, silent ? "" : "the last");
        at_client->cancel();
        net.run();
        at_client = nullptr;
    }
}

TEST_F(sim_host, crashed_host_does_not_resend_lost_bytes)
{
    connect();
    sim::link lossy = exact;
    lossy.loss = 1;
    net.set_link_one_way(server, client, lossy);
    write(*at_server, "lost once");
    net.set_link_one_way(server, client, exact);
    write(*at_server, "in time, but second");
    heard what;
    client.start(read_into(*at_client, what));
    server.crash(true);
    net.run_for(1h);
    EXPECT_EQ(what.at, 0ms);
}

TEST_F(sim_host, reset_is_delivered_once)
{
    const duration cut_at[] = {0ms, 5ms};
    for (const duration at : cut_at) {
        SCOPED_TRACE(at.count());
        connect();
        heard what;
        client.start(read_into(*at_client, what));
        net.at_time(net.now() + at, [&] { net.partition(client, server); });
        net.at_time(net.now() + 1ms, [&] { server.crash(); });
        if (at == 0ms)  // sent into the cut: gone, even if it heals meanwhile
            net.at_time(net.now() + 2ms, [&] { net.heal(client, server); });
        net.run_for(1h);
        EXPECT_EQ(what.at, 0ms);
        net.heal(client, server);
        at_client->cancel();
        net.run();
        at_client = nullptr;
        at_server = nullptr;
        server.restart({});
    }
}

TEST_F(sim_host, crash_during_connect_resets_the_connection)
{
    server.start(take_one());
    client.start(dial(net.now() + 5s));
    net.run_for(latency + 1ms);
    server.crash();
    net.run();
    EXPECT_TRUE(at_client) << "the answer was on its way already";
    heard what;
    client.start(read_into(*at_client, what));
    net.run();
    EXPECT_EQ(what.why, connection_reset);
}

TEST_F(sim_host, silently_crashed_host_times_out_connects)
{
    server.crash(true);
    client.start(dial(net.now() + 5s));
    net.run();
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->code(), runtime::errc::connect_timed_out);
    EXPECT_EQ(at_client_since, 5s);
}

TEST_F(sim_host, pending_connect_succeeds_after_restart)
{
    server.crash(true);
    client.start(dial(net.now() + 5s));
    const auto boot = [&](sim::host&) { server.start(take_one()); };
    net.at_time(net.now() + 1s, [&] { server.restart(boot); });
    net.run();
    ASSERT_TRUE(at_client);
    EXPECT_EQ(at_client_since, 1s + exact.resend + 2 * latency);
    EXPECT_TRUE(at_server);
}

TEST_F(sim_host, restart_creates_a_new_world)
{
    runtime::world* const before = &server.world();
    server.crash();
    EXPECT_THROW(server.start(take_one()), std::logic_error);
    EXPECT_FALSE(before->listen({"", port}));
    bool booted = false;
    server.restart([&](sim::host& self) { booted = &self == &server; });
    EXPECT_TRUE(booted);
    EXPECT_TRUE(server.running());
    EXPECT_NE(before, &server.world());
    EXPECT_THROW(server.restart({}), std::logic_error);
}

TEST_F(sim_host, frozen_host_runs_nothing_and_still_buffers_bytes)
{
    server.set_receive_buffer(8);
    connect();
    duration woken{};
    heard got;
    server.start(sleep(server, 100ms, woken));
    server.start(read_into(*at_server, got));
    net.run_for(1ms);
    server.freeze();
    EXPECT_EQ(write(*at_client, "0123456789").bytes, 8u);
    net.run();
    EXPECT_EQ(got.text, "");
    EXPECT_EQ(write(*at_client, "89").why, operation_would_block);
    net.run_for(10s);
    EXPECT_EQ(woken, 0ms);

    server.thaw();
    const duration thawed = now();
    net.run();
    EXPECT_EQ(got.text, "01234567");
    EXPECT_EQ(got.at, thawed);
    EXPECT_EQ(woken, thawed) << "its alarm rang late";
    EXPECT_EQ(write(*at_client, "89").bytes, 2u);
}

TEST_F(sim_host, thawed_host_reads_bytes_before_its_deadline)
{
    connect();
    heard got;
    at_server->expires_at(net.now() + 100ms);
    server.start(read_into(*at_server, got));
    net.run_for(1ms);
    server.freeze();
    net.at_time(net.now() + 500ms, [&] { write(*at_client, "first"); });
    net.run_for(1s);
    server.thaw();
    net.run();
    EXPECT_EQ(got.text, "first");
}

TEST_F(sim_host, restart_thaws_the_host)
{
    server.freeze();
    server.crash();
    server.freeze();
    duration woken{};
    server.restart([&](sim::host& self) { self.start(sleep(self, 1s, woken)); });
    net.run();
    EXPECT_EQ(woken, 1s);
}

TEST_F(sim_host, frozen_host_still_completes_connects)
{
    server.start(take_one());
    net.run();
    server.freeze();
    client.start(dial(net.now() + 5s));
    net.run();
    EXPECT_TRUE(at_client);
    EXPECT_FALSE(at_server);
    server.thaw();
    net.run();
    EXPECT_TRUE(at_server);
}

TEST_F(sim_host, wall_clock_jump_affects_one_host_only)
{
    using std::chrono::system_clock;
    EXPECT_EQ(system_clock::to_time_t(client.world().wall_now()), 1'767'225'600);
    EXPECT_EQ(client.world().wall_now(), server.world().wall_now());
    EXPECT_GT(client.world().steady_now() - 24h * 30, time_point{});
    server.jump_wall_clock(-1h);
    net.run_for(1min);
    EXPECT_EQ(client.world().wall_now() - server.world().wall_now(), 1h);
    EXPECT_EQ(client.world().steady_now(), server.world().steady_now());
    EXPECT_EQ(client.world().steady_now(), net.now());
    server.crash();
    server.restart({});
    EXPECT_EQ(client.world().wall_now() - server.world().wall_now(), 1h);
}

TEST_F(sim_host, escaping_exception_is_thrown_by_run)
{
    const auto fails = [&]() -> awaitable<void> {
        co_await runtime::sleep_until(client.world(), net.now() + 1s);
        throw std::runtime_error{"oh"};
    };
    client.start(fails());
    EXPECT_THROW(net.run(), std::runtime_error);
    EXPECT_EQ(now(), 1s);
    EXPECT_EQ(net.left(), sim::leftovers{});
    net.run();
}

TEST_F(sim_host, at_finds_hosts_by_name)
{
    EXPECT_EQ(&net.at("server"), &server);
    EXPECT_EQ(net.at("client").address(), "10.0.0.1");
    EXPECT_THROW(net.at("absent"), std::out_of_range);
}

TEST_F(sim_host, at_time_scripts_run_in_order)
{
    std::string order;
    net.at_time(net.now() + 2s, [&] { order += 'c'; });
    net.at_time(net.now() + 1s, [&] { order += 'a'; });
    net.at_time(net.now() + 1s, [&] { order += 'b'; });
    net.run_until(net.now() + 1s);
    EXPECT_EQ(order, "ab");
    EXPECT_EQ(now(), 1s);
    EXPECT_TRUE(net.run_while_not([&] { return order.size() == 3; }));
    EXPECT_EQ(now(), 2s);
    EXPECT_FALSE(net.run_while_not([] { return false; }));
}

}  // namespace
}  // namespace holdfast::sim_host_test
