#include "world/world_fixture.hpp"

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <string>
#include <vector>

// What a world promises about time and chance, and about waiting for them.

namespace holdfast::waiting_test {
namespace {

using namespace std::chrono_literals;
using proof::contract;
using runtime::awaitable;
using runtime::destination;
using runtime::wait_end;
using runtime::world;

class waiting : public contract {};
HOLDFAST_ALL_WORLDS(waiting);

TEST_P(waiting, steady_clock_never_goes_back)
{
    const world& in = both->client_world();
    time_point last = in.steady_now();
    for (int i = 0; i < 1000; ++i) {
        const time_point now = in.steady_now();
        ASSERT_GE(now, last);
        last = now;
    }
}

TEST_P(waiting, sleep_lasts_at_least_as_long_as_asked)
{
    run_client([](world& in, destination) -> awaitable<void> {
        const time_point steady = in.steady_now();
        const auto wall = in.wall_now();
        const wait_end end = co_await runtime::sleep_until(in, steady + 20ms);
        EXPECT_EQ(end, wait_end::timed_out);
        EXPECT_GE(in.steady_now(), steady + 20ms);
        EXPECT_LT(in.steady_now(), steady + 5s);
        EXPECT_GE(in.wall_now(), wall + 15ms);
    });
}

TEST_P(waiting, sleep_until_a_past_time_ends_at_once)
{
    run_client([](world& in, destination) -> awaitable<void> {
        const time_point before = in.steady_now();
        constexpr duration delays[] = {0ms, 1ms, 1000ms};
        for (const duration late : delays) {
            const wait_end end = co_await runtime::sleep_until(in, before - late);
            EXPECT_EQ(end, wait_end::timed_out);
        }
        EXPECT_LT(in.steady_now(), before + 1s);
    });
}

TEST_P(waiting, chance_is_in_range_and_differs)
{
    world& in = both->client_world();
    std::set<double> seen;
    for (int i = 0; i < 200; ++i) {
        const double chance = in.chance();
        ASSERT_GE(chance, 0.0);
        ASSERT_LT(chance, 1.0);
        seen.insert(chance);
    }
    EXPECT_EQ(seen.size(), 200U);
    EXPECT_LT(*seen.begin(), 0.2);
    EXPECT_GT(*seen.rbegin(), 0.8);
}

TEST_P(waiting, random_fills_exactly_the_given_bytes)
{
    world& in = both->client_world();
    in.random({});
    for (const std::size_t length : {1U, 7U, 8U, 64U, 1000U}) {
        std::vector<int> ever_set(length, 0);
        for (int round = 0; round < 40; ++round) {
            std::vector<std::uint8_t> bytes(length + 2, 0);
            in.random(std::span{bytes}.subspan(1, length));
            EXPECT_EQ(bytes.front(), 0);
            EXPECT_EQ(bytes.back(), 0);
            for (std::size_t i = 0; i < length; ++i)
                ever_set[i] |= bytes[i + 1];
        }
        EXPECT_EQ(std::count(ever_set.begin(), ever_set.end(), 0), 0) << length;
    }
}

TEST_P(waiting, sleepers_wake_in_time_and_insertion_order)
{
    run_client([](world& in, destination) -> awaitable<void> {
        const time_point start = in.steady_now() + 5ms;
        std::vector<int> woken;
        std::vector<std::function<awaitable<void>()>> sleepers;
        constexpr int times[] = {30, 10, 20, 0, 10, 20};
        for (const int ms : times) {
            const int name = 100 * static_cast<int>(sleepers.size()) + ms;
            sleepers.emplace_back([&in, &woken, start, ms, name]() -> awaitable<void> {
                co_await runtime::sleep_until(in, start + std::chrono::milliseconds{ms});
                woken.push_back(name);
            });
        }
        co_await proof::all_of(in, sleepers);
        EXPECT_EQ(woken, (std::vector{300, 110, 410, 220, 520, 30}));
    });
}

TEST_P(waiting, notify_wakes_waiters_of_the_same_world)
{
    run_client([](world& in, destination) -> awaitable<void> {
        runtime::event news{in};
        int last = 0;
        const auto writer = [&]() -> awaitable<void> {
            for (int i = 1; i <= 20; ++i) {
                last = i;
                news.notify();
                co_await runtime::sleep_until(in, in.steady_now() + 100us);
            }
        };
        const auto reader = [&]() -> awaitable<void> {
            for (;;) {
                const auto seen = news.count();
                if (last == 20)
                    break;
                const wait_end end = co_await news.wait(seen, in.steady_now() + 5s);
                EXPECT_EQ(end, wait_end::notified);
                if (end != wait_end::notified)
                    break;
            }
        };
        std::vector<std::function<awaitable<void>()>> both_of_them{reader, reader, writer};
        co_await proof::all_of(in, both_of_them);
    });
}

/// On net the same thread, in the simulator another host, and another thread for who blocks.
TEST_P(waiting, notify_wakes_waiters_of_another_world)
{
    runtime::event news{both->client_world()};
    runtime::event answers{both->server_world()};
    std::atomic<int> asked = 0;
    std::atomic<int> answered = 0;
    constexpr int rounds = 50;
    run(
        [&](world& in, runtime::listener&) -> awaitable<void> {
            for (int round = 1; round <= rounds;) {
                const auto seen = answers.count();
                if (asked.load() >= round) {
                    answered = round++;
                    news.notify();
                    continue;
                }
                const wait_end end = co_await answers.wait(seen, in.steady_now() + 10s);
                REQUIRE(end == wait_end::notified);
            }
        },
        [&](world& in, destination) -> awaitable<void> {
            for (int round = 1; round <= rounds;) {
                asked = round;
                answers.notify();
                const auto seen = news.count();
                if (answered.load() >= round) {
                    ++round;
                    continue;
                }
                const wait_end end = co_await news.wait(seen, in.steady_now() + 10s);
                REQUIRE(end == wait_end::notified);
            }
        });
    EXPECT_EQ(answered.load(), rounds);
}

TEST_P(waiting, event_wait_ends_at_its_deadline)
{
    run_client([](world& in, destination) -> awaitable<void> {
        runtime::event news{in};
        const time_point until = in.steady_now() + 15ms;
        const auto seen = news.count();
        const wait_end end = co_await news.wait(seen, until);
        EXPECT_EQ(end, wait_end::timed_out);
        EXPECT_GE(in.steady_now(), until);
        EXPECT_LT(in.steady_now(), until + 5s);
    });
}

struct bell final : runtime::alarm {
    void ring() noexcept override { ++rings; }
    std::atomic<int> rings = 0;
};

TEST_P(waiting, alarm_rings_once_unless_cleared)
{
    run_client([](world& in, destination) -> awaitable<void> {
        bell set;
        bell cleared;
        bell never_set;
        const time_point now = in.steady_now();
        in.alarms().set(set, now + 5ms);
        in.alarms().set(cleared, now + 5ms);
        in.alarms().clear(cleared);
        in.alarms().clear(never_set);
        in.alarms().set(never_set, runtime::never);
        co_await runtime::sleep_until(in, now + 30ms);
        EXPECT_EQ(set.rings, 1);
        EXPECT_EQ(cleared.rings, 0);
        EXPECT_EQ(never_set.rings, 0);
        in.alarms().clear(set);  // need not be set
    });
}

TEST_P(waiting, alarm_set_again_is_moved)
{
    run_client([](world& in, destination) -> awaitable<void> {
        bell earlier;
        bell later;
        bell off;
        const time_point now = in.steady_now();
        in.alarms().set(earlier, now + 1h);
        in.alarms().set(later, now + 1ms);
        in.alarms().set(off, now + 1ms);
        in.alarms().set(earlier, now + 10ms);
        in.alarms().set(later, now + 10h);
        in.alarms().set(off, runtime::never);
        co_await runtime::sleep_until(in, now + 60ms);
        EXPECT_EQ(earlier.rings, 1);
        EXPECT_EQ(later.rings, 0);
        EXPECT_EQ(off.rings, 0);
        in.alarms().clear(later);
    });
}

}  // namespace
}  // namespace holdfast::waiting_test
