#include "shell/pool/pool.hpp"

#include "core/pool/errc.hpp"
#include "runtime/wait.hpp"
#include "support/virtual_world.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace holdfast::shell {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

struct fake_connection final : pooled_connection {
    explicit fake_connection(int& count) : alive{count} { ++alive; }
    ~fake_connection() override { --alive; }
    void cancel() noexcept override { cancelled = true; }

    int& alive;
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
        return wait_for_connection(world().steady_now() + timeout);
    }

    int alive = 0;  // connections
    bool refuses = false;
    std::optional<core::pool_partition> partition = {};
    std::vector<std::string> log;

private:
    runtime::awaitable<result<opened_connection>> open(std::uint32_t) override
    {
        const auto end = co_await runtime::sleep_until(world(), world().steady_now() + 1ms);
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
}  // namespace holdfast::shell
