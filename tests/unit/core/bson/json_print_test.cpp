#include "holdfast/bson/errc.hpp"
#include "holdfast/bson/json.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace holdfast::bson::json_print_test {
namespace {

using namespace std::string_view_literals;

constexpr object_id id{{0x56, 0xE1, 0xFC, 0x72, 0xE0, 0xC9, 0x17, 0xE9, 0xC4, 0x71, 0x41, 0x61}};

std::string canonical(const document& d)
{
    return to_json(d.view(), json_mode::canonical).value();
}

std::string relaxed(const document& d)
{
    return to_json(d.view()).value();
}

datetime at(std::int64_t since_epoch)
{
    return datetime{std::chrono::milliseconds{since_epoch}};
}

document string_of(std::string_view text)
{
    return doc("a", text);
}

struct printed {
    document source;
    std::string_view canonical;
    std::string_view relaxed;  // empty: the same
};

TEST(json_print, every_type_prints_canonical_and_relaxed)
{
    const std::uint8_t ones[] = {0xFF, 0xFF};
    const document scope = doc("x", 1);
    const auto plus_infinity = std::numeric_limits<double>::infinity();
    const printed table[] = {
        {doc(), "{}", ""},
        {doc("a", 1), R"({"a":{"$numberInt":"1"}})", R"({"a":1})"},
        {doc("a", -1, "b", 0), R"({"a":{"$numberInt":"-1"},"b":{"$numberInt":"0"}})",
         R"({"a":-1,"b":0})"},
        {doc("a", INT64_MIN), R"({"a":{"$numberLong":"-9223372036854775808"}})",
         R"({"a":-9223372036854775808})"},
        {doc("a", 1.0), R"({"a":{"$numberDouble":"1.0"}})", R"({"a":1.0})"},
        {doc("a", -0.0), R"({"a":{"$numberDouble":"-0.0"}})", R"({"a":-0.0})"},
        {doc("a", plus_infinity), R"({"a":{"$numberDouble":"Infinity"}})", ""},
        {doc("a", decimal128::parse("1E+3").value()), R"({"a":{"$numberDecimal":"1E+3"}})", ""},
        {doc("a", "b"), R"({"a":"b"})", ""},
        {doc("a", true, "b", false, "c", null{}), R"({"a":true,"b":false,"c":null})", ""},
        {doc("a", arr()), R"({"a":[]})", ""},
        {doc("a", arr(true, arr(doc()))), R"({"a":[true,[{}]]})", ""},
        {doc("a", doc("b", doc())), R"({"a":{"b":{}}})", ""},
        {doc("a", id), R"({"a":{"$oid":"56e1fc72e0c917e9c4714161"}})", ""},
        {doc("a", symbol{"s"}), R"({"a":{"$symbol":"s"}})", ""},
        {doc("a", code{"f"}), R"({"a":{"$code":"f"}})", ""},
        {doc("a", code_with_scope{"f", scope}),
         R"({"a":{"$code":"f","$scope":{"x":{"$numberInt":"1"}}}})",
         R"({"a":{"$code":"f","$scope":{"x":1}}})"},
        {doc("a", binary{ones}), R"({"a":{"$binary":{"base64":"//8=","subType":"00"}}})", ""},
        {doc("a", binary{ones, binary_subtype::user_defined}),
         R"({"a":{"$binary":{"base64":"//8=","subType":"80"}}})", ""},
        {doc("a", binary{ones, binary_subtype::binary_old}),
         R"({"a":{"$binary":{"base64":"//8=","subType":"02"}}})", ""},
        {doc("a", timestamp{4294967295, 42}), R"({"a":{"$timestamp":{"t":4294967295,"i":42}}})",
         ""},
        {doc("a", regex{"a\"b", "mi"}),
         R"({"a":{"$regularExpression":{"pattern":"a\"b","options":"im"}}})", ""},
        {doc("a", db_pointer{"c", id}),
         R"({"a":{"$dbPointer":{"$ref":"c","$id":{"$oid":"56e1fc72e0c917e9c4714161"}}}})", ""},
        {doc("a", min_key{}, "b", max_key{}, "c", undefined{}),
         R"({"a":{"$minKey":1},"b":{"$maxKey":1},"c":{"$undefined":true}})", ""},
        {doc("a", at(1356351330501)), R"({"a":{"$date":{"$numberLong":"1356351330501"}}})",
         R"({"a":{"$date":"2012-12-24T12:15:30.501Z"}})"},
        {doc("a", at(0)), R"({"a":{"$date":{"$numberLong":"0"}}})",
         R"({"a":{"$date":"1970-01-01T00:00:00Z"}})"},
        {doc("a", at(-1)), R"({"a":{"$date":{"$numberLong":"-1"}}})", ""},
        {doc("a", at(253402300800000)), R"({"a":{"$date":{"$numberLong":"253402300800000"}}})", ""},
    };
    for (const printed& p : table) {
        EXPECT_EQ(canonical(p.source), p.canonical);
        EXPECT_EQ(relaxed(p.source), p.relaxed.empty() ? p.canonical : p.relaxed);
    }
}

TEST(json_print, only_control_quote_and_backslash_are_escaped)
{
    EXPECT_EQ(canonical(string_of("\" \\ / \b\f\n\r\t"sv)), R"({"a":"\" \\ / \b\f\n\r\t"})");
    EXPECT_EQ(canonical(string_of("\0\x01\x1F\x7F"sv)), "{\"a\":\"\\u0000\\u0001\\u001f\x7F\"}");
    EXPECT_EQ(canonical(string_of("é€😀")), R"({"a":"é€😀"})");
    EXPECT_EQ(canonical(doc("\n\"é", 1)), R"({"\n\"é":{"$numberInt":"1"}})");
}

