#include "client/traffic.hpp"
#include "support/scripted_login.hpp"

namespace holdfast::proof::monitor_test {
namespace {

using namespace std::chrono_literals;

/// Hellos of monitors: after the first, those without metadata.
std::vector<scripted_command> checks_of(const scripted_server& server)
{
    std::vector<scripted_command> found;
    for (const scripted_command& one : server.commands()) {
        if (is_hello(one.name))
            found.push_back(one);
    }
    return found;
}

TEST(client_monitor, heartbeat_frequency_ms_counts_from_the_end_of_a_check)
{
    VERIFIES("SD-042");
    scene s;
    s.server("a").on_hello([&](const scripted_command&) {
        return scripted_reply{.body = s.set.hello_of("a:27017"), .delay = 300ms};
    });
    s.connect("&serverMonitoringMode=poll&heartbeatFrequencyMS=2000");
    s.settle(20s);
    const auto checks = checks_of(s.server("a"));
    ASSERT_GE(checks.size(), 6U);
    for (std::size_t i = 1; i < checks.size(); ++i)
        EXPECT_EQ(checks[i].when - checks[i - 1].when, 2000ms + 300ms + 2ms);
    expect_clean(s);
}

TEST(client_monitor, every_member_is_checked_each_heartbeat_frequency_ms)
{
    VERIFIES("SD-050");
    VERIFIES("SD-204");
    scene s{{.hosts = {"a", "b", "c"}, .streams = false}};
    s.set.arbiters = {"c:27017"};
    s.connect("&heartbeatFrequencyMS=1000");
    s.settle(30s);
    for (const char* const name : {"a", "b", "c"}) {
        const auto checks = checks_of(s.server(name));
        ASSERT_GE(checks.size(), 25U);
        for (std::size_t i = 2; i < checks.size(); ++i)
            EXPECT_EQ(checks[i].when - checks[i - 1].when, 1000ms + 2ms) << name << " " << i;
    }
    EXPECT_EQ(s.events().type_of("c:27017"), "RSArbiter");
    expect_clean(s);
}

TEST(client_monitor, unused_client_opens_no_connection)
{
    VERIFIES("SD-045");
    VERIFIES("SD-048");
    scene s;
    s.simulation.run_for(1ms);  // servers begin to listen
    const auto before = s.simulation.left();
    s.connect();
    EXPECT_EQ(s.simulation.left(), before);
    s.simulation.run_for(60s);
    EXPECT_EQ(s.server("a").connections(), 0U);
    EXPECT_TRUE(s.events().all().empty());
    s.client.reset();  // unused, and not closed
    s.simulation.run_for(1s);
    EXPECT_EQ(s.simulation.left(), before);
    // One that was used leaves no monitor either, closed or not.
    s.connect();
    ASSERT_TRUE(s.run(ping_command()).good());
    s.client.reset();
    s.simulation.run_for(30s);
    EXPECT_EQ(s.simulation.left(), before);
}

TEST(client_monitor, monitor_of_a_removed_server_stops)
{
    VERIFIES("SD-158");
    scene s{{.hosts = {"a", "b", "c"}}};
    s.connect("&heartbeatFrequencyMS=1000");
    s.settle(5s);
    EXPECT_GE(s.server("c").open_connections(), 1U);
    s.set.hosts.pop_back();
    s.set.elect("a:27017");
    s.server("a").announce();
    s.simulation.run_for(1s);
    EXPECT_EQ(s.events().count(heard::server_closed, "c:27017"), 1U);
    EXPECT_EQ(s.events().count(heard::pool_closed, "c:27017"), 1U);
    s.simulation.run_for(3s);
    EXPECT_EQ(s.server("c").open_connections(), 0U);
    const std::size_t connections = s.server("c").connections();
    const std::size_t hellos = checks_of(s.server("c")).size();
    s.simulation.run_for(60s);
    EXPECT_EQ(s.server("c").connections(), connections);
    EXPECT_EQ(checks_of(s.server("c")).size(), hellos);
    expect_clean(s);
}

TEST(client_monitor, every_kind_of_event_is_published)
{
    VERIFIES("SD-194");
    scene s;
    s.connect("&heartbeatFrequencyMS=1000");
    s.settle(3s);
    s.restart("b", 2s);
    s.simulation.run_for(5s);
    expect_clean(s);
    const recorder& received = s.events();
    EXPECT_EQ(received.count(heard::topology_opening), 1U);
    EXPECT_EQ(received.count(heard::topology_closed), 1U);
    EXPECT_EQ(received.count(heard::server_opening), 2U);
    EXPECT_EQ(received.count(heard::server_closed), 2U);
    EXPECT_GE(received.count(heard::topology_changed), 4U);
    const auto changes = received.of(heard::server_changed, "b:27017");
    ASSERT_GE(changes.size(), 3U);
    EXPECT_EQ(changes.front().after, "RSSecondary");
    EXPECT_EQ(changes[1].after, "Unknown");
    EXPECT_TRUE(changes[1].failure);
    EXPECT_EQ(changes.back().after, "RSSecondary");
    EXPECT_GE(received.count(heard::heartbeat_succeeded, "a:27017"), 5U);
    EXPECT_GE(received.count(heard::heartbeat_failed, "b:27017"), 2U);
    const auto good = received.of(heard::heartbeat_succeeded, "a:27017");
    EXPECT_FALSE(good[0].awaited);
    EXPECT_TRUE(good[1].awaited);
    EXPECT_EQ(good[0].body.get<std::string>("setName").value_or(""), "rs");
}

TEST(client_monitor, waiting_selection_checks_servers_every_500_ms)
{
    VERIFIES("SD-195");
    scene s;
    s.simulation.run_for(1ms);
    s.server("a").stop_listening();
    s.server("b").stop_listening();
    s.connect();
    const operation& op = s.start(ping_command());
    s.simulation.at_time(s.start_time() + 1200ms, [&] { s.listen("a"); });
    EXPECT_TRUE(s.finish(op));
    EXPECT_TRUE(op.good()) << op.explain();
    EXPECT_LT(op.took(), 1600ms);
    for (const char* const server : {"a:27017", "b:27017"}) {
        const auto checks = s.events().of(heard::heartbeat_started, server);
        const auto failed = s.events().of(heard::heartbeat_failed, server);
        ASSERT_GE(checks.size(), 3U);
        ASSERT_GE(failed.size(), 2U);
        for (std::size_t i = 1; i < 3; ++i)
            EXPECT_EQ(checks[i].when - failed[i - 1].when, 500ms) << server;
    }
    expect_clean(s);
}

TEST(client_monitor, monitors_do_not_authenticate)
{
    VERIFIES("SD-218");
    scene s;
    const auto door = std::make_shared<scripted_login>();
    for (const std::string name : {"a", "b"})
        door->guard(s.server(name), [&s, name](const scripted_command&) {
            return scripted_reply{s.set.hello_of(name + ":27017")};
        });
    s.connect_to("mongodb://ada:lovelace@a,b/?replicaSet=rs&compressors=zlib");
    ASSERT_TRUE(s.run(ping_command()).good());
    s.simulation.run_for(30s);
    std::size_t monitoring = 0;
    for (std::size_t number = 1; number <= s.server("b").connections(); ++number) {
        const bson::document hello = s.server("b").first_hello(number);
        ASSERT_TRUE(hello["client"]) << "every first hello says who we are";
        EXPECT_FALSE(hello["saslSupportedMechs"]);
        EXPECT_FALSE(hello["speculativeAuthenticate"]);
        ++monitoring;
    }
    EXPECT_EQ(monitoring, 2U);  // one that streams, one for round trips
    EXPECT_EQ(s.server("b").count("saslStart") + s.server("b").count("saslContinue"), 0U);
    EXPECT_EQ(door->logins(), 1U);
    expect_clean(s);
}

TEST(client_monitor, overloaded_heartbeat_is_not_retried_with_backoff)
{
    VERIFIES("BP-007");
    scene s;
    s.connect("&heartbeatFrequencyMS=2000");
    s.settle(5s);
    s.server("a").on_hello(
        [](const scripted_command&) { return scripted_reply{overload_reply()}; });
    s.server("a").announce();
    s.simulation.run_for(10s);
    EXPECT_EQ(s.events().type_of("a:27017"), "Unknown");
    const auto checks = s.events().of(heard::heartbeat_started, "a:27017");
    ASSERT_GE(checks.size(), 6U);
    EXPECT_LE(checks.size(), 9U);
    for (std::size_t i = checks.size() - 3; i < checks.size(); ++i)
        EXPECT_GE(checks[i].when - checks[i - 1].when, 2000ms);
    expect_clean(s);
}

TEST(client_monitor, failed_heartbeat_is_retried_once_then_each_min_heartbeat)
{
    VERIFIES("BP-061");
    scene s;
    s.connect("&serverSelectionTimeoutMS=4000");
    s.settle(1s);
    s.server("a").stop_listening();
    s.server("a").drop_connections();
    s.simulation.run_for(10ms);
    const operation& op = s.run(ping_command());
    EXPECT_FALSE(op.good());
    EXPECT_EQ(op.took(), 4s);
    EXPECT_EQ(s.events().type_of("a:27017"), "Unknown");
    const auto failed = s.events().of(heard::heartbeat_failed, "a:27017");
    ASSERT_GE(failed.size(), 6U);
    EXPECT_LE(failed[1].when - failed[0].when, 5ms) << "one immediate check";
    auto started = s.events().of(heard::heartbeat_started, "a:27017");
    std::erase_if(started, [&](const record& one) { return one.when < failed[0].when; });
    ASSERT_GE(started.size(), 5U);
    for (std::size_t i = 1; i < started.size(); ++i)
        EXPECT_GE(started[i].when - started[i - 1].when, 500ms);
    expect_clean(s);
}

TEST(client_monitor, checks_that_take_long_are_500_ms_apart)
{
    scene s{{.hosts = {"a"}}};
    s.server("a").on_hello([](const scripted_command&) { return hang_up(600ms); });
    s.connect("&serverSelectionTimeoutMS=6000");
    EXPECT_FALSE(s.run(ping_command()).good());
    const auto started = s.events().of(heard::heartbeat_started, "a:27017");
    const auto failed = s.events().of(heard::heartbeat_failed, "a:27017");
    ASSERT_GE(failed.size(), 4U);
    ASSERT_GE(started.size(), failed.size());
    for (std::size_t i = 1; i < failed.size(); ++i)
        EXPECT_EQ(started[i].when - failed[i - 1].when, 500ms) << i;
    expect_clean(s);
}

TEST(client_monitor, cancelled_check_clears_the_average_round_trip)
{
    scene s{{.hosts = {"a"}}};
    duration delay = 500ms;
    s.server("a").on_hello([&](const scripted_command&) {
        return scripted_reply{.body = s.set.hello_of("a:27017"), .delay = delay};
    });
    s.connect("&serverMonitoringMode=poll&heartbeatFrequencyMS=1000&retryWrites=false");
    s.settle(5s);
    ASSERT_TRUE(s.write().good());
    const auto is_checking = [&] {
        return s.events().count(heard::heartbeat_started) >
               s.events().count(heard::heartbeat_succeeded);
    };
    ASSERT_TRUE(wait_for(s, is_checking));
    s.settle(100ms);  // its hello arrives
    delay = 0ms;      // of later ones
    s.server("a").on_command("insert", [](const scripted_command&) { return hang_up(); });
    EXPECT_FALSE(s.write().good());
    EXPECT_EQ(s.events().type_of("a:27017"), "Unknown");
    EXPECT_TRUE(s.run(ping_command()).good());
    EXPECT_EQ(s.events().count(heard::heartbeat_failed), 1U) << "it was cancelled";
    const auto changes = s.events().of(heard::server_changed, "a:27017");
    ASSERT_FALSE(changes.empty());
    EXPECT_EQ(changes.back().after, "RSPrimary");
    EXPECT_GT(changes.back().round_trip.value_or(0ms), 0ms);
    EXPECT_LT(changes.back().round_trip.value_or(1h), 10ms);
    expect_clean(s);
}

TEST(client_monitor, rtt_measurement_continues_after_failures)
{
    VERIFIES("BP-061");
    scene s{{.hosts = {"a"}}};
    s.connect("&heartbeatFrequencyMS=1000");
    s.settle(5s);
    ASSERT_EQ(s.server("a").connections(), 2U);
    s.server("a").welcomes([](std::size_t) { return scripted_server::welcome::close; });
    s.server("a").drop_connection(2);
    s.simulation.run_for(10s);
    EXPECT_GE(s.server("a").connections(), 8U);
    EXPECT_EQ(s.events().type_of("a:27017"), "RSPrimary");
    EXPECT_EQ(s.events().count(heard::heartbeat_failed), 0U);
    expect_clean(s);
}

}  // namespace
}  // namespace holdfast::proof::monitor_test
