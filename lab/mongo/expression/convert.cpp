#include "lab/mongo/expression/convert.hpp"

#include "core/bson/iso_date.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/expression/expression.hpp"
#include "lab/mongo/expression/number.hpp"
#include "lab/mongo/expression/text.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <string>

namespace holdfast::lab::computing {

namespace {

constexpr int conversion_failure = 241;

error unsupported(const bson::element& from, bson::type to)
{
    return refuse(conversion_failure,
                  "Unsupported conversion from " + std::string{type_name(from)} + " to " +
                      std::string{type_name(to)} + " in $convert with no onError value");
}

error unreadable(std::string_view what, std::string_view text, std::string_view why)
{
    return refuse(conversion_failure,
                  "Failed to parse " + std::string{what} + " '" + std::string{text.substr(0, 200)} +
                      "' in $convert with no onError value: " + std::string{why});
}

error overflowing(const bson::element& from)
{
    return refuse(conversion_failure,
                  "Conversion would overflow target type in $convert with no onError value: " +
                      to_text(from));
}

/// The whole part of a number, if it lies in the range of the target.
result<std::int64_t> to_whole(const bson::element& from, std::int64_t least, std::int64_t most)
{
    const auto n = read_number(from);
    std::int64_t whole = n->whole;
    if (!n->integral()) {
        if (std::isnan(n->real))
            return refuse(conversion_failure,
                          "Attempt to convert NaN value to integer type in "
                          "$convert with no onError value");
        if (std::isinf(n->real))
            return refuse(conversion_failure,
                          "Attempt to convert infinity value to integer type "
                          "in $convert with no onError value");
        const double cut = std::trunc(n->real);
        constexpr double limit = 9223372036854775808.0;  // 2^63
        if (!(cut >= -limit && cut < limit))
            return overflowing(from);
        whole = static_cast<std::int64_t>(cut);
    }
    if (whole < least || whole > most)
        return overflowing(from);
    return whole;
}

result<std::int64_t> parse_whole(std::string_view text, std::int64_t least, std::int64_t most)
{
    std::string_view digits = text;
    if (digits.starts_with('+'))
        digits.remove_prefix(1);
    std::int64_t made = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), made);
    if (read.ec == std::errc::result_out_of_range)
        return unreadable("number", text, "Overflow");
    if (read.ec != std::errc{})
        return unreadable("number", text, "Did not consume any digits");
    if (read.ptr != digits.data() + digits.size())
        return unreadable("number", text, "Did not consume whole string.");
    if (made < least || made > most)
        return unreadable("number", text, "Overflow");
    return made;
}

template <class Integer>
result<value> to_integer(const bson::element& from, bson::type to)
{
    constexpr std::int64_t least = std::numeric_limits<Integer>::min();
    constexpr std::int64_t most = std::numeric_limits<Integer>::max();
    if (from.type() == bson::type::boolean)
        return value::of(static_cast<Integer>(from.as_bool() ? 1 : 0));
    if (from.type() == bson::type::datetime && to == bson::type::int64)
        return value::of(std::int64_t{from.as_datetime().time_since_epoch().count()});
    const bool text = from.type() == bson::type::string;
    if (!text && !read_number(from))
        return unsupported(from, to);
    const auto made = text ? parse_whole(from.as_string(), least, most)
                           : to_whole(from, least, most);
    if (!made)
        return made.error();
    return value::of(static_cast<Integer>(*made));
}

result<value> to_real(const bson::element& from)
{
    if (from.type() == bson::type::boolean)
        return value::of(from.as_bool() ? 1.0 : 0.0);
    if (from.type() == bson::type::datetime)
        return value::of(static_cast<double>(from.as_datetime().time_since_epoch().count()));
    if (const auto n = read_number(from)) {
        if (n->is == number::kind::decimal && std::isinf(n->real) && !n->decimal.is_infinite())
            return overflowing(from);
        return value::of(n->real);
    }
    if (from.type() != bson::type::string)
        return unsupported(from, bson::type::double_);
    const std::string_view text = from.as_string();
    std::string_view digits = text;
    if (digits.starts_with('+'))
        digits.remove_prefix(1);
    double made = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), made);
    if (read.ec == std::errc::result_out_of_range)
        return unreadable("number", text, "Out of range");
    if (read.ec != std::errc{})
        return unreadable("number", text,
                          text.empty() ? "Empty string" : "Did not consume any digits");
    if (read.ptr != digits.data() + digits.size())
        return unreadable("number", text, "Did not consume whole string.");
    return value::of(made);
}

