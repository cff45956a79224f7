#include "client/prose/lab_scene.hpp"

/// The prose tests of the specification "Retryable Reads", by their numbers.
namespace holdfast::proof::retryable_reads_test {
namespace {

using namespace std::chrono_literals;
using found_one = std::optional<bson::document>;

runtime::awaitable<result<found_one>> find_one(const lab_scene& in)
{
    return in.test_collection().find_one(bson::doc().view(), {}, use_awaitable);
}

TEST(prose_retryable_reads, 1_pool_cleared_error_is_retried)
{
    lab_scene s;
    s.connect("&maxPoolSize=1&retryReads=true");
    s.open();
    s.fail(once, R"({"failCommands": ["find"], "errorCode": 91, "blockConnection": true,
                     "blockTimeMS": 1000})");
    const auto first = s.start(find_one(s));
    const auto second = s.start(find_one(s));
    ASSERT_TRUE(s.finish([&] { return first->done() && second->done(); }));
    EXPECT_TRUE(first->good()) << first->explain();
    EXPECT_TRUE(second->good()) << second->explain();
    std::string story;
    for (const record& one : s.events().all()) {
        if (one.what == heard::checked_out || one.what == heard::pool_cleared)
            story += std::string{name_of(one.what)} + "; ";
        else if (one.what == heard::check_out_failed)
            story += "check out failed: " + one.name + "; ";
    }
    EXPECT_TRUE(story.starts_with("checked out; pool cleared; check out failed: connectionError; "))
        << story;
    EXPECT_EQ(s.started("find").size(), 3U);
    s.close();
}

constexpr auto unreachable = R"({"failCommands": ["find"], "errorCode": 6})";

TEST(prose_retryable_reads, 2_1_retry_goes_to_another_mongos)
{
    lab_scene s{{.routers = 2}};
    s.connect("&retryReads=true");
    s.open();
    s.simulation.run_for(100ms);  // both are known
    for (std::size_t turn = 0; turn < 10; ++turn) {  // chance alone would choose the same sometimes
        for (std::size_t router = 0; router < 2; ++router)
            s.fail_router(router, once, unreachable);
        const auto done = s.get(find_one(s));
        ASSERT_FALSE(done);
        const auto failed = s.of(heard::command_failed, "find");
        ASSERT_EQ(failed.size(), 2 * (turn + 1));
        EXPECT_NE(failed[failed.size() - 2].server, failed.back().server) << turn;
    }
    s.close();
}

TEST(prose_retryable_reads, 2_2_retry_goes_to_the_same_mongos_if_it_is_the_only_one)
{
    lab_scene s{{.routers = 1}};
    s.fail_router(0, once, unreachable);
    s.connect("&retryReads=true&directConnection=false");
    const auto done = s.get(find_one(s));
    EXPECT_TRUE(done) << done.error().explain();
    const auto failed = s.of(heard::command_failed, "find");
    const auto succeeded = s.of(heard::command_succeeded, "find");
    ASSERT_EQ(failed.size(), 1U);
    ASSERT_EQ(succeeded.size(), 1U);
    EXPECT_EQ(failed[0].server, succeeded[0].server);
    s.close();
}

/// A read that prefers the primary, which refuses it once. Whether the retry goes elsewhere.
bool retried_elsewhere(std::string_view labels, const std::string& more)
{
    lab_scene s{{.members = 3}};
    s.connect("&readPreference=primaryPreferred&resilienceProfile=upstream_2026_07" + more);
    s.open();
    s.simulation.run_for(100ms);  // all are known
    s.fail(once, R"({"failCommands": ["find"], "errorCode": 6, "errorLabels": [)" +
                     std::string{labels} + "]}");
    const auto done = s.get(find_one(s));
    EXPECT_TRUE(done) << done.error().explain();
    const auto failed = s.of(heard::command_failed, "find");
    const auto succeeded = s.of(heard::command_succeeded, "find");
    EXPECT_EQ(failed.size(), 1U);
    EXPECT_EQ(succeeded.size(), 1U);
    s.close();
    return !failed.empty() && !succeeded.empty() && failed[0].server != succeeded[0].server;
}

constexpr auto overload = R"("RetryableError", "SystemOverloadedError")";

TEST(prose_retryable_reads, 3_1_overload_with_retargeting_uses_another_member)
{
    EXPECT_TRUE(retried_elsewhere(overload, "&enableOverloadRetargeting=true"));
}

TEST(prose_retryable_reads, 3_2_other_error_with_retargeting_uses_the_same_member)
{
    EXPECT_FALSE(retried_elsewhere(R"("RetryableError")", "&enableOverloadRetargeting=true"));
}

TEST(prose_retryable_reads, 3_3_overload_without_retargeting_uses_the_same_member)
{
    EXPECT_FALSE(retried_elsewhere(overload, ""));
    EXPECT_FALSE(retried_elsewhere(overload, "&enableOverloadRetargeting=false"));
}

struct profile_row {
    const char* options;
    std::size_t attempts;
};
constexpr profile_row profiles[] = {
    {"", 6},
    {"&resilienceProfile=upstream_2026_07", 3},
};

/// One overload, then other errors for ever.
error read_that_fails(lab_scene& s, const profile_row& row, int code = 91)
{
    const std::string data = R"({"failCommands": ["find"], "errorCode": )" + std::to_string(code) +
                             R"(, "errorLabels": ["RetryableError")";
    bool changed = false;
    mongo::client_options options;
    options.listeners.push_back(std::make_shared<when_ended>("find", [&] {
        if (!std::exchange(changed, true))
            s.fail(always_on, data + "]}");
    }));
    s.connect(row.options, options);
    s.fail(once, data + R"(, "SystemOverloadedError"]})");
    auto done = s.get(find_one(s));
    EXPECT_FALSE(done);
    s.close();
    return done ? error{error_code{}, "it has succeeded"} : std::move(done).error();
}

TEST(prose_retryable_reads, 4_one_overload_error_raises_the_retry_limit)
{
    for (const profile_row& row : profiles) {
        lab_scene s;
        (void)read_that_fails(s, row).code();
        EXPECT_EQ(s.started("find").size(), row.attempts) << row.options;
    }
}

TEST(prose_retryable_reads, 5_backoff_follows_only_overload_errors)
{
    for (const profile_row& row : profiles) {
        for (const int code : {91, 6}) {
            lab_scene s;
            const error why = read_that_fails(s, row, code);
            const auto history = why.history();
            ASSERT_EQ(history.size(), row.attempts) << why.explain();
            EXPECT_GT(history[0].waited, 0ms);
            for (std::size_t n = 1; n < history.size(); ++n)
                EXPECT_EQ(history[n].waited, 0ms) << n;
            // By the clock: after 91 the server has to be found again, after 6 there is no delay.
            EXPECT_GE(s.pause_after(0, "find"), history[0].waited);
            for (std::size_t n = 0; code == 6 && n + 1 < history.size(); ++n)
                EXPECT_EQ(s.pause_after(n, "find"), history[n].waited) << n;
        }
    }
}

}  // namespace
}  // namespace holdfast::proof::retryable_reads_test
