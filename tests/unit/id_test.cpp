#include "holdfast/id.hpp"

#include <gtest/gtest.h>

#include <concepts>
#include <unordered_set>

namespace holdfast::id_test {
namespace {

// What must not compile is the point of the type.
static_assert(!std::convertible_to<std::string, endpoint>);
static_assert(!std::convertible_to<endpoint, std::string>);
static_assert(!std::constructible_from<connection_id, operation_id>);
static_assert(!std::equality_comparable_with<connection_id, operation_id>);
static_assert(std::is_nothrow_constructible_v<request_id, std::int32_t>);
static_assert(sizeof(request_id) == sizeof(std::int32_t));

TEST(strong_id, default_constructed_holds_the_default_value)
{
    EXPECT_EQ(endpoint{}.value(), "");
    EXPECT_EQ(connection_id{}.value(), 0);
}

TEST(strong_id, comparison_is_by_value)
{
    const endpoint a{"a:27017"};
    const endpoint b{"b:27017"};
    EXPECT_EQ(a, endpoint{"a:27017"});
    EXPECT_NE(a, b);
    EXPECT_LT(a, b);
    EXPECT_GT(connection_id{2}, connection_id{-3});
}

TEST(strong_id, hash_is_by_value)
{
    std::unordered_set<endpoint> seen{endpoint{"a:1"}, endpoint{"b:1"}, endpoint{"a:1"}};
    EXPECT_EQ(seen.size(), 2u);
    EXPECT_TRUE(seen.contains(endpoint{"b:1"}));
    EXPECT_FALSE(seen.contains(endpoint{"c:1"}));
    EXPECT_EQ(std::hash<endpoint>{}(endpoint{"a:1"}), std::hash<std::string>{}("a:1"));
}

}  // namespace
}  // namespace holdfast::id_test
