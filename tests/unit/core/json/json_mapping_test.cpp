#include "holdfast/json.hpp"
#include "holdfast/json/mapping.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace json_mapping_test {

namespace json = holdfast::json;
using holdfast::raw_json;
using holdfast::result;

enum class colour { red, blue };
BOOST_DESCRIBE_ENUM(colour, red, blue)

struct place {
    std::string street;
    int zip = 0;
    friend bool operator==(const place&, const place&) = default;
};
BOOST_DESCRIBE_STRUCT(place, (), (street, zip))

struct person {
    std::string name;
    double height = 0;
    bool member = false;
    place home;
    std::optional<int> age;
    std::vector<std::string> tags;
    colour likes = colour::red;
    friend bool operator==(const person&, const person&) = default;
};
BOOST_DESCRIBE_STRUCT(person, (), (name, height, member, home, age, tags, likes))

struct ruled {
    int id = 1;
    std::string note = "none";
    int cache = 7;
    friend bool operator==(const ruled&, const ruled&) = default;
};
BOOST_DESCRIBE_STRUCT(ruled, (), (id, note, cache))

struct three {
    int a = 0, b = 0, c = 0;
    friend bool operator==(const three&, const three&) = default;
};
BOOST_DESCRIBE_STRUCT(three, (), (a, b, c))

struct odd_key {
    int a = 0;
    int b = 0;
    friend bool operator==(const odd_key&, const odd_key&) = default;
};
BOOST_DESCRIBE_STRUCT(odd_key, (), (a, b))

struct chain {
    std::unique_ptr<chain> next;
};
BOOST_DESCRIBE_STRUCT(chain, (), (next))

struct nothing {};
BOOST_DESCRIBE_STRUCT(nothing, (), ())

}  // namespace json_mapping_test

template <>
inline constexpr auto holdfast::bson::mapping_of<json_mapping_test::ruled> = mapping{
    rename(&json_mapping_test::ruled::id, "_id"), defaulted(&json_mapping_test::ruled::note),
    skip(&json_mapping_test::ruled::cache), reject_unknown};
template <>
inline constexpr auto holdfast::bson::mapping_of<json_mapping_test::odd_key> = mapping{
    rename(&json_mapping_test::odd_key::a, "x\"\n"),
    rename(&json_mapping_test::odd_key::b, "h\xc3\xb6he")};
template <>
inline constexpr auto holdfast::bson::mapping_of<json_mapping_test::colour> = mapping{
    rename(json_mapping_test::colour::blue, "deep blue")};

namespace json_mapping_test {
namespace {

template <class T>
std::string text_of(const T& value)
{
    return json::to_json(value).value().text();
}

template <class T>
std::string failure_of(std::string_view text)
{
    const result<T> read = json::from_json<T>(text);
    return read ? "no failure" : read.error().message();
}

TEST(json_mapping, struct_is_written_in_order_without_white_space)
{
    const person ada{"Ada \"A\"\n", 1.65, true, {"Lane", 7}, {}, {"x", "y"}, colour::blue};
    EXPECT_EQ(text_of(ada), R"({"name":"Ada \"A\"\n","height":1.65,"member":true,)"
                            R"("home":{"street":"Lane","zip":7},"tags":["x","y"],)"
                            R"("likes":"deep blue"})");
    EXPECT_EQ(json::from_json<person>(text_of(ada)).value(), ada);
    EXPECT_EQ(text_of(nothing{}), "{}");
    EXPECT_TRUE(json::from_json<nothing>(R"({"a":1})"));
}

TEST(json_mapping, members_are_found_in_any_order_and_unknown_ones_are_ignored)
{
    const three expected{1, 2, 3};
    for (const char* text : {
             R"({"a":1,"b":2,"c":3})",
             R"({"c":3,"b":2,"a":1})",
             R"({"b":2,"c":3,"a":1})",
             R"({"c":3,"a":1,"b":2})",
             R"( { "a" : 1 ,"x":[{"y":"}"}], "b":2,"z":null,"c":3 , "w":true} )",
             R"({"x":-1.5e3,"a":1,"b":2,"c":3,"a":9})",
             R"({"a":1,"a":9,"c":3,"b":2,"c":9})",
             R"({"\u0061":1,"b":2,"\u0063":3})",
         })
        EXPECT_EQ(json::from_json<three>(text).value(), expected) << text;
}

