#include "arena.hpp"
#include "lab/mongo/set/set_in_sim.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

namespace holdfast::lab::history_test {
namespace {

using hostile::talker;

/// A member of a set whose commit point is what a test says.
class slow_majority final : public mongo::membership {
public:
    bool in_set() const noexcept override { return true; }
    bool writable() const noexcept override { return true; }
    bool readable() const noexcept override { return true; }
    bool arbiter() const noexcept override { return false; }
    std::int64_t term() const noexcept override { return 1; }
    void describe(bson::builder& hello, bool) const override { hello.add("setName", "slow"); }
    mongo::concern_state check(const mongo::optime&, const mongo::write_concern&) const override
    {
        return mongo::concern_state::met;
    }
    result<void> accepts(const mongo::write_concern&) const override { return {}; }
    mongo::write_concern default_concern() const override { return {}; }
    mongo::optime committed() const noexcept override { return reached; }
    void wrote(const mongo::optime& at) override
    {
        if (follows)
            reached = at;
    }
    std::span<const mongo::command> commands() const noexcept override { return {}; }

    mongo::optime reached = {};
    bool follows = true;
};

/// One server on virtual time, and what its document {_id: 1} was at each second.
class kept_history : public testing::Test {
protected:
    kept_history() { boot(); }

    void boot()
    {
        client.reset();
        service.reset();
        server = std::make_unique<mongo::node>(host.world(), data, mongo::node_options{});
        for (const std::span<const mongo::command> part : mongo::all_commands())
            server->add_commands(part);
        service = std::make_unique<mongo::node_service>(*server);
        client = std::make_unique<talker>(host.world(), *service, [this](time_point until) {
            if (until > net.now())
                net.run_for(until - net.now());
        });
    }
    slow_majority& join_set()
    {
        auto made = std::make_unique<slow_majority>();
        slow_majority& set = *made;
        server->member = std::move(made);
        return set;
    }
    bson::timestamp put(int value)
    {
        const std::string text = R"({"update":"c","$db":"db","updates":[{"q":{"_id":1},"u":{"v":)" +
                                 std::to_string(value) + R"(},"upsert":true}]})";
        EXPECT_TRUE(is_ok(client->run(text)));
        return data->last().ts;
    }
    void put_each_second(int from, int count)
    {
        for (int i = 0; i < count; ++i) {
            net.run_for(seconds{1});
            put(from + i);
        }
    }
    std::optional<int> at(bson::timestamp when)
    {
        const auto found = data->data().find("db.c")->next(0, when);
        return found ? std::optional{found->document.find("v").get<std::int32_t>().value_or(-1)}
                     : std::nullopt;
    }

    sim::simulation net{1};
    sim::host& host = net.add_host("server");
    std::shared_ptr<mongo::disk> data = std::make_shared<mongo::disk>();
    std::unique_ptr<mongo::node> server;
    std::unique_ptr<mongo::node_service> service;
    std::unique_ptr<talker> client;
};

TEST_F(kept_history, history_of_a_set_goes_back_five_minutes)
{
    join_set();
    const bson::timestamp first = put(0);
    put_each_second(1, 100);
    const bson::timestamp later = data->last().ts;
    put_each_second(200, 250);
    EXPECT_EQ(at(later), 100);
    EXPECT_FALSE(at(first)) << "it is kept for ever";
    const auto read = [&](bson::timestamp when) {
        return client->run(R"({"find":"c","$db":"db","readConcern":{"level":"snapshot",
            "atClusterTime":{"$timestamp":{"t":)" +
                           std::to_string(when.seconds) + R"(,"i":)" +
                           std::to_string(when.increment) + "}}}}");
    };
    EXPECT_TRUE(is_ok(read(later)));
    EXPECT_EQ(read(first).get<std::int32_t>("code").value_or(0), 239);
}

TEST_F(kept_history, history_back_to_the_majority_commit_point_is_kept)
{
    slow_majority& set = join_set();
    const bson::timestamp first = put(0);
    set.follows = false;
    put_each_second(1, 400);
    EXPECT_EQ(at(first), 0);
    const bson::document found = client->run(
        R"({"find":"c","$db":"db","readConcern":{"level":"majority"}})");
    EXPECT_EQ(found.find_path("cursor.firstBatch.0.v").get<std::int32_t>().value_or(-1), 0);
}

TEST_F(kept_history, a_cursor_does_not_outlive_its_snapshot)
{
    join_set();
    EXPECT_TRUE(is_ok(
        client->run(R"({"insert":"c","$db":"db","documents":[{"_id":2},{"_id":3},{"_id":4}]})")));
    put(0);
    const bson::document opened = client->run(
        R"({"find":"c","$db":"db","batchSize":1,"readConcern":{"level":"snapshot"}})");
    const auto id = opened.find_path("cursor.id").get<std::int64_t>().value_or(0);
    ASSERT_NE(id, 0);
    put_each_second(1, 310);
    const bson::document more = client->run(R"({"getMore":{"$numberLong":")" + std::to_string(id) +
                                            R"("},"collection":"c","$db":"db"})");
    EXPECT_EQ(more.get<std::int32_t>("code").value_or(0), 239);
}

TEST_F(kept_history, standalone_keeps_no_history)
{
    const bson::timestamp first = put(0);
    put_each_second(1, 3);
    EXPECT_FALSE(at(first));
}

