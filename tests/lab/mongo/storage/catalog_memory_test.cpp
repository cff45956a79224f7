#include "lab/mongo/storage/catalog.hpp"
#include "lab/mongo/storage/support.hpp"

#include <unistd.h>

#include <fstream>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HOLDFAST_OTHER_ALLOCATOR
#endif
#endif

namespace holdfast::lab::catalog_memory_test {
namespace {

/// Pages of this process that are in memory, in bytes.
std::int64_t resident()
{
    std::int64_t all = 0;
    std::int64_t present = 0;
    std::ifstream{"/proc/self/statm"} >> all >> present;
    return present * ::sysconf(_SC_PAGESIZE);
}

void load(collection& into)
{
    const std::string padding(1'000, 'x');
    for (int i = 0; i < 30'000; ++i)
        ASSERT_TRUE(into.insert(bson::doc("_id", i, "padding", padding), at(1)));
}

TEST(lab_catalog, dropped_data_goes_back_to_the_system)
{
#ifdef HOLDFAST_OTHER_ALLOCATOR
    GTEST_SKIP() << "a sanitizer's allocator keeps freed memory on purpose";
#endif
    for (const bool whole_database : {false, true}) {
        SCOPED_TRACE(whole_database);
        catalog all;
        collection* const large = all.create("sea.large", {}, {}).value();
        load(*large);
        // What was allocated last is still in use, and lies behind all that is freed.
        collection* const kept = all.create("lake.kept", {}, {}).value();
        add(*kept, R"({"_id": 1})");
        const std::int64_t loaded = resident();
        const std::int64_t size = large->data_size();
        EXPECT_GE(size, 30'000'000);
        EXPECT_TRUE(whole_database ? all.drop_database("sea") : all.drop("sea.large"));
        EXPECT_LE(resident(), loaded - size * 3 / 4);
    }
}

}  // namespace
}  // namespace holdfast::lab::catalog_memory_test
