#include "client/prose/session_methods.hpp"

#include <algorithm>

/// The prose tests of the specification "Causal Consistency", by their numbers. Number 10 was
/// removed.
namespace holdfast::proof::causal_consistency_test {
namespace {

using bson::timestamp;

std::optional<timestamp> after_time(const record& sent)
{
    const auto found = sent.body.get<timestamp>("readConcern.afterClusterTime");
    return found ? std::optional{*found} : std::nullopt;
}

/// Reads something in a session; what was sent.
record read_in(lab_scene& s, const mongo::session& with, mongo::defaults options = {})
{
    const auto done = s.get(s.test_collection().with(options).find_one(
        bson::doc().view(), {.session = &with}, use_awaitable));
    EXPECT_TRUE(done) << done.error().explain();
    return s.started("find").back();
}

TEST(prose_causal_consistency, 1_to_3_first_read_has_no_after_cluster_time_and_sets_it)
{
    lab_scene s;
    s.connect();
    const mongo::session mine = s.client->start_session();
    EXPECT_FALSE(mine.operation_time());
    const record first = read_in(s, mine);
    EXPECT_FALSE(after_time(first));
    EXPECT_FALSE(first.body["readConcern"]);
    const auto received =
        s.of(heard::command_succeeded, "find").back().body.get<timestamp>("operationTime");
    ASSERT_TRUE(received);
    EXPECT_EQ(mine.operation_time(), *received);

    // 3: an error reply has an operationTime too.
    const mongo::session other = s.client->start_session();
    s.fail(once, R"({"failCommands": ["find"], "errorCode": 2})");
    EXPECT_FALSE(s.get(
        s.test_collection().find_one(bson::doc().view(), {.session = &other}, use_awaitable)));
    EXPECT_TRUE(other.operation_time());
    mine.end();
    other.end();
    s.close();
}

const char* const reads[] = {
    "find", "find_one", "aggregate", "count_documents", "estimated_document_count", "distinct",
};

TEST(prose_causal_consistency, 4_read_after_read_has_after_cluster_time)
{
    for (const session_method& one : session_methods()) {
        if (std::ranges::find(reads, std::string_view{one.name}) == std::end(reads))
            continue;
        lab_scene s;
        s.connect();
        const mongo::session mine = s.client->start_session();
        (void)read_in(s, mine);
        const auto time = mine.operation_time();
        ASSERT_TRUE(time);
        const auto failed = one.call(s, &mine);
        EXPECT_FALSE(failed) << one.name << failed->explain();
        EXPECT_EQ(after_time(s.started(one.command).back()), time) << one.name;
        mine.end();
        s.close();
    }
}

const char* const writes[] = {
    "insert_one",  "insert_many",         "update_one",           "update_many",
    "replace_one", "find_one_and_update", "find_one_and_replace", "find_one_and_delete",
    "bulk_write",  "client.bulk_write",   "delete_one",           "delete_many",
};

TEST(prose_causal_consistency, 5_read_after_write_has_after_cluster_time)
{
    for (const session_method& one : session_methods()) {
        if (std::ranges::find(writes, std::string_view{one.name}) == std::end(writes))
            continue;
        lab_scene s;
        s.connect();
        const mongo::session mine = s.client->start_session();
        const auto failed = one.call(s, &mine);
        EXPECT_FALSE(failed) << one.name << failed->explain();
        const auto time = mine.operation_time();
        ASSERT_TRUE(time) << one.name;
        EXPECT_EQ(after_time(read_in(s, mine)), time) << one.name;
        mine.end();
        s.close();
    }
}

TEST(prose_causal_consistency, 6_no_after_cluster_time_without_causal_consistency)
{
    lab_scene s;
    s.connect();
    const mongo::session mine = s.client->start_session({.causal_consistency = false});
    (void)read_in(s, mine);
    EXPECT_TRUE(mine.operation_time());
    EXPECT_FALSE(after_time(read_in(s, mine)));
    mine.end();
    s.close();
}

TEST(prose_causal_consistency, 7_and_11_no_cluster_time_for_a_standalone)
{
    lab_scene s{{.standalone = true}};
    s.connect();
    const mongo::session mine = s.client->start_session();
    (void)read_in(s, mine);
    const record second = read_in(s, mine);
    EXPECT_FALSE(after_time(second));
    EXPECT_FALSE(second.body["$clusterTime"]);
    mine.end();
    s.close();
}

TEST(prose_causal_consistency, 8_and_9_read_concern_level_is_kept_with_after_cluster_time)
{
    lab_scene s;
    s.connect();
    const mongo::session mine = s.client->start_session();
    (void)read_in(s, mine);
    const auto time = mine.operation_time();
    const record plain = read_in(s, mine);
    EXPECT_EQ(after_time(plain), time);
    EXPECT_FALSE(plain.body["readConcern"].as_document()["level"]);
    const auto later = mine.operation_time();
    const record majority = read_in(s, mine, {.read_concern = mongo::read_concern{"majority"}});
    EXPECT_EQ(after_time(majority), later);
    EXPECT_EQ(majority.body.get<std::string>("readConcern.level").value_or(""), "majority");
    mine.end();
    s.close();
}

TEST(prose_causal_consistency, 12_cluster_time_is_sent_after_the_first_reply)
{
    lab_scene s;
    s.connect();
    ASSERT_TRUE(s.command("sea", R"({"ping": 1})"));
    ASSERT_TRUE(s.command("sea", R"({"ping": 1})"));
    EXPECT_TRUE(s.started("ping").at(1).body["$clusterTime"]);
    s.close();
}

}  // namespace
}  // namespace holdfast::proof::causal_consistency_test
