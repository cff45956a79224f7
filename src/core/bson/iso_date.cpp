#include "core/bson/iso_date.hpp"

#include <chrono>

namespace holdfast::bson {

namespace {

using namespace std::chrono_literals;

constexpr datetime first_with_text{0ms};
constexpr datetime first_without_text{
    std::chrono::sys_days{std::chrono::year{10000} / std::chrono::January / 1}};

char* print_digits(unsigned value, int count, char* out) noexcept
{
    for (int i = count - 1; i >= 0; --i, value /= 10)
        out[i] = static_cast<char>('0' + value % 10);
    return out + count;
}

template <class Duration>
unsigned number_of(Duration d) noexcept
{
    return static_cast<unsigned>(d.count());
}

/// Reads a text from left to right. After a mismatch everything else is a mismatch too, so that
/// only the end result needs a look.
class date_reader {
public:
    explicit date_reader(std::string_view text) noexcept : left_{text} {}

    bool good() const noexcept { return good_; }
    bool at_end() const noexcept { return left_.empty(); }
    void reject() noexcept { good_ = false; }

    bool take(char c) noexcept
    {
        if (!left_.starts_with(c))
            return false;
        left_.remove_prefix(1);
        return true;
    }
    void expect(char c) noexcept { good_ = take(c) && good_; }

    /// Exactly `count` digits that make a number up to `highest`.
    int number(int count, int highest) noexcept
    {
        int value = 0;
        for (int i = 0; i < count; ++i)
            value = value * 10 + digit();
        good_ = good_ && value <= highest;
        return value;
    }

    /// One to nine digits behind a decimal point.
    std::chrono::milliseconds fraction() noexcept
    {
        constexpr int most = 9;
        int value = 0;
        int count = 0;
        for (; count < most && (count == 0 || starts_with_digit()); ++count) {
            const int next = digit();
            if (count < 3)
                value = value * 10 + next;
        }
        for (; count < 3; ++count)
            value *= 10;
        return std::chrono::milliseconds{value};
    }

    bool starts_with_digit() const noexcept
    {
        return !left_.empty() && left_.front() >= '0' && left_.front() <= '9';
    }

private:
    int digit() noexcept
    {
        good_ = good_ && starts_with_digit();
        if (!good_)
            return 0;
        const int value = left_.front() - '0';
        left_.remove_prefix(1);
        return value;
    }

    std::string_view left_;
    bool good_ = true;
};

std::chrono::sys_days read_day(date_reader& in) noexcept
{
    const std::chrono::year year{in.number(4, 9999)};
    in.expect('-');
    const std::chrono::month month{static_cast<unsigned>(in.number(2, 12))};
    in.expect('-');
    const std::chrono::day day{static_cast<unsigned>(in.number(2, 31))};
    const auto date = year / month / day;
    if (!date.ok()) {
        in.reject();
        return {};
    }
    return date;
}

std::chrono::milliseconds read_time(date_reader& in) noexcept
{
    std::chrono::milliseconds time = std::chrono::hours{in.number(2, 23)};
    in.expect(':');
    time += std::chrono::minutes{in.number(2, 59)};
    if (in.take(':')) {
        time += std::chrono::seconds{in.number(2, 60)};
        if (in.take('.'))
            time += in.fraction();
    }
    return time;
}

/// The offset of local time from UTC.
std::chrono::minutes read_offset(date_reader& in) noexcept
{
    if (in.take('Z') || in.take('z'))
        return 0min;
    const bool ahead = in.take('+');
    if (!ahead)
        in.expect('-');
    std::chrono::minutes offset = std::chrono::hours{in.number(2, 23)};
    if (in.take(':') || in.starts_with_digit())
        offset += std::chrono::minutes{in.number(2, 59)};
    return ahead ? offset : -offset;
}

}  // namespace

bool has_iso_text(datetime when) noexcept
{
    return when >= first_with_text && when < first_without_text;
}

char* print_iso_date(datetime when, char* out) noexcept
{
    const auto day = std::chrono::floor<std::chrono::days>(when);
    const std::chrono::year_month_day date{day};
    const std::chrono::hh_mm_ss time{when - day};
    out = print_digits(static_cast<unsigned>(int{date.year()}), 4, out);
    *out++ = '-';
    out = print_digits(unsigned{date.month()}, 2, out);
    *out++ = '-';
    out = print_digits(unsigned{date.day()}, 2, out);
    *out++ = 'T';
    out = print_digits(number_of(time.hours()), 2, out);
    *out++ = ':';
    out = print_digits(number_of(time.minutes()), 2, out);
    *out++ = ':';
    out = print_digits(number_of(time.seconds()), 2, out);
    if (time.subseconds() != 0ms) {
        *out++ = '.';
        out = print_digits(number_of(time.subseconds()), 3, out);
    }
    *out++ = 'Z';
    return out;
}

std::optional<datetime> parse_iso_date(std::string_view text) noexcept
{
    date_reader in{text};
    const auto day = read_day(in);
    if (!in.take('T'))
        in.expect('t');
    const auto time = read_time(in);
    const auto offset = read_offset(in);
    if (!in.good() || !in.at_end())
        return std::nullopt;
    return day + time - offset;
}

}  // namespace holdfast::bson
