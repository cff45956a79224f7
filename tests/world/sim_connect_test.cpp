#include "world/two_hosts.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

namespace holdfast::sim_connect_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using runtime::errc;

class sim_connect : public two_hosts {
protected:
    awaitable<void> dial_to(runtime::destination where, time_point until)
    {
        auto made = co_await client.world().connect(std::move(where), until);
        at_client_since = now();
        if (made)
            at_client = std::move(*made);
        else
            refusal = std::move(made).error();
    }
    awaitable<void> take_all(std::uint16_t at = port)
    {
        auto listening = server.world().listen({"server", at});
        for (;;) {
            auto taken = co_await (*listening)->accept();
            accepted.push_back(std::move(taken).value());
        }
    }

    std::vector<stream_ptr> accepted;
};

TEST_F(sim_connect, connect_without_listener_is_refused_after_a_round_trip)
{
    client.start(dial(runtime::never));
    net.run();
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->code(), errc::connect_failed);
    EXPECT_EQ(refusal->message(), "cannot connect to server:27017: Connection refused");
    EXPECT_EQ(refusal->context("phase"), runtime::phase_connect);
    EXPECT_EQ(refusal->context("cause"), "Connection refused");
    EXPECT_EQ(at_client_since, 2 * latency);
    EXPECT_EQ(net.left(), sim::leftovers{});
}

TEST_F(sim_connect, unassigned_address_times_out)
{
    client.start(dial_to({"10.9.9.9", port}, net.now() + 1s));
    net.run();
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->code(), errc::connect_timed_out);
    EXPECT_EQ(at_client_since, 1s);
}

TEST_F(sim_connect, expired_deadline_is_connect_timed_out)
{
    server.start(take_one());
    client.start(dial(net.now() - 1s));
    net.run_for(1s);
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->code(), errc::connect_timed_out);
    EXPECT_EQ(at_client_since, 0s);
}

TEST_F(sim_connect, dns_latency_applies_to_names_only)
{
    net.set_dns_latency(7ms);
    server.start(take_all());
    client.start(dial(runtime::never));
    net.run();
    EXPECT_EQ(at_client_since, 7ms + 2 * latency);
    client.start(dial_to({"10.0.0.2", port}, runtime::never));
    net.run();
    EXPECT_EQ(at_client_since, 37ms + 2 * latency);  // the server's end took 10 ms more
}

TEST_F(sim_connect, unknown_name_is_name_not_found)
{
    net.set_dns_latency(3ms);
    client.start(dial_to({"nowhere", 1}, runtime::never));
    net.run();
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->code(), errc::name_not_found);
    EXPECT_EQ(refusal->message(), "cannot connect to nowhere:1: no such host");
    EXPECT_EQ(refusal->context("phase"), runtime::phase_resolve);
    EXPECT_EQ(at_client_since, 3ms);
}

TEST_F(sim_connect, failing_dns_ends_at_the_deadline)
{
    net.set_dns_failing(true);
    client.start(dial(net.now() + 2s));
    net.run();
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->code(), errc::connect_timed_out);
    EXPECT_EQ(refusal->context("phase"), runtime::phase_resolve);
    EXPECT_EQ(at_client_since, 2s);

    client.start(dial(net.now() + 1min));
    net.run();
    EXPECT_EQ(refusal->code(), errc::name_lookup_failed);
    EXPECT_EQ(at_client_since, 2s + 5s);
}

TEST_F(sim_connect, changed_dns_answers_are_used)
{
    net.set_addresses("Db.Example.com.", {"10.0.0.1"});
    server.start(take_all());
    client.start(dial_to({"db.example.com", port}, runtime::never));
    net.run();
    ASSERT_TRUE(refusal) << "there is no listener on the client";
    net.set_addresses("db.example.com", {server.address()});
    client.start(dial_to({"DB.example.com", port}, runtime::never));
    net.run();
    EXPECT_TRUE(at_client);
    net.set_addresses("db.example.com", {});
    client.start(dial_to({"db.example.com", port}, runtime::never));
    net.run();
    EXPECT_EQ(refusal->code(), errc::name_not_found);
}

