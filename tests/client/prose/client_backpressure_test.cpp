#include "client/bent_world.hpp"
#include "client/prose/session_methods.hpp"

#include <algorithm>
#include <chrono>

/// Prose tests 3 and 5 of the specification "Client Backpressure", and what it says of all
/// operations. 1, 2 and 4, and the attempts of 3: tests/client/overload_test.cpp.
namespace holdfast::proof::client_backpressure_test {
namespace {

struct profile_row {
    const char* options;
    std::size_t attempts;
};

TEST(prose_client_backpressure, 3_overload_retries_are_limited_and_keep_the_labels)
{
    VERIFIES("BP-013");
    const profile_row rows[] = {
        {"", 6},
        {"&maxAdaptiveRetries=1", 6},  // an option of the other profile
        {"&resilienceProfile=upstream_2026_07", 3},
        {"&resilienceProfile=upstream_2026_07&maxAdaptiveRetries=1", 2},
    };
    for (const profile_row& row : rows) {
        lab_scene s;
        s.connect(row.options);
        s.fail(always_on, R"({"failCommands": ["find"], "errorCode": 462,
                              "errorLabels": ["RetryableError", "SystemOverloadedError"]})");
        const auto done = s.get(
            s.test_collection().find_one(bson::doc().view(), {}, use_awaitable));
        ASSERT_FALSE(done);
        EXPECT_EQ(mongo::server_code(done.error()), 462);
        EXPECT_TRUE(done.error().has_label("RetryableError"));
        EXPECT_TRUE(done.error().has_label("SystemOverloadedError"));
        EXPECT_EQ(s.started("find").size(), row.attempts) << row.options;
        s.close();
    }
}

TEST(prose_client_backpressure, 5_overload_errors_are_retried_with_the_servers_base_backoff)
{
    using namespace std::chrono_literals;
    for (const bool has_base : {false, true}) {
        lab_scene s;
        const auto world = std::make_shared<bent_world>(s.app.world());
        s.connect_in(world, s.uri() + "&resilienceProfile=upstream_2026_07");
        ASSERT_TRUE(s.command("sea", R"({"ping": 1})"));
        if (has_base) {
            ASSERT_TRUE(
                s.command("admin", R"({"setParameter": 1, "externalClientBaseBackoffMS": 50})"));
        }
        s.fail(always_on, R"({"failCommands": ["insert"], "errorCode": 462,
                              "errorLabels": ["RetryableError", "SystemOverloadedError"]})");
        world->chance_bits = 0xFF;  // the longest waits
        const auto done = s.start(
            s.test_collection().insert_one(bson::doc("a", 1).view(), {}, use_awaitable));
        ASSERT_TRUE(s.finish([&] { return done->done(); }));
        EXPECT_FALSE(done->good());
        EXPECT_EQ(s.started("insert").size(), 3U);
        const duration waits = has_base ? 100ms + 200ms : 200ms + 400ms;
        EXPECT_GT(done->took(), waits - 5ms);
        EXPECT_LT(done->took(), waits + 15ms) << "three round trips";
        s.close();
    }
}

std::string refused_once(std::string_view command)
{
    return R"({"failCommands": [")" + std::string{command} + R"("], "errorCode": 462,
               "errorLabels": ["RetryableError", "SystemOverloadedError"]})";
}

/// The last two commands of that name: the same one, sent twice.
void expect_sent_again(const lab_scene& s, std::string_view command, bool numbered)
{
    const auto sent = s.started(command);
    ASSERT_GE(sent.size(), 2U) << command;
    const record& first = sent[sent.size() - 2];
    const record& again = sent.back();
    EXPECT_EQ(first.operation, again.operation) << command;
    EXPECT_TRUE(lsid_of(first)) << command;
    EXPECT_EQ(lsid_of(first), lsid_of(again)) << command;
    EXPECT_EQ(first.transaction.has_value(), numbered) << command;
    EXPECT_EQ(first.body["txnNumber"].type() == bson::type::int64, numbered) << command;
    EXPECT_EQ(again.body["txnNumber"].type() == bson::type::int64, numbered) << command;
    if (numbered) {
        EXPECT_EQ(first.body["txnNumber"].as_int64(), again.body["txnNumber"].as_int64());
    }
    const auto failed = s.of(heard::command_failed, command);
    ASSERT_FALSE(failed.empty()) << command;
    EXPECT_EQ(failed.back().operation, first.operation) << command;
    EXPECT_EQ(mongo::server_code(failed.back().failure.value()), 462) << command;
}

TEST(prose_client_backpressure, every_method_is_retried_after_overload)
{
    VERIFIES("BP-005");
    VERIFIES("BP-010");
    VERIFIES_BY_TRAFFIC("RW-072");
    constexpr std::string_view numbered[] = {
        "insert_one", "insert_many",         "update_one",           "replace_one",
        "delete_one", "find_one_and_update", "find_one_and_replace", "find_one_and_delete",
        "bulk_write", "client.bulk_write"};
    for (const char* const options : {"", "&resilienceProfile=upstream_2026_07"}) {
        lab_scene s;
        s.connect(options);
        std::size_t seen = 0;
        for (const session_method& one : session_methods()) {
            const std::size_t before = s.started(one.command).size();
            s.fail(once, refused_once(one.command));
            const auto failed = one.call(s, nullptr);
            EXPECT_FALSE(failed) << one.name << ": " << failed->explain();
            EXPECT_EQ(s.started(one.command).size(), before + 2) << one.name;
            const bool has_number = std::ranges::count(numbered, one.name) != 0;
            expect_sent_again(s, one.command, has_number);
            seen += has_number ? 1U : 0U;
        }
        EXPECT_EQ(seen, std::size(numbered));
        s.close();
    }
}

TEST(prose_client_backpressure, get_more_is_retried_after_overload)
{
    VERIFIES("BP-005");
    VERIFIES("BP-010");
    for (const char* const options : {"", "&resilienceProfile=upstream_2026_07"}) {
        lab_scene s;
        s.connect(options);
        const std::vector<bson::document> three(3, bson::doc("a", 1));
        ASSERT_TRUE(s.get(s.test_collection().insert_many(three, {}, use_awaitable)));
        s.fail(once, refused_once("getMore"));
        auto cursor = s.test_collection().find(bson::doc().view(), {.batch_size = 2});
        const auto all = s.get(cursor.all(use_awaitable));
        ASSERT_TRUE(all) << all.error().explain();
        EXPECT_EQ(all->size(), 3U);
        EXPECT_EQ(s.started("getMore").size(), 2U);
        expect_sent_again(s, "getMore", false);
        EXPECT_EQ(lsid_of(s.started("getMore").back()), lsid_of(s.started("find").back()));
        s.close();
    }
}

}  // namespace
}  // namespace holdfast::proof::client_backpressure_test
