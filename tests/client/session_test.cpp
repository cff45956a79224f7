#include "api/mongo/access.hpp"
#include "client/traffic.hpp"

#include <map>
#include <set>

namespace holdfast::proof::session_test {
namespace {

using namespace std::chrono_literals;
using bson::uuid;

mongo::command_options in(const mongo::session& which, mongo::command_kind kind)
{
    return {.kind = kind, .session = &which};
}
mongo::command_options write_in(const mongo::session& which)
{
    return in(which, mongo::command_kind::write);
}

std::optional<uuid> lsid_of(const scripted_command& command)
{
    const auto id = command.body.get<uuid>("lsid.id");
    return id ? std::optional{*id} : std::nullopt;
}

std::vector<uuid> lsids(const std::vector<scripted_command>& of)
{
    std::vector<uuid> ids;
    for (const scripted_command& one : of)
        ids.push_back(lsid_of(one).value_or(uuid{}));
    return ids;
}

std::vector<std::int64_t> numbers(const std::vector<scripted_command>& of)
{
    std::vector<std::int64_t> all;
    for (const scripted_command& one : of) {
        const bson::element number = one.body["txnNumber"];
        all.push_back(number.type() == bson::type::int64 ? number.as_int64() : -1);
    }
    return all;
}

TEST(client_session, explicit_session_sends_lsid_and_increasing_txn_number)
{
    VERIFIES("RW-002");
    VERIFIES("RW-037");
    VERIFIES("RD-005");
    scene s{{.hosts = {"a"}}};
    s.connect();
    std::optional<mongo::session> first = s.client->start_session();
    EXPECT_FALSE(first->id()) << "no operation has used it";
    for (int i = 0; i < 3; ++i)
        ASSERT_TRUE(s.run(insert_of(i), write_in(*first)).good());
    ASSERT_TRUE(s.run(ping_command(), in(*first, mongo::command_kind::generic)).good());
    ASSERT_TRUE(s.run(bson::doc("find", "coll"), in(*first, mongo::command_kind::read)).good());
    ASSERT_TRUE(first->id());
    const uuid id = *first->id();
    EXPECT_EQ(lsids(s.server("a").commands("insert")), (std::vector<uuid>{id, id, id}));
    EXPECT_EQ(numbers(s.server("a").commands("insert")), (std::vector<std::int64_t>{1, 2, 3}));
    for (const char* const name : {"ping", "find"}) {
        EXPECT_EQ(lsid_of(s.server("a").commands(name).at(0)), id) << name;
        EXPECT_FALSE(s.server("a").commands(name).at(0).body["txnNumber"]) << name;
    }

    // While it is reserved, other operations have sessions of their own.
    ASSERT_TRUE(s.write().good());
    EXPECT_NE(lsid_of(s.server("a").commands("insert").back()), id);

    // The next one takes up what the first has left, and goes on counting.
    first.reset();
    const mongo::session second = s.client->start_session();
    ASSERT_TRUE(s.run(insert_of(9), write_in(second)).good());
    EXPECT_EQ(second.id(), id);
    EXPECT_EQ(lsid_of(s.server("a").commands("insert").back()), id);
    EXPECT_EQ(numbers(s.server("a").commands("insert")).back(), 4);
    expect_clean(s);
}

TEST(client_session, implicit_session_is_reused_by_consecutive_operations)
{
    VERIFIES("RD-006");
    scene s{{.hosts = {"a"}}};
    s.connect();
    for (int i = 0; i < 100; ++i)
        ASSERT_TRUE(s.write(i).good());
    const auto row = s.server("a").commands("insert");
    const auto ids = lsids(row);
    EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), 1U);
    EXPECT_NE(ids.front(), uuid{});
    std::vector<std::int64_t> counted;
    for (int i = 1; i <= 100; ++i)
        counted.push_back(i);
    EXPECT_EQ(numbers(row), counted);

