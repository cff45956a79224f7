#include "lab/mongo/document/number.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>

namespace holdfast::lab {

namespace {

__extension__ typedef unsigned __int128 uint128;

using bson::type;

constexpr double two_to_63 = 9223372036854775808.0;

/// A finite decimal: coefficient times a power of ten, with a sign.
struct decimal_parts {
    bool negative = false;
    uint128 coefficient = 0;
    int exponent = 0;
};

constexpr uint128 power_of_ten(int n)
{
    uint128 power = 1;
    for (; n > 0; --n)
        power *= 10;
    return power;
}

/// Coefficients beyond 34 digits, and all of the encoding's second form, count as zero.
decimal_parts take_apart(const bson::decimal128& from) noexcept
{
    constexpr std::uint64_t second_form = 0x6000000000000000;
    constexpr uint128 limit = power_of_ten(34);
    const bool large = (from.high & second_form) == second_form;
    const auto biased = static_cast<int>((from.high >> (large ? 47 : 49)) & 0x3FFF);
    const uint128 coefficient = uint128{from.high & 0x0001FFFFFFFFFFFF} << 64 | from.low;
    return {from.is_negative(), large || coefficient >= limit ? 0 : coefficient, biased - 6176};
}

decimal_parts decimal_of(std::int64_t from) noexcept
{
    const auto bits = static_cast<std::uint64_t>(from);
    return {from < 0, from < 0 ? ~bits + 1 : bits, 0};
}

int digits_of(uint128 coefficient) noexcept
{
    int digits = 0;
    for (; coefficient != 0; coefficient /= 10)
        ++digits;
    return digits;
}

std::weak_ordering reversed_if(bool negative, std::weak_ordering order) noexcept
{
    return negative ? 0 <=> order : order;
}

/// Both signs and zeros settled; else nothing, and both have the same sign.
std::optional<std::weak_ordering> by_sign(bool a_zero, bool a_negative, bool b_zero,
                                          bool b_negative) noexcept
{
    if (a_zero && b_zero)
        return std::weak_ordering::equivalent;
    const int a = a_zero ? 0 : a_negative ? -1 : 1;
    const int b = b_zero ? 0 : b_negative ? -1 : 1;
    if (a != b)
        return a <=> b;
    return std::nullopt;
}

std::weak_ordering compare_decimals(const decimal_parts& a, const decimal_parts& b) noexcept
{
    if (const auto known = by_sign(a.coefficient == 0, a.negative, b.coefficient == 0, b.negative))
        return *known;
    const int a_digits = digits_of(a.coefficient);
    const int b_digits = digits_of(b.coefficient);
    const int a_size = a_digits + a.exponent;
    const int b_size = b_digits + b.exponent;
    if (a_size != b_size)
        return reversed_if(a.negative, a_size <=> b_size);
    const int most = std::max(a_digits, b_digits);  // at most 34, which 128 bits hold
    const uint128 x = a.coefficient * power_of_ten(most - a_digits);
    const uint128 y = b.coefficient * power_of_ten(most - b_digits);
    return reversed_if(a.negative, x <=> y);
}

/// A whole number large enough for any double, times the power of ten that makes it whole.
class big_number {
public:
    explicit big_number(uint128 from) noexcept
    {
        for (; from != 0; from >>= 32)
            limbs_[used_++] = static_cast<std::uint32_t>(from);
    }
    void times(std::uint32_t factor) noexcept
    {
        std::uint64_t carry = 0;
        for (std::size_t i = 0; i < used_; ++i) {
            carry += std::uint64_t{limbs_[i]} * factor;
            limbs_[i] = static_cast<std::uint32_t>(carry);
            carry >>= 32;
        }
        if (carry != 0)
            limbs_[used_++] = static_cast<std::uint32_t>(carry);
    }
    void times_power(std::uint32_t base, std::uint32_t base_9, int power) noexcept
    {
        for (; power >= 9; power -= 9)
            times(base_9);
        for (; power > 0; --power)
            times(base);
    }
    std::weak_ordering operator<=>(const big_number& other) const noexcept
    {
        if (used_ != other.used_)
            return used_ <=> other.used_;
        for (std::size_t i = used_; i-- > 0;) {
            if (limbs_[i] != other.limbs_[i])
                return limbs_[i] <=> other.limbs_[i];
        }
        return std::weak_ordering::equivalent;
    }

private:
    std::array<std::uint32_t, 160> limbs_{};  // 5120 bits; at most 2600 are needed
    std::size_t used_ = 0;
};

/// Two finite numbers.
std::weak_ordering compare_decimal_to_double(const decimal_parts& a, double b) noexcept
{
    if (const auto known = by_sign(a.coefficient == 0, a.negative, b == 0, std::signbit(b)))
        return *known;
    // Far outside the range of a double there is nothing to multiply out.
    const int size = digits_of(a.coefficient) + a.exponent;
    if (size > 310 || size < -330)
        return reversed_if(a.negative, size <=> 0);
    int exponent = 0;
    const auto mantissa = static_cast<std::uint64_t>(
        std::ldexp(std::frexp(std::fabs(b), &exponent), 53));
    exponent -= 53;
    big_number x{a.coefficient};
    big_number y{mantissa};
    (a.exponent > 0 ? x : y).times_power(10, 1'000'000'000, std::abs(a.exponent));
    (exponent < 0 ? x : y).times_power(2, 512, std::abs(exponent));
    return reversed_if(a.negative, x <=> y);
}

std::weak_ordering compare_doubles(double a, double b) noexcept
{
    return a < b   ? std::weak_ordering::less
           : a > b ? std::weak_ordering::greater
                   : std::weak_ordering::equivalent;
}

std::weak_ordering compare_int_to_double(std::int64_t a, double b) noexcept
{
    if (b >= two_to_63)
        return std::weak_ordering::less;
    if (b < -two_to_63)
        return std::weak_ordering::greater;
    const auto whole = static_cast<std::int64_t>(b);
    if (a != whole)
        return a <=> whole;
    return compare_doubles(0, b - static_cast<double>(whole));
}

/// NaN, the infinities, and between them what is finite.
int class_of(const bson::element& e) noexcept
{
    if (e.type() == type::double_) {
        const double d = e.as_double();
        return std::isnan(d) ? -2 : std::isinf(d) ? (d < 0 ? -1 : 1) : 0;
    }
    if (e.type() == type::decimal128) {
        const bson::decimal128 d = e.as_decimal128();
        return d.is_nan() ? -2 : d.is_infinite() ? (d.is_negative() ? -1 : 1) : 0;
    }
    return 0;
}

std::int64_t int_of(const bson::element& e) noexcept
{
    return e.type() == type::int32 ? e.as_int32() : e.as_int64();
}

bool is_int(const bson::element& e) noexcept
{
    return e.type() == type::int32 || e.type() == type::int64;
}

/// A finite decimal or integer.
decimal_parts parts_of(const bson::element& e) noexcept
{
    return is_int(e) ? decimal_of(int_of(e)) : take_apart(e.as_decimal128());
}

/// Of a finite decimal: the whole part, and whether that was all.
std::optional<std::int64_t> whole_part(decimal_parts from, bool& exact) noexcept
{
    for (; from.exponent < 0 && from.coefficient != 0; ++from.exponent) {
        exact = exact && from.coefficient % 10 == 0;
        from.coefficient /= 10;
    }
    constexpr uint128 limit = uint128{1} << 63;
    for (; from.exponent > 0 && from.coefficient != 0 && from.coefficient <= limit; --from.exponent)
        from.coefficient *= 10;
    if (from.coefficient > limit || (from.coefficient == limit && !from.negative))
        return std::nullopt;
    const auto bits = static_cast<std::uint64_t>(from.coefficient);
    return static_cast<std::int64_t>(from.negative ? ~bits + 1 : bits);
}

std::optional<std::int64_t> to_int(const bson::element& e, bool& exact) noexcept
{
    exact = true;
    if (is_int(e))
        return int_of(e);
    if (!is_number(e.type()) || class_of(e) != 0)
        return std::nullopt;
    if (e.type() == type::decimal128)
        return whole_part(take_apart(e.as_decimal128()), exact);
    const double d = e.as_double();
    if (d >= two_to_63 || d < -two_to_63)
        return std::nullopt;
    exact = std::trunc(d) == d;
    return static_cast<std::int64_t>(d);
}

}  // namespace

bool is_number(type t) noexcept
{
    return t == type::double_ || t == type::int32 || t == type::int64 || t == type::decimal128;
}

std::weak_ordering compare_numbers(const bson::element& a, const bson::element& b) noexcept
{
    if (is_int(a) && is_int(b))
        return int_of(a) <=> int_of(b);
    const int a_class = class_of(a);
    const int b_class = class_of(b);
    if (a_class != 0 || b_class != 0)
        return a_class <=> b_class;
    if (a.type() == type::double_ && b.type() == type::double_)
        return compare_doubles(a.as_double(), b.as_double());
    if (b.type() == type::double_)
        return is_int(a) ? compare_int_to_double(int_of(a), b.as_double())
                         : compare_decimal_to_double(parts_of(a), b.as_double());
    if (a.type() == type::double_)
        return 0 <=> compare_numbers(b, a);
    return compare_decimals(parts_of(a), parts_of(b));
}

bool is_nan(const bson::element& e) noexcept
{
    return class_of(e) == -2;
}

std::optional<std::int64_t> whole_number(const bson::element& e) noexcept
{
    bool exact = true;
    const auto whole = to_int(e, exact);
    return exact ? whole : std::nullopt;
}

std::optional<std::int64_t> truncated_number(const bson::element& e) noexcept
{
    bool exact = true;
    return to_int(e, exact);
}

}  // namespace holdfast::lab
