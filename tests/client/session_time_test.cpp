#include "client/traffic.hpp"
#include "shell/mongo/execute/operation_session.hpp"

namespace holdfast::proof::session_time_test {
namespace {

using namespace std::chrono_literals;

bson::document cluster_time(std::uint32_t seconds)
{
    return bson::doc("clusterTime", bson::timestamp{.seconds = seconds, .increment = 1},
                     "signature", bson::object("keyId", std::int64_t{seconds}));
}

/// A reply with operationTime and $clusterTime.
scripted_reply at(std::uint32_t seconds)
{
    return {bson::doc("n", 1, "ok", 1.0, "$clusterTime", cluster_time(seconds), "operationTime",
                      bson::timestamp{.seconds = seconds, .increment = 1})};
}

/// What was sent as "$clusterTime" with the last command of that name; 0 if nothing was.
std::uint32_t sent_with(scene& s, std::string_view command)
{
    const bson::document body = s.server("a").commands(command).back().body;
    const bson::element time = body["$clusterTime"];
    if (time.type() != bson::type::document)
        return 0;
    const auto when = time.as_document().get<bson::timestamp>("clusterTime").value();
    EXPECT_EQ(bson::document{time.as_document()}, cluster_time(when.seconds)) << "with all of it";
    return when.seconds;
}

std::uint32_t seconds_of(const std::optional<bson::document>& time)
{
    return time ? time->get<bson::timestamp>("clusterTime").value().seconds : 0;
}

mongo::command_options in(const mongo::session& which)
{
    return {.session = &which};
}

TEST(client_cluster_time, cluster_time_of_a_reply_is_sent_and_never_decreases)
{
    scene s{{.hosts = {"a"}}};
    s.connect();
    s.server("a").on_command("count", in_turn({at(100), at(90), at(110)}));
    const bson::document count = bson::doc("count", "coll");
    std::vector<std::uint32_t> sent;
    for (int i = 0; i < 4; ++i) {
        ASSERT_TRUE(s.run(count).good());
        sent.push_back(sent_with(s, "count"));
    }
    EXPECT_EQ(sent, (std::vector<std::uint32_t>{0, 100, 100, 110}));
    expect_clean(s);
}

TEST(client_cluster_time, cluster_time_of_an_error_reply_is_used)
{
    scene s{{.hosts = {"a"}}};
    s.connect();
    s.server("a").on("count", [](bson::view) {
        return bson::doc("ok", 0.0, "code", 13, "errmsg", "no", "$clusterTime", cluster_time(70),
                         "operationTime", bson::timestamp{.seconds = 70, .increment = 1});
    });
    const mongo::session given = s.client->start_session();
    EXPECT_EQ(s.run(bson::doc("count", "coll"), in(given)).code(), 13);
    EXPECT_EQ(seconds_of(given.cluster_time()), 70U);
    ASSERT_TRUE(given.operation_time());
    EXPECT_EQ(given.operation_time()->seconds, 70U);
    ASSERT_TRUE(s.run(ping_command()).good());
    EXPECT_EQ(sent_with(s, "ping"), 70U);
    expect_clean(s);
}

TEST(client_cluster_time, session_times_advance_with_its_own_operations)
{
    scene s{{.hosts = {"a"}}};
    s.connect();
    s.server("a").on_command("count", in_turn({at(100), at(120)}));
    const mongo::session one = s.client->start_session();
    const mongo::session other = s.client->start_session();
    EXPECT_FALSE(one.cluster_time());
    EXPECT_FALSE(one.operation_time());
    const bson::document count = bson::doc("count", "coll");
    ASSERT_TRUE(s.run(count, in(one)).good());
    EXPECT_EQ(seconds_of(one.cluster_time()), 100U);
    EXPECT_EQ(one.operation_time()->seconds, 100U);
    EXPECT_FALSE(other.cluster_time());
    ASSERT_TRUE(s.run(count).good());
    EXPECT_EQ(seconds_of(one.cluster_time()), 100U) << "it was not its own";
    EXPECT_EQ(one.operation_time()->seconds, 100U);
    ASSERT_TRUE(s.run(ping_command(), in(one)).good());
    EXPECT_EQ(sent_with(s, "ping"), 120U) << "the client knows a newer one";
    expect_clean(s);
}

TEST(client_cluster_time, advanced_cluster_time_is_sent_by_that_session_only)
{
    scene s{{.hosts = {"a"}}};
    s.connect();
    s.server("a").on_command("count", in_turn({at(100)}));
    ASSERT_TRUE(s.run(bson::doc("count", "coll")).good());
    const mongo::session given = s.client->start_session();
    given.advance_cluster_time(cluster_time(500));
    given.advance_operation_time({.seconds = 500, .increment = 1});
    EXPECT_EQ(seconds_of(given.cluster_time()), 500U);
    EXPECT_EQ(given.operation_time()->seconds, 500U);
    ASSERT_TRUE(s.run(ping_command()).good());
    EXPECT_EQ(sent_with(s, "ping"), 100U) << "the client's own was not advanced";
    ASSERT_TRUE(s.run(ping_command(), in(given)).good());
    EXPECT_EQ(sent_with(s, "ping"), 500U);
    ASSERT_TRUE(s.run(ping_command()).good());
    EXPECT_EQ(sent_with(s, "ping"), 100U);
    // Neither goes back.
    given.advance_cluster_time(cluster_time(400));
    given.advance_operation_time({.seconds = 400, .increment = 1});
    EXPECT_EQ(seconds_of(given.cluster_time()), 500U);
    EXPECT_EQ(given.operation_time()->seconds, 500U);
    expect_clean(s);
}

TEST(client_cluster_time, cluster_time_of_a_reply_counts_without_a_session)
{
    shell::mongo::operation_session none{nullptr};
    shell::mongo::cluster_clock clock;
    const bson::document reply = bson::doc("ok", 1.0, "$clusterTime", cluster_time(100));
    none.replied(core::mongo::glance_at(reply.view()), clock, time_point{});
    EXPECT_FALSE(clock.is_older_than(cluster_time(100).view()));
    EXPECT_TRUE(clock.is_older_than(cluster_time(101).view()));
}

/// Prose test 20 of the specification "Driver Sessions", for monitors that ask or listen.
void let_monitors_see_a_later_time(bool streams)
{
    scene s{{.hosts = {"a"}, .streams = streams}};
    s.connect("&heartbeatFrequencyMS=500");
    s.server("a").on_command("count", in_turn({at(100)}));
    s.server("a").on_hello([&](const scripted_command&) {
        bson::byte_buffer bytes;
        bson::builder out{bytes};
        out.merge(s.set.hello_of("a:27017").view());
        out.add("$clusterTime", cluster_time(900).view());
        (void)out.finish().value();
        return scripted_reply{bson::document::adopt(std::move(bytes))};
    });
    ASSERT_TRUE(s.run(bson::doc("count", "coll")).good());
    for (int n = 0; n < 5; ++n) {
        s.set.elect("a:27017");  // news, for those who listen
        s.server("a").announce();
        s.simulation.run_for(1s);
    }
    std::size_t streamed = 0;
    for (const record& one : s.events().of(heard::heartbeat_succeeded))
        streamed += one.awaited ? 1U : 0U;
    EXPECT_EQ(streamed >= 5, streams) << streamed;
    ASSERT_TRUE(s.run(ping_command()).good());
    EXPECT_EQ(sent_with(s, "ping"), 100U);
    std::size_t hellos = 0;
    for (const scripted_command& one : s.server("a").commands()) {
        if (!is_hello(one.name))
            continue;
        ++hellos;
        EXPECT_FALSE(one.body["$clusterTime"]);
        EXPECT_FALSE(one.body["lsid"]);
    }
    EXPECT_GT(hellos, 8U);
    expect_clean(s);
}

TEST(client_cluster_time, monitors_neither_send_nor_read_cluster_time)
{
    for (const bool streams : {false, true})
        let_monitors_see_a_later_time(streams);
}

}  // namespace
}  // namespace holdfast::proof::session_time_test
