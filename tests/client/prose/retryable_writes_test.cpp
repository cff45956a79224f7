#include "client/prose/lab_scene.hpp"
#include "client/prose/shop.hpp"

/// The prose tests of the specification "Retryable Writes", by their numbers.
namespace holdfast::proof::retryable_writes_test {
namespace {

using namespace std::chrono_literals;

runtime::awaitable<result<mongo::insert_one_result>> insert(const lab_scene& in, int id)
{
    const bson::document what = bson::doc("_id", id);
    return in.test_collection().insert_one(what.view(), {}, use_awaitable);
}

TEST(prose_retryable_writes, 1_illegal_operation_20_is_reported_with_a_clear_message)
{
    shop in;
    in.server.on("insert", [](bson::view) {
        return bson::doc("ok", 0.0, "code", 20, "codeName", "IllegalOperation", "errmsg",
                         "Transaction numbers are only allowed on a replica set member or mongos");
    });
    const auto done = in.get(in.test_collection().insert_one(whole.view(), {}, use_awaitable));
    ASSERT_FALSE(done);
    EXPECT_EQ(mongo::server_code(done.error()), 20) << done.error().explain();
    EXPECT_EQ(done.error().message(),
              "This MongoDB deployment does not support retryable writes. Please add "
              "retryWrites=false to your connection string.");
    EXPECT_EQ(in.story(), "insert:1");
    in.close();
}

/// The story of a pool: who got a connection, who did not, and when it was cleared.
std::string pool_story(const recorder& events)
{
    std::string story;
    for (const record& one : events.all()) {
        if (one.what == heard::checked_out || one.what == heard::pool_cleared)
            story += std::string{name_of(one.what)} + "; ";
        else if (one.what == heard::check_out_failed)
            story += "check out failed: " + one.name + "; ";
    }
    return story;
}

TEST(prose_retryable_writes, 2_pool_cleared_error_is_retried)
{
    lab_scene s;
    s.connect("&maxPoolSize=1&retryWrites=true");
    s.open();
    s.fail(once, R"({"failCommands": ["insert"], "errorCode": 91, "blockConnection": true,
                     "blockTimeMS": 1000, "errorLabels": ["RetryableWriteError"]})");
    const auto first = s.start(insert(s, 1));
    const auto second = s.start(insert(s, 2));
    ASSERT_TRUE(s.finish([&] { return first->done() && second->done(); }));
    EXPECT_TRUE(first->good()) << first->explain();
    EXPECT_TRUE(second->good()) << second->explain();
    EXPECT_TRUE(pool_story(s.events())
                    .starts_with("checked out; pool cleared; check out failed: connectionError; "))
        << pool_story(s.events());
    EXPECT_EQ(s.started("insert").size(), 3U);
    s.close();
}

TEST(prose_retryable_writes, 3_original_error_is_reported_if_no_writes_performed)
{
    VERIFIES("BP-039");
    lab_scene s;
    bool planned = false;
    mongo::client_options options;
    options.listeners.push_back(std::make_shared<when_ended>("insert", nullptr, [&] {
        if (!std::exchange(planned, true))
            s.fail(once, R"({"failCommands": ["insert"], "errorCode": 10107,
                             "errorLabels": ["RetryableWriteError", "NoWritesPerformed"]})");
    }));
    s.connect("&retryWrites=true", options);
    s.fail(once, R"({"failCommands": ["insert"], "errorLabels": ["RetryableWriteError"],
                     "writeConcernError": {"code": 91,
                                           "errmsg": "Replication is being shut down"}})");
    const auto done = s.get(insert(s, 1));
    ASSERT_FALSE(done);
    EXPECT_TRUE(planned);
    EXPECT_EQ(s.started("insert").size(), 2U);
    const mongo::write_failure* const received = mongo::write_failure_of(done.error());
    ASSERT_TRUE(received) << done.error().explain();
    ASSERT_EQ(received->write_concern_errors.size(), 1U);
    EXPECT_EQ(received->write_concern_errors[0].code, 91);
    EXPECT_FALSE(done.error().has_label("NoWritesPerformed"));
    s.close();
}

TEST(prose_retryable_writes, 4_retry_goes_to_another_mongos)
{
    lab_scene s{{.routers = 2}};
    s.connect("&retryWrites=true");
    s.open();
    s.simulation.run_for(100ms);  // both are known
    for (int turn = 0; turn < 10; ++turn) {  // chance alone would choose the same one sometimes
        for (std::size_t router = 0; router < 2; ++router)
            s.fail_router(router, once, R"({"failCommands": ["insert"], "errorCode": 6,
                                            "errorLabels": ["RetryableWriteError"]})");
        const auto done = s.get(insert(s, turn));
        ASSERT_FALSE(done);
        EXPECT_EQ(mongo::server_code(done.error()), 6);
        const auto failed = s.of(heard::command_failed, "insert");
        ASSERT_EQ(failed.size(), 2U * (static_cast<std::size_t>(turn) + 1));
        EXPECT_NE(failed[failed.size() - 2].server, failed.back().server) << turn;
    }
    s.close();
}

