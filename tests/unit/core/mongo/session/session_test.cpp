#include "core/mongo/session/cluster_time.hpp"
#include "core/mongo/session/server_session.hpp"
#include "support/verifies.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::mongo::session_test {
namespace {

using namespace std::chrono_literals;

constexpr time_point now{100h};

server_session numbered(std::uint8_t n, time_point last_used = now)
{
    bson::uuid id;
    id.bytes[15] = n;
    server_session s{id};
    s.used(last_used);
    return s;
}

TEST(server_session, txn_number_grows_from_one)
{
    VERIFIES("RW-001");
    VERIFIES("RW-038");
    server_session s = numbered(1);
    std::int64_t last = 0;
    for (int i = 0; i < 1000; ++i) {
        const auto next = s.next_transaction_number();
        ASSERT_TRUE(next);
        EXPECT_GT(*next, last);
        last = *next;
    }
    EXPECT_EQ(last, 1000);
    const bson::document lsid = s.lsid();
    EXPECT_EQ(*lsid.get<bson::uuid>("id"), s.id());
}

TEST(server_session, txn_number_after_int64_max_is_an_error)
{
    VERIFIES("RW-073");
    server_session s{bson::uuid{}, INT64_MAX - 1};
    EXPECT_EQ(*s.next_transaction_number(), INT64_MAX);
    for (int i = 0; i < 2; ++i) {
        const auto none = s.next_transaction_number();
        ASSERT_FALSE(none);
        EXPECT_EQ(none.error().code(), bson::errc::out_of_range);
        EXPECT_EQ(s.transaction_number(), INT64_MAX);
    }
}

TEST(transaction_id, txn_number_is_incremented_then_written_as_int64)
{
    VERIFIES("RW-042");
    server_session s = numbered(9);
    for (const std::int64_t expected : {1, 2}) {
        const auto id = next_transaction_id(s);
        ASSERT_TRUE(id);
        EXPECT_EQ(s.transaction_number(), expected) << "counted before anything is written";
        bson::byte_buffer bytes;
        bson::builder command{bytes};
        command.add("insert", "coll");
        write_transaction_id(command, *id);
        const auto written = command.finish();
        ASSERT_TRUE(written);
        EXPECT_EQ(*written, bson::doc("insert", "coll", "lsid", s.lsid(), "txnNumber", expected));
        const bson::element number = (*written)["txnNumber"];
        EXPECT_EQ(number.type(), bson::type::int64);
        EXPECT_EQ(static_cast<int>(number.type()), 0x12);
        EXPECT_EQ(number.as_int64(), expected);
    }
}

TEST(transaction_id, txn_number_exhausted_is_out_of_range)
{
    server_session s{bson::uuid{}, INT64_MAX};
    EXPECT_EQ(next_transaction_id(s).error().code(), bson::errc::out_of_range);
}

TEST(session_pool, last_returned_session_is_taken_first_with_its_txn_number)
{
    VERIFIES("RW-002");
    VERIFIES("RW-037");
    session_pool pool;
    server_session first = numbered(1);
    ASSERT_TRUE(first.next_transaction_number());
    pool.give_back(numbered(2), now, 30);
    pool.give_back(std::move(first), now, 30);
    auto again = pool.take(now, 30);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->id().bytes[15], 1);
    EXPECT_EQ(*again->next_transaction_number(), 2);
    EXPECT_EQ(pool.take(now, 30)->id().bytes[15], 2);
    EXPECT_FALSE(pool.take(now, 30));
}

TEST(session_pool, session_within_a_minute_of_expiry_is_discarded)
{
    session_pool pool;
    pool.give_back(numbered(1, now), now, 30);
    EXPECT_FALSE(pool.take(now + 29min, 30));
    EXPECT_EQ(pool.size(), 0u);
    pool.give_back(numbered(1, now), now, 30);
    EXPECT_TRUE(pool.take(now + 28min, 30));
    pool.give_back(numbered(1, now), now + 29min, 30);
    EXPECT_EQ(pool.size(), 0u);
    pool.give_back(numbered(1, now), now + 29min, std::nullopt);
    EXPECT_EQ(pool.size(), 1u) << "without a timeout nothing expires";
}

TEST(session_pool, expired_sessions_are_removed_on_check_in)
{
    session_pool pool;
    pool.give_back(numbered(1, now), now, 30);
    pool.give_back(numbered(2, now + 10min), now + 10min, 30);
    pool.give_back(numbered(3, now + 30min), now + 30min, 30);
    EXPECT_EQ(pool.size(), 2u);
}

TEST(session_pool, dirty_session_is_discarded_on_check_in)
{
    session_pool pool;
    server_session s = numbered(1);
    s.mark_dirty();
    EXPECT_TRUE(s.is_dirty());
    pool.give_back(std::move(s), now, 30);
    EXPECT_EQ(pool.size(), 0u);
}

TEST(session_pool, drain_splits_into_end_sessions_batches)
{
    session_pool pool;
    for (std::uint8_t i = 0; i < 5; ++i)
        pool.give_back(numbered(i), now, 30);
    const auto batches = pool.drain(2);
    ASSERT_EQ(batches.size(), 3u);
    EXPECT_EQ(batches[0].size(), 2u);
    EXPECT_EQ(batches[2].size(), 1u);
    EXPECT_EQ(pool.size(), 0u);
    EXPECT_TRUE(pool.drain().empty());
}

TEST(cluster_time, older_cluster_time_is_ignored)
{
    const auto at = [](std::uint32_t seconds, std::uint32_t increment) {
        return bson::doc("clusterTime", bson::timestamp{seconds, increment});
    };
    cluster_time time;
    EXPECT_FALSE(time.latest());
    EXPECT_TRUE(time.advance(at(5, 1)));
    EXPECT_FALSE(time.advance(at(5, 1)));
    EXPECT_FALSE(time.advance(at(4, 9)));
    EXPECT_TRUE(time.advance(at(5, 2)));
    EXPECT_TRUE(time.advance(at(6, 0)));
    EXPECT_EQ(*time.latest(), at(6, 0));
    EXPECT_FALSE(time.advance(bson::doc("clusterTime", 7)));
    EXPECT_FALSE(time.advance(bson::doc()));
}

TEST(operation_time, older_operation_time_is_ignored)
{
    operation_time time;
    EXPECT_TRUE(time.advance({5, 1}));
    EXPECT_FALSE(time.advance({5, 1}));
    EXPECT_FALSE(time.advance({4, 0}));
    EXPECT_TRUE(time.advance({5, 2}));
    EXPECT_EQ(*time.latest(), (bson::timestamp{5, 2}));
}

}  // namespace
}  // namespace holdfast::core::mongo::session_test