TEST_F(sim_connect, second_address_starts_after_the_head_start)
{
    net.set_addresses("db", {"10.9.9.9", server.address()});
    server.start(take_all());
    client.start(dial_to({"db", port}, runtime::never));
    net.run();
    ASSERT_TRUE(at_client);
    EXPECT_EQ(at_client_since, 250ms + 2 * latency);
    EXPECT_EQ(at_client->peer(), "10.0.0.2:27017");
    EXPECT_EQ(net.left().streams, 2u) << "the loser is closed";
}

TEST_F(sim_connect, second_address_starts_at_once_if_the_first_refuses)
{
    net.set_addresses("db", {client.address(), server.address()});
    sim::link self = exact;
    self.latency_min = self.latency_max = 1ms;
    net.set_link(client, client, self);
    server.start(take_all());
    client.start(dial_to({"db", port}, runtime::never));
    net.run();
    ASSERT_TRUE(at_client);
    EXPECT_EQ(at_client_since, 2ms + 2 * latency);
}

TEST_F(sim_connect, slow_first_address_wins_if_it_answers_first)
{
    sim::host& far = net.add_host("far");
    sim::link slow = exact;
    slow.latency_min = slow.latency_max = 130ms;
    net.set_link(client, far, slow);
    net.set_addresses("db", {far.address(), server.address()});
    const auto listen = [&]() -> awaitable<void> {
        auto at = far.world().listen({"", port});
        auto taken = co_await (*at)->accept();
        EXPECT_TRUE(taken);
    };
    far.start(listen());
    server.start(take_all());
    client.start(dial_to({"db", port}, runtime::never));
    net.run_for(1s);
    ASSERT_TRUE(at_client);
    EXPECT_EQ(at_client->peer(), far.address() + ":27017");
    EXPECT_EQ(at_client_since, 260ms);
    EXPECT_TRUE(accepted.empty()) << "the other attempt was given up before its answer";
    at_client = nullptr;
    net.run_for(1s);
    EXPECT_EQ(net.left().streams, 0u);
}

TEST_F(sim_connect, cancellation_at_any_time_leaves_nothing)
{
    net.set_dns_latency(5ms);
    server.start(take_all());
    for (duration after = 0ms; after <= 30ms; after += 1ms) {
        SCOPED_TRACE(after.count());
        refusal.reset();
        asio::cancellation_signal stop;
        asio::co_spawn(client.world().executor(), dial(runtime::never),
                       asio::bind_cancellation_slot(stop.slot(), asio::detached));
        net.run_for(after);
        stop.emit(asio::cancellation_type::terminal);
        net.run_for(1s);
        EXPECT_EQ(refusal.has_value(), after < 25ms);
        if (refusal) {
            EXPECT_EQ(refusal->code(), errc::cancelled);
        }
        at_client = nullptr;
        accepted.clear();
        net.run_for(1s);
        EXPECT_EQ(net.left(), (sim::leftovers{.listeners = 1, .tasks = 1}));
    }
}

TEST_F(sim_connect, connection_to_the_own_host_ignores_partitions)
{
    server.start(take_all());
    std::string peer;
    const auto dial_self = [&]() -> awaitable<void> {
        runtime::destination where{"localhost", port};
        auto made = co_await server.world().connect(std::move(where), runtime::never);
        peer = made.value()->peer();
    };
    net.partition(client, server);
    server.start(dial_self());
    net.run();
    EXPECT_EQ(peer, "127.0.0.1:27017");
}

TEST_F(sim_connect, loopback_listener_is_unreachable_from_other_hosts)
{
    auto listening = server.world().listen({"127.0.0.1", port});
    ASSERT_TRUE(listening);
    client.start(dial(runtime::never));
    net.run();
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->code(), errc::connect_failed);
}

TEST_F(sim_connect, port_zero_is_free_and_ports_are_exclusive)
{
    auto one = server.world().listen({"", 0});
    auto two = server.world().listen({"0.0.0.0", 0});
    auto three = server.world().listen({"server", port});
    ASSERT_TRUE(one && two && three);
    EXPECT_NE((*one)->port(), 0u);
    EXPECT_NE((*one)->port(), (*two)->port());
    EXPECT_EQ((*three)->port(), port);
    EXPECT_EQ(net.left().listeners, 3u);

    auto again = server.world().listen({"server", port});
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code(), errc::listen_failed);
    EXPECT_EQ(again.error().message(), "cannot listen at server:27017: address already in use");
    auto elsewhere = server.world().listen({"client", port});
    ASSERT_FALSE(elsewhere);
    EXPECT_EQ(elsewhere.error().code(), errc::listen_failed);

    *three = nullptr;
    EXPECT_TRUE(server.world().listen({"server", port}));
}

