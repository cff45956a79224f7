#include "client/traffic.hpp"
#include "support/canary.hpp"

namespace holdfast::proof::sdam_errors_test {
namespace {

using namespace std::chrono_literals;

/// The client knows all members, and has an idle connection to the primary.
void warm_up(scene& s, const std::string& more = {})
{
    s.connect(more);
    s.settle();
    ASSERT_TRUE(s.run(ping_command()).good());
}

TEST(client_sdam_errors, not_primary_rechecks_and_keeps_the_pool)
{
    scene s;
    warm_up(s);
    s.server("a").on("insert", [&](bson::view) {
        ++s.set.versions.try_emplace("a:27017", 1).first->second;
        s.simulation.at_time(s.simulation.now() + 100ms, [&] { s.server("a").announce(); });
        return error_reply(10107);
    });
    const time_point before = s.simulation.now();
    EXPECT_EQ(s.write().code(), 10107);
    EXPECT_EQ(s.events().type_of("a:27017"), "Unknown");
    EXPECT_EQ(s.events().count(heard::pool_cleared), 0U);
    s.simulation.run_for(1s);
    EXPECT_EQ(s.events().type_of("a:27017"), "RSPrimary");
    const auto checks = s.events().of(heard::heartbeat_started, "a:27017");
    EXPECT_LE(checks.back().when, before + 1s) << "no check was asked for";
    EXPECT_TRUE(s.run(ping_command()).good());
    EXPECT_EQ(s.events().count(heard::connection_created, "a:27017"), 1U);
    expect_clean(s);
}

TEST(client_sdam_errors, shutdown_or_wire_version_7_clears_the_pool)
{
    for (const bool old : {false, true}) {
        scene s;
        if (old)
            s.set.wire_version = 7;
        warm_up(s);
        const int code = old ? 10107 : 91;
        s.server("a").on("insert", [code](bson::view) { return error_reply(code); });
        // An old server's error is retried by its code alone.
        EXPECT_EQ(s.write().code(), code);
        EXPECT_GE(s.events().count(heard::pool_cleared, "a:27017"), 1U);
        const auto closed = s.events().of(heard::connection_closed, "a:27017");
        ASSERT_GE(closed.size(), 1U);
        EXPECT_EQ(closed[0].name, "stale");
        expect_clean(s);
    }
}

TEST(client_sdam_errors, error_with_a_stale_topology_version_is_ignored)
{
    scene s;
    warm_up(s);
    const bson::document version = s.set.version_of("a:27017");
    s.server("a").on("insert", [&](bson::view) {
        return bson::doc("ok", 0.0, "code", 10107, "errmsg", "not primary", "topologyVersion",
                         version.view());
    });
    const std::size_t changes = s.events().count(heard::server_changed);
    EXPECT_EQ(s.write().code(), 10107);
    s.simulation.run_for(1s);
    EXPECT_EQ(s.events().count(heard::server_changed), changes);
    EXPECT_EQ(s.events().type_of("a:27017"), "RSPrimary");
    expect_clean(s);
}

TEST(client_sdam_errors, many_errors_with_one_topology_version_change_it_once)
{
    scene s;
    warm_up(s);
    s.server("a").on_command("insert", [&](const scripted_command&) {
        s.set.versions["a:27017"] = 2;
        return scripted_reply{bson::doc("ok", 0.0, "code", 10107, "errmsg", "not primary",
                                        "topologyVersion", s.set.version_of("a:27017").view())};
    });
    for (int id = 0; id < 20; ++id)
        s.start_write(id);
    EXPECT_TRUE(s.finish_all());
    std::size_t lost = 0;
    for (const record& one : s.events().of(heard::server_changed, "a:27017"))
        lost += one.after == "Unknown" ? 1 : 0;
    EXPECT_EQ(lost, 1U);
    expect_clean(s);
}

TEST(client_sdam_errors, errors_of_an_old_generation_are_ignored)
{
    scene s;
    warm_up(s, "&retryWrites=false");
    // Three writes; the first is cut off at once, the others after the server is back.
    s.server("a").on_command("insert", [&](const scripted_command& c) {
        const bool first = c.body["documents"].as_array()[0].as_document()["_id"].as_int32() == 0;
        return first ? hang_up(20ms) : hang_up(3s);
    });
    for (int id = 0; id < 3; ++id)
        s.start_write(id);
    s.simulation.run_for(1s);
    EXPECT_EQ(s.events().type_of("a:27017"), "Unknown");
    EXPECT_TRUE(s.run(ping_command()).good());
    EXPECT_TRUE(s.finish_all());
    s.simulation.run_for(1s);
    for (const operation& one : s.operations)
        EXPECT_EQ(one.completions, 1U);
    EXPECT_EQ(s.events().count(heard::pool_cleared, "a:27017"), 1U);
    EXPECT_EQ(s.events().type_of("a:27017"), "RSPrimary");
    expect_clean(s);
}

TEST(client_sdam_errors, socket_timeout_of_a_reply_keeps_the_server)
{
    scene s;
    warm_up(s, "&socketTimeoutMS=100&retryWrites=false");
    s.server("a").on_command("insert", [](const scripted_command&) { return keep_silent(); });
    const operation& op = s.write();
    ASSERT_TRUE(op.done());
    EXPECT_FALSE(op.good());
    EXPECT_EQ(op.outcome->error().code(), boost::system::errc::timed_out) << op.explain();
    EXPECT_EQ(s.events().type_of("a:27017"), "RSPrimary");
    EXPECT_EQ(s.events().count(heard::pool_cleared), 0U);
    s.simulation.run_for(1s);
    const auto closed = s.events().of(heard::connection_closed, "a:27017");
    ASSERT_EQ(closed.size(), 1U) << "a connection that owes a reply must not be kept";
    EXPECT_EQ(closed[0].name, "error");
    expect_clean(s);
}

/// Where a network error strikes a new connection of the pool, once the monitor has its own.
struct fault_phase {
    const char* name;
    void (*strike)(scene&);
    std::string_view expected;
};

void refuse(scene& s)
{
    s.server("a").stop_listening();
}
void close_at_once(scene& s)
{
    s.server("a").welcomes([](std::size_t) { return scripted_server::welcome::close; });
}
void ignore(scene& s)
{
    s.server("a").welcomes([](std::size_t) { return scripted_server::welcome::ignore; });
}
void close_on_hello(scene& s)
{
    s.server("a").on_hello([](const scripted_command&) { return hang_up(); });
}
void half_a_hello(scene& s)
{
    s.server("a").on_hello([&s](const scripted_command&) {
        return scripted_reply{.body = s.set.hello_of("a:27017"), .only_bytes = 30};
    });
}

TEST(client_sdam_errors, failed_connect_or_hello_marks_the_server_unknown)
{
    const fault_phase phases[] = {
        {"refused", refuse, "connect"},
        {"closed at once", close_at_once, "hello"},
        {"silence", ignore, "hello"},
        {"closed on hello", close_on_hello, "hello"},
        {"half a hello", half_a_hello, "hello"},
    };
    for (const fault_phase& phase : phases) {
        SCOPED_TRACE(phase.name);
        scene s;
        s.connect("&connectTimeoutMS=300&serverSelectionTimeoutMS=1000&heartbeatFrequencyMS=60000");
        s.settle();
        phase.strike(s);
        const operation& op = s.run(ping_command());
        ASSERT_TRUE(op.done());
        ASSERT_FALSE(op.good());
        const error& why = op.outcome->error();
        EXPECT_EQ(why.context("phase"), phase.expected) << why.explain();
        EXPECT_EQ(s.events().type_of("a:27017"), "Unknown");
        EXPECT_EQ(s.events().count(heard::pool_cleared, "a:27017"), 1U);
        const auto failed = s.events().of(heard::check_out_failed, "a:27017");
        ASSERT_EQ(failed.size(), 1U);
        EXPECT_EQ(failed[0].name, "connectionError");
        EXPECT_EQ(s.server("a").count("ping"), 0U);
        expect_clean(s);
    }
}

TEST(client_sdam_errors, failed_heartbeat_marks_unknown_and_is_repeated_at_once)
{
    scene s;
    warm_up(s, "&heartbeatFrequencyMS=5000");
    s.restart("a");
    s.simulation.run_for(100ms);
    EXPECT_EQ(s.events().type_of("a:27017"), "RSPrimary");
    const auto failed = s.events().of(heard::heartbeat_failed, "a:27017");
    const auto started = s.events().of(heard::heartbeat_started, "a:27017");
    ASSERT_EQ(failed.size(), 1U);
    EXPECT_EQ(started.back().awaited, true);
    EXPECT_EQ(s.events().count(heard::pool_cleared, "a:27017"), 1U);
    EXPECT_TRUE(s.run(ping_command()).good());
    expect_clean(s);
}

TEST(client_sdam_errors, hello_of_a_new_connection_counts_before_its_login)
{
    scene s;
    const auto door = guarded(s);
    s.connect_to("mongodb://" + std::string{canary::user} + ":" + std::string{canary::password} +
                 "@a:27017,b:27017/?replicaSet=rs&authMechanism=SCRAM-SHA-256"
                 "&serverMonitoringMode=poll&heartbeatFrequencyMS=60000");
    s.settle(2s);
    ASSERT_EQ(s.events().type_of("a:27017"), "RSPrimary");
    s.set.elect("b:27017");
    s.server("a").on_command("saslContinue", [](const scripted_command&) { return keep_silent(); });
    s.start(ping_command());
    s.simulation.run_for(100ms);
    EXPECT_EQ(s.server("a").count("saslContinue"), 1U);
    EXPECT_EQ(s.events().type_of("a:27017"), "RSSecondary");
    EXPECT_EQ(s.close(), "");
}

TEST(client_sdam_errors, shutdown_reported_by_a_login_requests_a_check)
{
    scene s{{.hosts = {"a"}}};
    const auto door = guarded(s);
    s.connect_to("mongodb://" + std::string{canary::user} + ":" + std::string{canary::password} +
                 "@a:27017/?replicaSet=rs&authMechanism=SCRAM-SHA-256"
                 "&serverMonitoringMode=poll&heartbeatFrequencyMS=60000");
    s.settle(2s);
    s.server("a").on_command("saslContinue", [](const scripted_command&) {
        return scripted_reply{.body = error_reply(91)};
    });
    const std::size_t before = s.events().count(heard::heartbeat_started);
    EXPECT_FALSE(s.run(ping_command()).good());
    EXPECT_EQ(s.events().count(heard::pool_cleared), 1U);
    s.simulation.run_for(2s);  // no operation waits for a server
    EXPECT_EQ(s.events().count(heard::heartbeat_started), before + 1);
    EXPECT_EQ(s.events().type_of("a:27017"), "RSPrimary");
    expect_clean(s);
}

TEST(client_sdam_errors, requested_checks_respect_min_heartbeat_frequency_ms)
{
    scene s;
    warm_up(s, "&serverMonitoringMode=poll&heartbeatFrequencyMS=60000&retryWrites=false");
    s.server("a").on("insert", [](bson::view) { return error_reply(10107); });
    for (int id = 0; id < 6; ++id) {
        s.start_write(id);
        s.simulation.run_for(200ms);
    }
    EXPECT_TRUE(s.finish_all());
    const auto checks = s.events().of(heard::heartbeat_started, "a:27017");
    ASSERT_GE(checks.size(), 3U);
    for (std::size_t i = 1; i < checks.size(); ++i)
        EXPECT_GE(checks[i].when - checks[i - 1].when, 500ms);
    EXPECT_LE(checks.size(), 5U);
    expect_clean(s);
}

}  // namespace
}  // namespace holdfast::proof::sdam_errors_test
