#include "shell/pool/pool.hpp"

#include "core/pool/errc.hpp"
#include "runtime/wait.hpp"
#include "support/virtual_world.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace holdfast::shell::pool_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

struct fake_connection final : pooled_connection {
    explicit fake_connection(int& count) : alive{count} { ++alive; }
    ~fake_connection() override { --alive; }
    void cancel() noexcept override { cancelled = true; }
    bool peer_has_closed() noexcept override
    {
        ++looks;
        return closed_by_peer;
    }

    int& alive;
    int looks = 0;
    bool closed_by_peer = false;
    bool cancelled = false;
    bool broken = false;
};

/// A protocol whose connections take a millisecond to open. Its functions look at the pool, which
/// they could not with its mutex held.
class fake_pool final : public pool {
public:
    fake_pool(runtime::world& in, const core::pool_settings& limits) : pool{in, limits, true} {}

    std::optional<lease<fake_connection>> try_check_out()
    {
        std::optional<lease<fake_connection>> got;
        if (auto idle = take_idle(world().steady_now()))
            got.emplace(shared_from_this(), std::move(idle));
        return got;
    }
    runtime::awaitable<result<lease<pooled_connection>>> check_out(duration timeout)
    {
        return wait_for_connection(world().steady_now() + timeout, may_go_elsewhere);
    }

    int alive = 0;  // connections
    bool refuses = false;
    bool may_go_elsewhere = true;
    int hanging = 0;  // so many of the next connections are not opened for an hour
    std::optional<core::pool_partition> partition = {};
    std::vector<std::string> log;

private:
    runtime::awaitable<result<opened_connection>> open(std::uint32_t) override
    {
        const duration takes = hanging > 0 ? duration{1h} : duration{1ms};
        hanging = std::max(0, hanging - 1);
        const auto end = co_await runtime::sleep_until(world(), world().steady_now() + takes);
        if (end == runtime::wait_end::cancelled)
            co_return error{runtime::errc::cancelled, "no longer wanted"};
        if (refuses)
            co_return error{make_error_code(boost::system::errc::connection_refused), "refused"};
        opened_connection made;
        made.connection = std::make_unique<fake_connection>(alive);
        made.partition = partition;
        co_return made;
    }
    void open_failed(const error& why, std::uint32_t) override
    {
        log.push_back("failed " + why.message());
        clear(why, std::nullopt, false);
    }
    void give_back(pooled_ptr what, time_point now) noexcept override
    {
        const bool broken = static_cast<fake_connection&>(*what).broken;
        check_in(std::move(what), broken, now);
    }
    void queue(const std::vector<core::pool_event>& events) override
    {
        for (const core::pool_event& one : events) {
            if (std::holds_alternative<core::pool_events::connection_closed>(one))
                log.emplace_back("closed");
        }
    }
    void deliver() override { counts(); }
};

class shell_pool : public ::testing::Test {
protected:
    std::shared_ptr<fake_pool> make(const core::pool_settings& limits = {})
    {
        auto made = std::make_shared<fake_pool>(world, limits);
        made->mark_ready();
        return made;
    }
    /// Checks a connection out, and keeps it or its error.
    void start(const std::shared_ptr<fake_pool>& from, duration timeout = 1h)
    {
        const auto check_out = [](shell_pool& test, std::shared_ptr<fake_pool> pool,
                                  duration limit) -> runtime::awaitable<void> {
            auto got = co_await pool->check_out(limit);
            if (got)
                test.leases.push_back((*std::move(got)).as<fake_connection>());
            else
                test.errors.push_back(std::move(got).error());
            pool->log.emplace_back("resumed");
        };
        asio::co_spawn(world.executor(), check_out(*this, from, timeout), asio::detached);
        world.queue.run_ready();
    }

    proof::virtual_world world;
    std::vector<lease<fake_connection>> leases;
    std::vector<error> errors;
};

