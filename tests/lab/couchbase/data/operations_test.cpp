#include "lab/couchbase/data/operations.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace holdfast::lab::couchbase::operations_test {
namespace {

using namespace std::chrono_literals;

constexpr wall_time noon{std::chrono::seconds{1'700'000'000}};
const doc_key k{0, "k"};

struct lab_couchbase_operations : testing::Test {
    mutation_reply set(std::string value, std::uint64_t cas = 0, wall_time now = noon)
    {
        return put(store_mode::set, std::move(value), cas, now);
    }

    mutation_reply put(store_mode mode, std::string value, std::uint64_t cas = 0,
                       wall_time now = noon)
    {
        new_content content;
        content.value = std::move(value);
        content.flags = 7;
        content.cas = cas;
        return store(vb, mode, k, std::move(content), now);
    }

    vbucket vb{5, 0xabc};
};

TEST_F(lab_couchbase_operations, set_document_is_read_back_with_flags_cas_and_datatype)
{
    const auto stored = set(R"({"a":1})");
    const auto read = get(vb, k, noon);
    EXPECT_EQ(read.code, kv_status::success);
    EXPECT_EQ(read.value, R"({"a":1})");
    EXPECT_EQ(read.flags, 7u);
    EXPECT_EQ(read.cas, stored.cas);
    EXPECT_TRUE(read.json);
    EXPECT_EQ(stored.uuid, 0xabcu);
    EXPECT_EQ(stored.seqno, 1u);
    set("not JSON");
    EXPECT_FALSE(get(vb, k, noon).json);
}

TEST_F(lab_couchbase_operations, cas_grows_even_if_the_clock_stands_or_goes_back)
{
    std::uint64_t last = 0;
    for (const auto now : {noon, noon, noon + 1ms, noon - 1h, noon + 1ns}) {
        const auto stored = set("x", 0, now);
        EXPECT_GT(stored.cas, last);
        last = stored.cas;
    }
    EXPECT_EQ(vb.high_seqno(), 5u);
}

TEST_F(lab_couchbase_operations, missing_document_is_refused_in_the_way_of_each_operation)
{
    EXPECT_EQ(get(vb, k, noon).code, kv_status::not_found);
    EXPECT_EQ(put(store_mode::replace, "x").code, kv_status::not_found);
    EXPECT_EQ(set("x", 1234).code, kv_status::not_found);
    EXPECT_EQ(remove(vb, k, 0, noon).code, kv_status::not_found);
    EXPECT_EQ(touch(vb, k, 10, noon).code, kv_status::not_found);
    EXPECT_EQ(get_and_touch(vb, k, 10, noon).code, kv_status::not_found);
    EXPECT_EQ(get_and_lock(vb, k, 10, noon).code, kv_status::not_found);
    EXPECT_EQ(unlock(vb, k, 1234, noon), kv_status::not_found);
    EXPECT_EQ(extend(vb, extend_at::back, k, "x", 0, noon).code, kv_status::not_stored);
    EXPECT_EQ(get_metadata(vb, k, noon).code, kv_status::not_found);
    EXPECT_EQ(vb.high_seqno(), 0u);
}

TEST_F(lab_couchbase_operations, existing_document_is_not_added_and_needs_the_right_cas)
{
    const auto first = set("1");
    EXPECT_EQ(put(store_mode::add, "2").code, kv_status::exists);
    EXPECT_EQ(set("2", first.cas + 1).code, kv_status::exists);
    EXPECT_EQ(put(store_mode::replace, "2", first.cas + 1).code, kv_status::exists);
    EXPECT_EQ(remove(vb, k, first.cas + 1, noon).code, kv_status::exists);
    EXPECT_EQ(extend(vb, extend_at::back, k, "x", first.cas + 1, noon).code, kv_status::exists);
    EXPECT_EQ(get(vb, k, noon).value, "1");
    EXPECT_EQ(put(store_mode::replace, "2", first.cas).code, kv_status::success);
    EXPECT_EQ(set("3", first.cas).code, kv_status::exists);
}

TEST_F(lab_couchbase_operations, limits_of_keys_and_values_are_enforced)
{
    new_content one;
    one.value = "x";
    EXPECT_EQ(store(vb, store_mode::set, {0, ""}, one, noon).code, kv_status::invalid);
    const doc_key longest{0, std::string(250, 'k')};
    const doc_key too_long{0, std::string(251, 'k')};
    EXPECT_EQ(store(vb, store_mode::set, longest, one, noon).code, kv_status::success);
    EXPECT_EQ(store(vb, store_mode::set, too_long, one, noon).code, kv_status::invalid);
    EXPECT_EQ(set(std::string(max_value_bytes + 1, ' ')).code, kv_status::too_big);
    EXPECT_EQ(set(std::string(max_value_bytes, ' ')).code, kv_status::success);
    EXPECT_EQ(extend(vb, extend_at::back, k, "x", 0, noon).code, kv_status::too_big);
}

TEST_F(lab_couchbase_operations, removed_document_leaves_a_tombstone_and_can_be_added_again)
{
    set("1");
    const auto gone = remove(vb, k, 0, noon);
    EXPECT_EQ(gone.code, kv_status::success);
    EXPECT_EQ(gone.seqno, 2u);
    EXPECT_EQ(get(vb, k, noon).code, kv_status::not_found);
    const auto meta = get_metadata(vb, k, noon);
    EXPECT_EQ(meta.code, kv_status::success);
    EXPECT_TRUE(meta.deleted);
    EXPECT_EQ(observe(vb, k, noon).state, observed_state::deleted);
    EXPECT_EQ(vb.documents(), 0u);
    EXPECT_EQ(put(store_mode::add, "2").code, kv_status::success);
    EXPECT_EQ(vb.documents(), 1u);
    EXPECT_EQ(get_metadata(vb, k, noon).revision, 3u);
}

TEST_F(lab_couchbase_operations, collections_keep_documents_of_the_same_name_apart)
{
    set("default");
    new_content other;
    other.value = "other";
    store(vb, store_mode::set, {8, "k"}, other, noon);
    EXPECT_EQ(get(vb, k, noon).value, "default");
    EXPECT_EQ(get(vb, {8, "k"}, noon).value, "other");
    vb.keep_collections([](std::uint32_t id) { return id != 8; });
    EXPECT_EQ(get(vb, {8, "k"}, noon).code, kv_status::not_found);
    EXPECT_EQ(get(vb, k, noon).value, "default");
}

TEST_F(lab_couchbase_operations, document_expires_relative_to_now_or_at_a_time)
{
    new_content content;
    content.value = "x";
    content.expiry = 10;
    store(vb, store_mode::set, k, content, noon);
    EXPECT_EQ(get_metadata(vb, k, noon).expiry, 1'700'000'010u);
    EXPECT_EQ(get(vb, k, noon + 9s).code, kv_status::success);
    EXPECT_EQ(get(vb, k, noon + 10s).code, kv_status::not_found);
    EXPECT_TRUE(get_metadata(vb, k, noon + 10s).deleted);

    content.expiry = 1'700'000'020;
    store(vb, store_mode::set, k, content, noon);
    EXPECT_EQ(get(vb, k, noon + 19s).code, kv_status::success);
    EXPECT_EQ(get_from_replica(vb, k, noon + 20s).code, kv_status::not_found);
    EXPECT_EQ(put(store_mode::add, "y", 0, noon + 20s).code, kv_status::success);
    EXPECT_EQ(get(vb, k, noon + 1000h).code, kv_status::success);
}

TEST_F(lab_couchbase_operations, touch_changes_the_expiry_and_zero_ends_it)
{
    const auto stored = set("x");
    const auto touched = touch(vb, k, 10, noon);
    EXPECT_GT(touched.cas, stored.cas);
    EXPECT_EQ(get_and_touch(vb, k, 0, noon + 5s).value, "x");
    EXPECT_EQ(get(vb, k, noon + 1h).code, kv_status::success);
    EXPECT_EQ(get(vb, k, noon).flags, 7u);
}

TEST_F(lab_couchbase_operations, set_ends_the_expiry_unless_it_is_preserved)
{
    new_content content;
    content.value = "x";
    content.expiry = 100;
    store(vb, store_mode::set, k, content, noon);
    content.expiry = 0;
    content.preserve_expiry = true;
    store(vb, store_mode::set, k, content, noon);
    EXPECT_EQ(get_metadata(vb, k, noon).expiry, 1'700'000'100u);
    EXPECT_EQ(store(vb, store_mode::add, k, content, noon).code, kv_status::invalid);
    content.preserve_expiry = false;
    store(vb, store_mode::set, k, content, noon);
    EXPECT_EQ(get_metadata(vb, k, noon).expiry, 0u);
}

TEST_F(lab_couchbase_operations, locked_document_is_read_without_its_cas_and_refuses_changes)
{
    const auto stored = set("x");
    const auto held = get_and_lock(vb, k, 5, noon);
    EXPECT_EQ(held.value, "x");
    EXPECT_NE(held.cas, stored.cas);
    EXPECT_EQ(get(vb, k, noon).cas, locked_cas);
    EXPECT_EQ(set("y").code, kv_status::locked);
    EXPECT_EQ(set("y", stored.cas).code, kv_status::locked);
    EXPECT_EQ(remove(vb, k, 0, noon).code, kv_status::locked);
    EXPECT_EQ(touch(vb, k, 10, noon).code, kv_status::locked);
    EXPECT_EQ(get_and_lock(vb, k, 5, noon).code, kv_status::locked);
    EXPECT_EQ(extend(vb, extend_at::front, k, "y", 0, noon).code, kv_status::locked);
    EXPECT_EQ(count(vb, k, {.delta = 1}, noon).base.code, kv_status::locked);
    EXPECT_EQ(unlock(vb, k, stored.cas, noon), kv_status::locked);
    EXPECT_EQ(unlock(vb, k, 0, noon), kv_status::invalid);
    EXPECT_EQ(unlock(vb, k, held.cas, noon), kv_status::success);
    EXPECT_EQ(unlock(vb, k, held.cas, noon), kv_status::not_locked);
    EXPECT_EQ(set("y").code, kv_status::success);
}

TEST_F(lab_couchbase_operations, lock_ends_with_its_time_or_a_change_by_its_holder)
{
    set("x");
    get_and_lock(vb, k, 5, noon);
    EXPECT_EQ(set("y", 0, noon + 4s).code, kv_status::locked);
    EXPECT_EQ(set("y", 0, noon + 5s).code, kv_status::success);
    const auto held = get_and_lock(vb, k, 31, noon);  // beyond the limit: 15 s
    EXPECT_EQ(set("z", 0, noon + 14s).code, kv_status::locked);
    EXPECT_EQ(set("z", held.cas, noon + 14s).code, kv_status::success);
    EXPECT_EQ(set("z", 0, noon + 14s).code, kv_status::success);
}

TEST_F(lab_couchbase_operations, append_and_prepend_keep_flags_and_look_at_the_datatype_again)
{
    set("[1");
    EXPECT_EQ(extend(vb, extend_at::back, k, ",2]", 0, noon).code, kv_status::success);
    const auto read = get(vb, k, noon);
    EXPECT_EQ(read.value, "[1,2]");
    EXPECT_EQ(read.flags, 7u);
    EXPECT_TRUE(read.json);
    extend(vb, extend_at::front, k, "x", 0, noon);
    EXPECT_EQ(get(vb, k, noon).value, "x[1,2]");
    EXPECT_FALSE(get(vb, k, noon).json);
}

TEST_F(lab_couchbase_operations, counter_counts_wraps_stops_at_zero_and_refuses_text)
{
    EXPECT_EQ(count(vb, k, {.delta = 1, .initial = 9, .expiry = 0xffffffff}, noon).base.code,
              kv_status::not_found);
    EXPECT_EQ(count(vb, k, {.delta = 1, .initial = 9}, noon).value, 9u);
    EXPECT_EQ(count(vb, k, {.delta = 2}, noon).value, 11u);
    EXPECT_EQ(get(vb, k, noon).value, "11");
    EXPECT_EQ(count(vb, k, {.delta = 12, .decrement = true}, noon).value, 0u);
    set("18446744073709551615");
    EXPECT_EQ(count(vb, k, {.delta = 2}, noon).value, 1u);
    set("one");
    EXPECT_EQ(count(vb, k, {.delta = 2}, noon).base.code, kv_status::delta_bad_value);
    set("1 ");
    EXPECT_EQ(count(vb, k, {.delta = 2}, noon).base.code, kv_status::delta_bad_value);
}

TEST_F(lab_couchbase_operations, replica_takes_over_with_the_history_of_the_active_copy)
{
    set("1");
    set("2");
    vbucket replica{5, 0xabc, vbucket::state::replica};
    replica.apply({change::kind::document, k, *vb.find(k)});
    EXPECT_EQ(get_from_replica(replica, k, noon).value, "2");
    EXPECT_EQ(replica.high_seqno(), 2u);
    EXPECT_EQ(get(replica, k, noon).code, kv_status::success);
    replica.begin_history(0xdef);
    replica.set_state(vbucket::state::active);
    EXPECT_EQ(replica.uuid(), 0xdefu);
    ASSERT_EQ(replica.failover_log().size(), 2u);
    EXPECT_EQ(replica.failover_log()[0].seqno, 2u);
    new_content content;
    content.value = "3";
    const auto stored = store(replica, store_mode::set, k, content, noon - 1h);
    EXPECT_GT(stored.cas, vb.find(k)->cas);
    EXPECT_EQ(stored.seqno, 3u);
}

TEST_F(lab_couchbase_operations, expired_document_of_a_replica_is_absent_and_not_changed)
{
    new_content content;
    content.expiry = 10;
    store(vb, store_mode::set, k, content, noon);
    vb.set_state(vbucket::state::replica);
    EXPECT_EQ(get(vb, k, noon + 1h).code, kv_status::not_found);
    EXPECT_EQ(vb.high_seqno(), 1u);
    EXPECT_FALSE(vb.find(k)->deleted);
}

TEST_F(lab_couchbase_operations, oldest_tombstones_are_forgotten_beyond_the_limit)
{
    new_content content;
    for (int n = 0; n != 5000; ++n) {
        const doc_key key{0, std::to_string(n)};
        store(vb, store_mode::set, key, content, noon);
        remove(vb, key, 0, noon);
    }
    EXPECT_EQ(get_metadata(vb, {0, "0"}, noon).code, kv_status::not_found);
    EXPECT_TRUE(get_metadata(vb, {0, "4999"}, noon).deleted);
    EXPECT_EQ(vb.documents(), 0u);
}

}  // namespace
}  // namespace holdfast::lab::couchbase::operations_test
