#include "net/alarm_timer.hpp"
#include "net/entropy.hpp"
#include "world/net_party.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <set>
#include <vector>

namespace holdfast::net_clock_test {
namespace {

using namespace std::chrono_literals;
using proof::net_party;
namespace asio = boost::asio;

class bell final : public runtime::alarm {
public:
    bell(std::vector<int>& heard, int number) : heard_{heard}, number_{number} {}
    void ring() noexcept override { heard_.push_back(number_); }

private:
    std::vector<int>& heard_;
    int number_;
};

TEST(net_clock, alarms_ring_in_time_order)
{
    net_party here;
    std::vector<int> heard;
    bell first{heard, 1};
    bell second{heard, 2};
    bell third{heard, 3};
    const time_point start = here.world.steady_now();
    here.world.alarms().set(third, start + 6ms);
    here.world.alarms().set(first, start + 2ms);
    here.world.alarms().set(second, start + 4ms);
    here.run();
    EXPECT_EQ(heard, (std::vector{1, 2, 3}));
    EXPECT_GE(here.world.steady_now(), start + 6ms);
}

TEST(net_clock, moved_or_cleared_alarm_does_not_ring_at_its_old_time)
{
    net_party here;
    std::vector<int> heard;
    bell cleared{heard, 1};
    bell moved{heard, 2};
    bell last{heard, 3};
    here.world.alarms().set(cleared, here.in(1ms));
    here.world.alarms().set(moved, here.in(1ms));
    here.world.alarms().set(last, here.in(10ms));
    here.world.alarms().clear(cleared);
    here.world.alarms().clear(cleared);
    here.world.alarms().set(moved, here.in(20ms));
    here.run();
    EXPECT_EQ(heard, (std::vector{3, 2}));
}

TEST(net_clock, past_time_rings_later_and_not_inline)
{
    net_party here;
    std::vector<int> heard;
    bell late{heard, 1};
    here.world.alarms().set(late, here.in(-1h));
    EXPECT_TRUE(heard.empty()) << "who sets an alarm may hold what it needs to ring";
    here.run();
    EXPECT_EQ(heard, std::vector{1});
}

/// The executor's own count of handlers shows whether the timer was touched: each wait that is
/// ended early is one more handler.
TEST(net_clock, deadlines_of_operations_do_not_touch_the_timer)
{
    net_party here;
    std::vector<int> heard;
    bell deadline{heard, 1};
    for (int i = 0; i < 1000; ++i) {
        here.world.alarms().set(deadline, here.in(1h));
        here.world.alarms().clear(deadline);
    }
    const time_point start = here.world.steady_now();
    const std::size_t done = here.context.run_for(proof::net_timeout);
    EXPECT_LE(done, 4U) << "the timer is set once, and once more when no alarm is left";
    EXPECT_TRUE(heard.empty());
    EXPECT_TRUE(here.context.stopped()) << "a clock without alarms keeps no loop running";
    EXPECT_LT(here.world.steady_now(), start + 20ms);
}

TEST(net_clock, earlier_alarm_rearms_the_timer)
{
    net_party here;
    std::vector<int> heard;
    bell far{heard, 1};
    bell near{heard, 2};
    here.world.alarms().set(far, here.in(1h));
    here.world.alarms().set(near, here.in(5ms));
    const time_point timeout = here.in(proof::net_timeout);
    while (heard.empty() && here.world.steady_now() < timeout)
        here.context.run_one_until(timeout);
    EXPECT_EQ(heard, std::vector{2});
    here.world.alarms().clear(far);
}

TEST(net_clock, destroyed_world_lets_the_executor_finish)
{
    asio::io_context context;
    std::vector<int> heard;
    bell never_heard{heard, 1};
    {
        net::async_world world{context.get_executor()};
        world.alarms().set(never_heard, world.steady_now() + 1h);
        world.alarms().clear(never_heard);
        context.poll();
        EXPECT_FALSE(context.stopped());
    }
    context.run_for(proof::net_timeout);
    EXPECT_TRUE(context.stopped());
}

TEST(net_chance, random_fills_any_size_with_distinct_bytes)
{
    net_party here;
    std::set<std::array<std::uint8_t, 8>> seen;
    for (int i = 0; i < 2000; ++i) {
        std::array<std::uint8_t, 8> drawn{};
        here.world.random(drawn);
        seen.insert(drawn);
    }
    EXPECT_EQ(seen.size(), 2000U);
    for (const std::size_t size : {0U, 1U, 125U, 126U, 127U, 504U, 505U, 100'000U}) {
        std::vector<std::uint8_t> drawn(size + 16, 0);
        here.world.random(std::span{drawn}.first(size));
        EXPECT_EQ(std::vector<std::uint8_t>(16), std::vector(drawn.end() - 16, drawn.end()));
        if (size >= 100) {
            const std::set<std::uint8_t> values{drawn.begin(), drawn.end() - 16};
            EXPECT_GT(values.size(), 40U) << size;
        }
    }
}

TEST(net_chance, random_differs_in_a_forked_child)
{
    net::entropy chance;
    std::array<std::uint8_t, 8> ours{};
    chance.draw(ours);
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        chance.draw(ours);
        const bool received = ::write(ends[1], ours.data(), ours.size()) == 8;
        ::_exit(received ? 0 : 1);
    }
    ASSERT_GT(child, 0);
    std::array<std::uint8_t, 8> theirs{};
    EXPECT_EQ(::read(ends[0], theirs.data(), theirs.size()), 8);
    chance.draw(ours);
    EXPECT_NE(ours, theirs);
    int status = 1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST(net_clock, steady_and_wall_time_match_the_system)
{
    net_party here;
    const auto steady = std::chrono::steady_clock::now();
    const auto wall = std::chrono::system_clock::now();
    EXPECT_GE(here.world.steady_now(), steady);
    EXPECT_LT(here.world.steady_now(), steady + 1min);
    EXPECT_LT(here.world.wall_now(), wall + 1min);
    EXPECT_GT(here.world.wall_now(), wall - 1min);
}

/// Also when the timer has waited for seconds, as for a monitor between two heartbeats.
TEST(net_clock, timer_of_a_cleared_alarm_ends_within_milliseconds)
{
    net_party here;
    std::vector<int> heard;
    bell heartbeat{heard, 1};
    here.world.alarms().set(heartbeat, here.in(10s));
    here.context.run_for(300ms);
    ASSERT_FALSE(here.context.stopped());
    here.world.alarms().clear(heartbeat);
    const time_point cleared = here.world.steady_now();
    here.run();
    EXPECT_LT(here.world.steady_now(), cleared + 20ms);
    EXPECT_TRUE(heard.empty());
}

/// The timer that outlives the last alarm must not delay the next one, nor be mistaken for it.
TEST(net_clock, alarm_set_after_the_last_one_was_cleared_rings_in_time)
{
    net_party here;
    std::vector<int> heard;
    bell cleared{heard, 1};
    bell early{heard, 2};
    bell late{heard, 3};
    here.world.alarms().set(cleared, here.in(10s));
    here.world.alarms().clear(cleared);
    const time_point start = here.world.steady_now();
    here.world.alarms().set(late, start + 30ms);
    here.world.alarms().set(early, start + 1ms);
    here.run();
    EXPECT_EQ(heard, (std::vector{2, 3}));
    EXPECT_GE(here.world.steady_now(), start + 30ms);
}

}  // namespace
}  // namespace holdfast::net_clock_test
