#include "lab/mongo/expression/calendar.hpp"

#include "lab/mongo/document/server_code.hpp"

#include <array>
#include <cstdio>
#include <optional>

namespace holdfast::lab::computing {

namespace {

std::int64_t floor_divide(std::int64_t a, std::int64_t b)
{
    return a / b - (a % b < 0 ? 1 : 0);
}

/// Year, month and day of a count of days, in eras of 400 years that begin in March.
void set_date(std::int64_t days, calendar& to)
{
    const std::int64_t shifted = days + 719'468;
    const std::int64_t era = floor_divide(shifted, 146'097);
    const std::int64_t of_era = shifted - era * 146'097;
    const std::int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36'524 - of_era / 146'096) /
                                     365;
    const std::int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const std::int64_t march_month = (5 * of_year + 2) / 153;
    to.day = static_cast<unsigned>(of_year - (153 * march_month + 2) / 5 + 1);
    to.month = static_cast<unsigned>(march_month < 10 ? march_month + 3 : march_month - 9);
    to.year = year_of_era + era * 400 + (to.month <= 2 ? 1 : 0);
}

std::string padded(std::int64_t n, int width)
{
    char text[24];
    const int size = std::snprintf(text, sizeof text, "%0*lld", width, static_cast<long long>(n));
    return {text, static_cast<std::size_t>(size)};
}

std::optional<std::string> by_letter(char letter, const calendar& c, std::chrono::minutes offset)
{
    static constexpr std::array<std::string_view, 12> months = {
        "January", "February", "March",     "April",   "May",      "June",
        "July",    "August",   "September", "October", "November", "December"};
    const auto minutes = static_cast<int>(offset.count());
    switch (letter) {
    case 'Y':
        return padded(c.year, 4);
    case 'm':
        return padded(c.month, 2);
    case 'd':
        return padded(c.day, 2);
    case 'H':
        return padded(c.hour, 2);
    case 'M':
        return padded(c.minute, 2);
    case 'S':
        return padded(c.second, 2);
    case 'L':
        return padded(c.millisecond, 3);
    case 'j':
        return padded(c.day_of_year, 3);
    case 'w':
        return padded(c.day_of_week, 1);
    case 'u':
        return padded(c.iso_day_of_week, 1);
    case 'U':
        return padded(c.week, 2);
    case 'V':
        return padded(c.iso_week, 2);
    case 'G':
        return padded(c.iso_year, 4);
    case 'B':
        return std::string{months[c.month - 1]};
    case 'b':
        return std::string{months[c.month - 1].substr(0, 3)};
    case 'Z':
        return padded(minutes, minutes < 0 ? 4 : 3).insert(0, minutes < 0 ? "" : "+");
    case 'z': {
        const int size = minutes < 0 ? -minutes : minutes;
        return (minutes < 0 ? "-" : "+") + padded(size / 60, 2) + padded(size % 60, 2);
    }
    case '%':
        return std::string{"%"};
    default:
        return std::nullopt;
    }
}

}  // namespace

std::int64_t days_of(std::int64_t year, int month, int day)
{
    const std::int64_t shifted = month <= 2 ? year - 1 : year;
    const std::int64_t era = floor_divide(shifted, 400);
    const std::int64_t of_era = shifted - era * 400;
    const std::int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return era * 146'097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719'468;
}

calendar to_calendar(bson::datetime when, std::chrono::minutes offset)
{
    const std::int64_t utc = when.time_since_epoch().count();
    std::int64_t ms = 0;
    if (__builtin_add_overflow(utc, offset.count() * 60'000, &ms))
        ms = utc;
    calendar made;
    const std::int64_t days = floor_divide(ms, day_ms);
    std::int64_t rest = ms % day_ms + (ms % day_ms < 0 ? day_ms : 0);
    set_date(days, made);
    made.millisecond = static_cast<int>(rest % 1000);
    rest /= 1000;
    made.second = static_cast<int>(rest % 60);
    made.minute = static_cast<int>(rest / 60 % 60);
    made.hour = static_cast<int>(rest / 3600);
    made.day_of_year = static_cast<int>(days - days_of(made.year, 1, 1) + 1);
    const std::int64_t weekday = days + 4 - 7 * floor_divide(days + 4, 7);  // 0 is Sunday
    made.day_of_week = static_cast<int>(weekday) + 1;
    made.iso_day_of_week = weekday == 0 ? 7 : static_cast<int>(weekday);
    made.week = static_cast<int>((made.day_of_year - 1 + 7 - weekday) / 7);
    // The ISO week is that of its Thursday.
    const std::int64_t thursday = days + 4 - made.iso_day_of_week;
    calendar week;
    set_date(thursday, week);
    made.iso_year = week.year;
    made.iso_week = static_cast<int>((thursday - days_of(week.year, 1, 1)) / 7) + 1;
    return made;
}

result<std::chrono::minutes> read_timezone(std::string_view name)
{
    if (name == "UTC" || name == "GMT" || name == "Z")
        return std::chrono::minutes{0};
    const auto digit = [&](std::size_t at) {
        return at < name.size() && name[at] >= '0' && name[at] <= '9' ? name[at] - '0' : -1;
    };
    const bool sign = name.starts_with('+') || name.starts_with('-');
    const bool colon = name.size() == 6 && name[3] == ':';
    if (sign && (name.size() == 3 || name.size() == 5 || colon)) {
        const std::size_t at = colon ? 4 : 3;
        const int minute = name.size() == 3 ? 0 : digit(at) * 10 + digit(at + 1);
        const bool good = digit(1) >= 0 && digit(2) >= 0 &&
                          (name.size() == 3 || (digit(at) >= 0 && digit(at + 1) >= 0));
        const std::chrono::minutes ahead{(digit(1) * 10 + digit(2)) * 60 + minute};
        if (good)
            return name[0] == '-' ? -ahead : ahead;
    }
    return refuse(40485, "unrecognized time zone identifier: \"" + std::string{name} + "\"");
}

result<std::string> format_date(bson::datetime when, std::chrono::minutes offset,
                                std::string_view format)
{
    const calendar c = to_calendar(when, offset);
    std::string made;
    for (std::size_t i = 0; i < format.size(); ++i) {
        if (format[i] != '%') {
            made += format[i];
            continue;
        }
        if (++i == format.size())
            return refuse(18535, "Unmatched '%' at end of format string");
        const auto part = by_letter(format[i], c, offset);
        if (!part)
            return refuse(18536, "Invalid format character '%" + std::string(1, format[i]) +
                                     "' in format string");
        made += *part;
        if (made.size() > (std::size_t{1} << 24))
            return refuse(server_code::bson_object_too_large, "a date's text is too long");
    }
    return made;
}

}  // namespace holdfast::lab::computing
