#include "core/couchbase/operation/get.hpp"
#include "core/couchbase/wire/big_endian.hpp"
#include "unit/core/couchbase/operation/operation_frame.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::couchbase::get_operation_test {
namespace {

using namespace std::chrono_literals;
using holdfast::couchbase::expiry;
using proof::from_hex;

constexpr operation_context here{};

TEST(get_operation, frame_is_as_the_protocol_has_it)
{
    EXPECT_EQ(frame_of(get_operation::make("ab", here).value().order),
              from_hex("80 00 0003 00 00 0102 00000003 0a0b0c0d 0000000000000000 00 6162"));
    EXPECT_EQ(frame_of(get_if_operation::make("ab", here).value().order),
              from_hex("80 00 0003 00 00 0102 00000003 0a0b0c0d 0000000000000000 00 6162"));
    EXPECT_EQ(frame_of(exists_operation::make("ab", here).value().order),
              from_hex("80 a0 0003 01 00 0102 00000004 0a0b0c0d 0000000000000000 02 00 6162"));
    EXPECT_EQ(frame_of(get_and_touch_operation::make("ab", expiry::in(10s), here).value().order),
              from_hex("80 1d 0003 04 00 0102 00000007 0a0b0c0d 0000000000000000"
                       "0000000a 00 6162"));
    EXPECT_EQ(frame_of(get_and_lock_operation::make("ab", 1500ms, here).value().order),
              from_hex("80 94 0003 04 00 0102 00000007 0a0b0c0d 0000000000000000"
                       "00000002 00 6162"));
}

TEST(get_operation, replica_is_asked_by_a_command_of_its_own)
{
    const auto replica = get_replica_operation::make("ab", 2, {}, here).value();
    EXPECT_EQ(frame_of(replica.order),
              from_hex("80 83 0003 00 00 0102 00000003 0a0b0c0d 0000000000000000 00 6162"));
    EXPECT_EQ(replica.order.copy, 2);
    const auto active = get_replica_operation::make("ab", 0, {}, here).value();
    EXPECT_EQ(active.order.opcode, kv_opcode::get);
    EXPECT_EQ(active.order.copy, 0);
    EXPECT_FALSE(get_replica_operation::make("ab", 4, {}, here));
}

TEST(get_operation, reply_gives_content_flags_and_cas)
{
    const auto extras = from_hex("02000006");
    const kv_reply reply{.cas = 0x1234, .extras = extras, .value = as_octets("{\"a\":1}")};
    const auto read = get_operation::read(reply).value();
    EXPECT_EQ(read.content.bytes, "{\"a\":1}");
    EXPECT_EQ(read.content.flags, 0x02000006u);
    EXPECT_EQ(read.flags, 0x02000006u);
    EXPECT_EQ(read.cas.value, 0x1234u);
    EXPECT_FALSE(read.expiry);
    const kv_reply without_flags{.value = as_octets("{}")};
    EXPECT_EQ(get_operation::read(without_flags).error().code(), errc::decoding_failure);
    EXPECT_TRUE(get_if_operation::read(reply).value());
}

TEST(get_operation, absence_is_a_value_to_get_if_and_exists_only)
{
    EXPECT_FALSE(get_operation::is_answer(kv_status::not_found));
    EXPECT_TRUE(get_if_operation::is_answer(kv_status::not_found));
    EXPECT_TRUE(exists_operation::is_answer(kv_status::not_found));
    EXPECT_FALSE(get_if_operation::is_answer(kv_status::temporary_failure));
    const kv_reply absent{.status = kv_status::not_found};
    EXPECT_FALSE(get_if_operation::read(absent).value());
    EXPECT_FALSE(exists_operation::read(absent).value());
}

TEST(get_operation, exists_is_false_for_a_deleted_document)
{
    const auto living = from_hex("00000000 02000006 00000000 0000000000000007 01");
    const auto deleted = from_hex("00000001 02000006 00000000 0000000000000007 01");
    const auto found = exists_operation::read({.cas = 5, .extras = living}).value();
    EXPECT_TRUE(found.exists);
    EXPECT_EQ(found.cas.value, 5u);
    EXPECT_FALSE(exists_operation::read({.cas = 5, .extras = deleted}).value().exists);
    EXPECT_FALSE(exists_operation::read({.cas = 5}));
}

TEST(get_operation, lock_time_is_from_one_to_thirty_seconds)
{
    EXPECT_TRUE(get_and_lock_operation::make("a", 1ms, here));
    EXPECT_TRUE(get_and_lock_operation::make("a", 30s, here));
    EXPECT_FALSE(get_and_lock_operation::make("a", 0ms, here));
    EXPECT_EQ(get_and_lock_operation::make("a", 30001ms, here).error().code(),
              errc::invalid_argument);
}

TEST(kv_rules, key_has_a_limit_that_depends_on_the_collection)
{
    const operation_context other{.in_default_collection = false};
    EXPECT_EQ(get_operation::make("", here).error().message(),
              "the id of a document cannot be empty");
    EXPECT_TRUE(get_operation::make(std::string(250, 'k'), here));
    EXPECT_EQ(get_operation::make(std::string(251, 'k'), here).error().message(),
              "an id of 251 bytes; at most 250 are possible in this collection");
    EXPECT_TRUE(get_operation::make(std::string(246, 'k'), other));
    EXPECT_EQ(get_operation::make(std::string(247, 'k'), other).error().code(),
              errc::invalid_argument);
}

TEST(kv_rules, expiry_beyond_thirty_days_is_a_point_in_time)
{
    using namespace std::chrono;
    const operation_context in{.now = sys_seconds{1'700'000'000s}};
    const auto number = [&](const expiry& when) { return expiry_number(when, in); };
    EXPECT_EQ(number({}).value(), 0u);
    EXPECT_EQ(number(expiry::in(1ms)).value(), 1u);
    EXPECT_EQ(number(expiry::in(days{30})).value(), 2'592'000u);
    EXPECT_EQ(number(expiry::in(days{30} + 1s)).value(), 1'702'592'001u);
    EXPECT_EQ(number(expiry::at(sys_seconds{1'600'000'000s})).value(), 1'600'000'000u);
    for (const expiry& bad : {expiry::in(0s), expiry::in(-5s), expiry::in(hours::max() / 3600),
                              expiry::at(sys_seconds{2'592'000s}), expiry::at(sys_seconds{-1s}),
                              expiry::at(sys_seconds{4'294'967'296s})})
        EXPECT_EQ(number(bad).error().code(), errc::invalid_argument);
}

TEST(kv_rules, durable_write_ends_on_the_server_before_the_operation_does)
{
    EXPECT_EQ(durability_timeout_ms(10s), 9000);
    EXPECT_EQ(durability_timeout_ms(1s), 1500);
    EXPECT_EQ(durability_timeout_ms(-1s), 1500);
    EXPECT_EQ(durability_timeout_ms(10min), 65'534);
    EXPECT_EQ(durability_timeout_ms(std::chrono::milliseconds::max()), 65'534);
}

}  // namespace
}  // namespace holdfast::core::couchbase::get_operation_test
