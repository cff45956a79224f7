#include "lab/mongo/document/compare.hpp"

#include "holdfast/bson/json.hpp"
#include "lab/mongo/document/number.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace holdfast::lab::compare_test {
namespace {

int sign(std::weak_ordering order)
{
    return order < 0 ? -1 : order > 0 ? 1 : 0;
}

/// Each row is greater than all before it; values within a row are equal.
void check_ladder(const std::vector<std::vector<std::string>>& rows)
{
    struct step {
        std::string text;
        bson::document holder;
        std::size_t row;
    };
    std::vector<step> all;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (const std::string& text : rows[i])
            all.push_back({text, bson::from_json("{\"v\":" + text + "}").value(), i});
    }
    for (const step& a : all) {
        for (const step& b : all) {
            const int expected = a.row < b.row ? -1 : a.row > b.row ? 1 : 0;
            EXPECT_EQ(sign(compare(a.holder["v"], b.holder["v"])), expected)
                << a.text << " and " << b.text;
        }
    }
}

std::string decimal(const char* text)
{
    return std::string{R"({"$numberDecimal":")"} + text + "\"}";
}
std::string real(const char* text)
{
    return std::string{R"({"$numberDouble":")"} + text + "\"}";
}
std::string whole(const char* text)
{
    return std::string{R"({"$numberLong":")"} + text + "\"}";
}

TEST(compare, numbers_by_exact_value)
{
    check_ladder({
        {real("NaN"), decimal("NaN")},
        {real("-Infinity"), decimal("-Infinity")},
        {decimal("-1E+6000")},
        {real("-1.7976931348623157e308")},
        {decimal("-9223372036854775808.5")},
        {whole("-9223372036854775808"), real("-9223372036854775808"),
         decimal("-9223372036854775808")},
        {whole("-9223372036854775807")},
        {"-1", whole("-1"), real("-1"), decimal("-1.000")},
        {decimal("-1E-6000")},
        {"0", whole("0"), real("0"), real("-0.0"), decimal("0"), decimal("-0"), decimal("0E+100")},
        {decimal("1E-6176")},
        {real("4.9406564584124654e-324")},
        {decimal("0.1")},
        {real("0.1")},  // 0.1000000000000000055...
        {real("0.5"), decimal("0.5"), decimal("0.50")},
        {"1", whole("1"), real("1"), decimal("1"), decimal("1.0"), decimal("10E-1")},
        {real("1.5"), decimal("1.5")},
        {real("9007199254740992"), whole("9007199254740992")},
        {whole("9007199254740993"), decimal("9007199254740993")},
        {real("9007199254740994"), whole("9007199254740994")},
        {whole("9223372036854775807"), decimal("9223372036854775807")},
        {real("9223372036854775808"), decimal("9223372036854775808")},
        {real("1e300")},
        {decimal("1.000000000000000053E+300")},
        {real("1.7976931348623157e308")},
        {decimal("1E+6000"), decimal("10E+5999")},
        {real("Infinity"), decimal("Infinity")},
    });
}

