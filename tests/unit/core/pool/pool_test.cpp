#include "core/pool/pool.hpp"

#include "core/pool/errc.hpp"
#include "support/verifies.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast::core::pool_test {
namespace {

using namespace std::chrono_literals;
using state = connection_pool::state;

constexpr time_point start{1h};
const error trouble{pool_errc::cleared, "connection reset"};

/// A pool whose effects are written down as words: "open 1", "give 2 to 7", "refuse 7 timeout".
class pool_test : public testing::Test {
protected:
    explicit pool_test(pool_settings settings = {}) : pool{settings} {}

    std::vector<std::string> effects()
    {
        std::vector<std::string> text;
        for (const pool_effect& e : pool.take_effects())
            text.push_back(std::visit([](const auto& x) { return token(x); }, e));
        return text;
    }

    /// A ready pool with `count` idle connections.
    void fill(int count)
    {
        pool.mark_ready(start);
        std::vector<connection_id> taken;
        for (int i = 0; i < count; ++i) {
            pool.check_out(checkout_id{1000u + static_cast<unsigned>(i)}, start);
            pool.opened(connection_id{i + 1}, std::nullopt, start);
            taken.push_back(connection_id{i + 1});
        }
        for (const connection_id id : taken)
            pool.check_in(id, false, start);
        effects();
    }

