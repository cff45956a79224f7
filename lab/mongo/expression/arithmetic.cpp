#include "lab/mongo/expression/arithmetic.hpp"

#include "lab/mongo/document/server_code.hpp"

#include <cmath>
#include <limits>
#include <string>

namespace holdfast::lab::computing {

namespace {

using kind = number::kind;

/// Milliseconds as far as a date may carry them; fractions are rounded.
std::optional<std::int64_t> to_milliseconds(const number& n)
{
    if (n.integral())
        return n.whole;
    constexpr double limit = 9223372036854775808.0;  // 2^63
    if (!(n.real >= -limit && n.real < limit))
        return std::nullopt;
    return static_cast<std::int64_t>(std::llround(n.real));
}

error date_overflow()
{
    return refuse(server_code::overflow, "date overflow");
}

result<value> date_plus(std::int64_t millis, const number& more)
{
    const auto delta = to_milliseconds(more);
    std::int64_t sum = 0;
    if (!delta || __builtin_add_overflow(millis, *delta, &sum))
        return date_overflow();
    return value::of(bson::datetime{std::chrono::milliseconds{sum}});
}

std::int64_t millis_of(const bson::element& date)
{
    return date.as_datetime().time_since_epoch().count();
}

result<value> add_all(const arguments& of, scope&)
{
    number sum;
    std::optional<std::int64_t> date;
    for (std::size_t i = 0; i < of.size(); ++i) {
        const bson::element e = of[i];
        if (is_nullish(e))
            return null_value();
        if (e.type() == bson::type::datetime) {
            if (date)
                return refuse(16612, "only one date allowed in an $add expression");
            date = millis_of(e);
            continue;
        }
        const auto n = read_number(e);
        if (!n)
            return refuse(server_code::type_mismatch,
                          "$add only supports numeric or date types, not " +
                              std::string{type_name(e)});
        if (n->is == kind::decimal)
            return no_decimal("$add");
        sum = add(sum, *n);
    }
    return date ? date_plus(*date, sum) : sum.to_value();
}

result<value> multiply_all(const arguments& of, scope&)
{
    number product = number::of(std::int64_t{1}, kind::int32);
    for (std::size_t i = 0; i < of.size(); ++i) {
        const bson::element e = of[i];
        if (is_nullish(e))
            return null_value();
        const auto n = read_number(e);
        if (!n)
            return refuse(server_code::type_mismatch,
                          "$multiply only supports numeric types, not " +
                              std::string{type_name(e)});
        if (n->is == kind::decimal)
            return no_decimal("$multiply");
        product = multiply(product, *n);
    }
    return product.to_value();
}

result<value> subtract(const arguments& of, scope&)
{
    const bson::element left = of[0];
    const bson::element right = of[1];
    if (is_nullish(left) || is_nullish(right))
        return null_value();
    const auto a = read_number(left);
    const auto b = read_number(right);
    if (left.type() == bson::type::datetime && right.type() == bson::type::datetime) {
        std::int64_t between = 0;
        if (__builtin_sub_overflow(millis_of(left), millis_of(right), &between))
            return date_overflow();
        return value::of(between);
    }
    if ((a && a->is == kind::decimal) || (b && b->is == kind::decimal))
        return no_decimal("$subtract");
    if (left.type() == bson::type::datetime && b) {
        const auto delta = to_milliseconds(*b);
        std::int64_t earlier = 0;
        if (!delta || __builtin_sub_overflow(millis_of(left), *delta, &earlier))
            return date_overflow();
        return value::of(bson::datetime{std::chrono::milliseconds{earlier}});
    }
    if (!a || !b)
        return refuse(server_code::type_mismatch, "can't $subtract " +
                                                      std::string{type_name(right)} + " from " +
                                                      std::string{type_name(left)});
    std::int64_t difference = 0;
    if (!a->integral() || !b->integral() || __builtin_sub_overflow(a->whole, b->whole, &difference))
        return value::of(a->real - b->real);
    return number::of(difference, std::max(a->is, b->is)).to_value();
}

result<value> divide(const arguments& of, scope&)
{
    if (is_nullish(of[0]) || is_nullish(of[1]))
        return null_value();
    const auto a = read_number(of[0]);
    const auto b = read_number(of[1]);
    if (!a || !b)
        return refuse(server_code::type_mismatch, "$divide only supports numeric types, not " +
                                                      std::string{type_name(of[0])} + " and " +
                                                      std::string{type_name(of[1])});
    if (a->is == kind::decimal || b->is == kind::decimal)
        return no_decimal("$divide");
    if (b->real == 0)
        return refuse(server_code::bad_value, "can't $divide by zero");
    return value::of(a->real / b->real);
}

result<value> modulo(const arguments& of, scope&)
{
    if (is_nullish(of[0]) || is_nullish(of[1]))
        return null_value();
    const auto a = read_number(of[0]);
    const auto b = read_number(of[1]);
    if (!a || !b)
        return refuse(16611, "$mod only supports numeric types, not " +
                                 std::string{type_name(of[0])} + " and " +
                                 std::string{type_name(of[1])});
    if (a->is == kind::decimal || b->is == kind::decimal)
        return no_decimal("$mod");
    if (b->real == 0)
        return refuse(16610, "can't $mod by zero");
    if (!a->integral() || !b->integral())
        return value::of(std::fmod(a->real, b->real));
    // The one quotient that does not fit would trap, though the remainder is plain.
    const std::int64_t rest = b->whole == -1 ? 0 : a->whole % b->whole;
    return number::of(rest, std::max(a->is, b->is)).to_value();
}

result<value> chance(const arguments&, scope& in)
{
    return value::of(in.context.chance ? in.context.chance() : 0.5);
}

constexpr list_operator arithmetic_table[] = {
    {"$add", 0, list_operator::any, add_all},
    {"$multiply", 0, list_operator::any, multiply_all},
    {"$subtract", 2, 2, subtract},
    {"$divide", 2, 2, divide},
    {"$mod", 2, 2, modulo},
    {"$abs", 1, 1, absolute},
    {"$ceil", 1, 1, round_up},
    {"$floor", 1, 1, round_down},
    {"$round", 1, 2, round_to},
    {"$trunc", 1, 2, round_to},
    {"$sqrt", 1, 1, square_root},
    {"$exp", 1, 1, exponential},
    {"$ln", 1, 1, natural_logarithm},
    {"$log10", 1, 1, decimal_logarithm},
    {"$log", 2, 2, logarithm},
    {"$pow", 2, 2, power},
    {"$rand", 0, 0, chance},
};

}  // namespace

std::span<const list_operator> number_operators()
{
    return arithmetic_table;
}

}  // namespace holdfast::lab::computing
