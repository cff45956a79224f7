#include "core/mongo/operation/batch_eligibility.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace holdfast::core::mongo::batch_eligibility_test {
namespace {

/// Writes of one byte each, some of which are for many documents.
struct plan_of_writes {
    std::vector<bool> multi;

    std::size_t fits(std::size_t begin, std::size_t end, std::size_t, std::size_t count) const
    {
        return std::min(end, begin + count);
    }
    std::size_t first_multi(std::size_t begin, std::size_t end) const
    {
        while (begin != end && !multi[begin])
            ++begin;
        return begin;
    }
};

connection_description limits_of(std::int32_t batch_size)
{
    connection_description limits;
    limits.max_write_batch_size = batch_size;
    return limits;
}

TEST(batch_eligibility, depends_on_writes_to_many_documents_within_the_batch)
{
    struct row {
        const char* name;
        std::vector<bool> multi;
        bool acknowledged;
        bool eligible;
        std::size_t end;
    };
    const row table[] = {
        {"only single writes", {false, false, false, false}, true, true, 4},
        {"unacknowledged", {false, false, false, false}, false, false, 4},
        {"multi write first", {true, false, false, false}, true, false, 4},
        {"multi write inside the batch", {false, true, false, false}, true, false, 4},
        {"multi write behind the batch", {false, false, true, false}, true, true, 2},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.name);
        const plan_of_writes plan{r.multi};
        batch_eligibility<const plan_of_writes> eligibility{plan};
        eligibility.start(0, 4, r.acknowledged, true);
        EXPECT_EQ(eligibility.on(limits_of(2)), r.eligible);
        EXPECT_EQ(eligibility.end(), r.end);
    }
}

TEST(batch_eligibility, inserts_are_eligible_without_a_look_at_the_plan)
{
    const plan_of_writes plan{{true, true}};
    batch_eligibility<const plan_of_writes> eligibility{plan};
    EXPECT_TRUE(eligibility.start(0, 2, true, false));
    EXPECT_EQ(eligibility.end(), 2u);
}

TEST(batch_eligibility, connection_with_other_limits_decides_again_until_the_batch_is_written)
{
    const plan_of_writes plan{{false, false, true, false}};
    batch_eligibility<const plan_of_writes> eligibility{plan};
    EXPECT_FALSE(eligibility.start(0, 4, true, true));  // all four fit by default
    EXPECT_TRUE(eligibility.on(limits_of(2)));
    EXPECT_FALSE(eligibility.on(limits_of(3)));
    EXPECT_TRUE(eligibility.on(limits_of(1)));

    eligibility.written(limits_of(1));
    EXPECT_TRUE(eligibility.on(limits_of(4)));
}

TEST(batch_eligibility, next_batch_assumes_the_limits_of_the_last_connection)
{
    const plan_of_writes plan{{false, false, true, false}};
    batch_eligibility<const plan_of_writes> eligibility{plan};
    eligibility.start(0, 4, true, true);
    eligibility.on(limits_of(1));
    eligibility.written(limits_of(1));
    EXPECT_TRUE(eligibility.start(1, 4, true, true));
    EXPECT_FALSE(eligibility.start(2, 4, true, true));
}

}  // namespace
}  // namespace holdfast::core::mongo::batch_eligibility_test