    s.server("a").on_command("insert", [](const scripted_command&) {
        return scripted_reply{.body = good_write().body, .delay = 1s};
    });
    for (int i = 0; i < 5; ++i)
        s.start_write(100 + i);
    ASSERT_TRUE(s.finish_all());
    const auto all = lsids(s.server("a").commands("insert"));
    EXPECT_EQ(std::set(all.begin() + 100, all.end()).size(), 5U) << "no two at a time share one";
    expect_clean(s);
}

TEST(client_session, ended_or_foreign_session_is_refused)
{
    scene s{{.hosts = {"a"}}};
    s.connect();
    const mongo::session mine = s.client->start_session();
    ASSERT_TRUE(s.run(insert_of(1), write_in(mine)).good());
    mine.end();
    const operation& late = s.run(insert_of(2), write_in(mine));
    ASSERT_FALSE(late.good());
    EXPECT_NE(late.explain().find("the session has ended"), std::string::npos) << late.explain();
    const mongo::session never_used = s.client->start_session();
    never_used.end();
    EXPECT_FALSE(s.run(ping_command(), write_in(never_used)).good());

    auto other = mongo::access::in_world(
        std::shared_ptr<runtime::world>{std::shared_ptr<void>{}, &s.app.world()}, "mongodb://a");
    const mongo::session foreign = other->start_session();
    const operation& refused = s.run(insert_of(3), write_in(foreign));
    ASSERT_FALSE(refused.good());
    EXPECT_NE(refused.explain().find("another client"), std::string::npos) << refused.explain();
    EXPECT_EQ(s.server("a").count("insert"), 1U) << "nothing may have been sent";
    EXPECT_EQ(s.server("a").count("ping"), 0U);
    expect_clean(s);
}

TEST(client_session, second_operation_at_the_same_time_is_refused)
{
    scene s{{.hosts = {"a"}}};
    s.connect();
    const mongo::session mine = s.client->start_session();
    const mongo::session other = s.client->start_session();
    ASSERT_TRUE(s.run(insert_of(1), write_in(mine)).good());
    s.server("a").on_command("insert", [](const scripted_command&) {
        return scripted_reply{.body = bson::doc("ok", 1, "n", 1), .delay = 50ms};
    });
    const operation& first = s.start(insert_of(2), write_in(mine));
    s.simulation.run_for(20ms);
    const operation& second = s.run(insert_of(3), write_in(mine));
    EXPECT_FALSE(first.done());
    ASSERT_FALSE(second.good());
    EXPECT_NE(second.explain().find("the session is in use by another operation"),
              std::string::npos)
        << second.explain();
    EXPECT_TRUE(s.run(insert_of(4), write_in(other)).good()) << "another session is free";
    ASSERT_TRUE(s.finish(first));
    EXPECT_TRUE(first.good()) << first.explain();
    EXPECT_TRUE(s.run(insert_of(5), write_in(mine)).good()) << "the first has ended";
    EXPECT_EQ(s.server("a").count("insert"), 4U) << "the refused one was not sent";
    expect_clean(s);
}

TEST(client_session, failed_operation_frees_its_session)
{
    scene s{{.hosts = {"a"}}};
    s.connect();
    const mongo::session mine = s.client->start_session();
    s.server("a").on_command("insert", [](const scripted_command&) { return hang_up(); });
    EXPECT_FALSE(s.run(insert_of(1), write_in(mine)).good());
    s.server("a").on_command("insert", [](const scripted_command&) {
        return scripted_reply{.body = bson::doc("ok", 1, "n", 1)};
    });
    EXPECT_TRUE(s.run(insert_of(2), write_in(mine)).good());
    expect_clean(s);
}

TEST(client_session, server_without_sessions_refuses_explicit_sessions)
{
    scene s{{.hosts = {"a"}}};
    s.set.has_sessions = false;
    s.connect();
    const mongo::session given = s.client->start_session();
    const operation& op = s.run(insert_of(1), write_in(given));
    ASSERT_FALSE(op.good());
    EXPECT_NE(op.explain().find("does not support sessions"), std::string::npos) << op.explain();
    EXPECT_EQ(s.server("a").count("insert"), 0U);
    ASSERT_TRUE(s.write(2).good());
    const bson::document sent = s.server("a").commands("insert").at(0).body;
    EXPECT_FALSE(sent["lsid"]);
    EXPECT_FALSE(sent["txnNumber"]);
    expect_clean(s);
    EXPECT_EQ(s.server("a").count("endSessions"), 0U);
}

