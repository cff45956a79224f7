#include "core/couchbase/inflight/inflight_table.hpp"

#include "core/couchbase/handshake/bootstrap.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <vector>

namespace holdfast::core::couchbase::inflight_table_test {
namespace {

using namespace std::chrono_literals;
using table = inflight_table<int>;
using answer = table::answer;

constexpr time_point start{std::chrono::hours{1}};

table::request get_until(int& waiter, time_point deadline = time_point::max())
{
    return {&waiter, kv_opcode::get, true, std::nullopt, deadline};
}

std::vector<int*> expired(table& t, time_point now)
{
    std::vector<int*> waiters;
    t.expire(now, [&](const table::request& r) { waiters.push_back(r.waiter); });
    return waiters;
}

TEST(inflight_table, reply_finds_its_request_and_frees_the_slot)
{
    table t;
    int a = 0;
    int b = 0;
    const auto first = t.take(get_until(a)).value();
    const auto second = t.take({&b, kv_opcode::upsert}).value();
    EXPECT_NE(first.opaque, second.opaque);
    EXPECT_EQ(t.waiting(), 2U);
    EXPECT_EQ(t.find(second.opaque)->waiter, &b);

    const auto done = t.complete(second.opaque, kv_opcode::upsert);
    EXPECT_EQ(done.kind, answer::to_waiter);
    EXPECT_EQ(done.what.waiter, &b);
    EXPECT_FALSE(done.what.idempotent);
    EXPECT_EQ(t.complete(first.opaque, kv_opcode::get).what.waiter, &a);
    EXPECT_EQ(t.available(), t.capacity());
    EXPECT_EQ(t.counters().taken, 2U);
    EXPECT_EQ(t.counters().completed, 2U);
}

TEST(inflight_table, each_waiting_visits_what_has_a_waiter_with_its_vbucket)
{
    table t;
    int a = 0;
    int b = 0;
    int gone = 0;
    const auto first = t.take({&a, kv_opcode::upsert, false, 7}).value();
    const auto second = t.take({&b, kv_opcode::noop}).value();
    const auto abandoned = t.take({&gone, kv_opcode::upsert, false, 7}).value();
    t.abandon(abandoned.opaque, start);
    std::map<std::uint32_t, std::optional<std::uint16_t>> seen;
    t.each_waiting(
        [&](std::uint32_t opaque, const table::request& r) { seen[opaque] = r.vbucket; });
    EXPECT_EQ(seen, (std::map<std::uint32_t, std::optional<std::uint16_t>>{
                        {first.opaque, 7}, {second.opaque, std::nullopt}}));
}

TEST(inflight_table, second_reply_to_a_request_is_foreign)
{
    table t;
    int waiter = 0;
    const auto taken = t.take(get_until(waiter)).value();
    t.complete(taken.opaque, kv_opcode::get);
    EXPECT_EQ(t.complete(taken.opaque, kv_opcode::get).kind, answer::foreign);
    const auto again = t.take(get_until(waiter)).value();
    EXPECT_EQ(again.opaque % 1024, taken.opaque % 1024);  // the same slot, still in the cache
    EXPECT_EQ(t.complete(taken.opaque, kv_opcode::get).kind, answer::foreign);
    EXPECT_EQ(t.waiting(), 1U);
    EXPECT_EQ(t.counters().foreign, 2U);
    for (const std::uint32_t forged : {0U, 1U, 1023U, 0xffff'ffffU, again.opaque + 1024})
        EXPECT_EQ(t.complete(forged, kv_opcode::get).kind, answer::foreign) << forged;
}

TEST(inflight_table, reply_with_another_opcode_leaves_the_request_in_flight)
{
    table t;
    int waiter = 0;
    const auto taken = t.take(get_until(waiter)).value();
    EXPECT_EQ(t.complete(taken.opaque, kv_opcode::upsert).kind, answer::wrong_opcode);
    EXPECT_EQ(t.find(taken.opaque)->waiter, &waiter);
}

TEST(inflight_table, full_table_takes_nothing)
{
    table t{{.slots = 4}};
    int waiter = 0;
    std::set<std::uint32_t> opaques;
    for (int i = 0; i < 4; ++i)
        opaques.insert(t.take(get_until(waiter)).value().opaque);
    EXPECT_EQ(opaques.size(), 4U);
    EXPECT_FALSE(t.take(get_until(waiter)));
    t.complete(*opaques.begin(), kv_opcode::get);
    EXPECT_TRUE(t.take(get_until(waiter)));
}

TEST(inflight_table, abandoned_slot_is_reserved_until_its_reply_comes)
{
    table t{{.slots = 4}};
    int waiter = 0;
    const auto taken = t.take(get_until(waiter)).value();
    EXPECT_FALSE(t.is_abandoned(taken.opaque));
    EXPECT_EQ(t.abandon(taken.opaque, start).value().waiter, &waiter);
    EXPECT_TRUE(t.is_abandoned(taken.opaque));
    EXPECT_FALSE(t.is_abandoned(taken.opaque + 4)) << "another request of the same slot";
    EXPECT_FALSE(t.abandon(taken.opaque, start));
    EXPECT_EQ(t.find(taken.opaque), nullptr);
    EXPECT_EQ(t.abandoned(), 1U);
    for (int i = 0; i < 3; ++i)
        EXPECT_NE(t.take(get_until(waiter)).value().opaque % 4, taken.opaque % 4);
    EXPECT_FALSE(t.take(get_until(waiter)));

    const auto late = t.complete(taken.opaque, kv_opcode::get);
    EXPECT_EQ(late.kind, answer::to_orphan);
    EXPECT_EQ(late.what.waiter, nullptr);
    EXPECT_EQ(late.what.opcode, kv_opcode::get);
    EXPECT_EQ(t.abandoned(), 0U);
    EXPECT_FALSE(t.is_abandoned(taken.opaque));
    EXPECT_EQ(t.counters().orphans, 1U);
    EXPECT_EQ(t.take(get_until(waiter)).value().opaque % 4, taken.opaque % 4);
}

TEST(inflight_table, request_that_was_never_sent_is_released_at_once)
{
    table t;
    int waiter = 0;
    const auto taken = t.take(get_until(waiter)).value();
    EXPECT_TRUE(t.release(taken.opaque));
    EXPECT_FALSE(t.release(taken.opaque));
    EXPECT_EQ(t.available(), t.capacity());
    EXPECT_EQ(t.abandoned(), 0U);
    const auto other = t.take(get_until(waiter)).value();
    t.abandon(other.opaque, start);
    EXPECT_FALSE(t.release(other.opaque));
}

TEST(inflight_table, alarm_moves_only_for_an_earlier_deadline)
{
    table t;
    int waiter = 0;
    EXPECT_EQ(t.due(), time_point::max());
    EXPECT_FALSE(t.take(get_until(waiter)).value().is_due_first);  // no deadline, no alarm
    EXPECT_TRUE(t.take(get_until(waiter, start + 2s)).value().is_due_first);
    EXPECT_FALSE(t.take(get_until(waiter, start + 3s)).value().is_due_first);
    EXPECT_FALSE(t.take(get_until(waiter, start + 2s)).value().is_due_first);
    EXPECT_TRUE(t.take(get_until(waiter, start + 1s)).value().is_due_first);
    EXPECT_EQ(t.due(), start + 1s);
}

TEST(inflight_table, alarm_that_rings_ends_what_is_due_and_moves_to_the_next)
{
    table t;
    int a = 0;
    int b = 0;
    int c = 0;
    const auto first = t.take(get_until(a, start + 1s)).value();
    t.take(get_until(b, start + 2s)).value();
    t.take(get_until(c, start + 3s)).value();
    t.complete(first.opaque, kv_opcode::get);
    EXPECT_EQ(t.due(), start + 1s);  // a reply does not move it
    EXPECT_TRUE(expired(t, start + 1s).empty());
    EXPECT_EQ(t.due(), start + 2s);
    EXPECT_TRUE(expired(t, start + 2s - 1ns).empty());
    EXPECT_EQ(expired(t, start + 2s), std::vector{&b});
    EXPECT_EQ(t.due(), start + 3s);
    EXPECT_EQ(t.abandoned(), 1U);
    EXPECT_EQ(expired(t, start + 5s), std::vector{&c});
    EXPECT_EQ(t.due(), start + 12s);  // when the first of them counts as stuck
    EXPECT_EQ(t.waiting(), 0U);
}

TEST(inflight_table, reply_that_stays_out_for_10_seconds_means_a_stuck_peer)
{
    table t;
    int waiter = 0;
    const auto taken = t.take(get_until(waiter)).value();
    EXPECT_TRUE(t.abandon(taken.opaque, start).value().is_due_first);
    EXPECT_EQ(t.due(), start + 10s);
    EXPECT_FALSE(t.is_stuck(start + 10s - 1ns));
    EXPECT_TRUE(t.is_stuck(start + 10s));
    expired(t, start + 10s);
    EXPECT_TRUE(t.is_stuck(start + 10s));
    EXPECT_EQ(t.due(), time_point::max());  // the alarm does not ring without end
    t.complete(taken.opaque, kv_opcode::get);
    EXPECT_FALSE(t.is_stuck(start + 20s));
}

TEST(inflight_table, more_than_a_quarter_abandoned_means_a_stuck_peer)
{
    table t{{.slots = 8}};
    int waiter = 0;
    for (int i = 0; i < 2; ++i)
        t.abandon(t.take(get_until(waiter)).value().opaque, start);
    EXPECT_FALSE(t.is_stuck(start));
    t.abandon(t.take(get_until(waiter)).value().opaque, start);
    EXPECT_TRUE(t.is_stuck(start));
}

TEST(inflight_table, end_of_the_connection_ends_all_waiters_once)
{
    table t{{.slots = 8}};
    int a = 0;
    int b = 0;
    t.take(get_until(a, start)).value();
    t.abandon(t.take(get_until(a)).value().opaque, start);
    t.take(get_until(b)).value();
    std::vector<int*> ended;
    t.end([&](const table::request& r) { ended.push_back(r.waiter); });
    EXPECT_EQ(ended, (std::vector{&a, &b}));
    EXPECT_EQ(t.available(), 8U);
    EXPECT_EQ(t.abandoned(), 0U);
    EXPECT_EQ(t.due(), time_point::max());
}

TEST(inflight_table, opaques_are_never_those_of_the_bootstrap_even_after_wrapping)
{
    EXPECT_EQ(table::first_opaque, bootstrap::first_operation);
    int waiter = 0;
    for (const std::uint32_t slots : {4U, 1024U, 65'536U}) {
        table t{{.slots = slots}};
        EXPECT_GE(t.take(get_until(waiter)).value().opaque, table::first_opaque);
    }
    table t{{.slots = 65'536}};  // has sequences of 16 bits
    for (int i = 0; i < 70'000; ++i) {
        const std::uint32_t opaque = t.take(get_until(waiter)).value().opaque;
        ASSERT_GE(opaque, table::first_opaque);
        ASSERT_EQ(t.complete(opaque, kv_opcode::get).kind, answer::to_waiter);
    }
}

TEST(inflight_table, stuck_limit_beyond_the_clock_is_never)
{
    table t{{.slots = 4, .stuck_after = duration::max()}};
    int waiter = 0;
    t.abandon(t.take(get_until(waiter)).value().opaque, start);
    EXPECT_EQ(t.due(), time_point::max());
    EXPECT_FALSE(t.is_stuck(start + std::chrono::hours{1000}));
}

}  // namespace
}  // namespace holdfast::core::couchbase::inflight_table_test
