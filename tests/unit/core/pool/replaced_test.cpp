// A pool whose server was replaced by another one: connection_pool::replaced().
#include "core/pool/errc.hpp"
#include "core/pool/pool.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <vector>

namespace holdfast::core::replaced_test {
namespace {

using namespace std::chrono_literals;

constexpr time_point start{1h};
const error newer{pool_errc::replaced, "b is the newer primary"};

/// A full pool: connections 1 and 2 are in use, checkout 3 waits.
class replaced_pool : public testing::Test {
protected:
    replaced_pool()
    {
        pool.mark_ready(start);
        for (unsigned i = 1; i <= 3; ++i)
            pool.check_out(checkout_id{i}, start);
        pool.opened(connection_id{1}, std::nullopt, start);
        pool.opened(connection_id{2}, std::nullopt, start);
        pool.take_effects();
        pool.take_events();
    }

    std::optional<close_reason> reason_of_last_close()
    {
        std::optional<close_reason> reason;
        for (const pool_effect& e : pool.take_effects()) {
            if (const auto* closed = std::get_if<close_connection>(&e))
                reason = closed->reason;
        }
        return reason;
    }

    connection_pool pool{{.max_size = 2}};
    static constexpr std::array first{connection_id{1}};
};

TEST_F(replaced_pool, waiting_checkouts_are_refused_and_named_connections_interrupted)
{
    pool.replaced(newer, first, start + 1s);
    const auto effects = pool.take_effects();
    ASSERT_EQ(effects.size(), 2u);
    EXPECT_EQ(std::get<interrupt_connection>(effects[0]).id, connection_id{1});
    const auto& refused = std::get<refuse>(effects[1]);
    EXPECT_EQ(refused.who, checkout_id{3});
    ASSERT_TRUE(refused.cause);
    EXPECT_EQ(refused.cause->code(), pool_errc::replaced);
    EXPECT_EQ(pool.waiting(), 0u);
    EXPECT_EQ(pool.current(), connection_pool::state::ready) << "it is not cleared";
    EXPECT_EQ(pool.generation(), 0u);
    const auto events = pool.take_events();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(std::get<pool_events::checkout_failed>(events[0]).took, 1s);
}

TEST_F(replaced_pool, interrupted_connection_is_closed_and_all_others_are_kept)
{
    pool.replaced(newer, first, start);
    EXPECT_FALSE(pool.would_keep(connection_id{1})) << "its late reply is not waited for";
    EXPECT_TRUE(pool.would_keep(connection_id{2}));
    pool.take_effects();
    pool.check_in(connection_id{1}, true, start, &newer);
    EXPECT_EQ(reason_of_last_close(), close_reason::error);
    pool.check_in(connection_id{2}, false, start);
    EXPECT_EQ(reason_of_last_close(), std::nullopt);
    EXPECT_EQ(pool.idle(), 1u);
}

TEST_F(replaced_pool, interrupted_connection_whose_reply_came_is_closed_too)
{
    pool.replaced(newer, first, start);
    pool.replaced(newer, first, start);
    EXPECT_EQ(pool.take_effects().size(), 2u) << "once is enough";
    pool.check_in(connection_id{1}, false, start);
    EXPECT_EQ(reason_of_last_close(), close_reason::error);
}

TEST_F(replaced_pool, connections_that_are_gone_or_idle_are_left_alone)
{
    pool.cancel(checkout_id{3}, checkout_failure::timeout, start);
    pool.check_in(connection_id{1}, false, start);
    pool.take_effects();
    pool.replaced(newer, first, start);
    pool.replaced(newer, std::array{connection_id{77}}, start);
    EXPECT_FALSE(pool.has_effects());
    EXPECT_EQ(pool.check_out_now(start), connection_id{1});
}

}  // namespace
}  // namespace holdfast::core::replaced_test
