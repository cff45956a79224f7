#include "client/traffic.hpp"
#include "support/scripted_login.hpp"

/// Defects that the client tests have found, one test each.
namespace holdfast::proof::found_test {
namespace {

using namespace std::chrono_literals;

void warm_up(scene& s, const std::string& more = {})
{
    s.connect(more);
    s.settle();
    ASSERT_TRUE(s.run(ping_command()).good());
}

TEST(client_sdam_errors, cancelled_heartbeat_is_no_failed_heartbeat)
{
    scene s;
    warm_up(s, "&serverMonitoringMode=poll&heartbeatFrequencyMS=2000&retryWrites=false");
    s.server("a").on_command("insert", [](const scripted_command&) { return hang_up(); });
    EXPECT_FALSE(s.write().good());  // between two checks
    s.simulation.run_for(5s);
    EXPECT_EQ(s.events().type_of("a:27017"), "RSPrimary");
    for (const record& one : s.events().of(heard::heartbeat_failed, "a:27017"))
        ADD_FAILURE() << describe(one, s.start_time());
    expect_clean(s);
}

TEST(retryable_writes, each_attempt_has_its_own_request_id)
{
    VERIFIES("RW-065");
    VERIFIES("RW-057");
    scene s;
    s.server("a").on_command("insert", in_turn({hang_up(), good_write()}));
    s.connect();
    EXPECT_TRUE(s.write().good());
    const auto started = s.events().of(heard::command_started);
    ASSERT_EQ(started.size(), 2U);
    EXPECT_NE(started[0].request, started[1].request);
    expect_clean(s);
}

TEST(client_monitor, hello_with_ok_0_is_a_failed_heartbeat)
{
    scene s{{.hosts = {"a"}}};
    s.connect("&heartbeatFrequencyMS=2000");
    s.settle(3s);
    s.server("a").on_hello([](const scripted_command&) { return scripted_reply{error_reply(91)}; });
    s.server("a").announce();
    s.simulation.run_for(100ms);
    EXPECT_EQ(s.events().type_of("a:27017"), "Unknown");
    EXPECT_EQ(s.events().count(heard::heartbeat_failed, "a:27017"), 1U);
    EXPECT_EQ(s.events().count(heard::pool_cleared, "a:27017"), 1U);
    expect_clean(s);
}

TEST(client_overload, refused_login_is_handled_as_a_connection_error)
{
    VERIFIES("BP-008");
    for (const char* const refused : {"saslStart", "hello"}) {
        SCOPED_TRACE(refused);
        scene s{{.hosts = {"a"}}};
        const auto door = std::make_shared<scripted_login>();
        bool strikes = false;
        const auto hello = [&](const scripted_command& asked) {
            const bool of_pool = asked.body["saslSupportedMechs"].operator bool();
            if (strikes && of_pool && std::string_view{refused} == "hello")
                return scripted_reply{overload_reply()};
            return scripted_reply{s.set.hello_of("a:27017")};
        };
        door->guard(s.server("a"), hello, false);
        if (std::string_view{refused} == "saslStart")
            s.server("a").on("saslStart", [](bson::view) { return overload_reply(); });
        s.connect_to("mongodb://ada:lovelace@a/?replicaSet=rs");
        s.settle();
        strikes = true;
        const std::size_t before = s.server("a").connections();
        const operation& op = s.run(ping_command());
        ASSERT_TRUE(op.done());
        EXPECT_FALSE(op.good());
        EXPECT_LT(op.took(), 20ms) << op.explain();
        EXPECT_EQ(s.server("a").connections(), before + 1) << op.explain();
        EXPECT_LE(s.server("a").count("saslStart"), 1U);
        EXPECT_EQ(s.events().count(heard::pool_cleared, "a:27017"), 1U);
        expect_clean(s);
    }
}

TEST(client_pool, client_close_ends_running_and_waiting_operations)
{
    scene s;
    s.connect("&maxPoolSize=1");
    ASSERT_TRUE(s.run(ping_command()).good());
    s.server("a").on_command("ping", [](const scripted_command&) { return keep_silent(); });
    const operation& running = s.start(ping_command());
    const operation& waiting = s.start(ping_command());
    s.simulation.run_for(10ms);
    EXPECT_FALSE(waiting.done());
    expect_clean(s, {.pool = 1});
    EXPECT_TRUE(waiting.done());
    EXPECT_TRUE(running.done()) << "an operation outlives its client";
}

TEST(client_pool, waiting_write_is_retried_after_pool_cleared)
{
    scene s;
    s.connect("&maxPoolSize=1");
    ASSERT_TRUE(s.run(ping_command()).good());
    s.server("a").on_command("insert", in_turn({hang_up(50ms), good_write()}));
    for (int id = 0; id < 5; ++id)
        s.start_write(id);
    EXPECT_TRUE(s.finish_all());
    for (const operation& one : s.operations)
        EXPECT_TRUE(one.good()) << one.explain();
    EXPECT_EQ(s.events().count(heard::check_out_failed, "a:27017"), 4U);
    EXPECT_EQ(s.events().count(heard::pool_cleared, "a:27017"), 1U);
    expect_clean(s, {.pool = 1});
}

TEST(client_monitor, handshake_of_an_operation_updates_the_description)
{
    VERIFIES("SD-217");
    scene s{{.streams = false}};
    s.connect("&heartbeatFrequencyMS=60000");
    s.settle();
    s.set.elect("b:27017");
    (void)s.run(ping_command());  // over a new connection to what was the primary
    EXPECT_EQ(s.events().type_of("a:27017"), "RSSecondary");
    expect_clean(s);
}

TEST(client_connection, refused_login_is_rechecked_while_streaming)
{
    scene s{{.hosts = {"a"}}};
    const auto door = guarded(s);
    s.connect_to("mongodb://ada:babbage@a/?replicaSet=rs&heartbeatFrequencyMS=10000");
    s.settle();
    EXPECT_LT(s.run(ping_command()).took(), 20ms);
    EXPECT_LT(s.run(ping_command()).took(), 600ms);  // SD-195: checked every half second
    expect_clean(s);
}

TEST(retryable_writes, failed_read_has_no_retryable_write_error_label)
{
    scene s{{.hosts = {"a"}}};
    s.server("a").on_command("find", [](const scripted_command&) { return hang_up(); });
    s.connect();
    const operation& op = s.run(bson::doc("find", "coll"), as_read());
    ASSERT_FALSE(op.good());
    EXPECT_FALSE(op.outcome->error().has_label("RetryableWriteError")) << op.explain();
    s.server("a").on("find", [](bson::view) { return error_reply(91); });
    const operation& closing = s.run(bson::doc("find", "coll"), as_read());
    EXPECT_FALSE(closing.outcome->error().has_label("RetryableWriteError")) << closing.explain();
    expect_clean(s);
}

}  // namespace
}  // namespace holdfast::proof::found_test
