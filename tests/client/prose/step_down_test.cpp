#include "client/prose/lab_scene.hpp"

/// The prose tests of the specification "Connections Survive Primary Step Down". The one for
/// servers before 4.2 is tests/client/sdam_errors_test.cpp.
namespace holdfast::proof::step_down_test {
namespace {

using namespace std::chrono_literals;

TEST(prose_step_down, 1_get_more_continues_after_step_down)
{
    lab_scene s{{.members = 3}};
    s.connect("&retryWrites=false");
    std::vector<bson::document> five;
    for (int n = 0; n < 5; ++n)
        five.push_back(bson::doc("_id", n));
    ASSERT_TRUE(s.get(
        s.test_collection().insert_many(five, {.write_concern = mongo::majority}, use_awaitable)));
    auto cursor = s.test_collection().find(bson::doc().view(), {.batch_size = 2});
    ASSERT_TRUE(s.get(cursor.next_batch(use_awaitable)));
    ASSERT_TRUE(s.get(s.set->step_down(s.app.world(), 5)));
    const auto more = s.get(cursor.next_batch(use_awaitable));
    ASSERT_TRUE(more) << more.error().explain();
    EXPECT_TRUE(*more);
    EXPECT_EQ(s.events().count(heard::pool_cleared), 0U);
    ASSERT_TRUE(s.get(cursor.next_batch(use_awaitable))) << "the last, which ends its session";
    s.close();
}

/// An insert that is refused with this code, and one more. Whether that clears the pool.
std::size_t clears_after(int code)
{
    lab_scene s;
    s.connect("&retryWrites=false");
    s.open();
    s.simulation.run_for(1s);
    s.fail(once, R"({"failCommands": ["insert"], "errorCode": )" + std::to_string(code) + "}");
    const auto refused = s.get(
        s.test_collection().insert_one(bson::doc("a", 1).view(), {}, use_awaitable));
    EXPECT_FALSE(refused);
    EXPECT_EQ(mongo::server_code(refused.error()), code);
    const std::size_t cleared = s.events().count(heard::pool_cleared);
    const auto next = s.get(
        s.test_collection().insert_one(bson::doc("a", 1).view(), {}, use_awaitable));
    EXPECT_TRUE(next) << next.error().explain();
    EXPECT_EQ(s.events().count(heard::pool_cleared), cleared);
    s.close();
    return cleared;
}

TEST(prose_step_down, 2_not_primary_does_not_clear_the_pool)
{
    EXPECT_EQ(clears_after(10107), 0U);
}

TEST(prose_step_down, 4_shutdown_in_progress_clears_the_pool)
{
    EXPECT_EQ(clears_after(91), 1U);
}

TEST(prose_step_down, 5_interrupted_at_shutdown_clears_the_pool)
{
    EXPECT_EQ(clears_after(11600), 1U);
}

}  // namespace
}  // namespace holdfast::proof::step_down_test
