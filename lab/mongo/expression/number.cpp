#include "lab/mongo/expression/number.hpp"

#include "lab/mongo/document/server_code.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

namespace holdfast::lab::computing {

namespace {

using kind = number::kind;

double nearest(const bson::decimal128& from)
{
    if (from.is_nan())
        return std::numeric_limits<double>::quiet_NaN();
    if (from.is_infinite())
        return from.is_negative() ? -HUGE_VAL : HUGE_VAL;
    char text[bson::decimal128::max_text];
    const char* const end = from.print(text);
    double made = 0;
    const auto read = std::from_chars(text, end, made);
    if (read.ec != std::errc{}) {
        // Beyond the range of a double: the exponent's sign says on which side.
        const bool small = std::string_view(text, end).find("E-") != std::string_view::npos;
        made = small ? 0.0 : HUGE_VAL;
        return from.is_negative() ? -made : made;
    }
    return made;
}

}  // namespace

value number::to_value() const
{
    switch (is) {
    case kind::int32:
        if (std::in_range<std::int32_t>(whole))
            return value::of(static_cast<std::int32_t>(whole));
        return value::of(whole);
    case kind::int64:
        return value::of(whole);
    case kind::real:
        return value::of(real);
    case kind::decimal:
        return value::of(decimal);
    }
    return {};
}

std::optional<number> read_number(const bson::element& from) noexcept
{
    if (from.type() == bson::type::int32)
        return number::of(std::int64_t{from.as_int32()}, kind::int32);
    if (from.type() == bson::type::int64)
        return number::of(from.as_int64(), kind::int64);
    if (from.type() == bson::type::double_)
        return number::of(from.as_double());
    if (from.type() == bson::type::decimal128)
        return number{kind::decimal, 0, nearest(from.as_decimal128()), from.as_decimal128()};
    return std::nullopt;
}

std::optional<std::int64_t> as_int64(const bson::element& from) noexcept
{
    const auto n = read_number(from);
    if (!n)
        return std::nullopt;
    if (n->integral())
        return n->whole;
    constexpr double limit = 9223372036854775808.0;  // 2^63
    if (!(n->real >= -limit && n->real < limit) || n->real != std::trunc(n->real))
        return std::nullopt;
    return static_cast<std::int64_t>(n->real);
}

std::optional<std::int32_t> as_int32(const bson::element& from) noexcept
{
    const auto wide = as_int64(from);
    if (!wide || !std::in_range<std::int32_t>(*wide))
        return std::nullopt;
    return static_cast<std::int32_t>(*wide);
}

number add(const number& a, const number& b)
{
    if (!a.integral() || !b.integral())
        return number::of(a.real + b.real);
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a.whole, b.whole, &sum))
        return number::of(a.real + b.real);
    return number::of(sum, std::max(a.is, b.is));
}

number multiply(const number& a, const number& b)
{
    if (!a.integral() || !b.integral())
        return number::of(a.real * b.real);
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a.whole, b.whole, &product))
        return number::of(a.real * b.real);
    return number::of(product, std::max(a.is, b.is));
}

error no_decimal(std::string_view operation)
{
    return refuse(server_code::command_not_supported,
                  std::string{operation} + " does not compute with Decimal128 in this lab yet");
}

}  // namespace holdfast::lab::computing
