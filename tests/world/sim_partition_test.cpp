#include "world/two_hosts.hpp"

namespace holdfast::sim_partition_test {
namespace {

using namespace std::chrono_literals;

class sim_partition : public two_hosts {};

TEST_F(sim_partition, bytes_sent_into_a_partition_arrive_after_healing)
{
    connect();
    net.partition(client, server);
    heard first, second;
    EXPECT_EQ(write(*at_client, "one").bytes, 3u);
    EXPECT_EQ(write(*at_client, "two").bytes, 3u);
    server.start(read_into(*at_server, first));
    net.run_for(1min);
    EXPECT_EQ(first.text, "");
    net.heal(client, server);
    net.run();
    EXPECT_EQ(first.text, "onetwo");  // both at once, in order
    EXPECT_EQ(first.at, 30ms + 1min + exact.resend + latency);
}

TEST_F(sim_partition, bytes_in_transit_are_lost_and_resent)
{
    connect();
    write(*at_client, "half way");
    net.run_for(latency / 2);
    net.partition_one_way(client, server);
    heard what;
    server.start(read_into(*at_server, what));
    net.run_for(1s);
    EXPECT_EQ(what.text, "");
    net.heal_all();
    net.run();
    EXPECT_EQ(what.text, "half way");
}

TEST_F(sim_partition, short_partition_delays_by_the_resend_time)
{
    connect();
    net.partition(client, server);
    write(*at_client, "late");
    net.run_for(1ms);
    net.heal(client, server);
    write(*at_client, "r");
    heard what;
    server.start(read_into(*at_server, what));
    net.run();
    EXPECT_EQ(what.text, "later");
    EXPECT_EQ(what.at, 30ms + latency + exact.resend);
}

TEST_F(sim_partition, second_partition_before_the_resend_delays_again)
{
    connect();
    net.partition(client, server);
    write(*at_client, "delayed!");
    net.run_for(1s);
    net.heal(client, server);
    net.run_for(100ms);
    net.partition(client, server);
    heard what;
    server.start(read_into(*at_server, what));
    net.run_for(1s);
    EXPECT_EQ(what.text, "");
    net.heal(client, server);
    net.run();
    EXPECT_EQ(what.text, "delayed!");
    EXPECT_EQ(what.at, 30ms + 1s + 100ms + 1s + exact.resend + latency);
}

TEST_F(sim_partition, one_way_partition_delivers_data_without_window_updates)
{
    server.set_receive_buffer(4);
    connect();
    net.partition_one_way(server, client);
    EXPECT_EQ(write(*at_client, "ping").bytes, 4u);
    heard got, back, woken;
    server.start(read_into(*at_server, got));
    client.start(read_into(*at_client, back));
    client.start(wait_writable(*at_client, woken));
    net.run_for(1s);
    EXPECT_EQ(got.text, "ping");
    EXPECT_EQ(got.at, 40ms);
    EXPECT_EQ(woken.at, 0ms);  // the server has read it all, and cannot say so
    write(*at_server, "pong");
    net.run_for(1s);
    EXPECT_EQ(back.text, "");

    net.heal(client, server);
    net.run();
    EXPECT_EQ(woken.at, 30ms + 2s + exact.resend + latency);
    EXPECT_EQ(back.text, "pong");
}

TEST_F(sim_partition, lost_window_update_is_resent_after_healing)
{
    server.set_receive_buffer(4);
    connect();
    write(*at_client, "ping");
    net.run();
    heard got, woken;
    server.start(read_into(*at_server, got));
    client.start(wait_writable(*at_client, woken));
    net.run_for(latency / 2);
    net.partition_one_way(server, client);
    net.run_for(1s);
    EXPECT_EQ(woken.at, 0ms);
    net.heal(client, server);
    net.run();
    EXPECT_FALSE(woken.why);
    EXPECT_GT(woken.at, 1s);
}

TEST_F(sim_partition, eof_is_delivered_after_healing)
{
    connect();
    net.partition(client, server);
    write(*at_client, "bye");
    at_client = nullptr;
    heard first, second;
    server.start(read_into(*at_server, first));
    net.run_for(1h);
    EXPECT_EQ(first.at, 0ms);
    net.heal(client, server);
    net.run();
    server.start(read_into(*at_server, second));
    net.run();
    EXPECT_EQ(first.text, "bye");
    EXPECT_EQ(second.why, boost::asio::error::eof);
    at_server = nullptr;
    net.run();
    EXPECT_EQ(net.left(), sim::leftovers{});
}

TEST_F(sim_partition, connect_completes_after_healing_before_its_deadline)
{
    net.partition(client, server);
    server.start(take_one());
    client.start(dial(net.now() + 10s));
    net.run_for(5s);
    net.heal(client, server);
    net.run();
    ASSERT_TRUE(at_client);
    EXPECT_EQ(at_client_since, 5s + exact.resend + 2 * latency);
}

TEST_F(sim_partition, connect_into_a_partition_ends_at_the_deadline)
{
    net.partition_one_way(server, client);
    server.start(take_one());
    client.start(dial(net.now() + 3s));
    net.run_for(1min);
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->code(), runtime::errc::connect_timed_out);
    EXPECT_EQ(refusal->context("phase"), runtime::phase_connect);
    EXPECT_EQ(refusal->context("server"), "server:27017");
    EXPECT_EQ(refusal->message(), "cannot connect to server:27017: timed out");
    EXPECT_EQ(at_client_since, 3s);
    EXPECT_EQ(net.left().streams, 0u);
}

TEST_F(sim_partition, other_hosts_are_not_affected)
{
    sim::host& other = net.add_host("other");
    net.partition(client, server);
    EXPECT_TRUE(net.link_between(client, server).cut);
    EXPECT_TRUE(net.link_between(server, client).cut);
    EXPECT_FALSE(net.link_between(other, server).cut);
    EXPECT_EQ(net.link_between(other, server).latency_min, latency);
    net.heal_all();
    EXPECT_FALSE(net.link_between(server, client).cut);
}

}  // namespace
}  // namespace holdfast::sim_partition_test
