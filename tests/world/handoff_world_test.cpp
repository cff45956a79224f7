#include "runtime/handoff.hpp"
#include "world/world_fixture.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>

#include <array>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

// What a world promises to requests that are in flight on one connection: each waits for its own
// reply, which a reader hands over.

namespace holdfast::handoff_world_test {
namespace {

using namespace std::chrono_literals;
using proof::contract;
using runtime::awaitable;
using runtime::destination;
using runtime::handoff;
using runtime::handoff_base;
using runtime::wait_end;
using runtime::world;
namespace asio = boost::asio;

class handing_over : public contract {};
HOLDFAST_ALL_WORLDS(handing_over);

/// The slots of a connection, and its one alarm for all deadlines.
class slot_table final : public runtime::alarm {
public:
    static constexpr std::size_t size = 16;

    void expect(std::size_t at, handoff<int>& waiter)
    {
        const std::scoped_lock lock{mutex_};
        waiter.expect(slots_[at], mutex_);
    }
    void end(std::size_t at, int value, const runtime::executor& here)
    {
        handoff_base::resumption resumed;
        const std::scoped_lock lock{mutex_};
        resumed = slots_[at].end(value, here);
    }
    std::size_t expected() const
    {
        const std::scoped_lock lock{mutex_};
        std::size_t count = 0;
        for (const auto& one : slots_)
            count += one.expected() ? 1 : 0;
        return count;
    }
    void ring() noexcept override
    {
        const std::scoped_lock lock{mutex_};
        for (auto& one : slots_)
            one.end(wait_end::timed_out);
    }

private:
    mutable runtime::short_mutex mutex_;
    std::array<runtime::handoff_source<int>, size> slots_;
};

struct outcome {
    wait_end end = wait_end::notified;
    int value = 0;
    friend bool operator==(const outcome&, const outcome&) = default;
};

awaitable<outcome> request(slot_table& on, std::size_t at)
{
    handoff<int> waiter;
    on.expect(at, waiter);
    co_await waiter.suspend();
    const wait_end end = waiter.ended_by();
    const int value = end == wait_end::notified ? waiter.take() : 0;
    co_return outcome{end, value};
}

/// A request at each slot.
std::vector<std::function<awaitable<void>()>> requests(slot_table& on, std::vector<outcome>& ends)
{
    ends.assign(slot_table::size, outcome{wait_end::cancelled, -1});
    std::vector<std::function<awaitable<void>()>> all;
    for (std::size_t i = 0; i < slot_table::size; ++i) {
        all.emplace_back([&on, &ends, i]() -> awaitable<void> {
            const outcome got = co_await request(on, i);
            ends[i] = got;
        });
    }
    return all;
}

awaitable<void> until_all_wait(world& in, const slot_table& on)
{
    const time_point limit = in.steady_now() + proof::long_enough;
    while (on.expected() < slot_table::size && in.steady_now() < limit)
        co_await runtime::sleep_until(in, in.steady_now() + 1ms);
}

/// The last one first.
awaitable<void> reply_to_all(world& in, slot_table& on)
{
    co_await until_all_wait(in, on);
    const runtime::executor here = co_await asio::this_coro::executor;
    for (std::size_t i = slot_table::size; i-- > 0;)
        on.end(i, static_cast<int>(i), here);
}

void expect_own_replies(const std::vector<outcome>& ends)
{
    for (std::size_t i = 0; i < ends.size(); ++i)
        EXPECT_EQ(ends[i], (outcome{wait_end::notified, static_cast<int>(i)})) << i;
}

TEST_P(handing_over, replies_out_of_order_reach_their_requests)
{
    run_client([](world& in, destination) -> awaitable<void> {
        slot_table table;
        std::vector<outcome> ends;
        auto all = requests(table, ends);
        all.emplace_back([&]() -> awaitable<void> { co_await reply_to_all(in, table); });
        co_await proof::all_of(in, all);
        expect_own_replies(ends);
        EXPECT_EQ(table.expected(), 0U);
    });
}

/// On net the same thread, in the simulator another host, and another thread for who blocks.
TEST_P(handing_over, replies_read_in_another_world_reach_their_requests)
{
    slot_table table;
    std::vector<outcome> ends;
    run(
        [&](world& in, runtime::listener&) -> awaitable<void> {
            for (int round = 0; round < 50; ++round)
                co_await reply_to_all(in, table);
        },
        [&](world& in, destination) -> awaitable<void> {
            for (int round = 0; round < 50; ++round) {
                auto all = requests(table, ends);
                co_await proof::all_of(in, all);
                expect_own_replies(ends);
            }
        });
    EXPECT_EQ(table.expected(), 0U);
}

TEST_P(handing_over, one_alarm_ends_all_requests_at_their_deadline)
{
    run_client([](world& in, destination) -> awaitable<void> {
        slot_table table;
        const time_point until = in.steady_now() + 15ms;
        in.alarms().set(table, until);
        std::vector<outcome> ends;
        auto all = requests(table, ends);
        co_await proof::all_of(in, all);
        EXPECT_GE(in.steady_now(), until);
        EXPECT_LT(in.steady_now(), until + 5s);
        EXPECT_EQ(ends, std::vector(slot_table::size, outcome{wait_end::timed_out, 0}));
        EXPECT_EQ(table.expected(), 0U);
        in.alarms().clear(table);
    });
}

TEST_P(handing_over, cancelled_request_leaves_its_slot_and_no_other)
{
    run_client([](world& in, destination) -> awaitable<void> {
        slot_table table;
        asio::cancellation_signal stop;
        std::vector<outcome> ends;
        const auto here = co_await asio::this_coro::executor;
        const auto one = [&](std::size_t at) -> awaitable<void> {
            co_await asio::this_coro::throw_if_cancelled(false);
            const outcome got = co_await request(table, at);
            ends.push_back(got);
        };
        asio::co_spawn(here, one(0), asio::detached);
        asio::co_spawn(here, one(1), asio::bind_cancellation_slot(stop.slot(), asio::detached));
        co_await runtime::sleep_until(in, in.steady_now() + 5ms);
        EXPECT_EQ(table.expected(), 2U);
        stop.emit(asio::cancellation_type::terminal);
        co_await runtime::sleep_until(in, in.steady_now() + 5ms);
        EXPECT_EQ(table.expected(), 1U);
        table.end(1, 1, here);
        table.end(0, 2, here);
        co_await runtime::sleep_until(in, in.steady_now() + 5ms);
        const outcome cancelled{wait_end::cancelled, 0};
        const outcome replied{wait_end::notified, 2};
        EXPECT_EQ(ends, (std::vector<outcome>{cancelled, replied}));
    });
}

}  // namespace
}  // namespace holdfast::handoff_world_test
