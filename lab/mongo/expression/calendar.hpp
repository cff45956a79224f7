#pragma once
#include "holdfast/bson/types.hpp"
#include "holdfast/error.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::lab::computing {

inline constexpr std::int64_t day_ms = 86'400'000;

/// A point in time as people write it.
struct calendar {
    std::int64_t year = 0;
    unsigned month = 0;
    unsigned day = 0;
    int hour = 0;
    int minute = 0;
    int second = 0;
    int millisecond = 0;
    int day_of_year = 0;
    int day_of_week = 0;      // 1 is Sunday
    int iso_day_of_week = 0;  // 1 is Monday
    int week = 0;             // that begin on Sunday, from 0
    int iso_week = 0;
    std::int64_t iso_year = 0;
};

/// For every int64 of milliseconds; years beyond those of <chrono> too.
calendar to_calendar(bson::datetime when, std::chrono::minutes offset = {});

/// Days since 1970-01-01 of a date whose month is 1 to 12.
std::int64_t days_of(std::int64_t year, int month, int day);

/// "UTC", "GMT", "Z", "+01:00", "+0100", "+01". Names of regions are refused (40485).
result<std::chrono::minutes> read_timezone(std::string_view name);

/// By MongoDB's letters: %Y %m %d %H %M %S %L %j %u %w %U %V %G %z %Z %b %B %%.
result<std::string> format_date(bson::datetime when, std::chrono::minutes offset,
                                std::string_view format);

}  // namespace holdfast::lab::computing