TEST_F(shell_pool, connection_closed_by_its_peer_while_idle_is_replaced)
{
    const auto pool = make();
    start(pool);
    world.run_for(1ms);
    ASSERT_EQ(leases.size(), 1u);
    leases.clear();
    world.run_for(5s);
    auto recent = pool->try_check_out();
    ASSERT_TRUE(recent);
    EXPECT_EQ((*recent)->looks, 0) << "it was used a short time ago";
    recent.reset();

    world.run_for(10s);
    EXPECT_FALSE(pool->try_check_out());
    start(pool);
    ASSERT_EQ(leases.size(), 1u) << "it is good, and given without opening another";
    EXPECT_EQ(leases.front()->looks, 1);
    leases.front()->closed_by_peer = true;
    leases.clear();

    world.run_for(10s);
    start(pool);
    world.run_for(1ms);
    ASSERT_EQ(leases.size(), 1u);
    EXPECT_EQ(leases.front()->pool_id, connection_id{2});
    EXPECT_EQ(pool->alive, 1);
    EXPECT_TRUE(errors.empty());
    leases.clear();
}

TEST_F(shell_pool, opened_connection_is_reused_after_its_lease)
{
    const auto pool = make();
    EXPECT_FALSE(pool->try_check_out());
    start(pool);
    world.run_for(1ms);
    ASSERT_EQ(leases.size(), 1u);
    EXPECT_EQ(leases.front()->pool_id, connection_id{1});
    leases.clear();
    EXPECT_EQ(pool->counts().idle, 1u);
    auto again = pool->try_check_out();
    ASSERT_TRUE(again);
    EXPECT_EQ((*again)->pool_id, connection_id{1});
    (*again)->broken = true;
    again.reset();
    EXPECT_EQ(pool->counts().total, 0u);
    EXPECT_EQ(pool->alive, 0);
}

TEST_F(shell_pool, failed_connect_reaches_the_protocol_before_events_and_the_caller)
{
    const auto pool = make();
    pool->refuses = true;
    start(pool);
    world.run_for(1ms);
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(errors.front().code(), boost::system::errc::connection_refused);
    EXPECT_EQ(pool->log, (std::vector<std::string>{"failed refused", "closed", "resumed"}));
    EXPECT_EQ(pool->generation(), 1u);
}

TEST_F(shell_pool, checkout_times_out_while_all_connections_are_in_use)
{
    const auto pool = make({.max_size = 1});
    start(pool);
    world.run_for(1ms);
    start(pool, 10ms);
    EXPECT_EQ(pool->counts().waiting, 1u);
    world.run_for(10ms);
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(errors.front().code(), core::pool_errc::timed_out);
    EXPECT_EQ(pool->counts().waiting, 0u);
}

TEST_F(shell_pool, interrupting_close_cancels_connections_in_use_and_stops_opening)
{
    const auto pool = make();
    start(pool);
    world.run_for(1ms);
    start(pool);
    ASSERT_EQ(leases.size(), 1u);
    EXPECT_EQ(pool->counts().opening, 1u);
    pool->close(true);
    world.queue.run_ready();
    EXPECT_TRUE(leases.front()->cancelled);
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(errors.front().code(), core::pool_errc::closed);
    bool has_ended = false;
    asio::co_spawn(world.executor(), pool->ended(),
                   [&](const std::exception_ptr&) { has_ended = true; });
    world.queue.run_ready();
    EXPECT_TRUE(has_ended);
    leases.clear();
    EXPECT_EQ(pool->alive, 0);
    EXPECT_EQ(world.alarms_set(), 0u);
}

TEST_F(shell_pool, clear_stops_opening)
{
    const auto pool = make();
    pool->hanging = 1;
    start(pool);
    EXPECT_EQ(pool->counts().opening, 1u);
    pool->clear(error{core::pool_errc::cleared, "lost"}, std::nullopt, false);
    world.queue.run_ready();
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(pool->counts().total, 0u);
    EXPECT_EQ(world.alarms_set(), 0u) << "the attempt was cancelled";
    EXPECT_EQ(pool->generation(), 1u) << "which is no failure of the server";
}

TEST_F(shell_pool, another_connection_opens_after_a_clear_while_the_first_hangs)
{
    const auto pool = make();
    start(pool);
    world.run_for(1ms);
    ASSERT_EQ(leases.size(), 1u);
    pool->clear(error{core::pool_errc::cleared, "lost"}, std::nullopt, false);
    pool->mark_ready();
    pool->hanging = 1;
    start(pool);
    world.run_for(9ms);
    EXPECT_EQ(pool->counts().opening, 1u);
    world.run_for(1ms);
    EXPECT_EQ(pool->counts().opening, 2u);
    world.run_for(1ms);
    EXPECT_EQ(leases.size(), 2u);
    leases.clear();
    pool->close(true);
    world.queue.run_ready();
    EXPECT_EQ(world.alarms_set(), 0u);
}

