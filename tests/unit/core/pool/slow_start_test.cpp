// How a pool opens connections after its server has failed.
#include "core/pool/errc.hpp"
#include "core/pool/pool.hpp"

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

namespace holdfast::core::slow_start_test {
namespace {

using namespace std::chrono_literals;
using text = std::vector<std::string>;

constexpr time_point start{1h};
const error trouble{pool_errc::cleared, "connection reset"};

std::string token(const open_connection& e)
{
    return "open " + std::to_string(e.id.value());
}
std::string token(const close_connection& e)
{
    return "close " + std::to_string(e.id.value());
}
std::string token(const interrupt_connection& e)
{
    return "interrupt " + std::to_string(e.id.value());
}
std::string token(const hand_out& e)
{
    return "give " + std::to_string(e.connection.value()) + " to " + std::to_string(e.to.value());
}
std::string token(const refuse& e)
{
    return "refuse " + std::to_string(e.who.value());
}
std::string token(const wake_up& e)
{
    return "wake up in " + std::to_string((e.at - start) / 1ms) + " ms";
}

/// A pool that was cleared. Its effects are written down as words: "open 1", "wake up in 40 ms".
class restarted_pool : public testing::Test {
protected:
    explicit restarted_pool(pool_settings settings = {.max_connecting = 3}) : pool{settings} {}

    /// Cleared and ready again; before that, opening a connection took as long.
    void restart_after_opening_in(duration took)
    {
        pool.mark_ready(start - took);
        pool.check_out(checkout_id{100}, start - took);
        pool.opened(connection_id{1}, std::nullopt, start);
        pool.clear(trouble, std::nullopt, false, start);
        pool.mark_ready(start);
        effects();
    }

    text effects()
    {
        text all;
        for (const pool_effect& e : pool.take_effects())
            all.push_back(std::visit([](const auto& one) { return token(one); }, e));
        return all;
    }

    connection_pool pool;
};

TEST_F(restarted_pool, hanging_connect_lets_others_begin_one_by_one)
{
    restart_after_opening_in(20ms);
    for (unsigned i = 1; i <= 9; ++i)
        pool.check_out(checkout_id{i}, start);
    EXPECT_EQ(effects(), (text{"open 2", "wake up in 40 ms"})) << "twice what the last one took";
    pool.check_out(checkout_id{10}, start + 39ms);
    EXPECT_EQ(effects(), text{}) << "it is not overdue yet, and one wake-up is enough";
    pool.woke(start + 40ms);
    EXPECT_EQ(effects(), (text{"open 3", "wake up in 80 ms"}));
    pool.woke(start + 80ms);
    EXPECT_EQ(effects(), text{"open 4"}) << "maxConnecting holds";
    pool.opened(connection_id{4}, std::nullopt, start + 90ms);
    EXPECT_EQ(effects(), (text{"give 4 to 1", "wake up in 100 ms"}));
}

TEST_F(restarted_pool, overdue_connect_is_not_the_only_hope_of_a_single_checkout)
{
    restart_after_opening_in(20ms);
    pool.check_out(checkout_id{1}, start);
    EXPECT_EQ(effects(), (text{"open 2", "wake up in 40 ms"}));
    pool.woke(start + 40ms);
    EXPECT_EQ(effects(), (text{"open 3", "wake up in 80 ms"}));
    pool.opened(connection_id{3}, std::nullopt, start + 50ms);
    EXPECT_EQ(effects(), text{"give 3 to 1"});
    pool.woke(start + 80ms);
    EXPECT_EQ(effects(), text{}) << "no checkout waits";
    pool.opened(connection_id{2}, std::nullopt, start + 8s);
    EXPECT_EQ(pool.idle(), 1u);
}

TEST_F(restarted_pool, wait_for_an_overdue_connect_is_10_ms_to_1_s)
{
    restart_after_opening_in(1ms);
    pool.check_out(checkout_id{1}, start);
    EXPECT_EQ(effects(), (text{"open 2", "wake up in 10 ms"}));
    pool.opened(connection_id{2}, std::nullopt, start + 7s);
    pool.clear(trouble, std::nullopt, false, start + 7s);
    pool.woke(start + 7s);
    pool.mark_ready(start + 7s);
    effects();
    pool.check_out(checkout_id{2}, start + 7s);
    EXPECT_EQ(effects(), (text{"open 3", "wake up in 8000 ms"}));
}

TEST_F(restarted_pool, early_wake_up_sets_the_next_one)
{
    restart_after_opening_in(20ms);
    pool.check_out(checkout_id{1}, start);
    pool.clear(trouble, std::nullopt, false, start + 30ms);
    pool.mark_ready(start + 30ms);
    effects();
    pool.check_out(checkout_id{2}, start + 30ms);
    EXPECT_EQ(effects(), text{"open 3"}) << "the wake-up of connection 2 is still to come";
    pool.woke(start + 40ms);
    EXPECT_EQ(effects(), text{"wake up in 70 ms"});
}

TEST_F(restarted_pool, pool_that_never_failed_opens_one_connection_per_checkout)
{
    pool.mark_ready(start);
    pool.check_out(checkout_id{1}, start);
    EXPECT_EQ(effects(), text{"open 1"}) << "and needs no wake-up";
    pool.check_out(checkout_id{2}, start + 1h);
    EXPECT_EQ(effects(), text{"open 2"});
    pool.woke(start + 2h);
    EXPECT_EQ(effects(), text{});
}

class full_restarted_pool : public restarted_pool {
protected:
    full_restarted_pool() : restarted_pool{{.max_size = 1, .max_connecting = 3}} {}
};

TEST_F(full_restarted_pool, overdue_connect_does_not_exceed_max_pool_size)
{
    restart_after_opening_in(20ms);
    pool.check_in(connection_id{1}, false, start);
    effects();
    pool.check_out(checkout_id{1}, start);
    EXPECT_EQ(effects(), text{"open 2"});
    pool.check_out(checkout_id{2}, start + 1h);
    EXPECT_EQ(effects(), text{});
}

}  // namespace
}  // namespace holdfast::core::slow_start_test
