#include "core/mongo/handshake/saslprep.hpp"

#include "core/mongo/error/errc.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::core::mongo::saslprep_test {
namespace {

TEST(saslprep, examples_of_rfc_4013_are_prepared)
{
    struct row {
        const char* given;
        const char* expected;
    };
    const row table[] = {
        {"I\xC2\xADX", "IX"},        // a soft hyphen is mapped to nothing
        {"user", "user"},            // no change
        {"USER", "USER"},            // case is kept
        {"\xC2\xAA", "a"},           // NFKC: the feminine ordinal
        {"\xE2\x85\xA8", "IX"},      // NFKC: the Roman numeral nine
        {"a\xC2\xA0z", "a z"},       // a space that is not ASCII
        {"e\xCC\x81", "\xC3\xA9"},   // e and an accent are one letter
        {"~ !,=", "~ !,="},
    };
    for (const row& r : table)
        EXPECT_EQ(saslprep(r.given).value().view(), r.expected);
}

TEST(saslprep, prohibited_input_is_refused_and_not_echoed)
{
    using namespace std::string_literals;
    const std::string table[] = {
        "\x07"s,                      // a control character
        "a\x7F"s,                     // and another
        "a\0b"s,                      // zero
        "\xD8\xA7"
        "1"s,              // from right to left, with a digit at the end
        "\xF4\x8F\xBF\xBF"s,          // no character
        "\xEF\xBF\xBD"s,              // the replacement character
        "\xF0\x9F\xA4\xB7lovelace"s,   // not assigned in Unicode 3.2
        "lovelace\xFF"s,               // no UTF-8
    };
    for (const std::string& password : table) {
        const auto made = saslprep(password);
        ASSERT_FALSE(made) << password;
        EXPECT_EQ(made.error().code(), errc::invalid_credential);
        EXPECT_EQ(made.error().explain().find("lovelace"), std::string::npos);
    }
}

}  // namespace
}  // namespace holdfast::core::mongo::saslprep_test
