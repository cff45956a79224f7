#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/expression/convert.hpp"
#include "lab/mongo/expression/number.hpp"
#include "lab/mongo/expression/operators.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace holdfast::lab::computing {

namespace {

struct target {
    std::string_view short_form;  // {$toInt: ...}
    std::string_view name;
    bson::type type;
};
constexpr target targets[] = {
    {"$toDouble", "double", bson::type::double_},
    {"$toString", "string", bson::type::string},
    {"$toObjectId", "objectId", bson::type::object_id},
    {"$toBool", "bool", bson::type::boolean},
    {"$toDate", "date", bson::type::datetime},
    {"$toInt", "int", bson::type::int32},
    {"$toLong", "long", bson::type::int64},
    {"$toDecimal", "decimal", bson::type::decimal128},
};

result<value> convert_short(const arguments& of, scope&)
{
    if (is_nullish(of[0]))
        return null_value();
    const auto to = std::ranges::find(targets, of.name, &target::short_form);
    return convert_to(of[0], to->type);
}

/// A type by its name or its number; of an object {type: ...}, as the newest servers take it.
result<bson::type> read_target(const bson::element& to)
{
    if (to.type() == bson::type::document)
        return read_target(to.as_document().find("type"));
    if (to.type() == bson::type::string) {
        for (int code = 0; code < 256; ++code) {
            const auto type = static_cast<bson::type>(code);
            if (code != 0 && type_name(type) == to.as_string() && type_name(type) != "missing")
                return type;
        }
        return refuse(server_code::bad_value, "Unknown type name: " + std::string{to.as_string()});
    }
    if (!read_number(to))
        return refuse(server_code::failed_to_parse,
                      "$convert's 'to' argument must be a string or number, but is " +
                          std::string{type_name(to)});
    const auto code = as_int32(to);
    if (!code || *code < -1 || *code > 127)
        return refuse(server_code::failed_to_parse,
                      "In $convert, numeric value for 'to' does not correspond to a BSON type: " +
                          to_text(to));
    return static_cast<bson::type>(static_cast<std::uint8_t>(*code));
}

result<value> convert(const arguments& of, scope&)
{
    const bson::element input = of[0];
    if (is_nullish(of[1]))
        return null_value();
    const bool nested = of[1].type() == bson::type::document &&
                        of[1].as_document().find("type").type() == bson::type::document;
    if (nested)
        return refuse(server_code::failed_to_parse, "$convert's 'to.type' must not be an object");
    const auto to = read_target(of[1]);
    if (!to)
        return to.error();
    if (is_nullish(input))
        return of.given(3) ? of.values[3] : null_value();
    auto made = convert_to(input, *to);
    if (!made && of.given(2))
        return of.values[2];
    return made;
}

result<value> type_of(const arguments& of, scope&)
{
    return value::of(type_name(of[0]));
}

result<value> is_number(const arguments& of, scope&)
{
    return value::of(read_number(of[0]).has_value());
}

constexpr list_operator conversions_table[] = {
    {"$toDouble", 1, 1, convert_short},
    {"$toString", 1, 1, convert_short},
    {"$toObjectId", 1, 1, convert_short},
    {"$toBool", 1, 1, convert_short},
    {"$toDate", 1, 1, convert_short},
    {"$toInt", 1, 1, convert_short},
    {"$toLong", 1, 1, convert_short},
    {"$toDecimal", 1, 1, convert_short},
    {"$type", 1, 1, type_of},
    {"$isNumber", 1, 1, is_number},
};

constexpr named_operator named_conversions_table[] = {
    {"$convert",
     9,
     9,
     convert,
     {{{"input", 9}, {"to", 9}, {"onError", 0}, {"onNull", 0}, {"format", 0}}}},
};

}  // namespace

std::span<const list_operator> conversion_operators()
{
    return conversions_table;
}
std::span<const named_operator> conversion_operators_with_names()
{
    return named_conversions_table;
}

}  // namespace holdfast::lab::computing
