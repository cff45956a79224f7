#include "core/uri/percent.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::uri::percent_test {
namespace {

TEST(percent_decode, escapes_become_bytes_and_malformed_ones_are_refused)
{
    EXPECT_EQ(percent_decode(""), "");
    EXPECT_EQ(percent_decode("a%20b%2Fc%2f"), "a b/c/");
    EXPECT_EQ(percent_decode("a+b"), "a+b");
    EXPECT_EQ(percent_decode("%C3%BC"), "\xC3\xBC");
    EXPECT_EQ(percent_decode("%2541"), "%41");
    for (const std::string_view bad :
         {"%", "%4", "a%", "%4g", "%g4", "%-1", "% 1", "%+1", "%C3", "\xFF", "%ED%A0%80"})
        EXPECT_EQ(percent_decode(bad), std::nullopt) << bad;
    EXPECT_EQ(percent_decode(std::string_view{"a%412"}.substr(0, 3)), std::nullopt);
}

TEST(percent_encode, all_but_unreserved_characters_become_escapes)
{
    EXPECT_EQ(percent_encode(""), "");
    EXPECT_EQ(percent_encode("azAZ09-._~"), "azAZ09-._~");
    EXPECT_EQ(percent_encode("a b/c?d#e%f+g&h=i"), "a%20b%2Fc%3Fd%23e%25f%2Bg%26h%3Di");
    EXPECT_EQ(percent_encode("\xC3\xBC\n`\"@[{"), "%C3%BC%0A%60%22%40%5B%7B");
    for (int byte = 1; byte < 0x80; ++byte) {
        const std::string text(1, static_cast<char>(byte));
        EXPECT_EQ(percent_decode(percent_encode(text)), text);
    }
}

}  // namespace
}  // namespace holdfast::core::uri::percent_test
