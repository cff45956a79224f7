#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/expression/calendar.hpp"
#include "lab/mongo/expression/number.hpp"
#include "lab/mongo/expression/operators.hpp"

#include <optional>
#include <string>

namespace holdfast::lab::computing {

namespace {

/// Dates, and what carries one in it.
result<bson::datetime> coerce_to_date(const bson::element& from)
{
    if (from.type() == bson::type::datetime)
        return from.as_datetime();
    if (from.type() == bson::type::timestamp)
        return bson::datetime{std::chrono::seconds{from.as_timestamp().seconds}};
    if (from.type() == bson::type::object_id)
        return bson::datetime{from.as_object_id().created()};
    return refuse(16006,
                  "can't convert from BSON type " + std::string{type_name(from)} + " to Date");
}

/// Nothing for null.
result<std::optional<std::chrono::minutes>> coerce_to_offset(const bson::element& timezone,
                                                             bool given)
{
    using offset = std::optional<std::chrono::minutes>;
    if (!given)
        return offset{std::chrono::minutes{0}};
    if (is_nullish(timezone))
        return offset{};
    if (timezone.type() != bson::type::string)
        return refuse(40517, "timezone must evaluate to a string, found " +
                                 std::string{type_name(timezone)});
    const auto read = read_timezone(timezone.as_string());
    if (!read)
        return read.error();
    return offset{*read};
}

value part_of(std::string_view op, const calendar& c)
{
    if (op == "$year")
        return value::of(static_cast<std::int32_t>(c.year));
    if (op == "$month")
        return value::of(static_cast<std::int32_t>(c.month));
    if (op == "$dayOfMonth")
        return value::of(static_cast<std::int32_t>(c.day));
    if (op == "$isoWeekYear")
        return value::of(c.iso_year);
    const int found = op == "$hour"           ? c.hour
                      : op == "$minute"       ? c.minute
                      : op == "$second"       ? c.second
                      : op == "$millisecond"  ? c.millisecond
                      : op == "$dayOfYear"    ? c.day_of_year
                      : op == "$dayOfWeek"    ? c.day_of_week
                      : op == "$isoDayOfWeek" ? c.iso_day_of_week
                      : op == "$week"         ? c.week
                                              : c.iso_week;
    return value::of(found);
}

/// {$year: date} or {$year: {date: ..., timezone: ...}}, which arrives as a document.
result<value> date_part(const arguments& of, scope&)
{
    bson::element date = of[0];
    bson::element timezone;
    if (date.type() == bson::type::document) {
        for (const bson::element& e : date.as_document()) {
            if (e.key() != "date" && e.key() != "timezone")
                return refuse(40535, "unrecognized option to " + std::string{of.name} + ": \"" +
                                         std::string{e.key()} + "\"");
        }
        timezone = date.as_document().find("timezone");
        date = date.as_document().find("date");
    }
    if (is_nullish(date))
        return null_value();
    const auto when = coerce_to_date(date);
    if (!when)
        return when.error();
    const auto offset = coerce_to_offset(timezone, timezone.type() != bson::type::invalid);
    if (!offset)
        return offset.error();
    if (!*offset)
        return null_value();
    return part_of(of.name, to_calendar(*when, **offset));
}

result<value> date_to_string(const arguments& of, scope&)
{
    if (of.given(1) && !is_nullish(of[1]) && of[1].type() != bson::type::string)
        return refuse(18533, "$dateToString requires that 'format' be a string, found: " +
                                 std::string{type_name(of[1])} + " with value " + to_text(of[1]));
    const auto offset = coerce_to_offset(of[2], of.given(2));
    if (!offset)
        return offset.error();
    if (is_nullish(of[0]))
        return of.given(3) ? of.values[3] : null_value();
    const auto when = coerce_to_date(of[0]);
    if (!when)
        return when.error();
    if (!*offset || (of.given(1) && is_nullish(of[1])))
        return null_value();
    const bool utc = **offset == std::chrono::minutes{0};
    const std::string_view standard = utc ? "%Y-%m-%dT%H:%M:%S.%LZ" : "%Y-%m-%dT%H:%M:%S.%L";
    const auto text = format_date(*when, **offset, of.given(1) ? of[1].as_string() : standard);
    if (!text)
        return text.error();
    return value::of(*text);
}

struct unit {
    std::string_view name;
    std::int64_t milliseconds;  // zero: counted in months
    int months;
};
constexpr unit units[] = {
    {"year", 0, 12},         {"quarter", 0, 3},   {"month", 0, 1},
    {"week", 7 * day_ms, 0}, {"day", day_ms, 0},  {"hour", 3'600'000, 0},
    {"minute", 60'000, 0},   {"second", 1000, 0}, {"millisecond", 1, 0},
};

result<bson::datetime> add_months(bson::datetime to, std::int64_t months)
{
    if (months > 1'000'000 || months < -1'000'000)
        return refuse(5166406, "date overflow");
    const calendar c = to_calendar(to);
    const std::int64_t total = c.year * 12 + c.month - 1 + months;
    const std::int64_t year = total / 12 - (total % 12 < 0 ? 1 : 0);
    const auto month = static_cast<int>(total - year * 12) + 1;
    const std::int64_t first = days_of(year, month, 1);
    const std::int64_t length = (month == 12 ? days_of(year + 1, 1, 1)
                                             : days_of(year, month + 1, 1)) -
                                first;
    const std::int64_t day = std::min<std::int64_t>(c.day, length);
    const std::int64_t rest = to.time_since_epoch().count() % day_ms;
    const std::int64_t in_day = rest < 0 ? rest + day_ms : rest;
    std::int64_t made = 0;
    if (__builtin_mul_overflow(first + day - 1, day_ms, &made) ||
        __builtin_add_overflow(made, in_day, &made))
        return refuse(5166406, "date overflow");
    return bson::datetime{std::chrono::milliseconds{made}};
}

/// $dateAdd and $dateSubtract; an offset shifts no day here, since offsets have no summer time.
result<value> date_plus(const arguments& of, scope&)
{
    const std::string name{of.name};
    if (is_nullish(of[0]) || is_nullish(of[1]) || is_nullish(of[2]))
        return null_value();
    const auto start = coerce_to_date(of[0]);
    if (!start)
        return refuse(5166403, name + " requires startDate to be convertible to a date");
    const unit* by = nullptr;
    for (const unit& u : units) {
        if (of[1].type() == bson::type::string && of[1].as_string() == u.name)
            by = &u;
    }
    if (!by)
        return refuse(of[1].type() == bson::type::string ? 9 : 5166404,
                      name + " expects a time unit, found: " + to_text(of[1]));
    auto amount = as_int64(of[2]);
    if (!amount)
        return refuse(5166405, name + " expects integer amount of time units");
    if (name == "$dateSubtract" && __builtin_sub_overflow(std::int64_t{0}, *amount, &*amount))
        return refuse(5976500, "invalid $dateSubtract 'amount' parameter value: " + to_text(of[2]));
    std::int64_t delta = 0;
    if (__builtin_mul_overflow(*amount, by->months != 0 ? by->months : by->milliseconds, &delta))
        return refuse(5166406, name + " overflowed");
    if (by->months != 0) {
        const auto made = add_months(*start, delta);
        if (!made)
            return made.error();
        return value::of(*made);
    }
    std::int64_t made = 0;
    if (__builtin_add_overflow(start->time_since_epoch().count(), delta, &made))
        return refuse(5166406, name + " overflowed");
    return value::of(bson::datetime{std::chrono::milliseconds{made}});
}

constexpr list_operator dates_table[] = {
    {"$year", 1, 1, date_part},        {"$month", 1, 1, date_part},
    {"$dayOfMonth", 1, 1, date_part},  {"$hour", 1, 1, date_part},
    {"$minute", 1, 1, date_part},      {"$second", 1, 1, date_part},
    {"$millisecond", 1, 1, date_part}, {"$dayOfYear", 1, 1, date_part},
    {"$dayOfWeek", 1, 1, date_part},   {"$isoDayOfWeek", 1, 1, date_part},
    {"$week", 1, 1, date_part},        {"$isoWeek", 1, 1, date_part},
    {"$isoWeekYear", 1, 1, date_part},
};

constexpr named_operator named_dates_table[] = {
    {"$dateToString",
     18629,
     18534,
     date_to_string,
     {{{"date", 18628}, {"format", 0}, {"timezone", 0}, {"onNull", 0}}}},
    {"$dateAdd",
     5166400,
     5166401,
     date_plus,
     {{{"startDate", 5166402}, {"unit", 5166402}, {"amount", 5166402}, {"timezone", 0}}}},
    {"$dateSubtract",
     5166400,
     5166401,
     date_plus,
     {{{"startDate", 5166402}, {"unit", 5166402}, {"amount", 5166402}, {"timezone", 0}}}},
};

}  // namespace

std::span<const list_operator> date_operators()
{
    return dates_table;
}
std::span<const named_operator> date_operators_with_names()
{
    return named_dates_table;
}

}  // namespace holdfast::lab::computing
