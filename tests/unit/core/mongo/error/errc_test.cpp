#include "core/mongo/error/errc.hpp"

#include <gtest/gtest.h>

#include <set>

namespace holdfast::core::mongo::errc_test {
namespace {

TEST(mongo_errc, every_code_has_a_message_of_its_own)
{
    std::set<std::string> seen;
    for (int value = 1; value <= static_cast<int>(errc::crypto_unavailable); ++value) {
        const error_code code = static_cast<errc>(value);
        EXPECT_STREQ(code.category().name(), "mongo");
        EXPECT_TRUE(seen.insert(code.message()).second) << code.message();
        EXPECT_EQ(code.message().find("unknown"), std::string::npos) << value;
    }
    EXPECT_NE(error_code(static_cast<errc>(999)).message().find("unknown"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::core::mongo::errc_test