TEST_F(shell_pool, replaced_server_interrupts_repeatable_use_and_refuses_waiting_checkouts)
{
    const auto pool = make({.max_size = 2});
    start(pool);
    start(pool);
    world.run_for(1ms);
    start(pool);
    ASSERT_EQ(leases.size(), 2u);
    leases[0]->repeatable = true;
    pool->replaced(error{core::pool_errc::replaced, "another one is the primary"});
    world.queue.run_ready();
    EXPECT_TRUE(leases[0]->cancelled && leases[0]->given_up);
    EXPECT_FALSE(leases[1]->cancelled || leases[1]->given_up);
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(errors.front().code(), core::pool_errc::replaced);
    leases.clear();
    EXPECT_EQ(pool->counts().idle, 1u) << "the other one can be used again";
    EXPECT_EQ(pool->alive, 1);
}

TEST_F(shell_pool, replaced_server_is_known_to_users_that_come_too_late_to_be_interrupted)
{
    const auto pool = make({.max_size = 2});
    start(pool);
    start(pool);
    world.run_for(1ms);
    ASSERT_EQ(leases.size(), 2u);
    EXPECT_FALSE(leases[0]->replaced);
    leases.pop_back();
    pool->replaced(error{core::pool_errc::replaced, "another one is the primary"});
    EXPECT_TRUE(leases[0]->replaced) << "checked out, not yet repeatable";
    EXPECT_TRUE(pool->try_check_out().value()->replaced) << "checked out afterwards";
    start(pool);
    ASSERT_EQ(errors.size(), 1u) << "a server is selected anew at once";
    EXPECT_EQ(errors.front().code(), core::pool_errc::replaced);

    pool->mark_ready();
    leases.clear();
    EXPECT_FALSE(pool->try_check_out().value()->replaced) << "the server has answered since";
    start(pool);
    EXPECT_EQ(leases.size(), 1u);
    leases.clear();
}

TEST_F(shell_pool, replaced_server_serves_checkouts_that_no_other_server_can)
{
    const auto pool = make();
    pool->replaced(error{core::pool_errc::replaced, "another one is the primary"});
    pool->may_go_elsewhere = false;
    start(pool);
    world.run_for(1ms);
    EXPECT_EQ(leases.size(), 1u);
    EXPECT_TRUE(errors.empty());
    leases.clear();
}

TEST_F(shell_pool, clear_of_a_partition_closes_its_connections_only)
{
    const core::pool_partition one{{1}};
    const core::pool_partition two{{2}};
    const auto pool = make();
    pool->partition = one;
    start(pool);
    world.run_for(1ms);
    pool->partition = two;
    start(pool);
    world.run_for(1ms);
    leases.clear();
    ASSERT_EQ(pool->counts().idle, 2u);
    pool->clear(error{core::pool_errc::cleared, "one failed"}, one, false);
    EXPECT_EQ(pool->counts().idle, 1u);
    EXPECT_EQ(pool->generation(one), 1u);
    const auto left = pool->try_check_out();
    ASSERT_TRUE(left);
    EXPECT_EQ((*left)->generation, pool->generation(two));
}

TEST_F(shell_pool, upkeep_opens_min_pool_size_and_ends_with_the_pool)
{
    auto pool = make({.min_size = 3});
    world.run_for(3ms);
    EXPECT_EQ(pool->counts().idle, 3u);
    auto taken = pool->try_check_out();
    ASSERT_TRUE(taken);
    (*taken)->broken = true;
    taken.reset();
    EXPECT_EQ(pool->counts().total, 2u);
    world.run_for(11s);
    EXPECT_EQ(pool->counts().total, 3u);
    pool->close(false);
    pool.reset();
    world.queue.run_ready();
    EXPECT_EQ(world.alarms_set(), 0u);
}

}  // namespace
}  // namespace holdfast::shell::pool_test
