#include "client/traffic.hpp"
#include "holdfast/bson/json.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/use_future.hpp>

#include <future>

namespace holdfast::proof::operation_test {
namespace {

using namespace std::chrono_literals;

TEST(client_operation, run_command_accepts_every_completion_token)
{
    scene s;
    s.connect();
    const bson::document ping = ping_command();
    std::optional<bool> called;
    s.client->run_command("sea", ping, {},
                          [&](const result<bson::document>& reply) { called = reply.has_value(); });
    EXPECT_FALSE(called) << "not within the call";
    // A bare use_future would ask for Asio's own threads, and a simulation has none.
    std::future<result<bson::document>> later = s.client->run_command(
        "sea", ping, {}, boost::asio::bind_executor(s.client->executor(), boost::asio::use_future));
    s.simulation.run_for(100ms);
    EXPECT_EQ(called, true);
    ASSERT_EQ(later.wait_for(0s), std::future_status::ready);
    EXPECT_TRUE(later.get().has_value());
    expect_clean(s);
}

runtime::awaitable<void> await_twice(mongo::client with, std::vector<int>& outcomes)
{
    const bson::document good = ping_command();
    const bson::document bad = bson::doc("count", "coll");
    auto reply = co_await with.run_command("sea", good, {}, boost::asio::use_awaitable);
    outcomes.push_back(reply.has_value() ? 1 : 0);
    try {
        const bson::document got = co_await with.run_command("sea", good);
        outcomes.push_back(got.empty() ? 0 : 1);
        co_await with.run_command("sea", bad);
    } catch (const failure& thrown) {
        outcomes.push_back(thrown.error().code().value());
    }
}

TEST(client_operation, awaited_run_command_throws_or_returns_a_result)
{
    scene s;
    s.server("a").on("count", [](bson::view) { return error_reply(13); });
    s.connect();
    std::vector<int> outcomes;
    s.app.start(await_twice(*s.client, outcomes));
    s.simulation.run_for(100ms);
    EXPECT_EQ(outcomes, (std::vector<int>{1, 1, 13}));
    expect_clean(s);
}

/// Cancels a ping after `after`, whose reply takes `reply_after`; then pings again.
void cancel_and_go_on(duration after, duration reply_after, std::size_t connections)
{
    scene s;
    s.connect("&maxPoolSize=1");
    ASSERT_TRUE(s.run(ping_command()).good());
    s.server("a").on_command("count", [reply_after](const scripted_command&) {
        return scripted_reply{.body = bson::doc("n", 7, "ok", 1.0), .delay = reply_after};
    });
    operation& op = s.start(bson::doc("count", "coll"));
    s.simulation.run_for(after);
    op.stop.emit(boost::asio::cancellation_type::terminal);
    const time_point cancelled = s.simulation.now();
    ASSERT_TRUE(s.finish(op));
    EXPECT_EQ(op.ended, cancelled) << "a cancelled operation ends at once";
    EXPECT_EQ(op.outcome->error().code(), runtime::errc::cancelled) << op.explain();
    EXPECT_EQ(op.completions, 1U);
    EXPECT_EQ(s.events().type_of("a:27017"), "RSPrimary");
    const operation& next = s.run(ping_command());
    ASSERT_TRUE(next.good()) << next.explain();
    EXPECT_FALSE((**next.outcome)["n"]) << "the reply of another operation";
    EXPECT_EQ(s.events().count(heard::connection_created, "a:27017"), connections);
    expect_clean(s, {.pool = 1});
}

TEST(client_operation, late_reply_of_a_cancelled_operation_is_drained)
{
    cancel_and_go_on(5ms, 100ms, 1);
    cancel_and_go_on(5ms, 390ms, 1);
}

TEST(client_operation, connection_with_a_too_late_reply_is_closed)
{
    cancel_and_go_on(5ms, 2s, 2);
}

TEST(client_operation, operation_can_be_cancelled_at_every_wait)
{
    scene s;
    s.set.elect("");
    s.connect();
    operation& selecting = s.start(ping_command());
    s.simulation.run_for(100ms);
    selecting.stop.emit(boost::asio::cancellation_type::terminal);
    s.simulation.run_for(1ms);
    EXPECT_EQ(selecting.outcome->error().code(), runtime::errc::cancelled);

    s.set.elect("a:27017");
    s.server("a").announce();
    s.server("a").welcomes([](std::size_t) { return scripted_server::welcome::ignore; });
    operation& checking_out = s.start(ping_command());
    s.simulation.run_for(100ms);
    ASSERT_EQ(s.events().count(heard::check_out_started), 1U);
    checking_out.stop.emit(boost::asio::cancellation_type::terminal);
    s.simulation.run_for(1ms);
    ASSERT_TRUE(checking_out.done());
    EXPECT_EQ(checking_out.outcome->error().code(), runtime::errc::cancelled);
    expect_clean(s);
}

TEST(client_operation, deadline_ends_selection_checkout_and_round_trip)
{
    const mongo::command_options soon{.timeout = 50ms};
    scene s;
    s.connect();
    ASSERT_TRUE(s.run(ping_command()).good());
    s.server("a").on_command("ping", [](const scripted_command&) { return keep_silent(); });
    const operation& silent = s.run(ping_command(), soon);
    EXPECT_FALSE(silent.good());
    EXPECT_EQ(silent.took(), 50ms) << silent.explain();
    s.set.elect("");
    s.server("a").announce();
    s.simulation.run_for(100ms);
    const operation& selecting = s.run(ping_command(), soon);
    EXPECT_FALSE(selecting.good());
    EXPECT_EQ(selecting.took(), 50ms) << selecting.explain();
    expect_clean(s);
}

/// Routers that refuse every other read in this way. Which of them were asked, two for each read.
std::vector<std::string> asked_in_turn(std::vector<std::string> routers, const scripted_reply& no)
{
    constexpr int reads = 20;
    scene s{{.hosts = routers, .sharded = true}};
    std::vector<std::string> asked;
    for (const std::string& name : routers)
        s.server(name).on_command("find", [&asked, &no, name](const scripted_command&) {
            asked.push_back(name);
            return asked.size() % 2 == 1 ? no : scripted_reply{bson::doc("ok", 1.0)};
        });
    s.connect();
    s.settle();
    for (int i = 0; i < reads; ++i) {
        const operation& op = s.run(bson::doc("find", "coll"), as_read());
        EXPECT_TRUE(op.good()) << op.explain();
        s.simulation.run_for(11s);  // one that was lost is known again
    }
    EXPECT_EQ(asked.size(), 2U * reads);
    expect_clean(s);
    return asked;
}

TEST(client_operation, retry_deprioritizes_the_failed_mongos)
{
    VERIFIES("BP-020");
    VERIFIES("BP-037");
    for (const scripted_reply& no :
         {scripted_reply{error_reply(6)}, scripted_reply{overload_reply()}, hang_up()}) {
        const auto asked = asked_in_turn({"a", "b"}, no);
        for (std::size_t i = 0; i + 1 < asked.size(); i += 2)
            EXPECT_NE(asked[i], asked[i + 1]) << i << bson::to_json(no.body.view()).value();
    }
}

TEST(client_operation, retry_uses_the_only_mongos_again)
{
    VERIFIES("BP-020");
    (void)asked_in_turn({"a"}, {overload_reply()});
    (void)asked_in_turn({"a"}, {error_reply(6)});
}

}  // namespace
}  // namespace holdfast::proof::operation_test
