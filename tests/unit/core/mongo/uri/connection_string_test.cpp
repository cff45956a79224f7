#include "core/mongo/uri/connection_string.hpp"

#include "core/mongo/error/errc.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::mongo::connection_string_test {
namespace {

TEST(connection_string, uri_is_split_into_its_parts)
{
    const auto parts = split_connection_string(
        "mongodb://us%40er:lovelace%3Aw@A.example.com:1,%2Ftmp%2Fm.sock,[::1]/"
        "my%3Fdb?a=1&b=x%20=y&c=");
    ASSERT_TRUE(parts) << parts.error().message();
    EXPECT_FALSE(parts->srv);
    EXPECT_EQ(parts->username, "us@er");
    EXPECT_EQ(parts->password, "lovelace:w");
    EXPECT_EQ(parts->hosts, (std::vector<std::string>{"A.example.com:1", "/tmp/m.sock", "[::1]"}));
    EXPECT_EQ(parts->database, "my?db");
    ASSERT_EQ(parts->options.size(), 3u);
    EXPECT_EQ(parts->options[0].name, "a");
    EXPECT_EQ(parts->options[1].value, "x%20=y");
    EXPECT_EQ(parts->options[2].value, "");
    EXPECT_TRUE(parts->may_quote_names);
}

TEST(connection_string, database_options_and_userinfo_are_optional)
{
    struct row {
        std::string_view text;
        std::size_t options;
        std::optional<std::string> database;
        std::optional<std::string> username;
        std::optional<std::string> password;
    };
    const row table[] = {
        {"mongodb://h", 0, {}, {}, {}},
        {"mongodb://h/", 0, {}, {}, {}},
        {"mongodb://h?", 0, {}, {}, {}},
        {"mongodb://h/?", 0, {}, {}, {}},
        {"mongodb://h?a=1", 1, {}, {}, {}},
        {"mongodb://h/?a=1&", 1, {}, {}, {}},
        {"mongodb://h/?a=1&&b=2", 2, {}, {}, {}},
        {"mongodb://h/d.b", 0, "d.b", {}, {}},
        {"mongodb+srv://h/d?a=1", 1, "d", {}, {}},
        {"mongodb://u@h", 0, {}, "u", {}},
        {"mongodb://u:@h", 0, {}, "u", ""},
        {"mongodb://@h", 0, {}, "", {}},
        {"mongodb://:@h", 0, {}, "", ""},
        {"mongodb://u\xC3\xBC:lovelace\xC3\xBC@h", 0, {}, "u\xC3\xBC", "lovelace\xC3\xBC"},
        {"mongodb://!$&'()*+,;=:!$&'()*+,;=@h", 0, {}, "!$&'()*+,;=", "!$&'()*+,;="},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.text);
        const auto parts = split_connection_string(r.text);
        ASSERT_TRUE(parts) << parts.error().message();
        EXPECT_EQ(parts->hosts, std::vector<std::string>{"h"});
        EXPECT_EQ(parts->srv, r.text.starts_with("mongodb+srv"));
        EXPECT_EQ(parts->options.size(), r.options);
        EXPECT_EQ(parts->database, r.database);
        EXPECT_EQ(parts->username, r.username);
        EXPECT_EQ(parts->password, r.password);
    }
}

TEST(connection_string, malformed_string_is_refused_with_a_reason)
{
    struct row {
        std::string text;
        std::string_view why;
    };
    const row table[] = {
        {"", "must start with"},
        {"mongo://h", "must start with"},
        {"MONGODB://h", "must start with"},
        {"mongodb:/h", "must start with"},
        {"mongodb://", "no host"},
        {"mongodb:///tmp/a.sock", "no host"},
        {"mongodb://u:lovelace@", "no host"},
        {"mongodb://h%zz", "host number 1 is not percent-encoded"},
        {"mongodb://h,%FF", "host number 2 is not percent-encoded"},
        {"mongodb://u:lovelace:q@h", "must be percent-encoded"},
        {"mongodb://u@lovelace@h", "must be percent-encoded"},
        {"mongodb://u%:lovelace@h", "must be percent-encoded"},
        {"mongodb://u:lovelace%4@h", "must be percent-encoded"},
        {"mongodb://u:lovelace%FF@h", "must be percent-encoded"},
        {"mongodb://u:lovelace#q@h", "must be percent-encoded"},
        {"mongodb://u:[lovelace]@h", "must be percent-encoded"},
        {"mongodb://u:lovelace q@h", "must be percent-encoded"},
        {"mongodb://u:lovelace/2@h", "an '@' stands after the hosts"},
        {"mongodb://h/a%2Fb", "the name of the database"},
        {"mongodb://h/a/b", "the name of the database"},
        {"mongodb://h/a%5Cb", "the name of the database"},
        {"mongodb://h/a%20b", "the name of the database"},
        {"mongodb://h/a%22b", "the name of the database"},
        {"mongodb://h/$a", "the name of the database"},
        {"mongodb://h/a%00", "the name of the database"},
        {"mongodb://h/%", "the name of the database"},
        {"mongodb://h/?a", "option number 1 is not of the form"},
        {"mongodb://h/?a=1&b", "option number 2 is not of the form"},
        {"mongodb://h/?=1", "option number 1 is not of the form"},
        {"mongodb://" + std::string(longest_connection_string, 'a'), "longer than 65536 bytes"},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.text.substr(0, 80));
        const auto parts = split_connection_string(r.text);
        ASSERT_FALSE(parts);
        EXPECT_EQ(parts.error().code(), errc::invalid_connection_string);
        EXPECT_NE(parts.error().message().find(r.why), std::string::npos)
            << parts.error().message();
        EXPECT_EQ(parts.error().explain().find("lovelace"), std::string::npos);
    }
}

}  // namespace
}  // namespace holdfast::core::mongo::connection_string_test
