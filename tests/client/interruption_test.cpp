#include "api/mongo/access.hpp"
#include "client/traffic.hpp"
#include "core/pool/errc.hpp"
#include "holdfast/mongo/error.hpp"
#include "support/canary.hpp"

namespace holdfast::proof::interruption_test {
namespace {

using namespace std::chrono_literals;

TEST(client_interruption, cancelled_operation_releases_its_connection_on_a_crash)
{
    scene s{{.hosts = {"a"}}};
    s.connect();
    ASSERT_TRUE(s.run(ping_command()).good());
    s.server("a").on_command("count", [](const scripted_command&) { return keep_silent(); });
    operation& op = s.start(bson::doc("count", "coll"));
    s.simulation.run_for(5ms);
    op.stop.emit(boost::asio::cancellation_type::terminal);
    s.simulation.run_for(100ms);  // its connection waits for the late reply
    ASSERT_TRUE(op.done());
    ASSERT_EQ(s.events().count(heard::checked_out), 2U);
    ASSERT_EQ(s.events().count(heard::checked_in), 1U);
    s.app.crash();
    EXPECT_EQ(s.events().count(heard::checked_in), 2U);
    const auto closed = s.events().of(heard::connection_closed);
    ASSERT_EQ(closed.size(), 1U);
    EXPECT_EQ(closed[0].name, "error");
    s.client.reset();  // interrupts what is in use: nothing any more
}

/// Interrupts everything as soon as the pool reports a checked out connection.
class impatient final : public mongo::event_listener {
public:
    explicit impatient(std::optional<mongo::client>& which) : which_{which} {}
    void on(const events::connection_checked_out&) noexcept override { which_.reset(); }

private:
    std::optional<mongo::client>& which_;
};

TEST(client_interruption, checkout_in_progress_is_interrupted_by_pool_cleared)
{
    scene s{{.hosts = {"a"}}};
    s.server("a").on_command("ping", [](const scripted_command&) {
        return scripted_reply{.body = bson::doc("ok", 1.0), .delay = 10s};
    });
    mongo::client_options options;
    options.listeners.push_back(std::make_shared<impatient>(s.client));
    const std::shared_ptr<runtime::world> world{std::shared_ptr<void>{}, &s.app.world()};
    s.client.emplace(
        mongo::access::in_world(world, "mongodb://a:27017/?replicaSet=rs", options).value());
    s.settle();
    const operation& op = s.start(ping_command());
    s.simulation.run_for(1s);
    EXPECT_TRUE(op.done());
    EXPECT_FALSE(op.good());
    EXPECT_FALSE(s.client);
    EXPECT_TRUE(s.finish(op));
}

/// A write in flight when the monitor of its server has timed out.
struct monitor_timeout {
    scene s{{.hosts = {"a"}}};

