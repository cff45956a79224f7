#include "core/uri/option_text.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::uri::duration_test {
namespace {

using namespace std::chrono_literals;

TEST(parse_duration, whole_number_is_milliseconds_and_units_are_taken)
{
    struct row {
        std::string_view text;
        std::chrono::milliseconds expected;
    };
    const row table[] = {
        {"0", 0ms},          {"2500", 2500ms},
        {"2.5s", 2500ms},    {"500ms", 500ms},
        {"0s", 0ms},         {"1m30s", 90s},
        {"1h", 1h},          {".5s", 500ms},
        {"1.s", 1s},         {"1us", 1ms},
        {"1500us", 2ms},     {"1500\u00b5s", 2ms},
        {"1ns", 1ms},        {"1h1m1s1ms", 3661001ms},
        {"0.0000001s", 1ms}, {"1.0000000001s", 1s},
    };
    for (const row& r : table)
        EXPECT_EQ(parse_duration(r.text), r.expected) << r.text;
}

TEST(parse_duration, anything_else_is_refused)
{
    for (const std::string_view text : {"",
                                        "s",
                                        ".s",
                                        ".",
                                        "-1",
                                        "-1s",
                                        "+1s",
                                        "1.5",
                                        "1 s",
                                        "1s ",
                                        "1S",
                                        "1d",
                                        "1s1",
                                        "1..5s",
                                        "99999999999999999999",
                                        "99999999999999999999h",
                                        "5124096h",
                                        "876001h",
                                        "876000h876000h",
                                        "1e3s"})
        EXPECT_EQ(parse_duration(text), std::nullopt) << text;
}

TEST(parse_exact_duration, nothing_is_rounded_and_a_unit_is_needed)
{
    using std::chrono::nanoseconds;
    EXPECT_EQ(parse_exact_duration("837.425\u00b5s"), nanoseconds{837'425});
    EXPECT_EQ(parse_exact_duration("1.167435ms"), nanoseconds{1'167'435});
    EXPECT_EQ(parse_exact_duration("1m2.5s"), nanoseconds{62'500'000'000});
    EXPECT_EQ(parse_exact_duration("7ns"), nanoseconds{7});
    EXPECT_EQ(parse_exact_duration("0s"), nanoseconds{0});
    for (const std::string_view bad : {"", "7", "s", "-1s", "1s "})
        EXPECT_EQ(parse_exact_duration(bad), std::nullopt) << bad;
}

}  // namespace
}  // namespace holdfast::core::uri::duration_test
