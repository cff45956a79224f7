#include "prose/lab_scene.hpp"

/// Prose test 3 of the specification "Client Backpressure"; 1, 2 and 4, and the attempts of 3:
/// tests/traffic/overload_test.cpp.
namespace holdfast::proof {
namespace {

struct profile_row {
    const char* options;
    std::size_t attempts;
};

TEST(prose_client_backpressure, 3_a_read_that_is_always_refused_ends_with_the_labels)
{
    const profile_row rows[] = {
        {"", 6},
        {"&resilienceProfile=upstream_2026_07", 3},
        {"&resilienceProfile=upstream_2026_07&maxAdaptiveRetries=1", 2},
    };
    for (const profile_row& row : rows) {
        lab_scene s;
        s.connect(row.options);
        s.fail(always_on, R"({"failCommands": ["find"], "errorCode": 462,
                              "errorLabels": ["RetryableError", "SystemOverloadedError"]})");
        const auto done = s.get(s.kelp().find_one(bson::doc().view(), {}, use_awaitable));
        ASSERT_FALSE(done);
        EXPECT_EQ(mongo::server_code(done.error()), 462);
        EXPECT_TRUE(done.error().has_label("RetryableError"));
        EXPECT_TRUE(done.error().has_label("SystemOverloadedError"));
        EXPECT_EQ(s.started("find").size(), row.attempts) << row.options;
        s.close();
    }
}

}  // namespace
}  // namespace holdfast::proof
