#include "lab/couchbase/index/index_copy.hpp"

#include "lab/couchbase/data/operations.hpp"

#include <gtest/gtest.h>

namespace holdfast::lab::couchbase::index_copy_test {
namespace {

using namespace std::chrono_literals;

constexpr wall_time noon{std::chrono::hours{500'000}};

void put(vbucket& to, const std::string& id, const std::string& value, wall_time now = noon,
         std::uint32_t collection = 0, std::uint32_t expiry = 0)
{
    const new_content content{.value = value, .expiry = expiry};
    EXPECT_EQ(store(to, store_mode::set, {collection, id}, content, now).code, kv_status::success);
}

/// "id=value " of all documents of a collection.
std::string text_in(const index_copy& of, std::uint32_t collection = 0, wall_time now = noon)
{
    std::string text;
    of.each(collection, now, [&](const std::string& id, const document& content) {
        text += id + "=" + content.value + " ";
    });
    return text;
}

TEST(lab_couchbase_index_copy, changes_are_there_when_it_follows)
{
    vbucket source{7, 1};
    index_copy index;
    put(source, "a", "1");
    put(source, "b", "2");
    EXPECT_EQ(text_in(index), "");
    index.follow(source);
    EXPECT_EQ(text_in(index), "a=1 b=2 ");
    EXPECT_EQ(index.at(7), (index_position{1, 2}));
    EXPECT_EQ(index.at(8), index_position{});
    put(source, "a", "3");
    (void)remove(source, {0, "b"}, 0, noon);
    EXPECT_EQ(text_in(index), "a=1 b=2 ");
    index.follow(source);
    EXPECT_EQ(text_in(index), "a=3 ");
    EXPECT_EQ(index.at(7), (index_position{1, 4}));
}

TEST(lab_couchbase_index_copy, collections_are_kept_apart_and_forgotten)
{
    vbucket source{7, 1};
    vbucket other{8, 1};
    index_copy index;
    put(source, "a", "1");
    put(source, "b", "2", noon, 9);
    put(other, "c", "3", noon, 9);
    index.follow(source);
    index.follow(other);
    EXPECT_EQ(text_in(index, 9), "b=2 c=3 ");
    EXPECT_EQ(text_in(index, 8), "");
    index.keep_collections([](std::uint32_t id) { return id == 0; });
    EXPECT_EQ(text_in(index, 9), "");
    EXPECT_EQ(text_in(index), "a=1 ");
}

TEST(lab_couchbase_index_copy, documents_that_have_expired_are_not_given)
{
    vbucket source{7, 1};
    index_copy index;
    put(source, "a", "1", noon, 0, 10);
    index.follow(source);
    EXPECT_EQ(text_in(index), "a=1 ");
    EXPECT_EQ(text_in(index, 0, noon + 10s), "");
}

TEST(lab_couchbase_index_copy, prepared_writes_are_not_there_before_their_commit)
{
    vbucket source{7, 1};
    index_copy index;
    source.prepare_next(kv_durability::majority);
    put(source, "a", "1");
    source.prepare_next(kv_durability::none);
    index.follow(source);
    EXPECT_EQ(text_in(index), "");
    (void)source.commit({0, "a"});
    index.follow(source);
    EXPECT_EQ(text_in(index), "a=1 ");
    EXPECT_EQ(index.at(7).seqno, source.high_seqno());
}

TEST(lab_couchbase_index_copy, what_was_changed_too_late_comes_the_next_time)
{
    vbucket source{7, 1};
    index_copy index;
    put(source, "a", "1", noon);
    put(source, "b", "2", noon + 1s);
    put(source, "c", "3", noon + 2s);
    index.follow(source, noon + 1s);
    EXPECT_EQ(text_in(index), "a=1 b=2 ");
    EXPECT_EQ(index.at(7).seqno, 2u);
    index.follow(source, noon + 2s);
    EXPECT_EQ(text_in(index), "a=1 b=2 c=3 ");
}

TEST(lab_couchbase_index_copy, failover_takes_back_what_the_new_history_does_not_have)
{
    vbucket lost{7, 1};
    put(lost, "a", "1");
    vbucket next{7, 1};
    for (change& one : lost.changes_after(0, 1000).changes)
        next.apply(std::move(one));
    put(lost, "b", "2");
    index_copy index;
    index.follow(lost);
    next.begin_history(5);
    index.follow(next);
    EXPECT_EQ(text_in(index), "a=1 ");
    EXPECT_EQ(index.at(7), (index_position{5, 1}));
    put(next, "c", "3");
    index.follow(next);
    EXPECT_EQ(text_in(index), "a=1 c=3 ");
    vbucket emptied{7, 99};
    index.follow(emptied);
    EXPECT_EQ(text_in(index), "");
}

}  // namespace
}  // namespace holdfast::lab::couchbase::index_copy_test
