#include "lab/mongo/storage/option_reader.hpp"

#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/query/type_set.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace holdfast::lab {
namespace {

std::int64_t clamped(double value)
{
    constexpr double limit = 9223372036854775808.0;
    if (value >= limit)
        return std::numeric_limits<std::int64_t>::max();
    if (value <= -limit)
        return std::numeric_limits<std::int64_t>::min();
    return static_cast<std::int64_t>(value);
}

}  // namespace

std::string_view type_alias(bson::type t) noexcept
{
    return t == bson::type::invalid ? "missing" : filter::name_of_type(t);
}

error wrong_type(std::string_view field, const bson::element& found, std::string_view expected)
{
    return refuse(server_code::type_mismatch,
                  "BSON field '" + std::string{field} + "' is the wrong type '" +
                      std::string{type_alias(found.type())} + "', expected type '" +
                      std::string{expected} + "'");
}

std::optional<std::int64_t> clamped_number(const bson::element& from)
{
    if (from.type() == bson::type::int32)
        return from.as_int32();
    if (from.type() == bson::type::int64)
        return from.as_int64();
    double value = std::nan("");
    if (from.type() == bson::type::double_)
        value = from.as_double();
    else if (from.type() == bson::type::decimal128)
        value = std::strtod(from.as_decimal128().to_string().c_str(), nullptr);
    if (std::isnan(value))
        return {};
    return clamped(value);
}

std::optional<bool> truth(const bson::element& from)
{
    switch (from.type()) {
    case bson::type::boolean:
        return from.as_bool();
    case bson::type::int32:
        return from.as_int32() != 0;
    case bson::type::int64:
        return from.as_int64() != 0;
    case bson::type::double_:
        return from.as_double() != 0;
    case bson::type::decimal128:
        return clamped_number(from) != 0;
    case bson::type::invalid:
        if (!from.malformed())
            return false;
        return {};
    default:
        return {};
    }
}

bson::document full_collation(bson::view given)
{
    static const bson::document defaults = bson::doc(
        "locale", "", "caseLevel", false, "caseFirst", "off", "strength", 3, "numericOrdering",
        false, "alternate", "non-ignorable", "maxVariable", "punct", "normalization", false,
        "backwards", false, "version", "57.1");
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    for (const bson::element& e : defaults) {
        const bson::element said = given.find(e.key());
        if (const auto number = clamped_number(said); number && e.type() == bson::type::int32)
            out.add(e.key(), static_cast<std::int32_t>(*number));
        else
            out.copy(said ? said : e);
    }
    (void)out.finish();
    return bson::document::adopt(std::move(bytes));
}

}  // namespace holdfast::lab
