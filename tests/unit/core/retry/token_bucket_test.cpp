#include "core/retry/token_bucket.hpp"

#include "support/verifies.hpp"

#include <gtest/gtest.h>

#include <atomic>

namespace holdfast::core::token_bucket_test {
namespace {

TEST(token_bucket, default_is_full_at_1000_and_capped)
{
    VERIFIES("BP-041");
    const token_bucket full;
    EXPECT_EQ(full.level(), tokens::whole(1000));
    EXPECT_EQ(full.earn({1}), full);
    EXPECT_EQ(full.earn({INT32_MAX}), full);
}

TEST(token_bucket, spend_above_the_level_is_refused)
{
    VERIFIES("BP-044");
    const token_bucket one{tokens{10}, tokens::whole(1000)};
    ASSERT_TRUE(one.spend(tokens::whole(1)));
    EXPECT_EQ(one.spend(tokens::whole(1))->level(), tokens{0});
    const token_bucket nearly{tokens{9}, tokens::whole(1000)};
    EXPECT_FALSE(nearly.spend(tokens::whole(1)));
}

TEST(token_bucket, ten_tenths_make_one_token)
{
    VERIFIES("BP-045");
    token_bucket bucket{tokens{0}, tokens::whole(1000)};
    for (int i = 0; i < 9; ++i)
        bucket = bucket.earn({1});
    EXPECT_FALSE(bucket.spend(tokens::whole(1)));
    bucket = bucket.earn({1});
    const auto spent = bucket.spend(tokens::whole(1));
    ASSERT_TRUE(spent);
    EXPECT_FALSE(spent->spend({1}));
}

TEST(token_bucket, level_is_clamped_to_its_bounds)
{
    EXPECT_EQ((token_bucket{tokens{-5}, tokens{10}}.level()), tokens{0});
    EXPECT_EQ((token_bucket{tokens{50}, tokens{10}}.level()), tokens{10});
}

TEST(token_bucket, atomic_of_it_is_lock_free)
{
    EXPECT_TRUE(std::atomic<token_bucket>::is_always_lock_free);
}

}  // namespace
}  // namespace holdfast::core::token_bucket_test
