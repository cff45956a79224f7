#include "client/reading.hpp"

namespace holdfast::proof::cursor_end_test {
namespace {

using namespace std::chrono_literals;
using bson::doc;

TEST(cursor_end, close_sends_kill_cursors)
{
    reading r{first(42, R"([{"_id": 1}, {"_id": 2}])")};
    mongo::cursor some = r.find();
    EXPECT_EQ(r.next(some), 1);
    EXPECT_TRUE(r.wait<void>([&](auto done) { some.close(done); }));
    ASSERT_EQ(r.server.count("killCursors"), 1u);
    const bson::document received = r.server.commands("killCursors")[0].body;
    EXPECT_EQ(received.get<std::string>("killCursors").value(), "coll");
    EXPECT_EQ(received.get<std::int64_t>("cursors.0").value(), 42);
    EXPECT_EQ(r.lsid("killCursors"), r.lsid("find"));
    EXPECT_FALSE(some.is_open());
    EXPECT_EQ(r.next(some), 0);
    EXPECT_TRUE(r.wait<void>([&](auto done) { some.close(done); }));
    EXPECT_EQ(r.server.count("killCursors"), 1u);
    expect_clean(r.s);
}

TEST(cursor_end, unused_cursor_sends_no_command)
{
    reading r{first(42, none)};
    {
        mongo::cursor unused = r.find();
        EXPECT_TRUE(r.wait<void>([&](auto done) { unused.close(done); }));
        EXPECT_FALSE(unused.is_open());
        EXPECT_EQ(r.next(unused), 0);
    }
    r.s.settle();
    EXPECT_EQ(r.server.count("find"), 0u);
    EXPECT_EQ(r.server.count("killCursors"), 0u);
    expect_clean(r.s);
}

TEST(cursor_end, destroyed_cursor_sends_kill_cursors)
{
    reading r{first(42, R"([{"_id": 1}])")};
    {
        mongo::cursor some = r.find();
        EXPECT_EQ(r.next(some), 1);
    }
    EXPECT_TRUE(wait_for(r.s, [&] { return r.server.count("killCursors") == 1; }));
    r.s.simulation.run_for(10ms);
    ASSERT_TRUE(r.s.write().good());
    EXPECT_EQ(r.lsid("insert"), r.lsid("find")) << "the session has come back";
    expect_clean(r.s);
}

/// Behind a load balancer, that is: elsewhere a cursor has no connection of its own.
TEST(cursor_end, failed_cursor_unpins_its_connection_on_close)
{
    struct row {
        scripted_reply failure;
        std::size_t received;  // whether the server may still have the cursor
    };
    for (const row& one : {row{refusal(1), 1}, row{refusal(43), 0}, row{hang_up(), 0}}) {
        for (const bool closes : {true, false}) {
            reading r{first(42, R"([{"_id": 1}])"), {one.failure}, {}, true};
            const auto given_back = [&] { return r.s.events().count(heard::checked_in); };
            {
                mongo::cursor some = r.find();
                EXPECT_EQ(r.next(some), 1);
                EXPECT_EQ(r.next(some), -1);
                r.s.settle();
                EXPECT_EQ(given_back(), 0U);
                EXPECT_FALSE(some.is_open());
                EXPECT_EQ(r.next(some), 0) << "it has ended";
                EXPECT_EQ(r.server.count("getMore"), 1U);
                if (closes) {
                    EXPECT_TRUE(r.wait<void>([&](auto done) { some.close(done); }));
                }
            }
            EXPECT_TRUE(wait_for(r.s, [&] { return given_back() == 1; }));
            EXPECT_EQ(r.server.count("killCursors"), one.received);
            EXPECT_EQ(r.s.close(), "");
        }
    }
}

/// A session serves one operation at a time, and killCursors may be sent at any moment.
TEST(cursor_end, kill_cursors_does_not_advance_an_explicit_session)
{
    reading r{first(42, R"([{"_id": 1}])")};
    r.server.on("killCursors", [](bson::view) {
        return doc("operationTime", bson::timestamp{9, 1}, "$clusterTime",
                   doc("clusterTime", bson::timestamp{9, 1}), "ok", 1.0);
    });
    const mongo::session own = r.s.client->start_session();
    {
        mongo::cursor some = r.find({.session = &own});
        EXPECT_EQ(r.next(some), 1);
    }
    EXPECT_TRUE(wait_for(r.s, [&] { return r.server.count("killCursors") == 1; }));
    r.s.simulation.run_for(10ms);
    EXPECT_EQ(r.lsid("killCursors"), r.lsid("find"));
    EXPECT_EQ(own.id(), r.lsid("find"));
    EXPECT_FALSE(own.operation_time());
    EXPECT_FALSE(own.cluster_time());
    expect_clean(r.s);
}

TEST(cursor_end, kill_cursors_is_sent_although_the_session_has_ended)
{
    reading r{first(42, R"([{"_id": 1}])")};
    const mongo::session own = r.s.client->start_session();
    {
        mongo::cursor some = r.find({.session = &own});
        EXPECT_EQ(r.next(some), 1);
    }
    own.end();
    EXPECT_TRUE(wait_for(r.s, [&] { return r.server.count("killCursors") == 1; }));
    r.s.simulation.run_for(10ms);
    EXPECT_EQ(r.lsid("killCursors"), r.lsid("find"));
    expect_clean(r.s);
    const bson::document ended = r.server.commands("endSessions").at(0).body;
    EXPECT_TRUE(ended["endSessions"].as_array()[0]);
    EXPECT_FALSE(ended["endSessions"].as_array()[1]) << "given back once";
}

TEST(cursor_end, network_error_ends_the_cursor_without_kill_cursors)
{
    reading r{first(42, R"([{"_id": 1}])"), {hang_up()}};
    mongo::cursor some = r.find();
    EXPECT_EQ(r.next(some), 1);
    const auto lost = r.wait<found>([&](auto done) { some.next(done); });
    ASSERT_FALSE(lost);
    EXPECT_EQ(mongo::kind_of(lost.error()), mongo::error_kind::network);
    EXPECT_EQ(r.server.count("getMore"), 1u) << "what a getMore has given may be lost: no retry";
    EXPECT_FALSE(some.is_open());
    EXPECT_EQ(r.next(some), 0);
    r.s.simulation.run_for(1s);
    EXPECT_EQ(r.server.count("killCursors"), 0u);
    expect_clean(r.s);
}

TEST(cursor_end, failed_get_more_ends_the_cursor_with_kill_cursors)
{
    for (const auto& [code, received] : {std::pair{2, 1u}, {43, 0u}, {237, 0u}}) {
        SCOPED_TRACE(code);
        reading r{first(42, R"([{"_id": 1}])"), {refusal(code)}};
        mongo::cursor some = r.find();
        EXPECT_EQ(r.next(some), 1);
        const auto refused = r.wait<found>([&](auto done) { some.next(done); });
        ASSERT_FALSE(refused);
        EXPECT_EQ(mongo::server_code(refused.error()), code);
        EXPECT_EQ(r.server.count("killCursors"), received);
        EXPECT_FALSE(some.is_open());
        expect_clean(r.s);
    }
}

TEST(cursor_end, cancelled_get_more_ends_the_cursor)
{
    reading r{first(42, R"([{"_id": 1}])"), {keep_silent()}};
    mongo::cursor some = r.find();
    EXPECT_EQ(r.next(some), 1);
    boost::asio::cancellation_signal stop;
    std::optional<result<found>> outcome;
    some.next(boost::asio::bind_cancellation_slot(
        stop.slot(), [&](result<found> got) { outcome.emplace(std::move(got)); }));
    ASSERT_TRUE(wait_for(r.s, [&] { return r.server.count("getMore") == 1; }));
    stop.emit(boost::asio::cancellation_type::terminal);
    ASSERT_TRUE(wait_for(r.s, [&] { return outcome.has_value(); }));
    ASSERT_FALSE(*outcome);
    EXPECT_EQ(mongo::kind_of(outcome->error()), mongo::error_kind::cancelled);
    EXPECT_FALSE(some.is_open());
    EXPECT_TRUE(wait_for(r.s, [&] { return r.server.count("killCursors") == 1; }));
    r.s.simulation.run_for(10ms);
    expect_clean(r.s);
}

TEST(cursor_end, timeout_covers_the_whole_cursor_lifetime)
{
    reading r{first(42, R"([{"_id": 1}])"), {more(42, R"([{"_id": 2}])")}};
    mongo::cursor slow = r.find({.timeout = 100ms});
    EXPECT_EQ(r.next(slow), 1);
    EXPECT_EQ(r.next(slow), 2);
    r.s.simulation.run_for(200ms);
    const auto late = r.wait<found>([&](auto done) { slow.next(done); });
    ASSERT_FALSE(late);
    EXPECT_EQ(mongo::kind_of(late.error()), mongo::error_kind::timeout) << late.error().explain();
    EXPECT_TRUE(wait_for(r.s, [&] { return r.server.count("killCursors") == 1; }))
        << "that has time of its own";
    r.s.simulation.run_for(10ms);
    expect_clean(r.s);
}

TEST(cursor_end, reply_without_a_cursor_is_an_error)
{
    reading r{{.body = doc("ok", 1.0)}};
    mongo::cursor some = r.find();
    EXPECT_EQ(r.next(some), -1);
    EXPECT_FALSE(some.is_open());
    EXPECT_EQ(r.next(some), 0);
    expect_clean(r.s);
}

TEST(cursor_end, invalid_find_options_are_refused_before_sending)
{
    reading r{first(0, none)};
    mongo::cursor some = r.find({.batch_size = -1});
    const auto refused = r.wait<found>([&](auto done) { some.next(done); });
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().context("option"), "batch_size");
    EXPECT_EQ(r.next(some), 0);
    EXPECT_EQ(r.server.count("find"), 0u);
    r.s.settle();
    expect_clean(r.s);
}

}  // namespace
}  // namespace holdfast::proof::cursor_end_test