TEST_F(sim_connect, full_backlog_refuses_connections)
{
    auto listening = server.world().listen({"server", port});
    std::size_t made = 0, refused = 0;
    std::vector<stream_ptr> kept;
    const auto one = [&]() -> awaitable<void> {
        runtime::destination where{"server", port};
        auto done = co_await client.world().connect(std::move(where), runtime::never);
        done ? ++made : ++refused;
        if (done)
            kept.push_back(std::move(*done));
    };
    for (int n = 0; n < 130; ++n)
        client.start(one());
    net.run();
    EXPECT_EQ(made, 128u);
    EXPECT_EQ(refused, 2u);
    EXPECT_EQ(net.left().streams, 256u);

    *listening = nullptr;  // those that were not accepted are reset
    heard what;
    client.start(read_into(*kept.front(), what));
    net.run();
    EXPECT_EQ(what.why, connection_reset);
    EXPECT_EQ(net.left().streams, 128u);
}

TEST_F(sim_connect, backlog_is_freed_by_accept_or_close)
{
    server.start(take_all());
    for (int n = 0; n < 300; ++n) {
        client.start(dial(net.now() + (n % 2 == 0 ? 1s : 15ms)));  // every other gives up half way
        net.run_for(1s);
        ASSERT_EQ(at_client != nullptr, n % 2 == 0) << n;
        at_client = nullptr;
        net.run_for(1s);
    }
    EXPECT_EQ(accepted.size(), 150u);
}

TEST_F(sim_connect, cancelled_listener_ends_its_accept)
{
    auto listening = server.world().listen({"server", port});
    std::optional<error> why;
    const auto take = [&]() -> awaitable<void> {
        auto taken = co_await (*listening)->accept();
        why = std::move(taken).error();
    };
    server.start(take());
    net.run();
    EXPECT_FALSE(why);
    (*listening)->cancel();
    net.run();
    ASSERT_TRUE(why);
    EXPECT_EQ(why->code(), errc::cancelled);
}

TEST_F(sim_connect, unix_sockets_are_not_available)
{
    client.start(dial_to({"/tmp/mongodb.sock", 0}, runtime::never));
    net.run();
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->code(), errc::not_available);
    EXPECT_EQ(client.world().listen({"/tmp/x.sock", 0}).error().code(), errc::not_available);
    const auto tls = client.world().tls({});
    ASSERT_FALSE(tls);
    EXPECT_EQ(tls.error().code(), errc::not_available);
}

TEST_F(sim_connect, srv_and_txt_records_are_served)
{
    net.set_dns_latency(4ms);
    net.set_srv("_mongodb._tcp.example.com", {{.host = "A.example.com.", .port = 1, .ttl = 60},
                                              {.host = "b.example.com", .port = 2, .ttl = 60}});
    net.set_txt("example.com", {"replicaSet=rs0"});
    std::vector<runtime::srv_record> services;
    std::vector<std::string> texts;
    std::optional<error> unknown;
    std::size_t none = 1;
    const auto look = [&]() -> awaitable<void> {
        runtime::world& in = client.world();
        auto found = co_await in.resolve_srv("_mongodb._tcp.example.com", runtime::never);
        services = std::move(found).value();
        auto text = co_await in.resolve_txt("example.com", runtime::never);
        texts = std::move(text).value();
        auto no_service = co_await in.resolve_srv("_x._tcp.example.com", runtime::never);
        unknown = std::move(no_service).error();
        auto no_text = co_await in.resolve_txt("nowhere.example.com", runtime::never);
        none = no_text.value().size();
    };
    client.start(look());
    net.run();
    ASSERT_EQ(services.size(), 2u);
    EXPECT_EQ(services[0].host, "a.example.com");
    EXPECT_EQ(services[1].port, 2);
    EXPECT_EQ(texts, std::vector<std::string>{"replicaSet=rs0"});
    ASSERT_TRUE(unknown);
    EXPECT_EQ(unknown->code(), errc::name_not_found);
    EXPECT_EQ(none, 0u);
    EXPECT_EQ(now(), 16ms);
}

}  // namespace
}  // namespace holdfast::sim_connect_test
