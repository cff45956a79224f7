#include "client/prose/session_methods.hpp"

/// The prose tests of the specification "Driver Sessions", by their numbers. 10 is a part of all
/// tests: see lab_scene::close(). 20: tests/client/session_time_test.cpp. Not applicable: 7, 16,
/// 17 (several users at a time), 12, 13 (fork), 15 (OP_QUERY).
namespace holdfast::proof::sessions_test {
namespace {

using namespace std::chrono_literals;
using bson::uuid;

const bson::document ping = bson::doc("ping", 1);

TEST(prose_sessions, 1_snapshot_and_causal_consistency_are_refused_together)
{
    lab_scene s;
    s.connect();
    EXPECT_THROW((void)s.client->start_session({.causal_consistency = true, .snapshot = true}),
                 failure);
    (void)s.client->start_session({.causal_consistency = false, .snapshot = true});
    (void)s.client->start_session({.snapshot = true});
    s.close();
}

uuid used_id(lab_scene& s, const mongo::session& with)
{
    const auto done = s.get(
        s.client->run_command("sea", ping.view(), {.session = &with}, use_awaitable));
    EXPECT_TRUE(done) << done.error().explain();
    return with.id().value_or(uuid{});
}

TEST(prose_sessions, 2_session_pool_is_last_in_first_out)
{
    lab_scene s;
    s.connect();
    const mongo::session a = s.client->start_session();
    const mongo::session b = s.client->start_session();
    const uuid id_a = used_id(s, a);
    const uuid id_b = used_id(s, b);
    EXPECT_NE(id_a, id_b);
    a.end();
    b.end();
    const mongo::session next = s.client->start_session();
    EXPECT_EQ(used_id(s, next), id_b);
    const mongo::session last = s.client->start_session();
    EXPECT_EQ(used_id(s, last), id_a);
    EXPECT_EQ(s.sessions_in_use(), 2U);
    next.end();
    last.end();
    s.close();
}

TEST(prose_sessions, 3_commands_send_the_last_cluster_time)
{
    for (const char* const name : {"run_command", "aggregate", "find", "insert_one"}) {
        lab_scene s;
        s.connect("&heartbeatFrequencyMS=20000");  // longer than this takes
        for (const session_method& one : session_methods()) {
            if (std::string_view{one.name} != name)
                continue;
            ASSERT_FALSE(one.call(s, nullptr)) << name;
            const auto first = s.of(heard::command_succeeded, one.command);
            ASSERT_EQ(first.size(), 1U);
            ASSERT_TRUE(first[0].body["$clusterTime"]) << name;
            const bson::document received{first[0].body["$clusterTime"].as_document()};
            ASSERT_FALSE(one.call(s, nullptr)) << name;
            const auto sent = s.started(one.command);
            ASSERT_EQ(sent.size(), 2U);
            ASSERT_TRUE(sent[1].body["$clusterTime"]) << name;
            EXPECT_EQ(bson::document{sent[1].body["$clusterTime"].as_document()}, received) << name;
        }
        s.close();
    }
}

TEST(prose_sessions, 4_every_method_sends_its_explicit_session)
{
    lab_scene s;
    s.connect();
    const mongo::session mine = s.client->start_session();
    for (const session_method& one : session_methods()) {
        const auto failed = one.call(s, &mine);
        EXPECT_FALSE(failed) << one.name << ": " << failed->explain();
        const auto sent = s.started(one.command);
        ASSERT_FALSE(sent.empty()) << one.name;
        ASSERT_TRUE(mine.id());
        EXPECT_EQ(lsid_of(sent.back()), mine.id()) << one.name;
    }
    for (const record& one : s.events().of(heard::command_started))
        EXPECT_EQ(lsid_of(one), mine.id()) << one.name;
    mine.end();
    s.close();
}

TEST(prose_sessions, 4_and_10_every_method_returns_its_implicit_session)
{
    lab_scene s;
    s.connect();
    std::set<std::string> used;
    for (const session_method& one : session_methods()) {
        const auto failed = one.call(s, nullptr);
        EXPECT_FALSE(failed) << one.name << ": " << failed->explain();
        const auto sent = s.started(one.command);
        ASSERT_FALSE(sent.empty()) << one.name;
        ASSERT_TRUE(lsid_of(sent.back())) << one.name;
    }
    for (const record& one : s.events().of(heard::command_started)) {
        ASSERT_TRUE(lsid_of(one)) << one.name;
        used.insert(bson::to_json(bson::doc("id", *lsid_of(one)).view()).value());
    }
    EXPECT_EQ(used.size(), 1U) << "an idle session is used by the next operation";
    s.close();
}

TEST(prose_sessions, 5_session_of_another_client_is_refused_by_every_method)
{
    lab_scene s;
    s.connect();
    const mongo::client other = *s.client;
    s.connect();
    const mongo::session foreign = other.start_session();
    for (const session_method& one : session_methods()) {
        const auto failed = one.call(s, &foreign);
        ASSERT_TRUE(failed) << one.name;
        EXPECT_EQ(mongo::kind_of(*failed), mongo::error_kind::client) << one.name;
        EXPECT_NE(failed->explain().find("another client"), std::string::npos) << one.name;
    }
    EXPECT_EQ(s.events().count(heard::command_started), 0U);
    s.close();
}

TEST(prose_sessions, 6_ended_session_is_refused_by_every_method)
{
    lab_scene s;
    s.connect();
    const mongo::session mine = s.client->start_session();
    mine.end();
    for (const session_method& one : session_methods()) {
        const auto failed = one.call(s, &mine);
        ASSERT_TRUE(failed) << one.name;
        EXPECT_EQ(mongo::kind_of(*failed), mongo::error_kind::client) << one.name;
        EXPECT_NE(failed->explain().find("has ended"), std::string::npos) << one.name;
    }
    EXPECT_EQ(s.events().count(heard::command_started), 0U);
    s.close();
}

/// Writes documents, opens a cursor and reads some of them.
mongo::cursor read_some(lab_scene& s, int documents, int batch, int reads)
{
    std::vector<bson::document> all;
    for (int n = 0; n < documents; ++n)
        all.push_back(bson::doc("_id", n));
    const auto written = s.get(
        s.test_collection().insert_many(all, {.write_concern = mongo::majority}, use_awaitable));
    EXPECT_TRUE(written) << written.error().explain();
    auto cursor = s.test_collection().find(bson::doc().view(), {.batch_size = batch});
    for (int n = 0; n < reads; ++n) {
        const auto one = s.get(cursor.next(use_awaitable));
        EXPECT_TRUE(one) << one.error().explain();
    }
    return cursor;
}

TEST(prose_sessions, 8_exhausted_first_batch_returns_the_implicit_session)
{
    lab_scene s;
    s.connect();
    const mongo::cursor still_there = read_some(s, 2, 10, 1);
    ASSERT_TRUE(s.get(s.client->run_command("sea", ping.view(), {}, use_awaitable)));
    EXPECT_EQ(lsid_of(s.started("ping").back()), lsid_of(s.started("find").back()));
    s.close();
}

TEST(prose_sessions, 9_last_batch_returns_the_implicit_session)
{
    lab_scene s;
    s.connect();
    const mongo::cursor still_there = read_some(s, 5, 3, 4);
    EXPECT_EQ(s.started("getMore").size(), 1U);
    ASSERT_TRUE(s.get(s.client->run_command("sea", ping.view(), {}, use_awaitable)));
    EXPECT_EQ(lsid_of(s.started("ping").back()), lsid_of(s.started("find").back()));
    s.close();
}

TEST(prose_sessions, 11_all_batches_use_the_session_of_the_find)
{
    const lab_options deployments[] = {
        {.standalone = true}, {.members = 3}, {.members = 3, .routers = 2}};
    for (const lab_options& kind : deployments) {
        lab_scene s{kind};
        for (const char* const mode :
             {"primary", "primaryPreferred", "secondary", "secondaryPreferred", "nearest"}) {
            s.connect(std::string{"&readPreference="} + mode);
            if (std::string_view{mode} == "primary")
                (void)read_some(s, 3, 2, 0);
            s.open();
            s.simulation.run_for(1s);
            auto cursor = s.test_collection().find(bson::doc().view(), {.batch_size = 2});
            const auto all = s.get(cursor.all(use_awaitable));
            ASSERT_TRUE(all) << mode << all.error().explain();
            EXPECT_EQ(all->size(), 3U) << mode;
            const record find = s.started("find").back();
            const record more = s.started("getMore").back();
            ASSERT_TRUE(lsid_of(find)) << mode;
            EXPECT_EQ(lsid_of(find), lsid_of(more)) << mode;
            EXPECT_EQ(find.server, more.server) << mode;
            s.close();
        }
    }
}

/// Whether all have ended.
bool all_done(const std::vector<std::function<bool()>>& of)
{
    for (const auto& done : of) {
        if (!done())
            return false;
    }
    return true;
}

TEST(prose_sessions, 14_implicit_session_is_allocated_after_checkout)
{
    lab_scene s;
    s.connect("&maxPoolSize=1&retryWrites=true");
    s.open();
    const bson::document change = bson::doc("$set", bson::object("a", 1));
    const bson::document whole = bson::doc("a", 1);
    std::size_t fewest = 8;
    for (int turn = 0; turn < 5; ++turn) {
        const std::size_t before = s.events().count(heard::command_started);
        std::vector<std::function<bool()>> running;
        const auto begin = [&](auto what) {
            auto op = s.start(std::move(what));
            running.push_back([op] {
                EXPECT_TRUE(!op->done() || op->good()) << op->explain();
                return op->done();
            });
        };
        mongo::bulk_writes work;
        work.update_one(bson::doc().view(), change);
        auto all = s.test_collection().find(bson::doc().view());
        begin(s.test_collection().insert_one(bson::doc().view(), {}, use_awaitable));
        begin(s.test_collection().delete_one(bson::doc().view(), {}, use_awaitable));
        begin(s.test_collection().update_one(bson::doc().view(), change, {}, use_awaitable));
        begin(s.test_collection().bulk_write(std::move(work), {}, use_awaitable));
        begin(s.test_collection().find_one_and_delete(bson::doc().view(), {}, use_awaitable));
        begin(
            s.test_collection().find_one_and_update(bson::doc().view(), change, {}, use_awaitable));
        begin(s.test_collection().find_one_and_replace(bson::doc().view(), whole.view(), {},
                                                       use_awaitable));
        begin(all.all(use_awaitable));
        ASSERT_TRUE(s.finish([&] { return all_done(running); }));
        std::set<std::string> ids;
        const auto started = s.events().of(heard::command_started);
        for (std::size_t n = before; n < started.size(); ++n)
            ids.insert(bson::to_json(bson::doc("id", lsid_of(started[n]).value()).view()).value());
        EXPECT_EQ(started.size() - before, 8U);
        EXPECT_LT(ids.size(), 8U);
        fewest = std::min(fewest, ids.size());
    }
    EXPECT_EQ(fewest, 1U);
    s.close();
}

TEST(prose_sessions, 18_and_19_server_without_sessions_gets_no_lsid)
{
    lab_scene s{{.standalone = true, .sessions = false}};
    s.connect();
    const bson::document one = bson::doc("_id", 1);
    (void)s.get(s.test_collection().find_one(bson::doc().view(), {}, use_awaitable)).has_value();
    (void)s.get(s.test_collection().insert_one(one.view(), {}, use_awaitable)).has_value();
    ASSERT_EQ(s.started("find").size(), 1U);
    ASSERT_EQ(s.started("insert").size(), 1U);
    EXPECT_FALSE(s.started("find")[0].body["lsid"]);
    EXPECT_FALSE(s.started("insert")[0].body["lsid"]);

    const mongo::session mine = s.client->start_session();
    const auto read = s.get(
        s.test_collection().find_one(bson::doc().view(), {.session = &mine}, use_awaitable));
    const auto write = s.get(
        s.test_collection().insert_one(one.view(), {.session = &mine}, use_awaitable));
    ASSERT_FALSE(read);
    ASSERT_FALSE(write);
    EXPECT_EQ(mongo::kind_of(read.error()), mongo::error_kind::client) << read.error().explain();
    EXPECT_EQ(mongo::kind_of(write.error()), mongo::error_kind::client);
    EXPECT_EQ(s.started("find").size(), 1U) << "nothing was sent";
    EXPECT_EQ(s.started("insert").size(), 1U);
    s.close();
}

TEST(prose_sessions, 21_to_23_snapshot_time_is_set_read_and_validated)
{
    lab_scene s;
    s.connect();
    const bson::document one = bson::doc("_id", 1);
    ASSERT_TRUE(s.get(s.test_collection().insert_one(one.view(), {.write_concern = mongo::majority},
                                                     use_awaitable)));
    EXPECT_THROW((void)s.client->start_session({.snapshot_time = bson::timestamp{1, 1}}), failure);
    const mongo::session plain = s.client->start_session();
    EXPECT_THROW((void)plain.snapshot_time(), failure);

    const mongo::session reader = s.client->start_session({.snapshot = true});
    EXPECT_FALSE(reader.snapshot_time()) << "that of its first read";
    const auto read = s.get(
        s.test_collection().find_one(bson::doc().view(), {.session = &reader}, use_awaitable));
    ASSERT_TRUE(read) << read.error().explain();
    auto time = reader.snapshot_time();
    ASSERT_TRUE(time);
    const bson::timestamp before = *time;
    *time = bson::timestamp{1, 1};  // a copy: the session keeps its own
    EXPECT_EQ(reader.snapshot_time(), before);
    ASSERT_TRUE(s.get(
        s.test_collection().find_one(bson::doc().view(), {.session = &reader}, use_awaitable)));
    EXPECT_EQ(s.started("find")
                  .back()
                  .body.get<bson::timestamp>("readConcern.atClusterTime")
                  .value_or(bson::timestamp{}),
              before);
    reader.end();
    s.close();
}

}  // namespace
}  // namespace holdfast::proof::sessions_test