TEST(json_print, newline_at_any_offset_of_any_length_is_escaped)
{
    for (std::size_t length = 1; length < 50; ++length) {
        for (std::size_t place = 0; place < length; ++place) {
            std::string text(length, 'x');
            text[place] = '\n';
            std::string expected(length + 1, 'x');
            expected.replace(place, 2, "\\n");
            EXPECT_EQ(canonical(string_of(text)), R"({"a":")" + expected + R"("})");
        }
    }
}

TEST(json_print, output_grows_for_text_of_escapes_only)
{
    std::string expected;
    for (int i = 0; i < 10'000; ++i)
        expected += "\\u0001";
    EXPECT_EQ(canonical(string_of(std::string(10'000, '\x01'))), R"({"a":")" + expected + R"("})");
}

// Written by hand: a builder would sort the options and count the keys.

TEST(json_print, regex_options_are_sorted)
{
    const std::uint8_t bytes[] = {14, 0, 0, 0, 0x0B, 'a', 0, 'b', 0, 'm', 'i', 'x', 0, 0};
    EXPECT_EQ(canonical(document::parse(bytes).value()),
              R"({"a":{"$regularExpression":{"pattern":"b","options":"imx"}}})");
}

TEST(json_print, array_keys_are_ignored)
{
    const std::uint8_t bytes[] = {21, 0,   0,   0, 4, 'a', 0, 13, 0, 0, 0,
                                  8,  'x', 'y', 0, 1, 8,   0, 0,  0, 0};
    EXPECT_EQ(canonical(document::parse(bytes).value()), R"({"a":[true,false]})");
}

TEST(json_print, append_json_keeps_existing_text)
{
    std::string out = "before ";
    ASSERT_TRUE(append_json(out, doc("a", 1)));
    EXPECT_EQ(out, R"(before {"a":1})");
    ASSERT_TRUE(append_json(out, doc("a", std::string(5000, 'x'))));
    EXPECT_EQ(out, R"(before {"a":1}{"a":")" + std::string(5000, 'x') + R"("})");
}

TEST(json_print, array_view_prints_as_an_array)
{
    EXPECT_EQ(to_json(arr(1, "a").view()).value(), R"([1,"a"])");
    EXPECT_EQ(to_json(arr(1).view(), json_mode::canonical).value(), R"([{"$numberInt":"1"}])");
    EXPECT_EQ(to_json(array_view{}).value(), "[]");
}

document nested(int levels)
{
    document d;
    for (int i = 1; i < levels; ++i)
        d = doc("a", d);
    return d;
}

TEST(json_print, nesting_beyond_max_depth_is_refused)
{
    EXPECT_TRUE(to_json(nested(max_depth).view()));
    const auto refused = to_json(nested(max_depth + 1).view());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), errc::too_deep);
    EXPECT_EQ(refused.error().context("offset"), std::to_string(max_depth * 7));
}

struct refusal {
    std::string_view bytes;  // the elements of a document
    errc what;
    std::string_view offset;
    std::string_view path;
};

TEST(json_print, malformed_document_error_names_offset_and_key)
{
    const refusal table[] = {
        {"\x02" "a\0\x03\0\0\0\xC3(\0"sv, errc::invalid_utf8, "4", "a"},
        {"\x02\xFF\0\x01\0\0\0\0"sv, errc::invalid_utf8, "4", ""},
        {"\x08" "a\0\x02"sv, errc::malformed, "4", "a"},
        {"\x0A" "b\0\x63" "a\0"sv, errc::malformed, "7", ""},
        {"\x10" "a\0\x01\0"sv, errc::malformed, "4", ""},
        {"\x03" "a\0\x09\0\0\0\x08" "b\0\x07\0"sv, errc::malformed, "11", "a.b"},
        {"\x04" "a\0\x0E\0\0\0\x02" "0\0\x02\0\0\0\x80\0\0"sv, errc::invalid_utf8, "11", "a.0"},
        {"\x04" "a\0\x09\0\0\0\x08\xFF\0\x07\0"sv, errc::malformed, "11", "a.\"\\xff\""},
        {"\x05" "a\0\x06\0\0\0\x02\x03\0\0\0\xFF\xFF"sv, errc::malformed, "4", "a"},
        {"\x0B" "a\0\x80\0\0"sv, errc::invalid_utf8, "4", "a"},
        {"\x0C" "a\0\x02\0\0\0bb0123456789ab"sv, errc::malformed, "4", "a"},
        {"\x0F" "a\0\x0E\0\0\0\x09\0\0\0\0\x05\0\0\0\0"sv, errc::malformed, "4", "a"},
    };
    for (const refusal& r : table) {
        std::string bytes = std::string(4, '\0') + std::string{r.bytes} + '\0';
        bytes[0] = static_cast<char>(bytes.size());
        const auto source = view::parse(
            {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
        std::string out = "before";
        const auto done = append_json(out, source.value());
        ASSERT_FALSE(done) << out;
        EXPECT_EQ(out, "before");
        EXPECT_EQ(done.error().code(), r.what) << done.error().message();
        EXPECT_EQ(done.error().context("offset"), r.offset) << done.error().message();
        EXPECT_EQ(done.error().context("path"), r.path) << done.error().message();
    }
}

}  // namespace
}  // namespace holdfast::bson::json_print_test
