#include "holdfast/bson/errc.hpp"
#include "holdfast/bson/json.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace holdfast::bson::json_parse_test {
namespace {

using namespace std::string_literals;

struct parsed {
    std::string text;
    document expected;
};

void expect_all(std::span<const parsed> table)
{
    for (const parsed& p : table) {
        const auto read = from_json(p.text);
        ASSERT_TRUE(read) << p.text << "\n" << read.error().message();
        EXPECT_EQ(*read, p.expected) << p.text;
    }
}

struct refusal {
    std::string text;
    std::string_view line;
    std::string_view column;
    std::string_view message;  // behind the position
};

void expect_refused(std::span<const refusal> table)
{
    for (const refusal& r : table) {
        const auto read = from_json(r.text);
        ASSERT_FALSE(read) << r.text;
        const error& e = read.error();
        EXPECT_EQ(e.code(), errc::invalid_json);
        EXPECT_EQ(e.context("line"), r.line) << r.text;
        EXPECT_EQ(e.context("column"), r.column) << r.text;
        EXPECT_EQ(e.message(), "line " + std::string{r.line} + ", column " + std::string{r.column} +
                                   ": " + std::string{r.message});
    }
}

TEST(json_parse, plain_json_becomes_a_document)
{
    const parsed table[] = {
        {"{}", doc()},
        {" \t\r\n{ } \n", doc()},
        {R"({"a":true,"b":false,"c":null})", doc("a", true, "b", false, "c", null{})},
        {R"({ "a" : [ ] , "b" : { } })", doc("a", arr(), "b", doc())},
        {R"({"a":["x",["y"],{"z":[]}]})", doc("a", arr("x", arr("y"), doc("z", arr())))},
        {R"({"":""})", doc("", "")},
        {R"({"a":1,"a":2})", doc("a", 1, "a", 2)},  // duplicates stay
        {R"({"a.b":1,"$":2,"$key":3})", doc("a.b", 1, "$", 2, "$key", 3)},
    };
    expect_all(table);
}

TEST(json_parse, array_keys_continue_after_nine)
{
    const auto read = from_json(R"({"a":[0,1,2,3,4,5,6,7,8,9,10,11]})");
    EXPECT_EQ(*read, doc("a", arr(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)));
}

TEST(json_parse, numbers_become_int32_int64_or_double)
{
    const parsed table[] = {
        {R"({"a":0})", doc("a", 0)},
        {R"({"a":-0})", doc("a", 0)},
        {R"({"a":2147483647})", doc("a", INT32_MAX)},
        {R"({"a":-2147483648})", doc("a", INT32_MIN)},
        {R"({"a":2147483648})", doc("a", std::int64_t{2147483648})},
        {R"({"a":-2147483649})", doc("a", std::int64_t{-2147483649})},
        {R"({"a":999999999999999999})", doc("a", std::int64_t{999999999999999999})},
        {R"({"a":9223372036854775807})", doc("a", INT64_MAX)},
        {R"({"a":-9223372036854775808})", doc("a", INT64_MIN)},
        {R"({"a":9223372036854775808})", doc("a", 9223372036854775808.0)},
        {R"({"a":-9223372036854775809})", doc("a", -9223372036854775808.0)},
        {R"({"a":123456789012345678901234567890})", doc("a", 123456789012345678901234567890.0)},
        {R"({"a":1.0})", doc("a", 1.0)},
        {R"({"a":-0.0})", doc("a", -0.0)},
        {R"({"a":0e0})", doc("a", 0.0)},
        {R"({"a":1E2})", doc("a", 100.0)},
        {R"({"a":1e+2})", doc("a", 100.0)},
        {R"({"a":25e-1})", doc("a", 2.5)},
        {R"({"a":1.2345678921232E+18})", doc("a", 1.2345678921232E+18)},
        {R"({"a":1e-400})", doc("a", 0.0)},
    };
    expect_all(table);
}

TEST(json_parse, string_escapes_are_decoded)
{
    const parsed table[] = {
        {R"({"a":"\" \\ \/ \b \f \n \r \t"})", doc("a", "\" \\ / \b \f \n \r \t")},
        {R"({"a":"\u0041\u00e9\u20AC\uD83D\uDE00"})", doc("a", "A\u00e9\u20AC\U0001F600")},
        {R"({"a":"x\u0000y"})", doc("a", "x\0y"s)},
        {R"({"a":"\uE000\uFFFF\uD7FF"})", doc("a", "\uE000\uFFFF\uD7FF")},
        {R"({"a":"\u007f\u0080\u07ff\u0800\udbff\udfff"})",
         doc("a", "\x7F\u0080\u07ff\u0800\U0010FFFF")},
        {"{\"\u00e9\":\"\u20AC \U0001F600 \x7F\"}", doc("\u00e9", "\u20AC \U0001F600 \x7F")},
        {R"({"\u0061\n":1})", doc("a\n", 1)},
    };
    expect_all(table);
}

