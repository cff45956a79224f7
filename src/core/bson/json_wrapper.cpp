#include "core/bson/hex.hpp"
#include "core/bson/iso_date.hpp"
#include "core/bson/json_number.hpp"
#include "core/bson/json_parse.hpp"
#include "core/bson/quote.hpp"
#include "holdfast/bson/decimal128.hpp"
#include "holdfast/bson/uuid.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace holdfast::bson {

namespace {

/// Comparing with a literal of the same size, which a compiler turns into a few instructions.
template <std::size_t N>
bool is(std::string_view key, const char (&name)[N]) noexcept
{
    return std::memcmp(key.data(), name, N - 1) == 0;
}

/// Looks a little ahead without keeping errors: what follows is read again by the parser proper.
class lookahead {
public:
    explicit lookahead(std::string_view text) noexcept : left_{text} {}

    bool take(char c) noexcept
    {
        left_.remove_prefix(std::min(left_.find_first_not_of(" \n\t\r"), left_.size()));
        if (!left_.starts_with(c))
            return false;
        left_.remove_prefix(1);
        return true;
    }

    /// Any string; or this one, written without escapes.
    bool string() noexcept
    {
        if (!take('"'))
            return false;
        for (std::size_t i = 0; i < left_.size(); i += left_[i] == '\\' ? 2 : 1) {
            if (left_[i] == '"') {
                left_.remove_prefix(i + 1);
                return true;
            }
        }
        return false;
    }
    bool string(std::string_view expected) noexcept
    {
        if (!take('"') || !left_.starts_with(expected))
            return false;
        left_.remove_prefix(expected.size());
        return left_.starts_with('"') && take('"');
    }

private:
    std::string_view left_;
};

constexpr std::string_view other_of_pair(json_wrapper legacy) noexcept
{
    if (legacy == json_wrapper::legacy_regex)
        return "$options";
    return legacy == json_wrapper::legacy_options ? "$regex" : "$binary";
}

}  // namespace

json_wrapper wrapper_of(std::string_view key) noexcept
{
    using enum json_wrapper;
    switch (key.size()) {
    case 4:
        return is(key, "$oid") ? object_id : none;
    case 5:
        return is(key, "$date")   ? date
               : is(key, "$code") ? code
               : is(key, "$uuid") ? uuid
               : is(key, "$type") ? legacy_type
                                  : none;
    case 6:
        return is(key, "$scope") ? scope : is(key, "$regex") ? legacy_regex : none;
    case 7:
        return is(key, "$binary")   ? binary
               : is(key, "$symbol") ? symbol
               : is(key, "$minKey") ? min_key
               : is(key, "$maxKey") ? max_key
                                    : none;
    case 8:
        return is(key, "$options") ? legacy_options : none;
    case 10:
        return is(key, "$numberInt")   ? number_int
               : is(key, "$timestamp") ? timestamp
               : is(key, "$undefined") ? undefined
               : is(key, "$dbPointer") ? db_pointer
                                       : none;
    case 11:
        return is(key, "$numberLong") ? number_long : none;
    case 13:
        return is(key, "$numberDouble") ? number_double : none;
    case 14:
        return is(key, "$numberDecimal") ? number_decimal : none;
    case 18:
        return is(key, "$regularExpression") ? regular_expression : none;
    default:
        return none;
    }
}

/// {"$regex": "a", "$options": "i"} and {"$binary": "", "$type": "00"}, in either order, are values
/// of old. With fewer, more or other fields the same keys are operators of a query.
bool json_parser::is_legacy_pair(json_wrapper which) const noexcept
{
    if (which < json_wrapper::legacy_options)
        return false;
    lookahead ahead{in_.rest()};
    return ahead.take(':') && ahead.string() && ahead.take(',') &&
           ahead.string(other_of_pair(which)) && ahead.take(':') && ahead.string() &&
           ahead.take('}');
}

bool json_parser::wrapper(json_wrapper which, std::size_t type_at, const char* body, int depth)
{
    switch (which) {
    case json_wrapper::none: return false;
    case json_wrapper::binary: return binary_value(type_at, body);
    case json_wrapper::code: return code_value(type_at, depth);
    case json_wrapper::date: return date_value(type_at) && close("$date");
    case json_wrapper::db_pointer: return db_pointer_value(type_at) && close("$dbPointer");
    case json_wrapper::max_key: return key_value(type::max_key, "$maxKey", type_at);
    case json_wrapper::min_key: return key_value(type::min_key, "$minKey", type_at);
    case json_wrapper::number_decimal: return decimal_value(type_at) && close("$numberDecimal");
    case json_wrapper::number_double: return double_value(type_at) && close("$numberDouble");
    case json_wrapper::number_int: return int_value(type_at) && close("$numberInt");
    case json_wrapper::number_long:
        return long_value(type::int64, type_at) && close("$numberLong");
    case json_wrapper::object_id: return object_id_value(type_at) && close("$oid");
    case json_wrapper::regular_expression:
        return regex_value(type_at) && close("$regularExpression");
    case json_wrapper::scope: return scope_value(type_at, depth);
    case json_wrapper::symbol: return symbol_value(type_at) && close("$symbol");
    case json_wrapper::timestamp: return timestamp_value(type_at) && close("$timestamp");
    case json_wrapper::undefined: return undefined_value(type_at) && close("$undefined");
    case json_wrapper::uuid: return uuid_value(type_at) && close("$uuid");
    case json_wrapper::legacy_options:
    case json_wrapper::legacy_regex:
        return legacy_regex(type_at, body);
    case json_wrapper::legacy_type: return legacy_binary(type_at, body);
    }
    return false;
}

