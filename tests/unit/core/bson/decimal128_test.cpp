#include "holdfast/bson/decimal128.hpp"

#include "holdfast/bson/errc.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace holdfast::bson::decimal128_test {
namespace {

std::string zeros(std::size_t count)
{
    return std::string(count, '0');
}

const std::string nines(34, '9');

TEST(decimal128, default_constructed_is_zero)
{
    EXPECT_EQ(decimal128{}.to_string(), "0");
    EXPECT_EQ(decimal128::parse("0").value(), decimal128{});
}

struct encoding {
    std::string_view text;
    decimal128 value;
};

// Bits worked out by hand from the encoding: sign, exponent + 6176 in 14 bits, coefficient.
const encoding encodings[] = {
    {"1", {1, 0x3040000000000000}},
    {"-1", {1, 0xB040000000000000}},
    {"0.1", {1, 0x303E000000000000}},
    {"1.00", {100, 0x303C000000000000}},
    {"1E+3", {1, 0x3046000000000000}},
    {"18446744073709551616", {0, 0x3040000000000001}},
    {"1E-6176", {1, 0x0000000000000000}},
    {"9.999999999999999999999999999999999E+6144", {0x378D8E63FFFFFFFF, 0x5FFFED09BEAD87C0}},
    {"-0", {0, 0xB040000000000000}},
    {"0E+6111", {0, 0x5FFE000000000000}},
    {"0E-6176", {0, 0x0000000000000000}},
    {"Infinity", decimal128::infinity()},
    {"-Infinity", decimal128::negative_infinity()},
    {"NaN", decimal128::nan()},
};

TEST(decimal128, parse_gives_the_bid_encoding)
{
    for (const encoding& e : encodings) {
        const auto parsed = decimal128::parse(e.text);
        ASSERT_TRUE(parsed) << e.text;
        EXPECT_EQ(parsed->low, e.value.low) << e.text;
        EXPECT_EQ(parsed->high, e.value.high) << e.text;
        EXPECT_EQ(e.value.to_string(), e.text);
    }
}

TEST(decimal128, is_nan_and_is_infinite_distinguish_kinds)
{
    EXPECT_TRUE(decimal128::nan().is_nan());
    EXPECT_FALSE(decimal128::nan().is_infinite());
    EXPECT_TRUE(decimal128::infinity().is_infinite());
    EXPECT_FALSE(decimal128::infinity().is_nan());
    EXPECT_FALSE(decimal128::infinity().is_negative());
    EXPECT_TRUE(decimal128::negative_infinity().is_infinite());
    EXPECT_TRUE(decimal128::negative_infinity().is_negative());
    EXPECT_TRUE(decimal128::parse("-0")->is_negative());
    EXPECT_FALSE(decimal128{}.is_nan() || decimal128{}.is_infinite() || decimal128{}.is_negative());
}

struct conversion {
    std::string text, canonical;
};

void expect_canonical(const std::vector<conversion>& conversions)
{
    for (const conversion& c : conversions) {
        const auto parsed = decimal128::parse(c.text);
        ASSERT_TRUE(parsed) << c.text;
        EXPECT_EQ(parsed->to_string(), c.canonical) << c.text;
    }
}

TEST(decimal128, to_string_is_plain_or_scientific_by_the_exponent)
{
    expect_canonical({
        {"12.70", "12.70"},
        {"-76", "-76"},
        {"0.000001", "0.000001"},
        {"0.0000001", "1E-7"},
        {"0.00000123", "0.00000123"},
        {"0.000000123", "1.23E-7"},
        {"10E1", "1.0E+2"},
        {"100", "100"},
        {"0.000000", "0.000000"},
        {"0.0000000", "0E-7"},
        {"0E1", "0E+1"},
        {"1234567890123456789012345678901234", "1234567890123456789012345678901234"},
        {"-0.000001234567890123456789012345678901234",
         "-0.000001234567890123456789012345678901234"},  // as long as a text can be
        {"100000000000000000", "100000000000000000"},    // the seam of the two halves
        {"99999999999999999", "99999999999999999"},
        {"1000000000000000000000000000000000", "1000000000000000000000000000000000"},
        {"5000000000000000070", "5000000000000000070"},
    });
}

TEST(decimal128, parse_accepts_every_form_of_a_number)
{
    expect_canonical({
        {"+0.003", "0.003"},
        {"017.", "17"},
        {".5", "0.5"},
        {"-.5", "-0.5"},
        {"4e+9", "4E+9"},
        {"4E9", "4E+9"},
        {"0.73e-7", "7.3E-8"},
        {"1e-0", "1"},
        {"1E+00000000000000000000000000000003", "1E+3"},
        {"1.e1", "1E+1"},
    });
}

TEST(decimal128, parse_accepts_infinity_and_nan_in_any_case)
{
    expect_canonical({
        {"inf", "Infinity"},
        {"+InF", "Infinity"},
        {"INFINITY", "Infinity"},
        {"-iNFinity", "-Infinity"},
        {"-Inf", "-Infinity"},
        {"nan", "NaN"},
        {"NAN", "NaN"},
        {"+nAn", "NaN"},
        {"-NaN", "NaN"},
    });
}

TEST(decimal128, parse_ignores_leading_zeros)
{
    expect_canonical({
        {zeros(500) + nines, nines},
        {"-" + zeros(100) + "." + zeros(100) + nines, "-9." + nines.substr(1) + "E-101"},
        {"." + zeros(998) + "1", "1E-999"},
        {zeros(200), "0"},
        {"0." + zeros(6), "0.000000"},
    });
}

TEST(decimal128, parse_drops_trailing_zeros_beyond_34_digits)
{
    expect_canonical({
        {"1" + zeros(34), "1." + zeros(33) + "E+34"},
        {"1" + zeros(999), "1." + zeros(33) + "E+999"},
        {nines + "." + zeros(70), nines},
        {nines + zeros(2) + "." + zeros(5) + "E-2", nines},
        {"1." + zeros(40), "1." + zeros(33)},
        {"0." + nines + zeros(3), "0." + nines},
    });
}

TEST(decimal128, parse_shifts_zeros_to_fit_the_exponent_range)
{
    expect_canonical({
        {"1E6112", "1.0E+6112"},
        {"1E6144", "1." + zeros(33) + "E+6144"},
        {"12E+6143", "1.2" + zeros(32) + "E+6144"},
        {"10E-6177", "1E-6176"},
        {"1" + zeros(33) + "E-6209", "1E-6176"},
        {"1" + zeros(60) + "E-6236", "1E-6176"},
        {"-120E-6177", "-1.2E-6175"},
        {"0." + zeros(6200) + "1E+25", "1E-6176"},
    });
}

TEST(decimal128, parse_clamps_the_exponent_of_zero)
{
    expect_canonical({
        {"0E6112", "0E+6111"},
        {"-0E-6177", "-0E-6176"},
        {"0E+99999999999999999999999999", "0E+6111"},
        {"-0.000E-99999999999999999999999999", "-0E-6176"},
        {"0." + zeros(7000), "0E-6176"},
    });
}

void expect_refused(errc why, const std::vector<std::string>& texts)
{
    for (const std::string& text : texts) {
        const auto parsed = decimal128::parse(text);
        ASSERT_FALSE(parsed) << text << " became " << parsed->to_string();
        EXPECT_EQ(parsed.error().code(), why) << text;
    }
}

TEST(decimal128, parse_refuses_digits_that_would_be_rounded)
{
    const std::vector<std::string> texts = {nines + "1", nines + ".1", "0.1" + zeros(33) + "1",
                                            "1" + zeros(58) + "1",
                                            "1" + zeros(500) + "1" + zeros(500)};
    expect_refused(errc::out_of_range, texts);
}

TEST(decimal128, parse_refuses_exponents_out_of_range)
{
    const std::vector<std::string> texts = {"1E6145",
                                            "10E6144",
                                            nines + "E6112",
                                            "1E-6177",
                                            "11E-6177",
                                            "10E-6178",
                                            "1" + zeros(33) + "E-6210",
                                            "1E99999999999",
                                            "-1E-99999999999",
                                            "1E2147483648",
                                            "1E18446744073709551617",
                                            "1E-18446744073709551615",
                                            "1E" + std::string(500, '9')};
    expect_refused(errc::out_of_range, texts);
}

TEST(decimal128, parse_refuses_malformed_numbers)
{
    // One list, parted by bars, is easier to read than one text per line.
    std::istringstream bad{
        "|+|-|.|+.|..|1..2|1.2.3|.1.|e1|.e1|1e|1e+|1e-|1E++1|1E+-1|1e1.0|1e1e1|--1|+-1|-+1|1-|1+"
        "| 1|1 |1 2|1,5|0x10|12f4|1_000|1e123x|1e |ten|\xD9\xA1"
        "|i|in|infi|infinit|infinityy|0inf|inf1|.inf|--inf|n|na|nan1|sNaN|qNaN"};
    std::vector<std::string> texts = {std::string{"1\0", 2}, "1" + zeros(50) + "1x"};
    for (std::string text; std::getline(bad, text, '|');)
        texts.push_back(text);
    EXPECT_EQ(texts.size(), 50u);
    expect_refused(errc::invalid_value, texts);
}

TEST(decimal128, parse_error_quotes_the_text_it_found)
{
    EXPECT_EQ(decimal128::parse("ten").error().message(),
              "a Decimal128 is a decimal number with an optional exponent, Infinity or NaN, found "
              "\"ten\"");
    EXPECT_EQ(decimal128::parse("1" + zeros(98) + "1").error().message(),
              "a Decimal128 has at most 34 significant digits and is never rounded, found \"1" +
                  zeros(47) + "\"... (100 bytes)");
    EXPECT_EQ(decimal128::parse("1E7000").error().message(),
              "the exponent of a Decimal128 is -6176 to 6111 and its digits are never rounded "
              "away, found \"1E7000\"");
}

struct pattern {
    decimal128 value;
    std::string_view text;
};

TEST(decimal128, to_string_handles_non_canonical_bits)
{
    const pattern patterns[] = {
        {{0, 0xFC00000000000000}, "NaN"},
        {{0, 0x7E00000000000000}, "NaN"},  // signalling
        {{0x12, 0x7E00000000000000}, "NaN"},
        {{~0ULL, ~0ULL}, "NaN"},
        {{0x99, 0x7800000000000001}, "Infinity"},
        {{0, 0xF900000000000000}, "-Infinity"},
        // The second form of the encoding: always more than 34 digits, so zero.
        {{0, 0x6C10000000000000}, "0"},
        {{0xDEADBEEF, 0xEC10000000000000}, "-0"},
        {{~0ULL, 0x6C11FFFFFFFFFFFF}, "0E+3"},
        // The first form with 10^34 and more.
        {{0x378D8E63FFFFFFFF, 0x3041ED09BEAD87C0}, "9999999999999999999999999999999999"},
        {{0x378D8E6400000000, 0x3041ED09BEAD87C0}, "0"},
        {{~0ULL, 0xB03FFFFFFFFFFFFF}, "-0.0"},
    };
    for (const pattern& p : patterns)
        EXPECT_EQ(p.value.to_string(), p.text) << p.value.high;
}

TEST(decimal128, to_string_never_exceeds_max_text)
{
    std::size_t longest = 0;
    for (std::uint64_t exponent = 0; exponent < 0x3000; ++exponent) {
        const decimal128 value{0x378D8E63FFFFFFFF,
                               decimal128::sign_bit | exponent << 49 | 0x1ED09BEAD87C0};
        const std::string text = value.to_string();
        longest = std::max(longest, text.size());
        ASSERT_EQ(decimal128::parse(text).value(), value) << text;
    }
    EXPECT_EQ(longest, decimal128::max_text);
}

TEST(decimal128, one_to_34_digits_round_trip)
{
    for (std::size_t digits = 1; digits <= 34; ++digits) {
        for (const std::string& text : {"1" + zeros(digits - 1), nines.substr(0, digits)}) {
            const auto parsed = decimal128::parse(text);
            ASSERT_TRUE(parsed) << text;
            EXPECT_EQ(parsed->to_string(), text);
        }
    }
}

TEST(decimal128, print_writes_no_terminator)
{
    std::string out(decimal128::max_text + 1, '#');
    char* const end = decimal128::parse("-1.5")->print(out.data());
    EXPECT_EQ(std::string_view(out.data(), static_cast<std::size_t>(end - out.data())), "-1.5");
    EXPECT_EQ(*end, '#');
}

}  // namespace
}  // namespace holdfast::bson::decimal128_test