    connection_pool pool;

private:
    static std::string number(connection_id id) { return std::to_string(id.value()); }
    static std::string number(checkout_id id) { return std::to_string(id.value()); }
    static std::string token(const open_connection& e) { return "open " + number(e.id); }
    static std::string token(const close_connection& e)
    {
        return "close " + number(e.id) + " " + std::string{name_of(e.reason)};
    }
    static std::string token(const interrupt_connection& e) { return "interrupt " + number(e.id); }
    static std::string token(const hand_out& e)
    {
        return "give " + number(e.connection) + " to " + number(e.to);
    }
    static std::string token(const refuse& e)
    {
        return "refuse " + number(e.who) + " " + std::string{name_of(e.why)};
    }
    static std::string token(const wake_up& e)
    {
        return "wake up in " + std::to_string((e.at - start) / 1ms) + " ms";
    }
};

using text = std::vector<std::string>;

TEST_F(pool_test, pool_is_paused_until_marked_ready)
{
    EXPECT_EQ(pool.current(), state::paused);
    pool.check_out(checkout_id{1}, start);
    EXPECT_EQ(effects(), text{"refuse 1 connectionError"});
    pool.mark_ready(start);
    EXPECT_EQ(pool.current(), state::ready);
    pool.check_out(checkout_id{2}, start);
    EXPECT_EQ(effects(), text{"open 1"});
}

TEST_F(pool_test, new_connection_goes_to_the_waiting_checkout)
{
    pool.mark_ready(start);
    pool.check_out(checkout_id{7}, start);
    EXPECT_EQ(effects(), text{"open 1"});
    EXPECT_EQ(pool.opening(), 1u);
    pool.opened(connection_id{1}, std::nullopt, start);
    EXPECT_EQ(effects(), text{"give 1 to 7"});
    EXPECT_EQ(pool.in_use(), 1u);
    pool.check_in(connection_id{1}, false, start);
    EXPECT_EQ(pool.idle(), 1u);
    EXPECT_EQ(pool.check_out_now(start), connection_id{1});
    EXPECT_FALSE(pool.has_effects());
}

TEST_F(pool_test, most_recently_used_connection_is_checked_out_first)
{
    fill(2);
    EXPECT_EQ(pool.check_out_now(start), connection_id{2});
    EXPECT_EQ(pool.check_out_now(start), connection_id{1});
    EXPECT_EQ(pool.check_out_now(start), std::nullopt);
}

TEST_F(pool_test, connection_idle_for_long_is_looked_at_before_use)
{
    fill(2);
    EXPECT_EQ(pool.next_to_look_at(start + 9s), std::nullopt);
    EXPECT_EQ(pool.next_to_look_at(start + 10s), connection_id{2});
    EXPECT_EQ(pool.check_out_now(start + 10s), std::nullopt);
    pool.lost_idle(connection_id{2});
    EXPECT_EQ(effects(), text{"close 2 error"});
    EXPECT_EQ(pool.next_to_look_at(start + 10s), connection_id{1});
    pool.check_out(checkout_id{7}, start + 10s);
    EXPECT_EQ(effects(), text{"give 1 to 7"}) << "it was good";
    EXPECT_EQ(pool.next_to_look_at(start + 20s), std::nullopt);
    pool.check_in(connection_id{1}, false, start + 11s);
    EXPECT_EQ(pool.check_out_now(start + 12s), connection_id{1});
}

TEST_F(pool_test, at_most_max_connecting_connections_open_at_once)
{
    pool.mark_ready(start);
    for (unsigned i = 1; i <= 5; ++i)
        pool.check_out(checkout_id{i}, start);
    EXPECT_EQ(effects(), (text{"open 1", "open 2"}));
    EXPECT_EQ(pool.in_use(), 0u);
    pool.opened(connection_id{2}, std::nullopt, start);
    EXPECT_EQ(effects(), (text{"give 2 to 1", "open 3"}));
    pool.check_in(connection_id{2}, false, start);
    EXPECT_EQ(effects(), text{"give 2 to 2"}) << "the longest wait is served first";
}

TEST_F(pool_test, checkout_does_not_overtake_the_wait_queue)
{
    fill(1);
    ASSERT_EQ(pool.check_out_now(start), connection_id{1});
    pool.check_out(checkout_id{1}, start);
    effects();
    EXPECT_EQ(pool.check_out_now(start), std::nullopt);
    pool.check_in(connection_id{1}, false, start);
    EXPECT_EQ(effects(), text{"give 1 to 1"});
}

TEST_F(pool_test, failed_connect_fails_the_first_in_the_wait_queue)
{
    pool.mark_ready(start);
    pool.check_out(checkout_id{1}, start);
    pool.check_out(checkout_id{2}, start);
    pool.check_out(checkout_id{3}, start);
    effects();
    pool.open_failed(connection_id{2}, trouble, start);
    EXPECT_EQ(effects(), (text{"close 2 error", "refuse 1 connectionError", "wake up in 1000 ms"}))
        << "one is still opening, which is enough for a server that has failed";
    pool.open_failed(connection_id{1}, trouble, start);
    EXPECT_EQ(effects(), (text{"close 1 error", "refuse 2 connectionError", "open 3"}));
    EXPECT_EQ(pool.total(), 1u);
}

TEST_F(pool_test, waiting_checkout_can_be_cancelled)
{
    pool.mark_ready(start);
    pool.check_out(checkout_id{1}, start);
    effects();
    pool.cancel(checkout_id{1}, checkout_failure::timeout, start + 1s);
    EXPECT_EQ(effects(), text{"refuse 1 timeout"});
    pool.cancel(checkout_id{1}, checkout_failure::timeout, start + 1s);
    EXPECT_EQ(effects(), text{});
    pool.opened(connection_id{1}, std::nullopt, start + 2s);
    EXPECT_EQ(effects(), text{});
    EXPECT_EQ(pool.idle(), 1u) << "the connection is there for the next one";
}

TEST_F(pool_test, clear_increments_generation_and_closes_idle)
{
    VERIFIES("SD-012");
    VERIFIES("SD-181");
    fill(3);
    ASSERT_EQ(pool.check_out_now(start), connection_id{3});
    EXPECT_EQ(pool.generation(), 0u);
    pool.clear(trouble, std::nullopt, false, start);
    EXPECT_EQ(pool.generation(), 1u);
    EXPECT_EQ(pool.current(), state::paused);
    EXPECT_EQ(effects(), (text{"close 1 stale", "close 2 stale"}));
    pool.check_in(connection_id{3}, false, start);
    EXPECT_EQ(effects(), text{"close 3 stale"});
    pool.mark_ready(start);
    pool.check_out(checkout_id{1}, start);
    const auto opened = pool.take_effects();
    ASSERT_FALSE(opened.empty());
    EXPECT_EQ(std::get<open_connection>(opened[0]).generation, 1u);
}

TEST_F(pool_test, clear_gives_up_connections_that_are_opening)
{
    VERIFIES("SD-013");
    pool.mark_ready(start);
    pool.check_out(checkout_id{1}, start);
    effects();
    pool.clear(trouble, std::nullopt, false, start);
    EXPECT_EQ(effects(), (text{"close 1 stale", "refuse 1 connectionError"}));
    EXPECT_EQ(pool.total(), 0u);
    pool.mark_ready(start);
    pool.opened(connection_id{1}, std::nullopt, start);
    EXPECT_EQ(effects(), text{}) << "it came too late to be stopped";
    EXPECT_EQ(pool.total(), 0u);
}

TEST_F(pool_test, clear_fails_waiting_checkouts_with_its_cause)
{
    pool.mark_ready(start);
    pool.check_out(checkout_id{1}, start);
    pool.check_out(checkout_id{2}, start);
    effects();
    pool.clear(trouble, std::nullopt, false, start);
    const auto received = pool.take_effects();
    ASSERT_EQ(received.size(), 4u) << "two connections were opening";
    const auto& first = std::get<refuse>(received[2]);
    ASSERT_TRUE(first.cause);
    EXPECT_EQ(first.cause->code(), pool_errc::cleared);
    EXPECT_NE(first.cause->message().find("connection reset"), std::string::npos);
}

TEST_F(pool_test, interrupting_clear_closes_in_use_and_pending)
{
    fill(2);
    ASSERT_EQ(pool.check_out_now(start), connection_id{2});
    ASSERT_EQ(pool.check_out_now(start), connection_id{1});
    pool.check_out(checkout_id{1}, start);
    pool.check_in(connection_id{1}, false, start);
    pool.check_in(connection_id{1}, true, start);
    effects();
    pool.clear(trouble, std::nullopt, true, start);
    EXPECT_EQ(effects(), (text{"interrupt 2", "close 3 error"}));
    pool.check_in(connection_id{2}, true, start);
    EXPECT_EQ(effects(), text{"close 2 stale"}) << "the clear closed it, not its own failure";
}

TEST_F(pool_test, each_service_id_has_its_own_generation)
{
    const core::pool_partition one{{1}};
    const core::pool_partition two{{2}};
    pool.mark_ready(start);
    for (unsigned i = 1; i <= 2; ++i)
        pool.check_out(checkout_id{i}, start);
    pool.opened(connection_id{1}, one, start);
    pool.opened(connection_id{2}, two, start);
    pool.check_in(connection_id{1}, false, start);
    pool.check_in(connection_id{2}, false, start);
    effects();
    pool.clear(trouble, one, false, start);
    EXPECT_EQ(effects(), text{"close 1 stale"});
    EXPECT_EQ(pool.current(), state::ready);
    EXPECT_EQ(pool.generation(one), 1u);
    EXPECT_EQ(pool.generation(two), 0u);
    EXPECT_EQ(pool.check_out_now(start), connection_id{2});
}

TEST_F(pool_test, check_in_of_a_broken_connection_closes_it)
{
    fill(1);
    ASSERT_EQ(pool.check_out_now(start), connection_id{1});
    pool.check_in(connection_id{1}, true, start);
    EXPECT_EQ(effects(), text{"close 1 error"});
    EXPECT_EQ(pool.total(), 0u);
}

TEST_F(pool_test, close_refuses_checkouts_and_closes_connections)
{
    fill(2);
    ASSERT_EQ(pool.check_out_now(start), connection_id{2});
    pool.close(start);
    EXPECT_EQ(effects(), text{"close 1 poolClosed"});
    pool.check_in(connection_id{2}, false, start);
    EXPECT_EQ(effects(), text{"close 2 poolClosed"});
    pool.check_out(checkout_id{1}, start);
    EXPECT_EQ(effects(), text{"refuse 1 poolClosed"});
    pool.mark_ready(start);
    pool.clear(trouble, std::nullopt, false, start);
    EXPECT_EQ(pool.current(), state::closed);
    EXPECT_EQ(pool.generation(), 0u);
}

class small_pool : public pool_test {
protected:
    small_pool() : pool_test{{.max_size = 2, .min_size = 1, .max_idle = 10s}} {}
};

TEST_F(small_pool, total_never_exceeds_max_pool_size)
{
    pool.mark_ready(start);
    for (unsigned i = 1; i <= 4; ++i)
        pool.check_out(checkout_id{i}, start);
    EXPECT_EQ(pool.total(), 2u);
    pool.opened(connection_id{1}, std::nullopt, start);
    pool.opened(connection_id{2}, std::nullopt, start);
    EXPECT_EQ(pool.total(), 2u);
    EXPECT_EQ(pool.waiting(), 2u);
}

TEST_F(small_pool, maintenance_keeps_min_pool_size_and_drops_idle)
{
    pool.mark_ready(start);
    EXPECT_EQ(effects(), text{"open 1"}) << "the least number is wanted at once";
    pool.opened(connection_id{1}, std::nullopt, start);
    EXPECT_EQ(pool.idle(), 1u);
    pool.maintain(start + 9s);
    EXPECT_EQ(effects(), text{});
    pool.maintain(start + 10s);
    EXPECT_EQ(effects(), (text{"close 1 idle", "open 2"}));
}

TEST_F(small_pool, connection_past_max_idle_time_is_not_checked_out)
{
    pool.mark_ready(start);
    pool.opened(connection_id{1}, std::nullopt, start);
    effects();
    EXPECT_EQ(pool.check_out_now(start + 10s), std::nullopt);
    EXPECT_EQ(effects(), text{});
    pool.check_out(checkout_id{7}, start + 10s);
    EXPECT_EQ(effects(), (text{"close 1 idle", "open 2"}));
}

TEST_F(small_pool, failed_background_connect_fails_no_checkout)
{
    pool.mark_ready(start);
    pool.check_out(checkout_id{7}, start);
    EXPECT_EQ(effects(), text{"open 1"}) << "it may have this one";
    pool.open_failed(connection_id{1}, trouble, start);
    EXPECT_EQ(effects(), (text{"close 1 error", "open 2", "wake up in 1000 ms"}));
    EXPECT_EQ(pool.waiting(), 1u);
    pool.opened(connection_id{2}, std::nullopt, start);
    EXPECT_EQ(effects(), text{"give 2 to 7"});
}

class filling_pool : public pool_test {
protected:
    filling_pool() : pool_test{{.max_size = 3, .min_size = 2, .max_connecting = 2}} {}
};

TEST_F(filling_pool, background_connections_count_for_waiting_checkouts)
{
    pool.mark_ready(start);
    EXPECT_EQ(effects(), (text{"open 1", "open 2"}));
    pool.check_out(checkout_id{7}, start);
    pool.check_out(checkout_id{8}, start);
    pool.opened(connection_id{1}, std::nullopt, start);
    EXPECT_EQ(effects(), text{"give 1 to 7"}) << "the second one is on its way";
    pool.check_out(checkout_id{9}, start);
    EXPECT_EQ(effects(), text{"open 3"});
    pool.opened(connection_id{2}, std::nullopt, start);
    EXPECT_EQ(effects(), text{"give 2 to 8"});
}

TEST_F(pool_test, checkout_does_not_wait_for_stale_connects)
{
    pool.mark_ready(start);
    pool.check_out(checkout_id{1}, start);
    pool.clear(trouble, std::nullopt, false, start);
    pool.mark_ready(start);
    effects();
    pool.check_out(checkout_id{2}, start);
    EXPECT_EQ(effects(), (text{"open 2", "wake up in 1000 ms"}));
    pool.open_failed(connection_id{1}, trouble, start);
    EXPECT_EQ(effects(), text{}) << "its failure is old news";
    pool.opened(connection_id{2}, std::nullopt, start);
    EXPECT_EQ(effects(), text{"give 2 to 2"});
}

class queueing_pool : public pool_test {
protected:
    queueing_pool() : pool_test{{.max_size = 1, .max_waiting = 2}} {}
};

TEST_F(queueing_pool, caller_beyond_the_limit_of_the_queue_is_refused_at_once)
{
    pool.mark_ready(start);
    for (const unsigned who : {1, 2, 3})
        pool.check_out(checkout_id{who}, start);
    EXPECT_EQ(effects(), (text{"open 1", "refuse 3 connectionError"}));
    EXPECT_EQ(pool.waiting(), 2u);
}

TEST_F(pool_test, peer_that_has_closed_one_idle_connection_costs_all_that_are_idle)
{
    fill(3);
    pool.check_out(checkout_id{1}, start);
    EXPECT_EQ(effects(), text{"give 3 to 1"});
    pool.lost_idle();
    EXPECT_EQ(effects(), (text{"close 2 error", "close 1 error"}));
    EXPECT_EQ(pool.total(), 1u);
}

}  // namespace
}  // namespace holdfast::core::pool_test