bool json_parser::close(std::string_view of)
{
    return in_.take('}') || in_.unexpected("'}' after the value of " + std::string{of});
}

/// A key that is the only one possible, and its colon.
bool json_parser::only_key(std::string_view of, std::string_view expected)
{
    const char* const at = in_.at();
    std::string_view key;
    if (!read_key(key))
        return false;
    if (key != expected)
        return in_.fail(
            std::string{of} + ": expected key " + quote(expected) + ", found " + quote(key), at);
    return colon_after(key);
}

bool json_parser::wrapped_text(std::string_view of, wrapped& read)
{
    read.at = in_.at();
    if (in_.peek() != '"') [[unlikely]]
        return in_.unexpected("a string for " + std::string{of});
    return in_.string(read.text, read.scratch);
}

bool json_parser::wrong(std::string_view of, std::string_view expected, const wrapped& found)
{
    return in_.fail(std::string{of} + ": expected " + std::string{expected} + ", found " +
                        quote(found.text),
                    found.at);
}

bool json_parser::symbol_value(std::size_t type_at)
{
    wrapped read;
    if (!wrapped_text("$symbol", read))
        return false;
    put_text(type::symbol, type_at, read.text);
    return true;
}

bool json_parser::read_object_id(std::uint8_t* to)
{
    wrapped read;
    if (!wrapped_text("$oid", read))
        return false;
    if (read.text.size() == 24 && decode_hex(read.text.data(), {to, 12}))
        return true;
    return wrong("$oid", "24 hexadecimal digits", read);
}

bool json_parser::object_id_value(std::size_t type_at)
{
    return read_object_id(start_value(type::object_id, type_at, 12));
}

bool json_parser::int_value(std::size_t type_at)
{
    using narrow = std::numeric_limits<std::int32_t>;
    wrapped read;
    if (!wrapped_text("$numberInt", read))
        return false;
    const auto value = parse_integer(read.text);
    if (!value || *value < narrow::min() || *value > narrow::max())
        return wrong("$numberInt", "an integer of 32 bits", read);
    layout::store(start_value(type::int32, type_at, 4), static_cast<std::int32_t>(*value));
    return true;
}

/// An integer of 64 bits, or a date that is written as one.
bool json_parser::long_value(type t, std::size_t type_at)
{
    wrapped read;
    if (!wrapped_text("$numberLong", read))
        return false;
    const auto value = parse_integer(read.text);
    if (!value)
        return wrong("$numberLong", "an integer of 64 bits", read);
    layout::store(start_value(t, type_at, 8), *value);
    return true;
}

bool json_parser::double_value(std::size_t type_at)
{
    using limits = std::numeric_limits<double>;
    wrapped read;
    if (!wrapped_text("$numberDouble", read))
        return false;
    std::optional<double> value = parse_double(read.text);
    if (read.text == "Infinity")
        value = limits::infinity();
    else if (read.text == "-Infinity")
        value = -limits::infinity();
    else if (read.text == "NaN")
        value = limits::quiet_NaN();
    if (!value)
        return wrong("$numberDouble", "a number, Infinity, -Infinity or NaN", read);
    layout::store(start_value(type::double_, type_at, 8), *value);
    return true;
}

bool json_parser::decimal_value(std::size_t type_at)
{
    wrapped read;
    if (!wrapped_text("$numberDecimal", read))
        return false;
    const auto value = decimal128::parse(read.text);
    if (!value)
        return in_.fail("$numberDecimal: " + value.error().message(), read.at);
    std::uint8_t* const to = start_value(type::decimal128, type_at, 16);
    layout::store(layout::store(to, value->low), value->high);
    return true;
}

bool json_parser::uuid_value(std::size_t type_at)
{
    wrapped read;
    if (!wrapped_text("$uuid", read))
        return false;
    const auto value = uuid::parse(read.text);
    if (!value)
        return in_.fail("$uuid: " + value.error().message(), read.at);
    std::uint8_t* to = start_value(type::binary, type_at, 5 + 16);
    to = layout::store(to, std::int32_t{16});
    to = layout::store(to, binary_subtype::uuid);
    layout::store(to, value->bytes);
    return true;
}

bool json_parser::date_value(std::size_t type_at)
{
    if (in_.take('{')) {
        return only_key("$date", "$numberLong") && long_value(type::datetime, type_at) &&
               close("$numberLong");
    }
    wrapped read;
    if (in_.peek() != '"')
        return in_.unexpected("a string or {\"$numberLong\": ...} for $date");
    if (!wrapped_text("$date", read))
        return false;
    const auto when = parse_iso_date(read.text);
    if (!when)
        return wrong("$date", "a date as in \"2012-12-24T12:15:30.501Z\"", read);
    const std::int64_t milliseconds = when->time_since_epoch().count();
    layout::store(start_value(type::datetime, type_at, 8), milliseconds);
    return true;
}

bool json_parser::key_value(type t, std::string_view name, std::size_t type_at)
{
    start_value(t, type_at, 0);
    return (in_.take('1') || in_.unexpected("1 for " + std::string{name})) && close(name);
}

bool json_parser::undefined_value(std::size_t type_at)
{
    start_value(type::undefined, type_at, 0);
    return in_.peek() == 't' ? in_.chunk("true") : in_.unexpected("true for $undefined");
}

}  // namespace holdfast::bson
