#include "holdfast/bson/codec.hpp"

#include "holdfast/bson/errc.hpp"
#include "holdfast/bson/validate.hpp"

#include <cmath>
#include <limits>
#include <string>

namespace holdfast::bson::reading {

namespace {

constexpr double two_to_63 = 9223372036854775808.0;

error invalid(const element& e, errc what, std::string_view why)
{
    const std::string path{e.key()};
    return error{what, path + ": " + std::string{why}}.with_context("path", path);
}

}  // namespace

error out_of_range(const element& e, std::string_view expected)
{
    return invalid(e, errc::out_of_range,
                   "the " + std::string{name_of(e.type())} + " does not fit into " +
                       std::string{expected});
}

result<std::int64_t> int64(const element& e)
{
    switch (e.type()) {
    case type::int64:
        return e.as_int64();
    case type::int32:
        return std::int64_t{e.as_int32()};
    case type::double_: {
        const double value = e.as_double();
        if (value >= -two_to_63 && value < two_to_63 && std::trunc(value) == value)
            return static_cast<std::int64_t>(value);
        return out_of_range(e, "a 64-bit integer");
    }
    default:
        return e.mismatch("int64");
    }
}

result<std::int32_t> int32(const element& e)
{
    if (e.type() == type::int32) [[likely]]
        return e.as_int32();
    if (e.type() != type::int64 && e.type() != type::double_)
        return e.mismatch("int32");
    const auto wide = int64(e);
    if (!wide || !std::in_range<std::int32_t>(*wide))
        return out_of_range(e, "a 32-bit integer");
    return static_cast<std::int32_t>(*wide);
}

result<double> number(const element& e)
{
    switch (e.type()) {
    case type::double_:
        return e.as_double();
    case type::int32:
        return static_cast<double>(e.as_int32());
    case type::int64: {
        const std::int64_t value = e.as_int64();
        const auto rounded = static_cast<double>(value);
        if (rounded < two_to_63 && static_cast<std::int64_t>(rounded) == value)
            return rounded;
        return out_of_range(e, "a double without loss");
    }
    default:
        return e.mismatch("double");
    }
}

result<std::string_view> text(const element& e, type expected)
{
    if (e.type() != expected)
        return e.mismatch(name_of(expected));
    const std::string_view value = e.as_string();
    if (!is_utf8(value))
        return invalid(e, errc::invalid_utf8, "the text is not UTF-8");
    return value;
}

result<binary> bytes(const element& e)
{
    if (e.type() != type::binary)
        return e.mismatch(name_of(type::binary));
    const binary value = e.as_binary();
    // as_binary() strips the second length of an old binary only if it is right.
    if (value.subtype == binary_subtype::binary_old &&
        value.bytes.size() + 9 != e.value_bytes().size())
        return invalid(e, errc::malformed, "an old binary whose two lengths disagree");
    return value;
}

result<uuid> uuid_value(const element& e)
{
    const auto value = bytes(e);
    if (!value)
        return value.error();
    auto read = uuid::from_binary(*value);
    if (!read)
        return invalid(e, errc::invalid_value, read.error().message());
    return read;
}

}  // namespace holdfast::bson::reading