TEST(client_session, dirty_session_is_not_reused_after_a_network_error)
{
    scene s{{.hosts = {"a"}}};
    s.server("a").on_command("insert", in_turn({hang_up(), good_write()}));
    s.connect();
    std::optional<mongo::session> given = s.client->start_session();
    ASSERT_TRUE(s.run(insert_of(1), write_in(*given)).good());
    const auto both = s.server("a").commands("insert");
    ASSERT_EQ(both.size(), 2U);
    EXPECT_EQ(lsid_of(both[0]), lsid_of(both[1])) << "the retry is the same write";
    EXPECT_EQ(numbers(both), (std::vector<std::int64_t>{1, 1}));
    ASSERT_TRUE(s.run(insert_of(2), write_in(*given)).good());
    EXPECT_EQ(lsid_of(s.server("a").commands("insert").back()), lsid_of(both[0]))
        << "its owner keeps it";
    EXPECT_EQ(numbers(s.server("a").commands("insert")).back(), 2);
    given.reset();
    ASSERT_TRUE(s.write(3).good());
    EXPECT_NE(lsid_of(s.server("a").commands("insert").back()), lsid_of(both[0]));

    // The same for a session that an operation had taken for itself.
    s.server("a").on_command("insert", in_turn({hang_up(), good_write()}));
    ASSERT_TRUE(s.write(4).good());
    const auto all = s.server("a").commands("insert");
    const auto dirty = lsid_of(all[all.size() - 1]);
    EXPECT_EQ(lsid_of(all[all.size() - 2]), dirty);
    ASSERT_TRUE(s.write(5).good());
    EXPECT_NE(lsid_of(s.server("a").commands("insert").back()), dirty);
    expect_clean(s);
    const auto kill_cursors = s.server("a").commands("endSessions");
    ASSERT_EQ(kill_cursors.size(), 1U);
    for (const bson::element& one : kill_cursors[0].body["endSessions"].as_array()) {
        const auto id = one.as_document().get<uuid>("id").value();
        EXPECT_NE(id, dirty) << "the server need not hear of it again";
        EXPECT_NE(id, lsid_of(both[0]));
    }
}

TEST(client_session, client_close_sends_end_sessions_for_all_used)
{
    scene s;
    s.connect();
    std::optional<mongo::session> given = s.client->start_session();
    ASSERT_TRUE(s.run(insert_of(1), write_in(*given)).good());
    for (int i = 2; i < 6; ++i)
        s.start_write(i);
    ASSERT_TRUE(s.finish_all());
    given.reset();
    const auto ids = lsids(s.server("a").commands("insert"));
    expect_clean(s);
    std::set<uuid> ended;
    for (const char* const name : {"a", "b"}) {
        for (const scripted_command& one : s.server(name).commands("endSessions")) {
            EXPECT_EQ(one.body.get<std::string>("$db").value_or(""), "admin");
            for (const bson::element& id : one.body["endSessions"].as_array())
                EXPECT_TRUE(ended.insert(id.as_document().get<uuid>("id").value()).second);
        }
    }
    EXPECT_EQ(ended, std::set(ids.begin(), ids.end()));
}

TEST(client_session, end_sessions_opens_no_session_of_its_own)
{
    scene s{{.hosts = {"a"}}};
    s.connect();
    ASSERT_TRUE(s.write().good());
    expect_clean(s);
    const auto ended = s.server("a").commands("endSessions");
    ASSERT_EQ(ended.size(), 1U);
    EXPECT_FALSE(ended[0].body["lsid"]) << "the server would keep that one for 30 minutes";
}

