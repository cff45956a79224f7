#include "core/bson/iso_date.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::bson::iso_date_test {
namespace {

using std::chrono::milliseconds;

std::string print(std::int64_t since_epoch)
{
    char text[max_iso_date];
    const char* const end = print_iso_date(datetime{milliseconds{since_epoch}}, text);
    return {text, static_cast<std::size_t>(end - text)};
}

std::optional<std::int64_t> parse(std::string_view text)
{
    const auto when = parse_iso_date(text);
    return when ? std::optional{std::int64_t{when->time_since_epoch().count()}} : std::nullopt;
}

struct date {
    std::string_view text;
    std::int64_t since_epoch;
};

// The first three are of the specification's corpus, the fourth is the last millisecond before its
// "Y10K", the others are by `date -u -d ... +%s`.
constexpr date dates[] = {
    {"1970-01-01T00:00:00Z", 0},
    {"2012-12-24T12:15:30.501Z", 1356351330501},
    {"2012-12-24T12:15:30.001Z", 1356351330001},
    {"9999-12-31T23:59:59.999Z", 253402300799999},
    {"1970-01-01T00:00:00.100Z", 100},
    {"2000-02-29T00:00:00Z", 951782400000},
    {"2100-03-01T00:00:00Z", 4107542400000},
};

TEST(iso_date, print_gives_iso_8601_in_utc)
{
    for (const date& d : dates)
        EXPECT_EQ(print(d.since_epoch), d.text);
}

TEST(iso_date, parse_reads_what_print_wrote)
{
    for (const date& d : dates)
        EXPECT_EQ(parse(d.text), d.since_epoch) << d.text;
}

TEST(iso_date, has_iso_text_is_true_from_1970_to_9999)
{
    const auto has_text = [](std::int64_t t) { return has_iso_text(datetime{milliseconds{t}}); };
    EXPECT_FALSE(has_text(INT64_MIN));
    EXPECT_FALSE(has_text(-1));
    EXPECT_TRUE(has_text(0));
    EXPECT_TRUE(has_text(253402300799999));
    EXPECT_FALSE(has_text(253402300800000));
    EXPECT_FALSE(has_text(INT64_MAX));
}

TEST(iso_date, parse_accepts_offsets_and_fractions)
{
    const date forms[] = {
        {"2012-12-24T12:15:30.5Z", 1356351330500},
        {"2012-12-24T12:15:30.50Z", 1356351330500},
        {"2012-12-24T12:15:30.501999999Z", 1356351330501},  // nanoseconds are dropped, not rounded
        {"2012-12-24T12:15:30.501+00:00", 1356351330501},
        {"2012-12-24T13:15:30.501+01:00", 1356351330501},
        {"2012-12-24T13:15:30.501+0100", 1356351330501},
        {"2012-12-24T13:15:30.501+01", 1356351330501},
        {"2012-12-24T06:45:30.501-05:30", 1356351330501},
        {"2012-12-25T00:15:30.501+12:00", 1356351330501},
        {"2012-12-24t12:15:30.501z", 1356351330501},
        {"2012-12-24T12:15Z", 1356351300000},
        {"2016-12-31T23:59:60Z", 1483228800000},  // a leap second
        {"1969-12-31T23:59:59.999Z", -1},
        {"1969-12-31T23:59:59.9999Z", -1},
        {"0000-01-01T00:00:00Z", -62167219200000},
        {"1960-12-24T12:15:30Z", -284643870000},
    };
    for (const date& d : forms)
        EXPECT_EQ(parse(d.text), d.since_epoch) << d.text;
}

TEST(iso_date, parse_refuses_malformed_dates)
{
    const std::string_view texts[] = {
        "",
        "today",
        "2012-12-24",
        "2012-12-24T12:15:30",  // no offset
        "2012-12-24 12:15:30Z",
        "2012-12-24T12Z",
        "2012-12-24T12:15:30.Z",  // a point, and nothing behind it
        "2012-12-24T12:15:30.0123456789Z",
        "2012-12-24T12:15:30,5Z",
        "2012-12-24T12:15:30Z ",
        " 2012-12-24T12:15:30Z",
        "2012-12-24T12:15:30ZZ",
        "2012-13-24T12:15:30Z",  // month, day, hour, minute and second out of range
        "2012-00-24T12:15:30Z",
        "2012-12-32T12:15:30Z",
        "2012-12-00T12:15:30Z",
        "2012-12-24T24:00:00Z",
        "2012-12-24T12:60:30Z",
        "2012-12-24T12:15:61Z",
        "2011-02-29T00:00:00Z",  // no leap years
        "1900-02-29T00:00:00Z",
        "2012-12-24T12:15:30+24:00",
        "2012-12-24T12:15:30+01:60",
        "2012-12-24T12:15:30+1:00",
        "2012-12-24T12:15:30+010",
        "2012-12-24T12:15:30+01:",
        "2012-12-24T12:15:30+",
        "12-12-24T12:15:30Z",
        "-2012-12-24T12:15:30Z",
        "02012-12-24T12:15:30Z",
        "2012-1-24T12:15:30Z",
        "2O12-12-24T12:15:30Z",
    };
    for (const std::string_view text : texts)
        EXPECT_EQ(parse(text), std::nullopt) << text;
}

}  // namespace
}  // namespace holdfast::bson::iso_date_test