TEST(json_mapping, rules_of_the_bson_mapping_hold)
{
    EXPECT_EQ(text_of(ruled{3, "n", 5}), R"({"_id":3,"note":"n"})");
    EXPECT_EQ(json::from_json<ruled>(R"({"_id":3})").value(), (ruled{3, "none", 7}));
    EXPECT_EQ(failure_of<ruled>(R"({"_id":3,"more":1})"), "more: the struct has no such member");
    EXPECT_EQ(failure_of<ruled>(R"({"note":"n"})"), "_id: the member is missing");
}

TEST(json_mapping, keys_with_escapes_are_written_and_found)
{
    const odd_key value{1, 2};
    EXPECT_EQ(text_of(value), "{\"x\\\"\\n\":1,\"h\xc3\xb6he\":2}");
    EXPECT_EQ(json::from_json<odd_key>(text_of(value)).value(), value);
    EXPECT_EQ(json::from_json<odd_key>(R"({"h\u00f6he":2,"x\u0022\u000a":1})").value(), value);
}

TEST(json_mapping, optional_reads_null_and_absence_as_empty)
{
    const std::string rest = R"("name":"","height":0,"member":false,"home":{"street":"","zip":0},)"
                             R"("tags":[],"likes":"red")";
    EXPECT_EQ(json::from_json<person>("{" + rest + R"(,"age":null})").value().age, std::nullopt);
    EXPECT_EQ(json::from_json<person>("{" + rest + "}").value().age, std::nullopt);
    EXPECT_EQ(json::from_json<person>("{" + rest + R"(,"age":5})").value().age, 5);
    EXPECT_EQ(text_of(std::vector<std::optional<int>>{1, {}}), "[1,null]");
}

TEST(json_mapping, failure_names_the_path_and_what_was_found)
{
    EXPECT_EQ(failure_of<place>("[]"), "expected object, found array");
    EXPECT_EQ(failure_of<place>(R"({"street":1})"), "street: expected string, found number");
    EXPECT_EQ(failure_of<person>(R"({"name":"a","height":1,"member":true,"home":{"zip":"x"}})"),
              "home.zip: expected number, found string");
    EXPECT_EQ(failure_of<std::vector<int>>("[1,2.5]"), "1: the number does not fit into 64 bits");
    EXPECT_EQ((failure_of<std::map<std::string, int>>(R"({"k":true})")),
              "k: expected number, found boolean");
    EXPECT_EQ(failure_of<colour>(R"("green")"), "expected one of red, deep blue");
    const auto wrong = json::from_json<place>(R"({"street":1})").error();
    EXPECT_EQ(wrong.code(), json::errc::wrong_type);
    EXPECT_EQ(wrong.context("path"), "street");
    EXPECT_EQ(wrong.context("offset"), "10");
}

