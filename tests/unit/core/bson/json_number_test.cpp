#include "core/bson/json_number.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>

namespace holdfast::bson::json_number_test {
namespace {

using limits = std::numeric_limits<double>;

std::string print(double value)
{
    char text[max_double_text];
    const char* const end = print_double(value, text);
    EXPECT_LE(end, text + sizeof text);
    return {text, static_cast<std::size_t>(end - text)};
}

struct printed {
    double value;
    std::string_view text;
};

TEST(json_number, doubles_print_shortest_and_keep_a_decimal_point)
{
    const printed table[] = {
        {1.0, "1.0"},
        {-1.0, "-1.0"},
        {0.0, "0.0"},
        {-0.0, "-0.0"},
        {1.0001220703125, "1.0001220703125"},
        {-1.0001220703125, "-1.0001220703125"},
        {1.2345678921232E+18, "1.2345678921232E+18"},
        {-1.2345678921232E+18, "-1.2345678921232E+18"},
        {0.1, "0.1"},
        {123456.789, "123456.789"},
        {0.0001, "0.0001"},
        {-0.00012345, "-0.00012345"},
        {0.00001, "1E-05"},
        {9999999999999998.0, "9999999999999998.0"},
        {1e16, "1E+16"},
        {1e22, "1E+22"},
        {1.5e300, "1.5E+300"},
        {limits::max(), "1.7976931348623157E+308"},
        {limits::denorm_min(), "5E-324"},
        {limits::infinity(), "Infinity"},
        {-limits::infinity(), "-Infinity"},
        {limits::quiet_NaN(), "NaN"},
        {-limits::quiet_NaN(), "NaN"},
    };
    for (const printed& p : table)
        EXPECT_EQ(print(p.value), p.text);
}

TEST(json_number, every_double_round_trips)
{
    std::mt19937_64 source{7};
    for (int i = 0; i < 20'000; ++i) {
        const double any = std::bit_cast<double>(source());
        const double usual = static_cast<double>(static_cast<std::int32_t>(source())) / 1000;
        for (const double value : {any, usual}) {
            if (std::isfinite(value)) {
                EXPECT_EQ(parse_double(print(value)), value) << print(value);
            }
        }
    }
}

TEST(json_number, parse_double_accepts_every_json_form)
{
    const printed table[] = {
        {1.5, "1.5"},
        {12, "12"},
        {4837384839313709000.0, "4837384839313709000"},
        {0.5, ".5"},
        {-0.5, "-.5"},
        {1e18, "1E+18"},
        {1e-7, "1e-7"},
        {limits::max(), "1.7976931348623157e308"},
        {0, "1e-400"},       // too small
        {0, "0e999"},
        {0, "0.0e-999"},
        {0, "1e-99999999999999999999"},
    };
    for (const printed& p : table)
        EXPECT_EQ(parse_double(p.text), p.value) << p.text;
    EXPECT_TRUE(std::signbit(*parse_double("-0.0")));
    EXPECT_TRUE(std::signbit(*parse_double("-1e-400")));
}

TEST(json_number, parse_double_handles_400_digits_with_an_exponent)
{
    const std::string zeros(400, '0');
    EXPECT_EQ(parse_double("0." + zeros + "1e400"), 0.1);
    EXPECT_EQ(parse_double("1" + zeros + "e-400"), 1);
    EXPECT_EQ(parse_double("1" + zeros), std::nullopt);
    EXPECT_EQ(parse_double("0." + zeros + "1"), 0);
    EXPECT_EQ(parse_double("0." + zeros + "1e999"), std::nullopt);
    EXPECT_EQ(parse_double("1" + zeros + "e-999"), 0);
}

TEST(json_number, parse_double_refuses_malformed_or_overflowing_text)
{
    for (const std::string_view text : {"", "-", ".", "+1", "1e", "1x", " 1", "1 ", "inf", "nan",
                                        "Infinity", "0x10", "--1", "1e400", "-1e400", "1.8e308"})
        EXPECT_EQ(parse_double(text), std::nullopt) << text;
}

TEST(json_number, parse_integer_accepts_the_int64_range)
{
    struct row {
        std::string_view text;
        std::int64_t value;
    };
    const row table[] = {
        {"0", 0},
        {"-0", 0},
        {"-42", -42},
        {"007", 7},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
        {"000000000000000000000000000001", 1},
    };
    for (const row& r : table)
        EXPECT_EQ(parse_integer(r.text), r.value) << r.text;
    for (const std::string_view text :
         {"", "-", "+1", "1.0", "1e3", " 1", "1 ", "x", "9223372036854775808",
          "-9223372036854775809", "9999999999999999999", "123456789012345678901", "12/3"})
        EXPECT_EQ(parse_integer(text), std::nullopt) << text;
}

}  // namespace
}  // namespace holdfast::bson::json_number_test
