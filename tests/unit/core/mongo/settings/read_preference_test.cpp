#include "core/mongo/settings/read_preference.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace holdfast::core::mongo::read_preference_test {
namespace {

TEST(read_mode, lookup_by_name_ignores_case)
{
    const std::pair<read_mode, std::string_view> table[] = {
        {read_mode::primary, "primary"},
        {read_mode::primary_preferred, "primaryPreferred"},
        {read_mode::secondary, "secondary"},
        {read_mode::secondary_preferred, "secondaryPreferred"},
        {read_mode::nearest, "nearest"},
    };
    for (const auto& [mode, name] : table) {
        EXPECT_EQ(name_of(mode), name);
        EXPECT_EQ(parse_read_mode(name), mode);
    }
    EXPECT_EQ(parse_read_mode("SECONDARYpreferred"), read_mode::secondary_preferred);
    EXPECT_EQ(parse_read_mode("Primary"), read_mode::primary);
    for (const std::string_view wrong : {"", "primar", "primaryy", "secondary_preferred", "any"})
        EXPECT_EQ(parse_read_mode(wrong), std::nullopt) << wrong;
}

}  // namespace
}  // namespace holdfast::core::mongo::read_preference_test