TEST_F(kept_history, a_standalone_that_was_restarted_shows_its_data)
{
    put(5);
    boot();
    const bson::document found = client->run(
        R"({"find":"c","$db":"db","readConcern":{"level":"majority"}})");
    EXPECT_EQ(found.find_path("cursor.firstBatch.0.v").get<std::int32_t>().value_or(-1), 5);
}

TEST_F(kept_history, a_member_that_was_restarted_waits_until_it_knows_what_is_committed)
{
    join_set();
    put(5);
    boot();
    join_set();
    const bson::document too_early = client->run(
        R"({"find":"c","$db":"db","maxTimeMS":100,"readConcern":{"level":"majority"}})");
    EXPECT_EQ(too_early.get<std::int32_t>("code").value_or(0), 50);
    put(6);
    const bson::document found = client->run(
        R"({"find":"c","$db":"db","readConcern":{"level":"majority"}})");
    EXPECT_EQ(found.find_path("cursor.firstBatch.0.v").get<std::int32_t>().value_or(-1), 6);
}

TEST_F(kept_history, a_linearizable_read_waits_until_a_majority_has_heard_of_it)
{
    slow_majority& set = join_set();
    put(1);
    set.follows = false;
    const bson::document unproven = client->run(
        R"({"find":"c","$db":"db","maxTimeMS":100,"readConcern":{"level":"linearizable"}})");
    EXPECT_EQ(unproven.get<std::int32_t>("code").value_or(0), 50);
    set.follows = true;
    put(2);
    const bson::document found = client->run(
        R"({"find":"c","$db":"db","readConcern":{"level":"linearizable"}})");
    EXPECT_EQ(found.find_path("cursor.firstBatch.0.v").get<std::int32_t>().value_or(-1), 2);
}

TEST(small_oplogs, refuse_what_they_cannot_keep_before_it_is_done)
{
    mongo::disk small{1 << 20};
    const bson::document large = bson::doc("_id", 1, "t", std::string(2'000'000, 'x'));
    mongo::change insert;
    insert.op = 'i';
    insert.ns = "db.c";
    insert.o = large;
    const auto written = small.write(insert, 1, {});
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code().value(), 10334);
    EXPECT_EQ(small.data().find("db.c")->count(), 0U);
}

TEST(forgotten_cursors, make_room_for_others)
{
    mongo::cursor_table table;
    time_point now{};
    for (std::int64_t id = 1; id <= 10'000; ++id) {
        mongo::cursor one;
        one.id = id;
        one.used = now;
        one.no_timeout = id == 7;
        ASSERT_TRUE(table.add(std::move(one)));
    }
    mongo::cursor late;
    late.id = 20'000;
    late.used = now + std::chrono::minutes{9};
    EXPECT_FALSE(table.add(std::move(late)));
    mongo::cursor next;
    next.id = 20'001;
    next.used = now + std::chrono::minutes{11};
    EXPECT_TRUE(table.add(std::move(next)));
    EXPECT_EQ(table.size(), 2U);
    EXPECT_TRUE(table.find(7));
}

TEST(numbered_sessions, sessions_without_changes_are_bounded_too)
{
    mongo::session_table table;
    mongo::session_key key;
    auto next_key = [&, n = std::uint32_t{0}]() mutable {
        ++n;
        std::memcpy(key.id.data(), &n, sizeof n);
        return key;
    };
    for (std::size_t i = 0; i <= mongo::session_table::limit; ++i)
        table.begin(next_key(), 1);
    EXPECT_LE(table.size(), mongo::session_table::limit);
    mongo::executed_statement wrote;
    wrote.at = {1, {5, 1}};
    const mongo::session_key writer = next_key();
    table.record(writer, 1, wrote);
    for (std::size_t i = 0; i <= mongo::session_table::limit; ++i) {
        wrote.at.ts.increment++;
        table.record(next_key(), 1, wrote);
    }
    EXPECT_LE(table.size(), mongo::session_table::limit);
}

TEST(hostile_members, impossible_term_gets_no_vote)
{
    set_in_sim set{3};
    const std::size_t other = (set.settle() + 1) % 3;
    mongo::node& server = set.set->process(other)->server();
    mongo::node_service service{server};
    talker client{server.world, service,
                  [&](time_point until) { set.pass(until - set.net.now()); }};
    client.internal = true;
    const auto before = set.set->disk_of(other).voted_in();
    const bson::document reply = client.run(
        R"({"replSetRequestVotes":1,"$db":"admin","setName":")" +
        std::string{set.set->process(other)->member()->config().name} + R"(",
        "dryRun":false,"term":{"$numberLong":"9223372036854775807"},"candidateIndex":0,
        "configVersion":1000,
        "configTerm":1000,"lastAppliedOpTime":{"ts":{"$timestamp":{"t":4294967295,"i":1}},
        "t":{"$numberLong":"9223372036854775807"}}})");
    EXPECT_TRUE(is_ok(reply)) << bson::to_json(reply).value_or("?");
    EXPECT_FALSE(reply.get<bool>("voteGranted").value_or(true));
    EXPECT_EQ(set.set->disk_of(other).voted_in(), before);
}

}  // namespace
}  // namespace holdfast::lab::history_test
