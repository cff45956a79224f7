#include "holdfast/bson/errc.hpp"
#include "holdfast/bson/json.hpp"
#include "holdfast/bson/uuid.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace holdfast::bson::json_wrapper_test {
namespace {

using namespace std::string_literals;
using limits = std::numeric_limits<double>;

constexpr object_id id{{0x56, 0xE1, 0xFC, 0x72, 0xE0, 0xC9, 0x17, 0xE9, 0xC4, 0x71, 0x41, 0x61}};

/// The texts are those of the value of a field "a".
struct parsed {
    std::string_view value;
    document expected;
};

void expect_all(std::span<const parsed> table)
{
    for (const parsed& p : table) {
        const auto read = from_json(R"({"a":)" + std::string{p.value} + "}");
        ASSERT_TRUE(read) << p.value << "\n" << read.error().message();
        EXPECT_EQ(*read, p.expected) << p.value;
    }
}

struct refusal {
    std::string_view value;
    std::size_t column;  // within the value
    std::string_view message;
};

void expect_refused(std::span<const refusal> table)
{
    for (const refusal& r : table) {
        const auto read = from_json("{\"a\":\n" + std::string{r.value} + "}");
        ASSERT_FALSE(read) << r.value;
        EXPECT_EQ(read.error().code(), errc::invalid_json);
        EXPECT_EQ(read.error().context("line"), "2");
        EXPECT_EQ(read.error().context("column"), std::to_string(r.column)) << r.value;
        EXPECT_EQ(read.error().message(),
                  "line 2, column " + std::to_string(r.column) + ": " + std::string{r.message});
    }
}

datetime at(std::int64_t since_epoch)
{
    return datetime{std::chrono::milliseconds{since_epoch}};
}

TEST(json_wrapper, single_key_wrappers_become_their_types)
{
    const parsed table[] = {
        {R"({"$oid":"56e1fc72e0c917e9c4714161"})", doc("a", id)},
        {R"( { "$oid" : "56E1FC72E0C917E9C4714161" } )", doc("a", id)},
        {R"({"\u0024oid":"\u00356e1fc72e0c917e9c4714161"})", doc("a", id)},
        {R"({"$symbol":"x\u0000"})", doc("a", symbol{{"x\0", 2}})},
        {R"({"$numberInt":"-2147483648"})", doc("a", INT32_MIN)},
        {R"({"$numberInt":"2147483647"})", doc("a", INT32_MAX)},
        {R"({"$numberLong":"42"})", doc("a", std::int64_t{42})},
        {R"({"$numberLong":"-9223372036854775808"})", doc("a", INT64_MIN)},
        {R"({"$numberDouble":"-1.5E3"})", doc("a", -1500.0)},
        {R"({"$numberDouble":"12"})", doc("a", 12.0)},
        {R"({"$numberDouble":"-0.0"})", doc("a", -0.0)},
        {R"({"$numberDouble":"Infinity"})", doc("a", limits::infinity())},
        {R"({"$numberDouble":"-Infinity"})", doc("a", -limits::infinity())},
        {R"({"$numberDecimal":"1.50"})", doc("a", decimal128{150, 0x303C000000000000})},
        {R"({"$uuid":"73ffd264-44b3-4c69-90e8-e7d1dfc035d4"})",
         doc("a", uuid::parse("73ffd264-44b3-4c69-90e8-e7d1dfc035d4").value())},
        {R"({"$date":{"$numberLong":"-284643869501"}})", doc("a", at(-284643869501))},
        {R"({"$date":"2012-12-24T12:15:30.501Z"})", doc("a", at(1356351330501))},
        {R"({"$date":"2012-12-24T13:15:30.501999+01:00"})", doc("a", at(1356351330501))},
        {R"({"$minKey":1})", doc("a", min_key{})},
        {R"({"$maxKey": 1 })", doc("a", max_key{})},
        {R"({"$undefined":true})", doc("a", undefined{})},
    };
    expect_all(table);
    EXPECT_TRUE(std::isnan(*from_json(R"({"a":{"$numberDouble":"NaN"}})")->get<double>("a")));
}

TEST(json_wrapper, two_key_wrappers_are_read_in_either_order)
{
    const std::uint8_t ones[] = {0xFF, 0xFF};
    const document binary_0 = doc("a", binary{ones});
    const document binary_2 = doc("a", binary{ones, binary_subtype::binary_old});
    const document binary_5 = doc("a", binary{ones, binary_subtype::md5});
    const document binary_80 = doc("a", binary{ones, binary_subtype::user_defined});
    const document im = doc("a", regex{"a/b", "im"});
    const document pointer = doc("a", db_pointer{"b", id});
    const document scope = doc("x", 1, "y", id);
    const document scoped = doc("a", code_with_scope{"f", scope});
    const parsed table[] = {
        {R"({"$binary":{"base64":"//8=","subType":"00"}})", binary_0},
        {R"({"$binary":{"subType":"00","base64":"\/\/8="}})", binary_0},
        {R"({"$binary":{"base64":"//8=","subType":"5"}})", binary_5},
        {R"({"$binary":{"base64":"//8=","subType":"80"}})", binary_80},
        {R"({"$binary":{"base64":"//8=","subType":"02"}})", binary_2},
        {R"({"$binary":{"base64":"","subType":"00"}})", doc("a", binary{})},
        {R"({"$binary":"//8=","$type":"0"})", binary_0},
        {R"({"$type":"02","$binary":"//8="})", binary_2},
        {R"({"$timestamp":{"t":4294967295,"i":42}})", doc("a", timestamp{4294967295, 42})},
        {R"({"$timestamp":{"i":42,"t":4294967295}})", doc("a", timestamp{4294967295, 42})},
        {R"({"$regularExpression":{"pattern":"a/b","options":"im"}})", im},
        {R"({"$regularExpression":{"options":"mi","pattern":"a\/b"}})", im},
        {R"({"$regex":"a/b","$options":"mi"})", im},
        {R"( { "$options" : "im" , "$regex" : "a\/b" } )", im},
        {R"({"$dbPointer":{"$ref":"b","$id":{"$oid":"56e1fc72e0c917e9c4714161"}}})", pointer},
        {R"({"$dbPointer":{"$id":{"$oid":"56e1fc72e0c917e9c4714161"},"$ref":"b"}})", pointer},
        {R"({"$code":"f\u0000"})", doc("a", code{{"f\0", 2}})},
        {R"({"$code":"f","$scope":{"x":1,"y":{"$oid":"56e1fc72e0c917e9c4714161"}}})", scoped},
        {R"({"$scope":{"x":1,"y":{"$oid":"56e1fc72e0c917e9c4714161"}},"$code":"\u0066"})", scoped},
        {R"({"$code":"","$scope":{}})", doc("a", code_with_scope{})},
    };
    expect_all(table);
}

TEST(json_wrapper, object_with_a_dollar_key_that_is_no_wrapper_stays_a_document)
{
    const document pattern = doc("$regex", regex{"p", "ix"});
    const parsed table[] = {
        {R"({"$type":"string"})", doc("a", doc("$type", "string"))},
        {R"({"$type":{"$numberInt":"2"}})", doc("a", doc("$type", 2))},
        {R"({"$type":"00","x":"AAAA"})", doc("a", doc("$type", "00", "x", "AAAA"))},
        {R"({"$regex":"p"})", doc("a", doc("$regex", "p"))},
        {R"({"$regex":{"$regularExpression":{"pattern":"p","options":"ix"}}})", doc("a", pattern)},
        {R"({"$regex":"p","$options":"i","$ne":"q"})",
         doc("a", doc("$regex", "p", "$options", "i", "$ne", "q"))},
        {R"({"$options":"i","$regex":1})", doc("a", doc("$options", "i", "$regex", 1))},
        {R"({"$options":"i"})", doc("a", doc("$options", "i"))},
        {R"({"$ref":"c","$id":1,"$db":"d","$c":2})",
         doc("a", doc("$ref", "c", "$id", 1, "$db", "d", "$c", 2))},
        {R"({"$ref":1})", doc("a", doc("$ref", 1))},
        {R"({"$":1,"$gt":2,"$oidx":3,"$numberint":4})",
         doc("a", doc("$", 1, "$gt", 2, "$oidx", 3, "$numberint", 4))},
    };
    expect_all(table);
}

TEST(json_wrapper, outermost_object_is_always_a_document)
{
    EXPECT_EQ(*from_json(R"({"$oid":"x"})"), doc("$oid", "x"));
    EXPECT_EQ(*from_json(R"({"x":1,"$code":2})"), doc("x", 1, "$code", 2));
    EXPECT_EQ(*from_json(R"({"$regex":"a","$options":"i"})"), doc("$regex", "a", "$options", "i"));
}

TEST(json_wrapper, malformed_single_key_wrapper_names_its_column)
{
    constexpr auto among = "the type wrapper \"$oid\" cannot be one key among others";
    const refusal table[] = {
        {R"({"$oid":42})", 9, "expected a string for $oid, found '4'"},
        {R"({"$oid":"56"})", 9, R"($oid: expected 24 hexadecimal digits, found "56")"},
        {R"({"$oid":"56e1fc72e0c917e9c471416G"})", 9,
         R"($oid: expected 24 hexadecimal digits, found "56e1fc72e0c917e9c471416G")"},
        {R"({"$oid":"56e1fc72e0c917e9c4714161","x":1})", 35,
         "expected '}' after the value of $oid, found ','"},
        {R"({"$oid")", 8, R"(expected ':' after key "$oid", found '}')"},
        {R"({"x":1,"$oid":"56e1fc72e0c917e9c4714161"})", 8, among},
        {R"({"$x":1,"$oid":"56e1fc72e0c917e9c4714161"})", 9, among},
        {R"([{"x":1,"$oid":1}])", 9, among},
        {R"({"$symbol":1})", 12, "expected a string for $symbol, found '1'"},
        {R"({"$numberInt":42})", 15, "expected a string for $numberInt, found '4'"},
        {R"({"$numberInt":"2147483648"})", 15,
         R"($numberInt: expected an integer of 32 bits, found "2147483648")"},
        {R"({"$numberInt":""})", 15, R"($numberInt: expected an integer of 32 bits, found "")"},
        {R"({"$numberLong":"9223372036854775808"})", 16,
         R"($numberLong: expected an integer of 64 bits, found "9223372036854775808")"},
        {R"({"$numberLong":"1.0"})", 16,
         R"($numberLong: expected an integer of 64 bits, found "1.0")"},
        {R"({"$numberDouble":"nan"})", 18,
         R"($numberDouble: expected a number, Infinity, -Infinity or NaN, found "nan")"},
        {R"({"$numberDouble":"1e999"})", 18,
         R"($numberDouble: expected a number, Infinity, -Infinity or NaN, found "1e999")"},
        {R"({"$date":42})", 10,
         R"(expected a string or {"$numberLong": ...} for $date, found '4')"},
        {R"({"$date":{"$numberInt":"1"}})", 11,
         R"($date: expected key "$numberLong", found "$numberInt")"},
        {R"({"$date":{"$numberLong":1}})", 25, "expected a string for $numberLong, found '1'"},
        {R"({"$date":{"$numberLong":"1","x":1}})", 28,
         "expected '}' after the value of $numberLong, found ','"},
        {R"({"$date":"today"})", 10,
         R"($date: expected a date as in "2012-12-24T12:15:30.501Z", found "today")"},
        {R"({"$minKey":true})", 12, "expected 1 for $minKey, found 't'"},
        {R"({"$maxKey":0})", 12, "expected 1 for $maxKey, found '0'"},
        {R"({"$maxKey":10})", 13, "expected '}' after the value of $maxKey, found '0'"},
        {R"({"$undefined":false})", 15, "expected true for $undefined, found 'f'"},
        {R"({"$undefined":true,"x":1})", 19,
         "expected '}' after the value of $undefined, found ','"},
    };
    expect_refused(table);
}

TEST(json_wrapper, number_decimal_and_uuid_errors_keep_the_parsers_message)
{
    const auto decimal = from_json(R"({"a":{"$numberDecimal":"x"}})");
    ASSERT_FALSE(decimal);
    EXPECT_EQ(decimal.error().message(),
              "line 1, column 24: $numberDecimal: " + decimal128::parse("x").error().message());
    const auto no_uuid = from_json(R"({"a":{"$uuid":"73ffd264"}})");
    ASSERT_FALSE(no_uuid);
    EXPECT_EQ(no_uuid.error().message(),
              "line 1, column 15: $uuid: " + uuid::parse("73ffd264").error().message());
}

TEST(json_wrapper, malformed_two_key_wrapper_names_its_column)
{
    constexpr auto not_unsigned = "expected an integer from 0 to 4294967295 for \"t\", found ";
    const std::string minus = not_unsigned + "'-'"s;
    const std::string four = not_unsigned + "'4'"s;
    const std::string one = not_unsigned + "'1'"s;
    const refusal table[] = {
        {R"({"$binary":1})", 12, "expected '{' for $binary, found '1'"},
        {R"({"$binary":{}})", 13, "expected a key, found '}'"},
        {R"({"$binary":{"base64":""}})", 24,
         R"(expected ',' and key "subType" of $binary, found '}')"},
        {R"({"$binary":{"subType":"00"}})", 27,
         R"(expected ',' and key "base64" of $binary, found '}')"},
        {R"({"$binary":{"base64":"","base64":""}})", 25, R"($binary: unexpected key "base64")"},
        {R"({"$binary":{"base64":"","subType":0}})", 35,
         "expected a string for subType, found '0'"},
        {R"({"$binary":{"base64":"","subType":"000"}})", 35,
         R"($binary: expected a subtype of one or two hexadecimal digits, found "000")"},
        {R"({"$binary":{"base64":"","subType":"g"}})", 35,
         R"($binary: expected a subtype of one or two hexadecimal digits, found "g")"},
        {R"({"$binary":{"base64":"//8","subType":"00"}})", 22,
         R"($binary: expected base64 with padding, found "//8")"},
        {R"({"$binary":{"base64":"","subType":"00"},"x":1})", 40,
         "expected '}' after the value of $binary, found ','"},
        {R"({"$binary":"AAAA"})", 18, R"(expected ',' and key "$type" of $binary, found '}')"},
        {R"({"$binary":"AAAA","$type":0})", 27, "expected a string for $type, found '0'"},
        {R"({"$binary":"AAAA","$type":"00","x":1})", 32, R"($binary: unexpected key "x")"},
        {R"({"$timestamp":{"t":-1,"i":0}})", 20, minus},
        {R"({"$timestamp":{"t":4294967296,"i":0}})", 20, four},
        {R"({"$timestamp":{"t":1.0,"i":0}})", 20, one},
        {R"({"$timestamp":{"t":1}})", 21, R"(expected ',' and key "i" of $timestamp, found '}')"},
        {R"({"$regularExpression":{"pattern":"a","options":"","x":1}})", 51,
         R"($regularExpression: unexpected key "x")"},
        {R"({"$regularExpression":{"pattern":"a\u0000","options":""}})", 34,
         "a regular expression cannot hold a zero byte"},
        {R"({"$regex":"a","$options":"i\u0000"})", 26,
         "a regular expression cannot hold a zero byte"},
        {R"({"$dbPointer":{"$ref":1,"$id":{"$oid":"56e1fc72e0c917e9c4714161"}}})", 23,
         "expected a string for $ref, found '1'"},
        {R"({"$dbPointer":{"$ref":"b","$id":"56e1fc72e0c917e9c4714161"}})", 33,
         "expected '{' for $id, found '\"'"},
        {R"({"$dbPointer":{"$id":{"x":1},"$ref":"b"}})", 23,
         R"($id: expected key "$oid", found "x")"},
        {R"({"$code":42})", 10, "expected a string for $code, found '4'"},
        {R"({"$code":"","x":1})", 13, R"($code: expected key "$scope", found "x")"},
        {R"({"$code":"","$scope":42})", 22, "expected '{' for $scope, found '4'"},
        {R"({"$code":"","$scope":{},"x":1})", 24,
         "expected '}' after the value of $scope, found ','"},
        {R"({"$code":"","$scope":{"$oid":"x"}})", 23,
         R"(the type wrapper "$oid" cannot be one key among others)"},
        {R"({"$scope":{}})", 13, R"(expected ',' and key "$code" after $scope, found '}')"},
        {R"({"$scope":{},"x":1})", 14, R"($scope: expected key "$code", found "x")"},
    };
    expect_refused(table);
}

}  // namespace
}  // namespace holdfast::bson::json_wrapper_test
