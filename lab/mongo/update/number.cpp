#include "lab/mongo/update/number.hpp"

#include "lab/mongo/update/decimal.hpp"

#include <charconv>

namespace holdfast::lab::updating {
namespace {

double as_real(const number& n)
{
    return n.type == bson::type::double_ ? n.real : static_cast<double>(n.whole);
}

bson::decimal128 as_decimal(const number& n)
{
    if (n.type == bson::type::decimal128)
        return n.decimal;
    return n.type == bson::type::double_ ? to_decimal(n.real) : to_decimal(n.whole);
}

/// What both operations share: the wider type wins, and an int32 grows when it must.
template <class Whole, class Real, class Decimal>
std::optional<number> combine(const number& a, const number& b, Whole whole, Real real,
                              Decimal decimal)
{
    number out;
    if (a.type == bson::type::decimal128 || b.type == bson::type::decimal128) {
        out.type = bson::type::decimal128;
        out.decimal = decimal(as_decimal(a), as_decimal(b));
        return out;
    }
    if (!a.is_whole() || !b.is_whole()) {
        out.type = bson::type::double_;
        out.real = real(as_real(a), as_real(b));
        return out;
    }
    if (whole(a.whole, b.whole, &out.whole))
        return std::nullopt;
    const bool small = a.type == bson::type::int32 && b.type == bson::type::int32 &&
                       out.whole == static_cast<std::int32_t>(out.whole);
    out.type = small ? bson::type::int32 : bson::type::int64;
    return out;
}

template <class T>
void put(writer& out, bson::type t, std::string_view key, const T& value)
{
    std::uint8_t bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    out.put(t, key, bytes);
}

}  // namespace

std::optional<number> number::of(const bson::element& e)
{
    number out;
    out.type = e.type();
    if (e.type() == bson::type::int32)
        out.whole = e.as_int32();
    else if (e.type() == bson::type::int64)
        out.whole = e.as_int64();
    else if (e.type() == bson::type::double_)
        out.real = e.as_double();
    else if (e.type() == bson::type::decimal128)
        out.decimal = e.as_decimal128();
    else
        return std::nullopt;
    return out;
}

number number::zero() const
{
    number out;
    out.type = type;
    return out;
}

void number::write(writer& out, std::string_view key) const
{
    if (type == bson::type::int32)
        put(out, type, key, static_cast<std::int32_t>(whole));
    else if (type == bson::type::int64)
        put(out, type, key, whole);
    else if (type == bson::type::double_)
        put(out, type, key, real);
    else {
        const std::uint64_t halves[] = {decimal.low, decimal.high};
        put(out, type, key, halves);
    }
}

std::string number::text() const
{
    if (type == bson::type::int32)
        return "(NumberInt)" + std::to_string(whole);
    if (type == bson::type::int64)
        return "(NumberLong)" + std::to_string(whole);
    if (type == bson::type::decimal128)
        return "(NumberDecimal)" + decimal.to_string();
    char text[40];
    return "(NumberDouble)" + std::string{text, std::to_chars(text, text + sizeof text, real).ptr};
}

std::optional<number> add(const number& a, const number& b)
{
    return combine(
        a, b, [](auto x, auto y, auto* to) { return __builtin_add_overflow(x, y, to); },
        [](double x, double y) { return x + y; },
        [](const auto& x, const auto& y) { return add(x, y); });
}

std::optional<number> multiply(const number& a, const number& b)
{
    return combine(
        a, b, [](auto x, auto y, auto* to) { return __builtin_mul_overflow(x, y, to); },
        [](double x, double y) { return x * y; },
        [](const auto& x, const auto& y) { return multiply(x, y); });
}

}  // namespace holdfast::lab::updating