TEST(json_parse, escape_at_any_offset_of_any_length_is_decoded)
{
    for (std::size_t length = 1; length < 50; ++length) {
        for (std::size_t place = 0; place < length; ++place) {
            const std::string before(place, 'x');
            const std::string after(length - place - 1, 'y');
            EXPECT_EQ(*from_json(R"({"k":")" + before + "\\n" + after + R"("})"),
                      doc("k", before + "\n" + after));
            EXPECT_EQ(*from_json(R"({"k":")" + before + "\u00e9" + after + R"("})"),
                      doc("k", before + "\u00e9" + after));
        }
    }
}

TEST(json_parse, structural_errors_name_line_and_column)
{
    const refusal table[] = {
        {"", "1", "1", "expected '{', found the end of the text"},
        {"  \n ", "2", "2", "expected '{', found the end of the text"},
        {"[]", "1", "1", "expected '{', found '['"},
        {"1", "1", "1", "expected '{', found '1'"},
        {"{", "1", "2", "expected a key, found the end of the text"},
        {"{1", "1", "2", "expected a key, found '1'"},
        {"{a:1}", "1", "2", "expected a key, found 'a'"},
        {"{'a':1}", "1", "2", "expected a key, found '''"},
        {"{,}", "1", "2", "expected a key, found ','"},
        {R"({"a"})", "1", "5", R"(expected ':' after key "a", found '}')"},
        {"{\n  \"b\": 1,\n  \"a\"      }", "3", "12", R"(expected ':' after key "a", found '}')"},
        {R"({"a":})", "1", "6", "expected a value, found '}'"},
        {R"({"a":1)", "1", "7", "expected ',' or '}', found the end of the text"},
        {R"({"a":1 "b":2})", "1", "8", "expected ',' or '}', found '\"'"},
        {R"({"a":1,})", "1", "8", "expected a key, found '}'"},
        {R"({"a":1]})", "1", "7", "expected ',' or '}', found ']'"},
        {R"({"a":[1})", "1", "8", "expected ',' or ']', found '}'"},
        {R"({"a":[1,]})", "1", "9", "expected a value, found ']'"},
        {R"({"a":[,1]})", "1", "7", "expected a value, found ','"},
        {R"({"a":[)", "1", "7", "expected a value, found the end of the text"},
        {R"({"a":1}})", "1", "8", "expected the end of the text, found '}'"},
        {R"({"a":1} x)", "1", "9", "expected the end of the text, found 'x'"},
        {"{}\0"s, "1", "3", "expected the end of the text, found byte 0x00"},
        {"{\"a\":\0}"s, "1", "6", "expected a value, found byte 0x00"},
        {"{/* no */}", "1", "2", "expected a key, found '/'"},
        {"{\"a\":1 // no\n}", "1", "8", "expected ',' or '}', found '/'"},
        {"\xEF\xBB\xBF{}", "1", "1", "expected '{', found byte 0xef"},
        {"{\v}", "1", "2", "expected a key, found byte 0x0b"},
    };
    expect_refused(table);
}

TEST(json_parse, malformed_literals_and_numbers_are_errors)
{
    const refusal table[] = {
        {R"({"a":tru})", "1", "6", "expected a value, found 't'"},
        {R"({"a":True})", "1", "6", "expected a value, found 'T'"},
        {R"({"a":nul)", "1", "6", "expected a value, found 'n'"},
        {R"({"a":truer})", "1", "10", "expected ',' or '}', found 'r'"},
        {R"({"a":NaN})", "1", "6", "expected a value, found 'N'"},
        {R"({"a":01})", "1", "6", "a number with a leading zero"},
        {R"({"a":-01})", "1", "7", "a number with a leading zero"},
        {R"({"a":+1})", "1", "6", "expected a value, found '+'"},
        {R"({"a":-})", "1", "7", "expected a digit, found '}'"},
        {R"({"a":-x})", "1", "7", "expected a digit, found 'x'"},
        {R"({"a":.5})", "1", "6", "expected a value, found '.'"},
        {R"({"a":1.})", "1", "8", "expected a digit after the decimal point, found '}'"},
        {R"({"a":1.e5})", "1", "8", "expected a digit after the decimal point, found 'e'"},
        {R"({"a":1e})", "1", "8", "expected a digit in the exponent, found '}'"},
        {R"({"a":1e+)", "1", "9", "expected a digit in the exponent, found the end of the text"},
        {R"({"a":0x10})", "1", "7", "expected ',' or '}', found 'x'"},
        {R"({"a":1e999})", "1", "6", "a number too large for a double"},
        {R"({"a":-1e999})", "1", "6", "a number too large for a double"},
        {R"({"a":1)" + std::string(400, '0') + "}", "1", "6", "a number too large for a double"},
    };
    expect_refused(table);
}