TEST(json_mapping, integers_are_read_if_nothing_is_lost)
{
    EXPECT_EQ(json::from_json<int>("-0").value(), 0);
    EXPECT_EQ(json::from_json<int>("3.0").value(), 3);
    EXPECT_EQ(json::from_json<int>("1e2").value(), 100);
    EXPECT_EQ(json::from_json<std::int64_t>("-9223372036854775808").value(),
              std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(json::from_json<std::uint64_t>("18446744073709551615").value(),
              std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(failure_of<std::uint8_t>("256"), "the number does not fit into 8 bits");
    EXPECT_EQ(failure_of<std::int8_t>("-129"), "the number does not fit into 8 bits");
    EXPECT_EQ(failure_of<std::int64_t>("9223372036854775808"),
              "the number does not fit into 64 bits");
    EXPECT_EQ(failure_of<std::uint64_t>("-1"), "the number does not fit into 64 bits");
    EXPECT_EQ(failure_of<int>("3.5"), "the number does not fit into 64 bits");
    for (const std::int64_t number :
         {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(),
          std::int64_t{0}, std::int64_t{-1}, std::int64_t{999'999'999'999'999'999}})
        EXPECT_EQ(json::from_json<std::int64_t>(text_of(number)).value(), number);
}

TEST(json_mapping, doubles_are_read_as_the_nearest_and_written_as_the_shortest)
{
    for (const double number : {0.1, 1.0, -2.5, 1e300, 5e-324, 123456789012345680.0, 0.0})
        EXPECT_EQ(json::from_json<double>(text_of(number)).value(), number);
    EXPECT_EQ(text_of(0.1), "0.1");
    EXPECT_EQ(text_of(0.1f), "0.1");
    EXPECT_EQ(json::from_json<double>("9007199254740993").value(), 9007199254740992.0);
    EXPECT_EQ(json::from_json<double>("1e-400").value(), 0.0);
    EXPECT_EQ(failure_of<double>("1e400"), "the number does not fit into a double");
    EXPECT_FALSE(json::to_json(std::numeric_limits<double>::infinity()));
    EXPECT_FALSE(json::to_json(std::vector<double>{std::nan("")}));
}

TEST(json_mapping, text_is_decoded_and_checked)
{
    const auto read = [](std::string_view text) { return json::from_json<std::string>(text); };
    EXPECT_EQ(read(R"("a\"\\\/\b\f\n\r\t\u0041\u00f6\u20ac\ud83d\ude00")").value(),
              "a\"\\/\b\f\n\r\tA\xc3\xb6\xe2\x82\xac\xf0\x9f\x98\x80");
    EXPECT_EQ(read("\"\xc3\xb6 and a long text of more than eight bytes\"").value(),
              "\xc3\xb6 and a long text of more than eight bytes");
    EXPECT_EQ(read(R"("\u0000")").value(), std::string(1, '\0'));
    for (const char* bad : {R"(")", R"("abc)", R"("\x")", R"("\u12")", R"("\ud83d")", R"("\ude00")",
                            R"("\ud83dA")", R"("\u-123")", "\"\n\"", "\"\xc3\"", "\"\xff text\"",
                            "\"12345678\xed\xa0\x80\"", R"("\)", R"("a" b)"})
        EXPECT_FALSE(read(bad)) << bad;
    EXPECT_EQ(text_of(std::string{"\x01\x1f\x7f \xc3\xb6"}), "\"\\u0001\\u001f\x7f \xc3\xb6\"");
    EXPECT_FALSE(json::to_json(std::string{"\xff"}));
    EXPECT_EQ(json::to_json(place{"\xff", 1}).error().message(), "street: the text is not UTF-8");
}

TEST(json_mapping, invalid_json_is_refused)
{
    for (const char* bad : {"",
                            " ",
                            "{",
                            "}",
                            "{]",
                            R"({"a"})",
                            R"({"a":})",
                            R"({"a":1,})",
                            R"({"a":1 "b":2})",
                            R"({,"a":1})",
                            R"({"a":1}x)",
                            R"({"a":01})",
                            R"({"a":-})",
                            R"({"a":1.})",
                            R"({"a":1e})",
                            R"({"a":.5})",
                            R"({"a":+1})",
                            R"({"x":nul})",
                            R"({"x":tru})",
                            R"({"x":[1,]})",
                            R"({"x":[1 2]})",
                            R"({"x":{"y"}})",
                            R"({a:1})",
                            R"({"x":"\q"})",
                            R"({"x":1.e5})",
                            R"({"x":'a'})",
                            "{\"a\":1\v}"})
        EXPECT_FALSE(json::from_json<three>(bad)) << bad;
    EXPECT_EQ(failure_of<three>(R"({"a":1 "b":2})"),
              "invalid JSON at byte 7: expected a comma or the end of the list");
}

TEST(json_mapping, nesting_is_limited_in_both_directions)
{
    const auto nested = [](int levels) {
        std::string text;
        for (int i = 0; i < levels; ++i)
            text += R"({"next":)";
        return text + "null" + std::string(static_cast<std::size_t>(levels), '}');
    };
    EXPECT_TRUE(json::from_json<chain>(nested(json::max_depth)));
    EXPECT_EQ(json::from_json<chain>(nested(json::max_depth + 1)).error().code(),
              json::errc::too_deep);
    const std::string arrays = R"({"a":1,"b":2,"c":3,"x":)" + std::string(10'000, '[') + "}";
    EXPECT_EQ(json::from_json<three>(arrays).error().code(), json::errc::too_deep);

    chain first;
    chain* last = &first;
    for (int i = 0; i < json::max_depth; ++i)
        last = (last->next = std::make_unique<chain>()).get();
    EXPECT_EQ(json::to_json(first).error().code(), json::errc::too_deep);
    EXPECT_TRUE(json::to_json(*first.next));
}

TEST(json_mapping, containers_and_raw_parts_go_both_ways)
{
    using many = std::map<std::string, std::vector<std::set<int>>>;
    const many value{{"a", {{1, 2}, {}}}, {"b", {}}};
    EXPECT_EQ(text_of(value), R"({"a":[[1,2],[]],"b":[]})");
    EXPECT_EQ(json::from_json<many>(text_of(value)).value(), value);
    EXPECT_EQ((json::from_json<std::array<int, 2>>("[1,2]").value()), (std::array{1, 2}));
    EXPECT_EQ((failure_of<std::array<int, 2>>("[1,2,3]")), "expected 2 elements, found 3");
    EXPECT_EQ((json::from_json<std::vector<bool>>("[true,false]").value()),
              (std::vector<bool>{true, false}));
    EXPECT_EQ(json::from_json<std::vector<raw_json>>(R"([ {"a": 1} ,2])").value(),
              (std::vector{raw_json{R"({"a": 1})"}, raw_json{"2"}}));
    EXPECT_EQ(text_of(std::vector{raw_json{" [1, 2] "}, raw_json{"3"}}), "[[1, 2],3]");
    EXPECT_FALSE(json::to_json(raw_json{"1,2"}));
    EXPECT_EQ(text_of(std::chrono::milliseconds{5}), "5");
}

TEST(json_mapping, variant_takes_the_first_alternative_that_can_be_read)
{
    using any = std::variant<std::monostate, int, double, std::string, place, std::vector<int>>;
    EXPECT_EQ(json::from_json<any>("null").value(), any{});
    EXPECT_EQ(json::from_json<any>("3").value(), any{3});
    EXPECT_EQ(json::from_json<any>("3.5").value(), any{3.5});
    EXPECT_EQ(json::from_json<any>(R"({"street":"s","zip":1})").value(), (any{place{"s", 1}}));
    EXPECT_EQ(json::from_json<any>("[1]").value(), (any{std::vector{1}}));
    EXPECT_EQ(failure_of<any>("true"), "expected one of 6 alternatives, found boolean");
    EXPECT_EQ(text_of(any{"t"}), R"("t")");
}

TEST(json_mapping, alternatives_that_are_tried_in_vain_are_counted)
{
    using leaf = std::variant<std::vector<bool>, std::vector<int>>;
    using two = std::variant<std::vector<leaf>, std::vector<std::vector<leaf>>>;
    using four = std::variant<std::vector<two>, std::vector<std::vector<two>>>;
    using eight = std::variant<std::vector<four>, std::vector<std::vector<four>>>;
    std::string text = "[[[[[[[[[[[[\"x\"]]]]]]]]]]]]";
    EXPECT_FALSE(json::from_json<eight>(text));
}

}  // namespace
}  // namespace json_mapping_test