TEST(compare, types_in_their_order)
{
    check_ladder({
        {R"({"$minKey":1})"},
        {R"({"$undefined":true})"},
        {"null"},
        {"-5"},
        {R"("")", R"({"$symbol":""})"},
        {R"("A")"},
        {R"("a")", R"({"$symbol":"a"})"},
        {R"("a\u0000")"},
        {R"("ab")"},
        {R"("ü")"},
        {"{}"},
        {R"({"a":1})", R"({"a":1.0})"},
        {R"({"a":1,"b":1})"},
        {R"({"a":2})"},
        {R"({"b":1})"},
        {R"({"a":"x"})"},  // the rank of a value goes before its name
        {"[]"},
        {"[1]"},
        {"[1,2]"},
        {"[2]"},
        {R"(["a"])"},
        {R"({"$binary":{"base64":"","subType":"80"}})"},
        {R"({"$binary":{"base64":"/w==","subType":"00"}})"},
        {R"({"$binary":{"base64":"AA==","subType":"05"}})"},
        {R"({"$binary":{"base64":"AAA=","subType":"00"}})"},
        {R"({"$oid":"000000000000000000000001"})"},
        {R"({"$oid":"ff0000000000000000000000"})"},
        {"false"},
        {"true"},
        {R"({"$date":{"$numberLong":"-1"}})"},
        {R"({"$date":{"$numberLong":"1"}})"},
        {R"({"$timestamp":{"t":1,"i":2}})"},
        {R"({"$timestamp":{"t":2,"i":1}})"},
        {R"({"$regularExpression":{"pattern":"a","options":""}})"},
        {R"({"$regularExpression":{"pattern":"a","options":"i"}})"},
        {R"({"$regularExpression":{"pattern":"b","options":""}})"},
        {R"({"$dbPointer":{"$ref":"c","$id":{"$oid":"000000000000000000000001"}}})"},
        {R"({"$code":"f"})"},
        {R"({"$code":"f","$scope":{}})"},
        {R"({"$code":"f","$scope":{"x":1}})"},
        {R"({"$code":"g","$scope":{}})"},
        {R"({"$maxKey":1})"},
    });
}

TEST(compare, a_missing_element_is_like_null)
{
    const auto holder = bson::from_json(R"({"n":null,"m":{"$minKey":1},"i":1})").value();
    const bson::element missing{};
    EXPECT_TRUE(equal(missing, holder["n"]));
    EXPECT_TRUE(equal(missing, missing));
    EXPECT_TRUE(compare(missing, holder["m"]) > 0);
    EXPECT_TRUE(compare(missing, holder["i"]) < 0);
}

TEST(compare, documents_with_a_language)
{
    const auto a = bson::from_json(R"({"x":["A"]})").value();
    const auto b = bson::from_json(R"({"x":["a"]})").value();
    const collation second{.strength = 2};
    EXPECT_TRUE(compare(a.view(), b.view()) != 0);
    EXPECT_TRUE(compare(a.view(), b.view(), &second) == 0);
}

TEST(compare, survives_deep_documents)
{
    bson::document deep = bson::doc("a", 1);
    bson::document deeper = bson::doc("a", 2);
    for (int i = 0; i < 20'000; ++i) {
        deep = bson::doc("a", deep);
        deeper = bson::doc("a", deeper);
        if (i > 400)
            i += 1000;
    }
    EXPECT_TRUE(compare(deep.view(), deep.view()) == 0);
    EXPECT_TRUE(compare(deep.view(), deeper.view()) != 0);
}

TEST(number, converts_what_is_whole)
{
    const struct {
        const char* text;
        std::optional<std::int64_t> whole;
        std::optional<std::int64_t> truncated;
    } rows[] = {
        {"5", 5, 5},
        {"5.0", 5, 5},
        {"-5.7", std::nullopt, -5},
        {R"({"$numberDecimal":"5.00"})", 5, 5},
        {R"({"$numberDecimal":"-5.7"})", std::nullopt, -5},
        {R"({"$numberDecimal":"5E+2"})", 500, 500},
        {R"({"$numberDecimal":"1E-6000"})", std::nullopt, 0},
        {R"({"$numberDecimal":"1E+6000"})", std::nullopt, std::nullopt},
        {R"({"$numberDecimal":"-9223372036854775808"})", INT64_MIN, INT64_MIN},
        {R"({"$numberDecimal":"9223372036854775808"})", std::nullopt, std::nullopt},
        {R"({"$numberDouble":"NaN"})", std::nullopt, std::nullopt},
        {R"({"$numberDouble":"1e19"})", std::nullopt, std::nullopt},
        {R"({"$numberDouble":"-9223372036854775808"})", INT64_MIN, INT64_MIN},
        {R"("5")", std::nullopt, std::nullopt},
    };
    for (const auto& r : rows) {
        const auto holder = bson::from_json(std::string{"{\"v\":"} + r.text + "}").value();
        EXPECT_EQ(whole_number(holder["v"]), r.whole) << r.text;
        EXPECT_EQ(truncated_number(holder["v"]), r.truncated) << r.text;
    }
}

}  // namespace
}  // namespace holdfast::lab::compare_test
