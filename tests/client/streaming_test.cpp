#include "api/mongo/access.hpp"
#include "api/mongo/client_impl.hpp"
#include "client/traffic.hpp"

namespace holdfast::proof::streaming_test {
namespace {

using namespace std::chrono_literals;

/// What the client knows of server "a".
core::mongo::server_description description_of_a(const scene& s)
{
    const auto& topology = mongo::access::client_of(*s.client)->state->servers;
    return *topology->current()->snapshot.topology()->find(endpoint{"a:27017"});
}

TEST(client_streaming, heartbeats_come_each_heartbeat_frequency_ms)
{
    scene s;
    s.connect("&heartbeatFrequencyMS=500");
    s.settle(10s);
    const auto beats = s.events().of(heard::heartbeat_succeeded, "a:27017");
    ASSERT_GE(beats.size(), 18U);
    for (std::size_t i = 3; i < beats.size(); ++i) {
        EXPECT_EQ(beats[i].when - beats[i - 1].when, 500ms);
        EXPECT_TRUE(beats[i].awaited);
        EXPECT_EQ(beats[i].took, 500ms);
    }
    // One request, many replies.
    std::size_t awaited = 0;
    for (const scripted_command& one : s.server("a").commands("hello")) {
        if (!one.body["maxAwaitTimeMS"])
            continue;
        ++awaited;
        EXPECT_EQ(one.body.get<std::int64_t>("maxAwaitTimeMS").value(), 500);
        EXPECT_TRUE(one.flags.exhaust_allowed);
        EXPECT_TRUE(one.body["topologyVersion"]);
    }
    EXPECT_EQ(awaited, 1U);
    expect_clean(s);
}

TEST(client_streaming, rtt_is_measured_while_hello_is_blocked)
{
    VERIFIES("SD-068");
    scene s;
    s.connect("&heartbeatFrequencyMS=500&appName=streamingRttTest");
    s.settle(2s);
    for (const record& one : s.events().of(heard::server_changed))
        EXPECT_GT(one.round_trip.value_or(0ms), 0ms);
    EXPECT_EQ(description_of_a(s).min_round_trip_time, 2ms);
    for (const std::string name : {"a", "b"})
        s.server(name).on_hello([&s, name](const scripted_command&) {
            return scripted_reply{.body = s.set.hello_of(name + ":27017"), .delay = 500ms};
        });
    s.simulation.run_for(8s);
    EXPECT_EQ(description_of_a(s).min_round_trip_time, 2ms) << "one of the last ten";
    s.set.elect("b:27017");
    s.server("a").announce();
    s.simulation.run_for(2s);
    const auto changes = s.events().of(heard::server_changed, "a:27017");
    EXPECT_EQ(changes.back().after, "RSSecondary");
    EXPECT_GT(changes.back().round_trip.value_or(0ms), 250ms);
    EXPECT_LT(changes.back().round_trip.value_or(0ms), 503ms);
    expect_clean(s);
}

TEST(client_streaming, heartbeat_started_is_published_before_sending)
{
    scene s{{.hosts = {"a"}}};
    s.server("a").on_hello([](const scripted_command&) { return hang_up(); });
    s.connect("&heartbeatFrequencyMS=500");
    s.settle(100ms);
    const auto started = s.events().of(heard::heartbeat_started);
    const auto failed = s.events().of(heard::heartbeat_failed);
    ASSERT_GE(started.size(), 1U);
    ASSERT_GE(failed.size(), 1U);
    ASSERT_GE(s.server("a").connections(), 1U);
    ASSERT_GE(s.server("a").commands().size(), 1U);
    EXPECT_LT(started[0].when, s.server("a").arrivals()[0]);
    EXPECT_LE(s.server("a").arrivals()[0], s.server("a").commands()[0].when);
    EXPECT_LT(s.server("a").commands()[0].when, failed[0].when);
    expect_clean(s);
}

TEST(client_streaming, heartbeat_failed_precedes_pool_cleared)
{
    scene s{{.hosts = {"a"}}};
    s.connect("&heartbeatFrequencyMS=500");
    s.settle(1s);
    s.server("a").on_hello([](const scripted_command&) { return hang_up(); });
    s.server("a").announce();
    s.simulation.run_for(100ms);
    std::string order;
    for (const record& one : s.events().all()) {
        if (one.what == heard::pool_ready || one.what == heard::pool_cleared ||
            one.what == heard::heartbeat_failed ||
            (one.what == heard::heartbeat_succeeded && !one.awaited))
            order += std::string{name_of(one.what)} + "; ";
    }
    EXPECT_TRUE(
        order.starts_with("heartbeat succeeded; pool ready; heartbeat failed; "
                          "pool cleared; "))
        << order;
    expect_clean(s);
}

TEST(client_streaming, streamed_primary_is_used_within_one_round_trip)
{
    scene s;
    s.set.elect("");
    s.connect();
    s.settle(2s);
    const operation& op = s.start_write(1);
    s.simulation.run_for(200ms);
    EXPECT_FALSE(op.done());
    const time_point elected = s.simulation.now();
    s.set.elect("b:27017");
    s.server("a").announce();
    s.server("b").announce();
    EXPECT_TRUE(s.finish(op));
    EXPECT_TRUE(op.good()) << op.explain();
    const auto changes = s.events().of(heard::server_changed, "b:27017");
    EXPECT_EQ(changes.back().after, "RSPrimary");
    EXPECT_LE(changes.back().when - elected, 2ms + 1ms);
    const auto asked = s.events().of(heard::check_out_started, "b:27017");
    ASSERT_EQ(asked.size(), 1U);
    EXPECT_LE(asked[0].when - elected, 2ms + 1ms);
    expect_clean(s);
}

TEST(client_streaming, older_topology_version_does_not_replace_a_newer_one)
{
    scene s;
    s.connect("&heartbeatFrequencyMS=1000");
    s.settle(100ms);
    s.set.versions["a:27017"] = 5;
    s.server("a").announce();
    s.simulation.run_for(100ms);
    const std::size_t changes = s.events().count(heard::server_changed, "a:27017");
    // From now on it reports its earlier state, with the topologyVersion of that time.
    s.server("a").on_hello([&](const scripted_command&) {
        scripted_set past = s.set;
        past.versions["a:27017"] = 4;
        past.primary = "b:27017";
        return scripted_reply{past.hello_of("a:27017")};
    });
    s.server("a").announce();
    s.simulation.run_for(3s);
    EXPECT_EQ(s.events().type_of("a:27017"), "RSPrimary");
    EXPECT_EQ(s.events().count(heard::server_changed, "a:27017"), changes);
    EXPECT_GE(s.server("a").count("hello"), 2U);
    expect_clean(s);
}

/// Every hello of server "a" reports another topologyVersion, so that it streams without end.
void stream_without_end(scene& s, duration pause)
{
    s.server("a").on_hello([&s, pause](const scripted_command&) {
        ++s.set.versions.try_emplace("a:27017", 1).first->second;
        return scripted_reply{.body = s.set.hello_of("a:27017"), .delay = pause};
    });
}

TEST(client_streaming, endless_replies_are_read_at_a_limited_rate)
{
    scene s{{.hosts = {"a"}}};
    stream_without_end(s, 1ms);
    s.connect();
    s.settle(1s);
    const std::size_t before = s.events().count(heard::heartbeat_succeeded);
    for (int i = 0; i < 100; ++i) {
        EXPECT_TRUE(s.run(ping_command()).good());
        s.simulation.run_for(100ms);
    }
    const std::size_t checks = s.events().count(heard::heartbeat_succeeded) - before;
    EXPECT_GE(checks, 100U);
    EXPECT_LE(checks, 300U) << "of ten thousand";
    s.server("a").on_hello([&s](const scripted_command&) {
        return scripted_reply{.body = s.set.hello_of("a:27017")};
    });
    s.simulation.run_for(1s);
    expect_clean(s);
}

TEST(client_streaming, newest_of_endless_replies_counts)
{
    scene s;
    stream_without_end(s, 1ms);
    s.connect();
    s.settle(1s);
    s.simulation.run_for(10s);
    ASSERT_EQ(s.events().type_of("a:27017"), "RSPrimary");
    s.set.elect("b:27017");
    s.simulation.run_for(200ms);  // not after all replies that are on their way
    EXPECT_EQ(s.events().type_of("a:27017"), "RSSecondary");
    s.server("a").on_hello([&s](const scripted_command&) {
        return scripted_reply{.body = s.set.hello_of("a:27017")};
    });
    s.simulation.run_for(1s);
    EXPECT_EQ(s.close(), "");
}

TEST(client_streaming, newest_reply_is_found_behind_a_buffer_full_of_older_ones)
{
    scene s;
    stream_without_end(s, 10us);  // more than is read
    s.connect();
    s.settle(1s);
    s.simulation.run_for(300ms);
    ASSERT_EQ(s.events().type_of("a:27017"), "RSPrimary");
    s.set.elect("b:27017");
    s.simulation.run_for(100ms);
    EXPECT_EQ(s.events().type_of("a:27017"), "RSSecondary");
    s.server("a").on_hello([&s](const scripted_command&) {
        return scripted_reply{.body = s.set.hello_of("a:27017")};
    });
    s.simulation.run_for(1s);
    EXPECT_EQ(s.close(), "");
}

TEST(client_streaming, server_that_breaks_each_stream_is_not_asked_without_a_pause)
{
    scene s{{.hosts = {"a"}}};
    s.server("a").on_hello([&s](const scripted_command& asked) {
        if (asked.body["maxAwaitTimeMS"])
            return hang_up();
        return scripted_reply{.body = s.set.hello_of("a:27017")};
    });
    s.connect();
    s.settle(1s);
    const std::size_t before = s.server("a").connections();
    s.simulation.run_for(10s);
    EXPECT_LE(s.server("a").connections() - before, 300U);
    EXPECT_EQ(s.close(), "");
}

TEST(client_streaming, poll_mode_records_the_rtt_of_every_hello)
{
    VERIFIES("SD-068");
    scene s{{.hosts = {"a"}}};
    duration delay{};
    s.server("a").on_hello([&](const scripted_command&) {
        return scripted_reply{.body = s.set.hello_of("a:27017"), .delay = delay};
    });
    s.connect("&heartbeatFrequencyMS=500&serverMonitoringMode=poll");
    s.settle(100ms);
    EXPECT_EQ(description_of_a(s).round_trip_time, 2ms);
    EXPECT_EQ(description_of_a(s).min_round_trip_time, std::nullopt) << "one sample is none";
    delay = 100ms;
    s.simulation.run_for(550ms);
    EXPECT_EQ(description_of_a(s).round_trip_time, 22ms) << "2 + (102 - 2) / 5";
    EXPECT_EQ(description_of_a(s).min_round_trip_time, 2ms);
    expect_clean(s);
}

TEST(client_streaming, poll_mode_uses_one_connection)
{
    scene s;
    s.connect("&heartbeatFrequencyMS=500&serverMonitoringMode=poll");
    s.settle(5s);
    EXPECT_EQ(s.server("a").connections(), 1U);
    for (const scripted_command& one : s.server("a").commands())
        EXPECT_FALSE(one.body["maxAwaitTimeMS"]);
    for (const record& one : s.events().of(heard::heartbeat_started))
        EXPECT_FALSE(one.awaited);
    expect_clean(s);
}

}  // namespace
}  // namespace holdfast::proof::streaming_test
