// Operations of a primary that answers nothing any more, while a newer one is known.
#include "client/traffic.hpp"
#include "core/mongo/error/errc.hpp"
#include "core/pool/errc.hpp"

namespace holdfast::proof::rescue_test {
namespace {

using namespace std::chrono_literals;

/// Both members have a connection for operations, and are known.
void connect_with_spare_connections(scene& s, const std::string& more = {})
{
    s.connect("&minPoolSize=1" + more);
    s.settle();
}

/// Server "a" answers no check any more, and "b" is elected. The time when the client knows it.
time_point depose(scene& s)
{
    s.server("a").on_hello([](const scripted_command&) { return keep_silent(); });
    s.set.elect("b:27017");
    s.server("b").announce();
    EXPECT_TRUE(wait_for(s, [&] { return s.events().type_of("b:27017") == "RSPrimary"; }));
    return s.simulation.now();
}

scripted_server::full_answer late(duration delay)
{
    return [delay](const scripted_command&) {
        return scripted_reply{.body = bson::doc("n", 1, "ok", 1.0), .delay = delay};
    };
}

bson::document update_many()
{
    return bson::doc(
        "update", "coll", "updates",
        bson::list(bson::object("q", bson::object(), "u",
                                bson::object("$inc", bson::object("n", 1)), "multi", true)));
}

TEST(client_rescue, write_in_flight_on_a_deposed_primary_is_sent_to_the_newer_one)
{
    scene s;
    connect_with_spare_connections(s);
    s.server("a").on_command("insert", [](const scripted_command&) { return keep_silent(); });
    const operation& op = s.start_write(1);
    s.simulation.run_for(100ms);
    ASSERT_FALSE(op.done());
    const time_point known = depose(s);
    ASSERT_TRUE(s.finish(op));
    EXPECT_TRUE(op.good()) << op.explain();
    EXPECT_EQ(op.ended, known + 2ms) << "one round trip after the client knew";
    EXPECT_EQ(story_of(s.events(), "insert"), "started failed started succeeded");

    const auto on_a = s.server("a").commands("insert");
    const auto on_b = s.server("b").commands("insert");
    ASSERT_EQ(on_a.size(), 1U);
    ASSERT_EQ(on_b.size(), 1U);
    EXPECT_EQ(on_b[0].when, known + 1ms);
    EXPECT_EQ(on_a[0].body["txnNumber"].as_int64(), on_b[0].body["txnNumber"].as_int64());
    EXPECT_EQ(on_a[0].body["lsid"].as_document(), on_b[0].body["lsid"].as_document());

    const auto failed = s.events().of(heard::command_failed);
    ASSERT_EQ(failed.size(), 1U);
    EXPECT_EQ(failed[0].failure->code(), core::mongo::errc::primary_deposed);
    EXPECT_EQ(failed[0].failure->message(),
              "insert was given up on a:27017, which is no longer the primary: the newer one is "
              "b:27017");
    const auto closed = s.events().of(heard::connection_closed, "a:27017");
    ASSERT_EQ(closed.size(), 1U);
    EXPECT_EQ(closed[0].name, "error");
    EXPECT_EQ(closed[0].when, known);
    EXPECT_EQ(s.events().count(heard::pool_cleared), 0U);
    expect_clean(s);
}

TEST(client_rescue, read_in_flight_on_a_deposed_primary_is_sent_to_the_newer_one)
{
    scene s;
    connect_with_spare_connections(s);
    s.server("a").on_command("find", [](const scripted_command&) { return keep_silent(); });
    const operation& op = s.start(bson::doc("find", "coll"), as_read());
    s.simulation.run_for(100ms);
    const time_point known = depose(s);
    ASSERT_TRUE(s.finish(op));
    EXPECT_TRUE(op.good()) << op.explain();
    EXPECT_EQ(op.ended, known + 2ms);
    expect_clean(s);
}

TEST(client_rescue, failed_retry_has_the_given_up_attempt_in_its_history)
{
    scene s;
    connect_with_spare_connections(s);
    s.server("a").on_command("insert", [](const scripted_command&) { return keep_silent(); });
    s.server("b").on_command("insert", [](const scripted_command&) {
        return scripted_reply{.body = error_reply(11000)};
    });
    const operation& op = s.start_write(1);
    s.simulation.run_for(100ms);
    depose(s);
    ASSERT_TRUE(s.finish(op));
    ASSERT_FALSE(op.good());
    const auto history = op.outcome->error().history();
    ASSERT_EQ(history.size(), 2U);
    EXPECT_EQ(history[0].cause, core::mongo::errc::primary_deposed);
    EXPECT_EQ(history[0].phase, dispatch_phase::in_flight);
    EXPECT_TRUE(history[0].decision.starts_with("retry 1")) << history[0].decision;
    EXPECT_NE(op.explain().find("the primary was deposed by a newer one"), std::string::npos);
    expect_clean(s);
}

TEST(client_rescue, non_repeatable_command_waits_for_the_deposed_primary)
{
    struct row {
        const char* what;
        bson::document command;
        mongo::command_options options;
        const char* uri;
    };
    const row table[] = {
        {"update_many", update_many(), as_write(), ""},
        {"getMore", bson::doc("getMore", std::int64_t{7}, "collection", "coll"), as_read(), ""},
        {"runCommand", insert_of(1), {}, ""},
        {"retryWrites=false", insert_of(1), as_write(), "&retryWrites=false"},
        {"retryReads=false", bson::doc("find", "coll"), as_read(), "&retryReads=false"},
        {"option off", insert_of(1), as_write(), "&rescueFromDeposedPrimary=false"},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.what);
        scene s;
        connect_with_spare_connections(s, r.uri);
        const std::string name{(*r.command.begin()).key()};
        s.server("a").on_command(name, late(5s));
        const operation& op = s.start(r.command, r.options);
        s.simulation.run_for(100ms);
        depose(s);
        ASSERT_TRUE(s.finish(op));
        EXPECT_TRUE(op.good()) << op.explain();
        EXPECT_EQ(op.took(), 5s + 2ms);
        EXPECT_EQ(s.server("a").count(name), 1U);
        EXPECT_EQ(s.server("b").count(name), 0U);
        expect_clean(s);
    }
}

TEST(client_rescue, write_that_was_retried_once_waits_for_the_deposed_primary)
{
    scene s;
    connect_with_spare_connections(s);
    s.server("a").on_command("insert", in_turn({hang_up(), late(5s)({})}));
    const operation& op = s.start_write(1);
    ASSERT_TRUE(wait_for(s, [&] { return s.server("a").count("insert") == 2; }));
    depose(s);
    ASSERT_TRUE(s.finish(op));
    EXPECT_TRUE(op.good()) << op.explain();
    EXPECT_EQ(s.server("b").count("insert"), 0U);
    expect_clean(s);
}

TEST(client_rescue, write_that_was_retried_once_leaves_the_deposed_primary_if_time_allows_more)
{
    scene s;
    connect_with_spare_connections(s);
    s.server("a").on_command("insert", in_turn({hang_up(), keep_silent()}));
    const operation& op = s.start(insert_of(1),
                                  {.kind = mongo::command_kind::write, .timeout = 60s});
    ASSERT_TRUE(wait_for(s, [&] { return s.server("a").count("insert") == 2; }));
    const time_point known = depose(s);
    ASSERT_TRUE(s.finish(op));
    EXPECT_TRUE(op.good()) << op.explain();
    EXPECT_LE(op.ended - known, 50ms + 2ms) << "the pause of a second retry, and a round trip";
    const auto on_a = s.server("a").commands("insert");
    const auto on_b = s.server("b").commands("insert");
    ASSERT_EQ(on_b.size(), 1U);
    EXPECT_EQ(on_a[0].body["txnNumber"].as_int64(), on_b[0].body["txnNumber"].as_int64());
    expect_clean(s);
}

TEST(client_rescue, checkouts_waiting_for_a_deposed_primary_choose_the_newer_one)
{
    for (const bool enabled : {true, false}) {
        SCOPED_TRACE(enabled);
        scene s;
        connect_with_spare_connections(
            s, enabled ? "&maxPoolSize=1" : "&maxPoolSize=1&rescueFromDeposedPrimary=false");
        s.server("a").on_command("update", in_turn({late(5s)({}), good_write()}));
        s.server("b").on_command("update", in_turn({good_write()}));
        const operation& holds = s.start(update_many(), as_write());
        s.simulation.run_for(10ms);
        const operation* const waiting[] = {&s.start_write(1), &s.start(update_many(), as_write()),
                                            &s.start(bson::doc("find", "coll"), as_read())};
        s.simulation.run_for(100ms);
        const time_point known = depose(s);
        ASSERT_TRUE(s.finish_all());
        EXPECT_EQ(holds.took(), 5s + 2ms);
        for (const operation* const one : waiting) {
            EXPECT_TRUE(one->good()) << one->explain();
            const duration wait = one->ended - known;
            EXPECT_TRUE(enabled ? wait <= 10ms : wait >= 4s) << wait / 1ms << " ms";
        }
        EXPECT_EQ(s.server("b").count("update"), enabled ? 1U : 0U);
        EXPECT_EQ(s.events().count(heard::check_out_failed, "a:27017"), enabled ? 3U : 0U);
        expect_clean(s, {.pool = 1});
    }
}

}  // namespace
}  // namespace holdfast::proof::rescue_test
