#include "client/reading.hpp"

namespace holdfast::proof::deadline_test {
namespace {

using namespace std::chrono_literals;
using bson::doc;
using mongo::error_kind;
using mongo::kind_of;

/// A command that its server answers with silence.
const operation& ask_in_vain(scene& s, mongo::command_options options)
{
    s.connect();
    EXPECT_TRUE(s.run(ping_command()).good());
    s.server("a").on_command("insert", [](const scripted_command&) { return keep_silent(); });
    return s.run(insert_of(1), options);
}

TEST(client_deadline, deadline_during_a_round_trip_is_a_timeout_error)
{
    scene s;
    const operation& late = ask_in_vain(s, {.kind = mongo::command_kind::write, .timeout = 100ms});
    ASSERT_FALSE(late.good());
    EXPECT_EQ(late.took(), 100ms);
    const error& why = late.outcome->error();
    EXPECT_EQ(kind_of(why), error_kind::timeout) << why.explain();
    EXPECT_TRUE(mongo::may_have_been_applied(why)) << why.explain();
    ASSERT_EQ(why.history().size(), 1u);
    EXPECT_EQ(why.history()[0].phase, dispatch_phase::in_flight);
    expect_clean(s);
}

TEST(client_deadline, socket_timeout_ms_is_a_network_error_not_a_timeout)
{
    scene s{{.hosts = {"a"}}};
    s.connect("&socketTimeoutMS=50&retryReads=false");
    s.server("a").on_command("count", [](const scripted_command&) { return keep_silent(); });
    const operation& lost = s.run(doc("count", "coll"),
                                  {.kind = mongo::command_kind::read, .timeout = 1s});
    ASSERT_FALSE(lost.good());
    EXPECT_EQ(kind_of(lost.outcome->error()), error_kind::network) << lost.explain();
    expect_clean(s);
}

TEST(client_deadline, deadline_during_server_selection_is_a_timeout_error)
{
    scene s;
    s.set.elect("");
    s.connect();
    s.settle();
    const operation& late = s.run(ping_command(), {.timeout = 100ms});
    ASSERT_FALSE(late.good());
    EXPECT_EQ(late.took(), 100ms);
    const error& why = late.outcome->error();
    EXPECT_EQ(kind_of(why), error_kind::timeout) << why.explain();
    EXPECT_NE(why.message().find("server selection timed out"), std::string_view::npos)
        << why.message();
    EXPECT_FALSE(mongo::may_have_been_applied(why));
    expect_clean(s);
}

TEST(client_deadline, server_selection_timeout_ms_before_the_deadline_is_selection)
{
    scene s;
    s.set.elect("");
    s.connect("&serverSelectionTimeoutMS=100");
    s.settle();
    const operation& none = s.run(ping_command(), {.timeout = 1s});
    ASSERT_FALSE(none.good());
    EXPECT_EQ(none.took(), 100ms);
    EXPECT_EQ(kind_of(none.outcome->error()), error_kind::selection) << none.explain();
    expect_clean(s);
}

TEST(client_deadline, deadline_during_a_retry_is_a_timeout_error)
{
    scene s{{.hosts = {"a"}}};
    s.server("a").on_command("count", in_turn({{error_reply(6)}, keep_silent()}));
    s.connect();
    const operation& late = s.run(doc("count", "coll"),
                                  {.kind = mongo::command_kind::read, .timeout = 100ms});
    ASSERT_FALSE(late.good());
    EXPECT_EQ(s.server("a").count("count"), 2u);
    EXPECT_EQ(late.took(), 100ms);
    EXPECT_EQ(kind_of(late.outcome->error()), error_kind::timeout) << late.explain();
    EXPECT_EQ(late.outcome->error().history().size(), 2u);
    expect_clean(s);
}

TEST(client_deadline, error_that_always_returns_at_once_does_not_make_a_hot_loop)
{
    VERIFIES("BP-033");
    scene s{{.hosts = {"a"}}};
    const auto unreachable = doc("ok", 0.0, "code", 6, "errmsg", "no shard", "errorLabels",
                                 bson::list("RetryableWriteError"));
    s.server("a").on_command("insert", in_turn({{.body = unreachable}}));
    s.connect();
    EXPECT_TRUE(s.run(ping_command()).good());
    const operation& op = s.run(insert_of(1), {.kind = mongo::command_kind::write, .timeout = 5s});
    ASSERT_FALSE(op.good());
    EXPECT_EQ(op.code(), 6) << op.explain();
    EXPECT_LE(s.server("a").count("insert"), 30U);
    EXPECT_GE(s.server("a").count("insert"), 8U) << "it goes on until shortly before the deadline";
    EXPECT_GT(op.took(), 3900ms);
    EXPECT_LE(op.took(), 5s);
    const auto history = op.outcome->error().history();
    EXPECT_EQ(history[0].waited, 0ms) << "the first retry is not delayed";
    expect_clean(s);
}

TEST(client_deadline, negative_timeout_fails_without_sending)
{
    scene s{{.hosts = {"a"}}};
    s.connect();
    const operation& late = s.run(ping_command(), {.timeout = -1ms});
    ASSERT_FALSE(late.good());
    EXPECT_EQ(kind_of(late.outcome->error()), error_kind::timeout) << late.explain();
    EXPECT_EQ(s.server("a").count("ping"), 0u);
    for (const auto endless : {0ms, std::chrono::milliseconds::max()})
        EXPECT_TRUE(s.run(ping_command(), {.timeout = endless}).good());
    expect_clean(s);
}

TEST(client_deadline, cursor_past_its_deadline_sends_kill_cursors)
{
    reading r{first(42, R"([{"_id": 1}])"), {keep_silent()}};
    mongo::cursor slow = r.find({.timeout = 100ms});
    EXPECT_EQ(r.next(slow), 1);
    const auto late = r.wait<found>([&](auto done) { slow.next(done); });
    ASSERT_FALSE(late);
    EXPECT_EQ(kind_of(late.error()), error_kind::timeout) << late.error().explain();
    EXPECT_TRUE(wait_for(r.s, [&] { return r.server.count("killCursors") == 1; }));
    r.s.simulation.run_for(10ms);
    expect_clean(r.s);
}

/// A bulk write whose results are a cursor that the server does not go on with.
void write_with_lost_results(scripted_reply further, error_kind expected)
{
    scene s{{.hosts = {"a"}}};
    s.set.wire_version = 25;
    scripted_server& server = s.server("a");
    const auto one = bson::array_from_json(R"([{"ok": 1, "idx": 0, "n": 1}])").value();
    server.on("bulkWrite", [&](bson::view) {
        return doc(
            "ok", 1.0, "nErrors", 0, "nInserted", 2, "nMatched", 0, "nModified", 0, "nUpserted", 0,
            "nDeleted", 0, "cursor",
            bson::object("id", std::int64_t{42}, "ns", "admin.$cmd.bulkWrite", "firstBatch", one));
    });
    server.on_command("getMore", in_turn({std::move(further)}));
    server.on_command("killCursors", [](const scripted_command&) { return keep_silent(); });
    s.connect();
    ASSERT_TRUE(s.run(ping_command()).good());
    mongo::client_bulk_writes work;
    work.insert_one("sea.coll", doc("_id", 1)).insert_one("sea.coll", doc("_id", 2));
    const time_point began = s.simulation.now();
    std::optional<result<mongo::client_bulk_write_result>> outcome;
    s.client->bulk_write(
        work, {.timeout = 100ms, .verbose_results = true},
        [&](result<mongo::client_bulk_write_result> got) { outcome.emplace(std::move(got)); });
    ASSERT_TRUE(wait_for(s, [&] { return outcome.has_value(); }));
    EXPECT_LE(s.simulation.now() - began, 100ms);
    ASSERT_FALSE(*outcome);
    const mongo::write_failure* const failed = mongo::write_failure_of(outcome->error());
    ASSERT_NE(failed, nullptr);
    ASSERT_TRUE(failed->ended_by);
    EXPECT_EQ(kind_of(*failed->ended_by), expected) << failed->ended_by->explain();
    EXPECT_TRUE(wait_for(s, [&] { return server.count("killCursors") == 1; }));
    s.simulation.run_for(6s);
    expect_clean(s);
}

TEST(client_deadline, bulk_write_results_cursor_respects_the_deadline)
{
    write_with_lost_results(keep_silent(), error_kind::timeout);
    write_with_lost_results(refusal(8), error_kind::server);
}

TEST(client_deadline, waiting_operation_is_cancelled_by_client_close)
{
    scene s{{.hosts = {"a"}}};
    s.connect("&maxPoolSize=1");
    ASSERT_TRUE(s.run(ping_command()).good());
    s.server("a").on_command("count", [](const scripted_command&) {
        return scripted_reply{.body = doc("n", 1, "ok", 1.0), .delay = 1s};
    });
    const operation& holds = s.start(doc("count", "coll"));
    s.simulation.run_for(5ms);
    const operation& in_queue = s.start(ping_command());
    const mongo::read_preference of_others{.mode = mongo::read_mode::secondary};
    const operation& selecting = s.start(ping_command(), {.read_preference = of_others});
    s.simulation.run_for(5ms);
    EXPECT_EQ(s.close(), "");
    for (const operation* const one : {&in_queue, &selecting}) {
        ASSERT_TRUE(one->done());
        ASSERT_FALSE(one->good());
        EXPECT_EQ(kind_of(one->outcome->error()), error_kind::cancelled) << one->explain();
    }
    EXPECT_TRUE(holds.done());
    EXPECT_EQ(s.complaints(), "");
}

}  // namespace
}  // namespace holdfast::proof::deadline_test