TEST(client_session, end_sessions_goes_to_a_secondary_where_there_is_no_primary)
{
    scene s;
    s.connect();
    ASSERT_TRUE(s.write().good());
    s.settle();
    s.set.elect("");
    for (const char* const name : {"a", "b"})
        s.server(name).announce();
    s.simulation.run_for(50ms);
    expect_clean(s);
    EXPECT_EQ(s.server("a").count("endSessions") + s.server("b").count("endSessions"), 1U);
}

TEST(client_session, session_may_outlive_its_client)
{
    scene s{{.hosts = {"a"}}};
    s.connect();
    const mongo::session given = s.client->start_session();
    ASSERT_TRUE(s.run(insert_of(1), write_in(given)).good());
    const auto id = given.id();
    const mongo::client again = *s.client;
    expect_clean(s);
    EXPECT_EQ(given.id(), id);
    std::optional<bool> worked;
    again.run_command("sea", insert_of(2), write_in(given),
                      [&](const result<bson::document>& reply) { worked = reply.has_value(); });
    s.simulation.run_for(1s);
    EXPECT_EQ(worked, false);
    given.end();
}

TEST(client_session, session_near_its_timeout_is_not_reused)
{
    scene s{{.hosts = {"a"}}};  // forgets them after 30 minutes
    s.connect();
    ASSERT_TRUE(s.write(1).good());
    s.simulation.run_for(28min);
    ASSERT_TRUE(s.write(2).good());
    s.simulation.run_for(29min + 1s);
    ASSERT_TRUE(s.write(3).good());
    const auto ids = lsids(s.server("a").commands("insert"));
    EXPECT_EQ(ids.at(0), ids.at(1));
    EXPECT_NE(ids.at(1), ids.at(2));
    expect_clean(s);
}

TEST(client_session, txn_number_is_never_reused_whatever_the_outcome)
{
    VERIFIES("RW-038");
    scene s{{.hosts = {"a"}}};
    const std::vector<std::pair<scripted_reply, bool>> writes = {
        // How the first attempt ends, and whether there is another.
        {{.body = error_reply(11000)}, false},
        {good_write(), false},
        {{.body = error_reply(189, "RetryableWriteError")}, true},
        {{.body = overload_reply()}, true},
        {hang_up(), true},
        {{.body = error_reply(206)}, false},
        {good_write(), false},
    };
    std::vector<scripted_reply> replies;
    for (const auto& [first, again] : writes) {
        replies.push_back(first);
        if (again)
            replies.push_back(good_write());
    }
    s.server("a").on_command("insert", in_turn(std::move(replies)));
    s.connect();
    const mongo::session given = s.client->start_session();
    for (int id = 0; id < static_cast<int>(writes.size()); ++id)
        EXPECT_TRUE(s.run(insert_of(id), write_in(given)).done());

    std::map<std::int64_t, std::vector<std::int64_t>> numbers_of;  // by operation
    std::vector<std::int64_t> operations;  // in the order of their beginning
    for (const record& one : s.events().of(heard::command_started)) {
        ASSERT_EQ(one.body.get<uuid>("lsid.id").value(), given.id());
        if (operations.empty() || operations.back() != one.operation)
            operations.push_back(one.operation);
        numbers_of[one.operation].push_back(one.body["txnNumber"].as_int64());
    }
    ASSERT_EQ(operations.size(), writes.size());
    ASSERT_EQ(numbers_of.size(), writes.size());
    std::int64_t last = 0;
    for (std::size_t i = 0; i < writes.size(); ++i) {
        const auto& attempts = numbers_of[operations[i]];
        EXPECT_EQ(attempts.size(), writes[i].second ? 2U : 1U) << "write " << i;
        for (const std::int64_t number : attempts)
            EXPECT_EQ(number, attempts.front()) << "write " << i;
        EXPECT_GT(attempts.front(), last) << "write " << i;
        last = attempts.front();
    }
    expect_clean(s);
}

}  // namespace
}  // namespace holdfast::proof::session_test
