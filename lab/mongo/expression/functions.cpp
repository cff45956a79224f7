#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/expression/arithmetic.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace holdfast::lab::computing {

namespace {

using kind = number::kind;

/// The single operand of a function: a number, nothing for null, or the error that MongoDB gives.
result<std::optional<number>> operand_of(const arguments& of)
{
    if (is_nullish(of[0]))
        return std::optional<number>{};
    const auto n = read_number(of[0]);
    const std::string name{of.name};
    if (!n)
        return refuse(28765,
                      name + " only supports numeric types, not " + std::string{type_name(of[0])});
    if (n->is == kind::decimal)
        return no_decimal(name);
    return n;
}

/// A function of one double.
template <class Function>
result<value> map_real(const arguments& of, const Function& f)
{
    const auto n = operand_of(of);
    if (!n)
        return n.error();
    if (!*n)
        return null_value();
    return f((*n)->real);
}

/// A function that leaves integers as they are.
template <class Function>
result<value> map_to_whole(const arguments& of, const Function& f)
{
    const auto n = operand_of(of);
    if (!n)
        return n.error();
    if (!*n)
        return null_value();
    return (*n)->integral() ? value{of[0]} : value::of(f((*n)->real));
}

/// An integer at a place left of the point; nothing if it does not fit.
std::optional<std::int64_t> round_whole(std::int64_t from, int places, bool truncate)
{
    if (places > 18)
        return 0;
    std::int64_t step = 1;
    for (int i = 0; i < places; ++i)
        step *= 10;
    const std::int64_t rest = from % step;
    std::int64_t made = from - rest;
    if (truncate || rest == 0)
        return made;
    // Halves go to the even neighbour.
    const std::int64_t size = rest < 0 ? -rest : rest;
    const bool odd = (made / step) % 2 != 0;
    const bool away = size > step - size || (size == step - size && odd);
    if (away && __builtin_add_overflow(made, from < 0 ? -step : step, &made))
        return std::nullopt;
    return made;
}

double round_real(double from, int places, bool truncate)
{
    if (!std::isfinite(from) || places > 17)
        return from;
    const double scale = std::pow(10.0, std::abs(places));
    const double scaled = places >= 0 ? from * scale : from / scale;
    if (!std::isfinite(scaled))
        return from;
    const double whole = truncate ? std::trunc(scaled) : std::nearbyint(scaled);
    return places >= 0 ? whole / scale : whole * scale;
}

std::string text(double v)
{
    return to_text(value::of(v).get());
}

/// How $pow computes with whole numbers: exactly, or not at all.
std::optional<std::int64_t> whole_power(std::int64_t base, std::int64_t exponent)
{
    std::int64_t made = 1;
    while (exponent > 0) {
        if ((exponent & 1) != 0 && __builtin_mul_overflow(made, base, &made))
            return std::nullopt;
        exponent >>= 1;
        if (exponent > 0 && __builtin_mul_overflow(base, base, &base))
            return std::nullopt;
    }
    return made;
}

}  // namespace

result<value> absolute(const arguments& of, scope&)
{
    const auto n = operand_of(of);
    if (!n)
        return n.error();
    if (!*n)
        return null_value();
    if (!(*n)->integral())
        return value::of(std::abs((*n)->real));
    if ((*n)->whole == std::numeric_limits<std::int64_t>::min())
        return refuse(28680, "can't take $abs of long long min");
    return number::of(std::abs((*n)->whole), (*n)->is).to_value();
}

result<value> round_up(const arguments& of, scope&)
{
    return map_to_whole(of, [](double v) { return std::ceil(v); });
}
result<value> round_down(const arguments& of, scope&)
{
    return map_to_whole(of, [](double v) { return std::floor(v); });
}

