#include "core/couchbase/operation/store.hpp"
#include "core/couchbase/wire/big_endian.hpp"
#include "unit/core/couchbase/operation/operation_frame.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::couchbase::store_operation_test {
namespace {

using namespace std::chrono_literals;
using holdfast::couchbase::durability;
using holdfast::couchbase::expiry;
using proof::from_hex;
namespace cb = holdfast::couchbase;

constexpr operation_context here{.timeout = 10s};

stored_content json(std::string_view text)
{
    return {buffer_of(text), 0x02000006};
}

TEST(store_operation, frames_are_as_the_protocol_has_them)
{
    EXPECT_EQ(frame_of(upsert_operation::make("ab", json("{}"), {}, here).value().order),
              from_hex("80 01 0003 08 00 0102 0000000d 0a0b0c0d 0000000000000000"
                       "02000006 00000000 00 6162 7b7d"));
    EXPECT_EQ(frame_of(insert_operation::make("ab", json("{}"), {.expiry = expiry::in(60s)}, here)
                           .value()
                           .order),
              from_hex("80 02 0003 08 00 0102 0000000d 0a0b0c0d 0000000000000000"
                       "02000006 0000003c 00 6162 7b7d"));
    EXPECT_EQ(
        frame_of(replace_operation::make("ab", json("{}"), {.cas = {0x0102030405060708}}, here)
                     .value()
                     .order),
        from_hex("80 03 0003 08 00 0102 0000000d 0a0b0c0d 0102030405060708"
                 "02000006 00000000 00 6162 7b7d"));
    EXPECT_EQ(frame_of(remove_operation::make("ab", {.cas = {9}}, here).value().order),
              from_hex("80 04 0003 00 00 0102 00000003 0a0b0c0d 0000000000000009 00 6162"));
    EXPECT_EQ(frame_of(touch_operation::make("ab", expiry::in(10s), here).value().order),
              from_hex("80 1c 0003 04 00 0102 00000007 0a0b0c0d 0000000000000000"
                       "0000000a 00 6162"));
    EXPECT_EQ(frame_of(unlock_operation::make("ab", {7}, here).value().order),
              from_hex("80 95 0003 00 00 0102 00000003 0a0b0c0d 0000000000000007 00 6162"));
}

TEST(store_operation, append_and_prepend_have_no_extras)
{
    EXPECT_EQ(
        frame_of(
            append_operation::make(which_end::back, "ab", buffer_of("x"), {}, here).value().order),
        from_hex("80 0e 0003 00 00 0102 00000004 0a0b0c0d 0000000000000000 00 6162 78"));
    EXPECT_EQ(
        frame_of(append_operation::make(which_end::front, "ab", buffer_of("x"), {.cas = {3}}, here)
                     .value()
                     .order),
        from_hex("80 0f 0003 00 00 0102 00000004 0a0b0c0d 0000000000000003 00 6162 78"));
}

TEST(store_operation, counter_without_an_initial_value_is_not_created)
{
    EXPECT_EQ(
        frame_of(counter_operation::make(direction::up, "ab", {.delta = 5}, here).value().order),
        from_hex("80 05 0003 14 00 0102 00000017 0a0b0c0d 0000000000000000"
                 "0000000000000005 0000000000000000 ffffffff 00 6162"));
    EXPECT_EQ(
        frame_of(counter_operation::make(direction::down, "ab",
                                         {.delta = 1, .initial = 9, .expiry = expiry::in(2s)}, here)
                     .value()
                     .order),
        from_hex("80 06 0003 14 00 0102 00000017 0a0b0c0d 0000000000000000"
                 "0000000000000001 0000000000000009 00000002 00 6162"));
}

TEST(store_operation, durable_write_limits_the_time_that_the_server_may_take)
{
    EXPECT_EQ(
        frame_of(upsert_operation::make(
                     "ab", json("{}"),
                     {.durability = durability::persist_to_majority, .preserve_expiry = true}, here)
                     .value()
                     .order),
        from_hex("08 01 05 03 08 00 0102 00000012 0a0b0c0d 0000000000000000"
                 "13 03 2328 50 02000006 00000000 00 6162 7b7d"));
    const auto infos = [](durability level) {
        return remove_operation::make("a", {.durability = level}, here).value().order.infos;
    };
    EXPECT_EQ(infos(durability::majority).durability, kv_durability::majority);
    EXPECT_EQ(infos(durability::majority_and_persist_to_active).durability,
              kv_durability::majority_and_persist_to_active);
    EXPECT_TRUE(infos(durability::none).empty());
    EXPECT_FALSE(remove_operation::make("a", {.durability = durability{9}}, here));
}

TEST(store_operation, stored_values_may_be_compressed_and_others_may_not)
{
    EXPECT_TRUE(upsert_operation::make("a", json("{}"), {}, here).value().order.may_compress);
    EXPECT_FALSE(counter_operation::make(direction::up, "a", {}, here).value().order.may_compress);
}

TEST(store_operation, arguments_that_contradict_themselves_are_refused)
{
    const auto code = [](const auto& made) { return made.error().code(); };
    EXPECT_EQ(code(upsert_operation::make(
                  "a", json("{}"), {.expiry = expiry::in(1s), .preserve_expiry = true}, here)),
              errc::invalid_argument);
    EXPECT_EQ(code(upsert_operation::make("a", json("{}"), {.expiry = expiry::in(0s)}, here)),
              errc::invalid_argument);
    EXPECT_EQ(code(upsert_operation::make("", json("{}"), {}, here)), errc::invalid_argument);
    EXPECT_EQ(code(unlock_operation::make("a", {}, here)), errc::invalid_argument);
    EXPECT_EQ(code(touch_operation::make("a", expiry::in(-1s), here)), errc::invalid_argument);
    EXPECT_EQ(code(counter_operation::make(direction::up, "a",
                                           {.initial = 1, .expiry = expiry::in(0s)}, here)),
              errc::invalid_argument);
}

TEST(store_operation, reply_gives_the_token_of_the_mutation)
{
    const auto token = from_hex("00000000000000aa 00000000000000bb");
    const kv_reply reply{.cas = 5, .extras = token, .vbucket = 77, .bucket = "travel"};
    const auto done = upsert_operation::read(reply).value();
    EXPECT_EQ(done.cas.value, 5u);
    EXPECT_EQ(done.token, (cb::mutation_token{0xaa, 0xbb, 77, "travel"}));
    EXPECT_FALSE(upsert_operation::read({.cas = 5}).value().token);
    const auto cut = from_hex("00000000000000aa");
    EXPECT_EQ(upsert_operation::read({.cas = 5, .extras = cut}).error().code(),
              errc::decoding_failure);
}

TEST(store_operation, counter_reply_has_the_new_value)
{
    const auto token = from_hex("00000000000000aa 00000000000000bb");
    const auto value = from_hex("0000000000000102");
    const auto done = counter_operation::read({.cas = 5, .extras = token, .value = value}).value();
    EXPECT_EQ(done.value, 0x102u);
    EXPECT_TRUE(done.token);
    EXPECT_FALSE(counter_operation::read({.cas = 5, .value = token}));
}

TEST(mutation_state, last_change_of_each_vbucket_is_kept)
{
    cb::mutation_state state;
    EXPECT_TRUE(state.empty());
    state.add(cb::mutation_token{1, 10, 7, "b"});
    state.add(cb::mutation_token{1, 9, 7, "b"});
    state.add(cb::mutation_result{{1}, cb::mutation_token{1, 12, 7, "b"}});
    state.add(cb::mutation_result{{1}, {}});
    state.add(cb::mutation_token{1, 3, 8, "b"});
    state.add(cb::mutation_token{1, 3, 8, "c"});
    ASSERT_EQ(state.tokens().size(), 3u);
    EXPECT_EQ(state.tokens()[0].sequence_number, 12u);
    state.add(cb::mutation_token{2, 4, 7, "b"});
    EXPECT_EQ(state.tokens()[0].sequence_number, 4u);
    cb::mutation_state all;
    all.add(state);
    EXPECT_EQ(all.tokens().size(), 3u);
}

}  // namespace
}  // namespace holdfast::core::couchbase::store_operation_test
