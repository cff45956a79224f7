#include "lab/mongo/storage/id_key.hpp"

#include "holdfast/bson/store.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace holdfast::lab {
namespace {

__extension__ using wide = unsigned __int128;

// One byte in front of each value says how to read what follows, so that no two keys can be equal
// by accident.
enum tag : std::uint8_t {
    null_tag = 1,
    undefined_tag,
    integer_tag,
    double_tag,
    decimal_tag,
    nan_tag,
    text_tag,
    document_tag,
    array_tag,
    end_tag,
    deep_tag,
    other_tag = 0x80,  // and the type
};

void put(bson::byte_buffer& out, std::uint8_t byte)
{
    *out.grow(1) = byte;
}

void put(bson::byte_buffer& out, std::span<const std::uint8_t> bytes)
{
    bson::layout::store_bytes(out.grow(bytes.size()), bytes.data(), bytes.size());
}

template <class T>
void put_plain(bson::byte_buffer& out, tag which, T value)
{
    bson::layout::store(bson::layout::store(out.grow(1 + sizeof value), which), value);
}

void put_sized(bson::byte_buffer& out, std::span<const std::uint8_t> bytes)
{
    bson::layout::store(out.grow(4), static_cast<std::uint32_t>(bytes.size()));
    put(out, bytes);
}

void put_double(bson::byte_buffer& out, double value)
{
    constexpr double two_to_63 = 9223372036854775808.0;
    if (std::isnan(value))
        return put(out, nan_tag);
    if (value >= -two_to_63 && value < two_to_63 && std::trunc(value) == value)
        return put_plain(out, integer_tag, static_cast<std::int64_t>(value));
    put_plain(out, double_tag, value);
}

/// `coefficient` * 10^`exponent` as a double, if there is one with exactly this value. A double is
/// an integer below 2^53 times a power of two, so the powers of five must vanish or fit in there.
std::optional<double> exact_double(wide coefficient, int exponent)
{
    constexpr std::uint64_t limit = std::uint64_t{1} << 53;
    for (int i = exponent; i < 0; ++i) {
        if (coefficient % 5 != 0)
            return {};
        coefficient /= 5;
    }
    int twos = exponent;
    while (coefficient % 2 == 0) {
        coefficient /= 2;
        ++twos;
    }
    for (int i = 0; i < exponent; ++i) {
        if (coefficient >= limit)
            return {};
        coefficient *= 5;
    }
    if (coefficient >= limit)
        return {};
    const double value = std::ldexp(static_cast<double>(coefficient), twos);
    if (std::isinf(value))
        return {};
    return value;
}

/// The value as an integer of 64 bits; the decimal has no trailing zeros in its coefficient.
std::optional<std::int64_t> exact_integer(wide coefficient, int exponent, bool negative)
{
    constexpr wide limit = wide{1} << 63;
    if (exponent < 0 || exponent > 19)
        return {};
    for (int i = 0; i < exponent; ++i) {
        coefficient *= 10;
        if (coefficient > limit)
            return {};
    }
    if (coefficient > limit || (coefficient == limit && !negative))
        return {};
    const auto size = static_cast<std::uint64_t>(coefficient);
    return static_cast<std::int64_t>(negative ? 0 - size : size);
}

void put_decimal(bson::byte_buffer& out, const bson::decimal128& value)
{
    constexpr int bias = 6176;
    if (value.is_nan())
        return put(out, nan_tag);
    if (value.is_infinite())
        return put_double(out, value.is_negative() ? -HUGE_VAL : HUGE_VAL);
    const bool large = (value.high >> 61 & 3) == 3;  // beyond 34 digits: zero by the standard
    wide coefficient = wide{value.high & 0x1FFFFFFFFFFFF} << 64 | value.low;
    int exponent = static_cast<int>(value.high >> 49 & 0x3FFF) - bias;
    if (large || coefficient == 0)
        return put_plain(out, integer_tag, std::int64_t{0});
    while (coefficient % 10 == 0) {
        coefficient /= 10;
        ++exponent;
    }
    if (const auto whole = exact_integer(coefficient, exponent, value.is_negative()))
        return put_plain(out, integer_tag, *whole);
    if (const auto binary = exact_double(coefficient, exponent))
        return put_plain(out, double_tag, value.is_negative() ? -*binary : *binary);
    put_plain(out, decimal_tag, coefficient);
    bson::layout::store(out.grow(4), exponent);
    put(out, static_cast<std::uint8_t>(value.is_negative()));
}

std::span<const std::uint8_t> bytes_of(std::string_view text)
{
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

void put_value(bson::byte_buffer& out, const bson::element& value, int depth);

void put_fields(bson::byte_buffer& out, bson::view fields, bool named, int depth)
{
    if (depth > bson::max_depth) {  // nothing that a server accepts; its own bytes will do
        put(out, deep_tag);
        return put_sized(out, fields.bytes());
    }
    put(out, named ? document_tag : array_tag);
    for (const bson::element& e : fields) {
        if (named)
            put_sized(out, bytes_of(e.key()));
        put_value(out, e, depth + 1);
    }
    put(out, end_tag);
}

void put_value(bson::byte_buffer& out, const bson::element& value, int depth)
{
    switch (value.type()) {
    case bson::type::invalid:
    case bson::type::null:
        return put(out, null_tag);
    case bson::type::undefined:
        return put(out, undefined_tag);
    case bson::type::int32:
        return put_plain(out, integer_tag, std::int64_t{value.as_int32()});
    case bson::type::int64:
        return put_plain(out, integer_tag, value.as_int64());
    case bson::type::double_:
        return put_double(out, value.as_double());
    case bson::type::decimal128:
        return put_decimal(out, value.as_decimal128());
    case bson::type::string:
    case bson::type::symbol:
        put(out, text_tag);
        return put_sized(out, bytes_of(value.as_string()));
    case bson::type::document:
        return put_fields(out, value.as_document(), true, depth);
    case bson::type::array:
        return put_fields(out, value.as_document(), false, depth);
    case bson::type::binary:
    case bson::type::object_id:
    case bson::type::boolean:
    case bson::type::datetime:
    case bson::type::regex:
    case bson::type::db_pointer:
    case bson::type::code:
    case bson::type::code_with_scope:
    case bson::type::timestamp:
    case bson::type::max_key:
    case bson::type::min_key:
        break;
    }
    put(out, other_tag);
    put(out, static_cast<std::uint8_t>(value.type()));
    put_sized(out, value.value_bytes());
}

}  // namespace

void append_id_key(bson::byte_buffer& out, const bson::element& value)
{
    put_value(out, value, 1);
}

}  // namespace holdfast::lab
