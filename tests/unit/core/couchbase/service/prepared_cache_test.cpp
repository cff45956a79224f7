#include "core/couchbase/service/prepared_cache.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::core::couchbase::prepared_cache_test {
namespace {

std::string name_in(prepared_cache& cache, std::string_view statement,
                    std::string_view context = "")
{
    const prepared_plan* const found = cache.find(statement, context);
    return found ? found->name : "none";
}

TEST(prepared_cache, plan_is_found_by_statement_and_context)
{
    prepared_cache cache;
    cache.put("s", "", {"1"});
    cache.put("s", "c", {"2", "e"});
    cache.put("sc", "", {"3"});
    EXPECT_EQ(name_in(cache, "s"), "1");
    EXPECT_EQ(name_in(cache, "s", "c"), "2");
    EXPECT_EQ(name_in(cache, "sc"), "3");
    EXPECT_EQ(name_in(cache, "", "sc"), "none");
    EXPECT_EQ(name_in(cache, "S"), "none");
    EXPECT_EQ(cache.size(), 3u);
    cache.put("s", "", {"4"});
    EXPECT_EQ(name_in(cache, "s"), "4");
    EXPECT_EQ(cache.size(), 3u);
}

TEST(prepared_cache, the_plan_used_least_recently_makes_room)
{
    prepared_cache cache{3};
    for (const char* statement : {"a", "b", "c"})
        cache.put(statement, "", {statement});
    EXPECT_EQ(name_in(cache, "a"), "a");  // now b is the oldest
    cache.put("d", "", {"d"});
    EXPECT_EQ(name_in(cache, "b"), "none");
    EXPECT_EQ(name_in(cache, "a"), "a");
    cache.put("c", "", {"c2"});  // to write is to use
    cache.put("e", "", {"e"});
    EXPECT_EQ(name_in(cache, "d"), "none");
    EXPECT_EQ(name_in(cache, "c"), "c2");
    EXPECT_EQ(cache.size(), 3u);
}

TEST(prepared_cache, bytes_are_limited)
{
    prepared_cache cache{100, 20};
    cache.put("12345", "", {"12345"});
    cache.put("54321", "", {"", "54321"});
    EXPECT_EQ(cache.bytes(), 20u);
    cache.put("a", "b", {"c", "d"});
    EXPECT_EQ(name_in(cache, "12345"), "none");
    EXPECT_EQ(cache.bytes(), 14u);
    cache.put("too large", "to be kept", {"in here"});
    EXPECT_EQ(cache.size(), 2u);
    cache.put("a", "b", {std::string(30, 'x')});  // what was there is outdated all the same
    EXPECT_EQ(name_in(cache, "a", "b"), "none");
    EXPECT_EQ(cache.bytes(), 10u);
    prepared_cache nothing{0};
    nothing.put("a", "", {"a"});
    EXPECT_EQ(nothing.size(), 0u);
}

TEST(prepared_cache, only_the_plan_that_was_refused_is_dropped)
{
    prepared_cache cache;
    cache.put("s", "", {"old"});
    const prepared_plan refused = *cache.find("s", "");
    cache.put("s", "", {"new"});  // by another request, meanwhile
    cache.drop("s", "", refused);
    EXPECT_EQ(name_in(cache, "s"), "new");
    cache.drop("s", "", {"new", "encoded"});
    cache.drop("s", "c", {"new"});
    EXPECT_EQ(name_in(cache, "s"), "new");
    cache.drop("s", "", {"new"});
    EXPECT_EQ(name_in(cache, "s"), "none");
    EXPECT_EQ(cache.bytes(), 0u);
    cache.drop("s", "", {"new"});
}

TEST(prepared_cache, clear_forgets_all)
{
    prepared_cache cache;
    cache.put("s", "c", {"n"});
    cache.clear();
    EXPECT_EQ(cache.size(), 0u);
    EXPECT_EQ(cache.bytes(), 0u);
    EXPECT_EQ(name_in(cache, "s", "c"), "none");
    cache.put("s", "c", {"n"});
    EXPECT_EQ(name_in(cache, "s", "c"), "n");
}

}  // namespace
}  // namespace holdfast::core::couchbase::prepared_cache_test