TEST(json_parse, malformed_strings_name_line_and_column)
{
    constexpr auto lone = "a surrogate without its other half";
    constexpr auto four = "expected four hexadecimal digits after \\u";
    constexpr auto one_of = "expected one of \"\\/bfnrtu after a backslash, found ";
    const std::string one_of_x = one_of + "'x'"s;
    const refusal table[] = {
        {R"({"a":"x)", "1", "8", "expected '\"' at the end of a string, found the end of the text"},
        {"{\"a\":\"x\ny\"}", "1", "8",
         "control characters in a string must be escaped, found byte 0x0a"},
        {"{\"a\tb\":1}", "1", "4",
         "control characters in a string must be escaped, found byte 0x09"},
        {"{\"a\":\"x\0\"}"s, "1", "8",
         "control characters in a string must be escaped, found byte 0x00"},
        {R"({"a":"\x"})", "1", "8", one_of_x},
        {R"({"a":"\)", "1", "8", "expected an escaped character, found the end of the text"},
        {R"({"a":"\u12"})", "1", "7", four},
        {R"({"a":"\u12G4"})", "1", "7", four},
        {R"({"a":"\u123)", "1", "7", four},
        {R"({"a":"\ud83d"})", "1", "7", lone},
        {R"({"a":"\ud83d\n"})", "1", "7", lone},
        {R"({"a":"\ud83d\u0041"})", "1", "7", lone},
        {R"({"a":"\ud83d\ud83d"})", "1", "7", lone},
        {R"({"a":"xy\ude00"})", "1", "9", lone},
        {"{\"a\":\"x\xFF\"}", "1", "8", "invalid UTF-8, byte 0xff"},
        {"{\"a\":\"\xC3\"}", "1", "7", "invalid UTF-8, byte 0xc3"},
        {"{\"a\":\"\xC0\x80\"}", "1", "7", "invalid UTF-8, byte 0xc0"},
        {"{\"a\":\"\xED\xA0\x80\"}", "1", "7", "invalid UTF-8, byte 0xed"},
        {"{\"a\":\"\xF4\x90\x80\x80\"}", "1", "7", "invalid UTF-8, byte 0xf4"},
        {"{\"a\":\"\xE2\x82", "1", "7", "invalid UTF-8, byte 0xe2"},
        {"{\"\x80\":1}", "1", "3", "invalid UTF-8, byte 0x80"},
        {R"({"a\u0000b":1})", "1", "2", "a key cannot hold a zero byte"},
        {R"({"a":{"b\u0000":1}})", "1", "7", "a key cannot hold a zero byte"},
    };
    expect_refused(table);
}

std::string nested(int levels, const std::string& inner)
{
    std::string text;
    for (int i = 0; i < levels; ++i)
        text += R"({"a":)";
    return text + inner + std::string(static_cast<std::size_t>(levels), '}');
}

TEST(json_parse, nesting_beyond_max_depth_is_refused)
{
    EXPECT_TRUE(from_json(nested(max_depth, "1")));
    EXPECT_TRUE(from_json(nested(max_depth, R"({"$timestamp":{"t":1,"i":2}})")));
    EXPECT_TRUE(from_json(nested(max_depth - 1, "{}")));
    EXPECT_TRUE(from_json(nested(max_depth - 1, "[1]")));
    for (const char* inner : {"{}", "[]", "[1]", R"({"b":1})", R"({"$code":"","$scope":{}})",
                              R"({"$scope":{},"$code":""})"}) {
        const auto refused = from_json(nested(max_depth, inner));
        ASSERT_FALSE(refused) << inner;
        EXPECT_EQ(refused.error().code(), errc::too_deep);
        EXPECT_EQ(refused.error().context("line"), "1");
    }
    EXPECT_EQ(from_json(std::string(1'000'000, '[')).error().code(), errc::invalid_json);
    EXPECT_EQ(array_from_json(std::string(1'000'000, '[')).error().code(), errc::too_deep);
}

TEST(json_parse, append_from_json_rolls_back_on_error)
{
    byte_buffer out;
    ASSERT_TRUE(append_from_json(out, R"({"a":1})"));
    const std::size_t first = out.size();
    EXPECT_FALSE(append_from_json(out, R"({"a":1,"b":"xxxxxxxxx)"));
    EXPECT_EQ(out.size(), first);
    ASSERT_TRUE(append_from_json(out, R"({"b":2})"));
    EXPECT_EQ(view::parse(out.bytes().subspan(first)).value(), doc("b", 2).view());
    EXPECT_EQ(view::parse(out.bytes().first(first)).value(), doc("a", 1).view());
}

TEST(json_parse, array_from_json_reads_a_top_level_array)
{
    EXPECT_EQ(array_from_json(R"( [1, "a", {"$numberLong":"3"}] )").value(),
              arr(1, "a", std::int64_t{3}));
    EXPECT_EQ(array_from_json("[]").value(), arr());
    EXPECT_EQ(array_from_json("{}").error().message(), "line 1, column 1: expected '[', found '{'");
    EXPECT_EQ(array_from_json("[1] 2").error().message(),
              "line 1, column 5: expected the end of the text, found '2'");
}

}  // namespace
}  // namespace holdfast::bson::json_parse_test