result<value> to_decimal(const bson::element& from)
{
    if (from.type() == bson::type::decimal128)
        return value{from};
    std::string text;
    if (from.type() == bson::type::boolean)
        text = from.as_bool() ? "1" : "0";
    else if (from.type() == bson::type::datetime)
        text = std::to_string(from.as_datetime().time_since_epoch().count());
    else if (from.type() == bson::type::string)
        text = from.as_string();
    else if (from.type() == bson::type::double_) {
        char digits[32];
        std::snprintf(digits, sizeof digits, "%.15g", from.as_double());
        text = digits;
    } else if (read_number(from))
        text = to_text(from);
    else
        return unsupported(from, bson::type::decimal128);
    const auto made = bson::decimal128::parse(text);
    if (!made)
        return unreadable("number", text, "Failed to parse string to decimal");
    return value::of(*made);
}

/// The ways in which people write a date; without a zone it is UTC.
std::optional<bson::datetime> read_date(std::string_view text)
{
    if (const auto made = bson::parse_iso_date(text))
        return made;
    std::string longer{text.substr(0, 40)};
    if (longer.size() == 10)
        return bson::parse_iso_date(longer + "T00:00:00Z");
    if (longer.size() > 10 && longer[10] == ' ')
        longer[10] = 'T';
    if (const auto made = bson::parse_iso_date(longer))
        return made;
    return bson::parse_iso_date(longer + "Z");
}

result<value> to_date(const bson::element& from)
{
    using std::chrono::milliseconds;
    if (from.type() == bson::type::datetime)
        return value{from};
    if (from.type() == bson::type::object_id)
        return value::of(bson::datetime{from.as_object_id().created()});
    if (from.type() == bson::type::timestamp)
        return value::of(bson::datetime{std::chrono::seconds{from.as_timestamp().seconds}});
    if (from.type() == bson::type::string) {
        const auto made = read_date(from.as_string());
        if (!made)
            return refuse(conversion_failure, "Error parsing date string '" +
                                                  std::string{from.as_string().substr(0, 100)} +
                                                  "' in $convert with no onError value");
        return value::of(*made);
    }
    if (from.type() == bson::type::int32 || !read_number(from))
        return unsupported(from, bson::type::datetime);
    const auto ms = to_whole(from, std::numeric_limits<std::int64_t>::min(),
                             std::numeric_limits<std::int64_t>::max());
    if (!ms)
        return ms.error();
    return value::of(bson::datetime{milliseconds{*ms}});
}

result<value> convert_to_string(const bson::element& from)
{
    if (from.type() == bson::type::boolean)
        return value::of(from.as_bool() ? "true" : "false");
    if (from.type() == bson::type::object_id)
        return value::of(from.as_object_id().to_string());
    const bool known = from.type() == bson::type::string || from.type() == bson::type::datetime ||
                       read_number(from).has_value();
    if (!known)
        return unsupported(from, bson::type::string);
    const auto text = coerce_to_text(from);
    if (!text)
        return text.error();
    return value::of(*text);
}

result<value> to_object_id(const bson::element& from)
{
    if (from.type() == bson::type::object_id)
        return value{from};
    if (from.type() != bson::type::string)
        return unsupported(from, bson::type::object_id);
    const std::string_view text = from.as_string();
    if (text.size() != 24)
        return unreadable("objectId", text,
                          "Invalid string length for parsing to OID, expected 24 but found " +
                              std::to_string(text.size()));
    const auto made = bson::object_id::parse(text);
    if (!made)
        return unreadable("objectId", text, "Invalid character found in hex string");
    return value::of(*made);
}

}  // namespace

result<value> convert_to(const bson::element& from, bson::type to)
{
    if (to == bson::type::int32)
        return to_integer<std::int32_t>(from, to);
    if (to == bson::type::int64)
        return to_integer<std::int64_t>(from, to);
    if (to == bson::type::double_)
        return to_real(from);
    if (to == bson::type::decimal128)
        return to_decimal(from);
    if (to == bson::type::boolean)
        return value::of(is_true(from));
    if (to == bson::type::datetime)
        return to_date(from);
    if (to == bson::type::object_id)
        return to_object_id(from);
    if (to == bson::type::string)
        return convert_to_string(from);
    return unsupported(from, to);
}

}  // namespace holdfast::lab::computing
