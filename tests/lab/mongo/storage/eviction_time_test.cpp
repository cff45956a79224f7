#include "lab/mongo/storage/support.hpp"

#include <ctime>

namespace holdfast::lab::eviction_time_test {
namespace {

double cpu_seconds()
{
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

void insert(collection& into, int first, int count, std::uint32_t when)
{
    for (int i = first; i < first + count; ++i)
        ASSERT_TRUE(into.insert(bson::doc("_id", i), at(when)));
}

/// What inserts into a full capped collection cost, each of which drops the oldest document.
double seconds_of_evictions(collection& full, int first)
{
    constexpr int count = 30'000;
    const std::size_t before = full.count();
    const double began = cpu_seconds();
    insert(full, first, count, 3);
    const double took = cpu_seconds() - began;
    EXPECT_EQ(full.count(), before);
    return took;
}

/// As an oplog after a member has copied the data of another.
TEST(lab_capped, eviction_does_not_walk_over_what_only_the_past_has)
{
    constexpr int size = 200'000;
    constexpr int left = 100;
    const std::string options = R"({"capped": true, "size": 1000000000, "max": )" +
                                std::to_string(size) + "}";
    collection fresh = make_collection(options.c_str());
    insert(fresh, 0, size, 1);
    const double usual = seconds_of_evictions(fresh, size);

    collection emptied = make_collection(options.c_str());
    insert(emptied, 0, size, 1);
    for (int i = 0; i < size - left; ++i)
        emptied.remove(emptied.find_by_id(bson::doc("_id", i)["_id"])->id, at(2));
    insert(emptied, size, size - left, 2);
    const double after_removals = seconds_of_evictions(emptied, 2 * size);
    EXPECT_LT(after_removals, 5 * usual) << usual;
    EXPECT_EQ(emptied.next(0, at(1))->document["_id"].as_int32(), 0) << "the past is still there";
}

}  // namespace
}  // namespace holdfast::lab::eviction_time_test