    explicit monitor_timeout(const std::string& more)
    {
        s.connect("&serverMonitoringMode=poll&heartbeatFrequencyMS=500&connectTimeoutMS=500" +
                  more);
        s.settle(1s);
        EXPECT_TRUE(s.write().good());
        s.server("a").on_command("insert", [](const scripted_command&) { return keep_silent(); });
        s.start_write(2);
        s.simulation.run_for(10ms);
        s.server("a").on_hello([](const scripted_command&) { return keep_silent(); });
    }
    operation& write() { return s.operations.back(); }
};

TEST(client_interruption, operation_interrupted_by_a_monitor_timeout_reports_pool_cleared)
{
    monitor_timeout t{"&retryWrites=false"};
    ASSERT_TRUE(t.s.finish(t.write()));
    const error& why = t.write().outcome->error();
    EXPECT_EQ(why.code(), error_code{core::pool_errc::cleared}) << why.explain();
    EXPECT_EQ(why.message(), "Connection to a:27017 interrupted due to server monitor timeout");
    EXPECT_EQ(mongo::kind_of(why), mongo::error_kind::network);
    EXPECT_TRUE(mongo::may_have_been_applied(why)) << why.explain();
    ASSERT_FALSE(why.history().empty());
    EXPECT_EQ(why.history().back().phase, dispatch_phase::in_flight);
    EXPECT_EQ(t.s.events().count(heard::pool_cleared), 1U);
    EXPECT_EQ(t.s.close(), "");
}

TEST(client_interruption, operation_interrupted_by_a_monitor_timeout_is_retried)
{
    monitor_timeout t{""};
    t.s.simulation.run_for(600ms);  // the next check begins, and takes too long
    t.s.server("a").on("insert", [](bson::view) { return good_write().body; });
    t.s.server("a").on_hello(
        [&](const scripted_command&) { return scripted_reply{t.s.set.hello_of("a:27017")}; });
    ASSERT_TRUE(t.s.finish(t.write()));
    EXPECT_TRUE(t.write().good()) << t.write().explain();
    EXPECT_EQ(t.s.events().count(heard::pool_cleared), 1U);
    EXPECT_EQ(t.s.server("a").count("insert"), 3U);
    expect_clean(t.s);
}

TEST(client_interruption, operation_cancelled_by_its_caller_reports_cancelled)
{
    monitor_timeout t{"&retryWrites=false"};
    t.write().stop.emit(boost::asio::cancellation_type::terminal);
    ASSERT_TRUE(t.s.finish(t.write()));
    EXPECT_EQ(mongo::kind_of(t.write().outcome->error()), mongo::error_kind::cancelled);
    EXPECT_EQ(t.s.close(), "");
}

TEST(client_interruption, every_error_of_a_service_id_clears_its_connections)
{
    VERIFIES("SD-012");
    VERIFIES("SD-173");
    scene s{{.hosts = {"a"}, .sharded = true}};
    s.server("a").on_hello(
        [](const scripted_command&) { return scripted_reply{.body = hello_of_service()}; });
    s.server("a").on_command("count", [](const scripted_command&) { return hang_up(); });
    s.connect_to("mongodb://a:27017/?loadBalanced=true");
    for (std::size_t failures = 1; failures <= 3; ++failures) {
        ASSERT_TRUE(s.run(ping_command()).good());
        EXPECT_FALSE(s.run(bson::doc("count", "coll")).good());
        EXPECT_EQ(s.events().count(heard::pool_cleared), failures);
    }
    EXPECT_EQ(s.close(), "");
}

TEST(client_interruption, refused_login_of_a_service_id_clears_it_again)
{
    VERIFIES("SD-173");
    scene s{{.hosts = {"a"}, .sharded = true}};
    const auto door = std::make_shared<scripted_login>();
    door->guard(s.server("a"),
                [](const scripted_command&) { return scripted_reply{.body = hello_of_service()}; });
    s.server("a").on_command("count", [](const scripted_command&) { return hang_up(); });
    s.connect_to("mongodb://" + std::string{canary::user} + ":" + std::string{canary::password} +
                 "@a:27017/?loadBalanced=true&authMechanism=SCRAM-SHA-256");
    const operation& first = s.run(ping_command());
    ASSERT_TRUE(first.good()) << first.explain();
    EXPECT_FALSE(s.run(bson::doc("count", "coll")).good());
    ASSERT_EQ(s.events().count(heard::pool_cleared), 1U);
    s.server("a").on_command("saslContinue", [](const scripted_command&) {
        return scripted_reply{.body = error_reply(18)};
    });
    EXPECT_FALSE(s.run(ping_command()).good());
    EXPECT_EQ(s.events().count(heard::pool_cleared), 2U);
    EXPECT_EQ(s.close(), "");
}

TEST(client_interruption, late_heartbeat_cancellation_does_not_fail_the_next_one)
{
    VERIFIES("SD-174");
    scene s{{.hosts = {"a"}}};
    s.connect("&retryWrites=false");
    s.settle(2s);
    // One write finds that the server has stepped down, which keeps its connections. A caller that
    // selects a server has it asked anew, and while that goes on another connection breaks.
    s.server("a").on_hello([&](const scripted_command&) {
        return scripted_reply{.body = s.set.hello_of("a:27017"), .delay = 300ms};
    });
    s.server("a").on_command("insert", [](const scripted_command& c) {
        const bool first = c.body["documents"].as_array()[0].as_document()["_id"].as_int32() == 0;
        return first ? scripted_reply{.body = error_reply(10107), .delay = 1s} : hang_up(1200ms);
    });
    const operation& stepped_down = s.start_write(0);
    const operation& broken = s.start_write(1);
    ASSERT_TRUE(s.finish(stepped_down));
    EXPECT_EQ(stepped_down.code(), 10107);
    const std::size_t checks = s.server("a").count("hello");
    const operation& waiting = s.start(ping_command());
    ASSERT_TRUE(s.finish(broken));
    EXPECT_FALSE(waiting.done());
    EXPECT_EQ(s.events().count(heard::pool_cleared), 1U);
    ASSERT_TRUE(s.finish(waiting));
    EXPECT_TRUE(waiting.good()) << waiting.explain();
    s.simulation.run_for(5s);
    EXPECT_GT(s.server("a").count("hello"), checks);
    EXPECT_EQ(s.events().count(heard::pool_cleared), 1U) << s.events().text(s.start_time());
    EXPECT_EQ(s.events().type_of("a:27017"), "RSPrimary");
    expect_clean(s);
}

/// Asks the client about itself whenever there is a warning.
class nosy final : public log_sink {
public:
    explicit nosy(const std::optional<mongo::client>& which) : which_{which} {}
    bool wants(log_component, severity) const noexcept override { return true; }
    void write(const log_record& record) noexcept override
    {
        if (record.level == severity::warning)
            heard.push_back(std::string{record.message} + "\n" + which_->dump_state());
    }
    std::vector<std::string> heard;

private:
    const std::optional<mongo::client>& which_;
};

TEST(client_interruption, log_sink_may_call_the_client_from_a_warning)
{
    scene s{{.hosts = {"a"}}};
    const auto log = std::make_shared<nosy>(s.client);
    s.log = log;
    s.connect_to("mongodb://a:27017/?replicaSet=another");  // so "a" does not belong to it
    s.settle();
    ASSERT_EQ(log->heard.size(), 1U);
    EXPECT_NE(log->heard[0].find("the last server, a:27017"), std::string::npos) << log->heard[0];
    expect_clean(s);
}

}  // namespace
}  // namespace holdfast::proof::interruption_test