TEST(prose_retryable_writes, 5_retry_goes_to_the_same_mongos_if_it_is_the_only_one)
{
    lab_scene s{{.routers = 1}};
    s.fail_router(0, once, R"({"failCommands": ["insert"], "errorCode": 6,
                               "errorLabels": ["RetryableWriteError"], "closeConnection": true})");
    s.connect("&retryWrites=true&directConnection=false");
    const auto done = s.get(insert(s, 1));
    EXPECT_TRUE(done) << done.error().explain();
    const auto failed = s.of(heard::command_failed, "insert");
    const auto succeeded = s.of(heard::command_succeeded, "insert");
    ASSERT_EQ(failed.size(), 1U);
    ASSERT_EQ(succeeded.size(), 1U);
    ASSERT_TRUE(failed[0].failure);
    EXPECT_EQ(mongo::kind_of(*failed[0].failure), mongo::error_kind::network);
    EXPECT_EQ(failed[0].server, succeeded[0].server);
    s.close();
}

std::string labelled(int code, std::string_view labels)
{
    return R"({"failCommands": ["insert"], "errorCode": )" + std::to_string(code) +
           R"(, "errorLabels": [)" + std::string{labels} + "]}";
}

/// Fails once in one way, and from then on in another.
class two_errors {
    std::string then_;
    bool changed_ = false;

public:
    two_errors(std::string first, std::string then, const std::string& more = {})
        : then_{std::move(then)}
    {
        mongo::client_options options;
        options.listeners.push_back(std::make_shared<when_ended>("insert", [this] {
            if (!std::exchange(changed_, true))
                s.fail(always_on, then_);
        }));
        s.connect("&retryWrites=true" + more, options);
        s.fail(once, first);
        outcome.emplace(s.get(insert(s, 1)));
        EXPECT_FALSE(outcome->has_value());
        s.close();
    }
    const holdfast::error& error() const { return outcome->error(); }

    lab_scene s;
    std::optional<result<mongo::insert_one_result>> outcome;
};

constexpr auto overload = R"("RetryableError", "SystemOverloadedError")";
constexpr auto overload_wrote_nothing =
    R"("RetryableError", "SystemOverloadedError", "NoWritesPerformed")";

TEST(prose_retryable_writes, 6_1_last_of_several_errors_is_reported)
{
    const two_errors met{labelled(91, overload), labelled(10107, overload)};
    EXPECT_EQ(mongo::server_code(met.error()), 10107) << met.error().explain();
}

TEST(prose_retryable_writes, 6_2_first_error_is_reported_if_all_performed_no_writes)
{
    const two_errors met{labelled(91, overload_wrote_nothing),
                         labelled(10107, overload_wrote_nothing)};
    EXPECT_EQ(mongo::server_code(met.error()), 91) << met.error().explain();
}

TEST(prose_retryable_writes, 6_3_error_without_no_writes_performed_is_reported)
{
    VERIFIES("BP-039");
    const two_errors met{labelled(91, overload), labelled(10107, overload_wrote_nothing)};
    EXPECT_EQ(mongo::server_code(met.error()), 91) << met.error().explain();
    EXPECT_FALSE(met.error().has_label("NoWritesPerformed"));
}

struct profile_row {
    const char* options;
    std::size_t attempts;
};
constexpr profile_row profiles[] = {
    {"", 6},
    {"&resilienceProfile=upstream_2026_07", 3},
};

TEST(prose_retryable_writes, 6_4_one_overload_error_raises_the_retry_limit)
{
    VERIFIES("BP-031");
    for (const profile_row& row : profiles) {
        const two_errors met{labelled(91, overload),
                             labelled(91, R"("RetryableError", "RetryableWriteError")"),
                             row.options};
        EXPECT_EQ(met.s.started("insert").size(), row.attempts) << row.options;
    }
}

TEST(prose_retryable_writes, 6_5_backoff_follows_only_overload_errors)
{
    VERIFIES("BP-030");
    constexpr auto other = R"("RetryableError", "RetryableWriteError")";
    for (const profile_row& row : profiles) {
        for (const int code : {91, 6}) {
            const two_errors met{labelled(code, overload), labelled(code, other), row.options};
            const auto history = met.error().history();
            ASSERT_EQ(history.size(), row.attempts) << met.error().explain();
            EXPECT_GT(history[0].waited, 0ms);
            for (std::size_t n = 1; n < history.size(); ++n)
                EXPECT_EQ(history[n].waited, 0ms) << n;
            // By the clock: after 91 the server has to be found again, after 6 there is no delay.
            EXPECT_GE(met.s.pause_after(0, "insert"), history[0].waited);
            for (std::size_t n = 0; code == 6 && n + 1 < history.size(); ++n)
                EXPECT_EQ(met.s.pause_after(n, "insert"), history[n].waited) << n;
        }
    }
}

}  // namespace
}  // namespace holdfast::proof::retryable_writes_test