result<value> round_to(const arguments& of, scope&)
{
    const std::string name{of.name};
    const bool truncate = name == "$trunc";
    if (is_nullish(of[0]) || (of.size() == 2 && is_nullish(of[1])))
        return null_value();
    const auto n = read_number(of[0]);
    if (!n)
        return refuse(51081,
                      name + " only supports numeric types, not " + std::string{type_name(of[0])});
    int places = 0;
    if (of.size() == 2) {
        const auto wanted = as_int64(of[1]);
        if (!wanted)
            return refuse(51082, "precision argument to  " + name + " must be a integral value");
        if (*wanted < -20 || *wanted > 100)
            return refuse(51083, "cannot apply " + name + " with precision value " +
                                     std::to_string(*wanted) + " value must be in [-20, 100]");
        places = static_cast<int>(*wanted);
    }
    if (n->is == kind::decimal)
        return no_decimal(name);
    if (!n->integral())
        return value::of(round_real(n->real, places, truncate));
    if (places >= 0)
        return value{of[0]};
    const auto made = round_whole(n->whole, -places, truncate);
    if (!made)
        return refuse(51080, "invalid conversion from Decimal128 result in " + name +
                                 " resulting from arguments: [" + to_text(of[0]) + ", " +
                                 std::to_string(places) + "]");
    return number::of(*made, n->is).to_value();
}

result<value> square_root(const arguments& of, scope&)
{
    return map_real(of, [](double v) -> result<value> {
        if (v < 0)
            return refuse(28714, "$sqrt's argument must be greater than or equal to 0");
        return value::of(std::sqrt(v));
    });
}

result<value> exponential(const arguments& of, scope&)
{
    return map_real(of, [](double v) -> result<value> { return value::of(std::exp(v)); });
}

result<value> natural_logarithm(const arguments& of, scope&)
{
    return map_real(of, [](double v) -> result<value> {
        if (v <= 0)
            return refuse(28766, "$ln's argument must be a positive number, but is " + text(v));
        return value::of(std::log(v));
    });
}

result<value> decimal_logarithm(const arguments& of, scope&)
{
    return map_real(of, [](double v) -> result<value> {
        if (v <= 0)
            return refuse(28761, "$log10's argument must be a positive number, but is " + text(v));
        return value::of(std::log10(v));
    });
}

result<value> logarithm(const arguments& of, scope&)
{
    if (is_nullish(of[0]) || is_nullish(of[1]))
        return null_value();
    const auto n = read_number(of[0]);
    const auto base = read_number(of[1]);
    if (!n)
        return refuse(28756,
                      "$log's argument must be numeric, not " + std::string{type_name(of[0])});
    if (!base)
        return refuse(28757, "$log's base must be numeric, not " + std::string{type_name(of[1])});
    if (n->is == kind::decimal || base->is == kind::decimal)
        return no_decimal("$log");
    if (n->real <= 0)
        return refuse(28758, "$log's argument must be a positive number, but is " + text(n->real));
    if (base->real <= 0 || base->real == 1)
        return refuse(28759, "$log's base must be a positive number not equal to 1, but is " +
                                 text(base->real));
    return value::of(std::log(n->real) / std::log(base->real));
}

result<value> power(const arguments& of, scope&)
{
    if (is_nullish(of[0]) || is_nullish(of[1]))
        return null_value();
    const auto base = read_number(of[0]);
    const auto exponent = read_number(of[1]);
    if (!base)
        return refuse(28762, "$pow's base must be numeric, not " + std::string{type_name(of[0])});
    if (!exponent)
        return refuse(28763,
                      "$pow's exponent must be numeric, not " + std::string{type_name(of[1])});
    if (base->is == kind::decimal || exponent->is == kind::decimal)
        return no_decimal("$pow");
    if (base->real == 0 && exponent->real < 0)
        return refuse(28764, "$pow cannot take a base of 0 and a negative exponent");
    if (base->integral() && exponent->integral() && exponent->whole >= 0) {
        if (const auto made = whole_power(base->whole, exponent->whole))
            return number::of(*made, std::max(base->is, exponent->is)).to_value();
    }
    return value::of(std::pow(base->real, exponent->real));
}

}  // namespace holdfast::lab::computing
