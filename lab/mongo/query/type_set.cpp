#include "lab/mongo/query/type_set.hpp"

#include "holdfast/bson/view.hpp"
#include "lab/mongo/document/number.hpp"
#include "lab/mongo/document/server_code.hpp"

#include <string>

namespace holdfast::lab::filter {

namespace {

using bson::type;

struct named_type {
    type is;
    std::string_view name;
};

constexpr named_type named_types[] = {
    {type::double_, "double"},
    {type::string, "string"},
    {type::document, "object"},
    {type::array, "array"},
    {type::binary, "binData"},
    {type::undefined, "undefined"},
    {type::object_id, "objectId"},
    {type::boolean, "bool"},
    {type::datetime, "date"},
    {type::null, "null"},
    {type::regex, "regex"},
    {type::db_pointer, "dbPointer"},
    {type::code, "javascript"},
    {type::symbol, "symbol"},
    {type::code_with_scope, "javascriptWithScope"},
    {type::int32, "int"},
    {type::timestamp, "timestamp"},
    {type::int64, "long"},
    {type::decimal128, "decimal"},
    {type::max_key, "maxKey"},
    {type::min_key, "minKey"},
};

result<type_set> one_type(const bson::element& from)
{
    if (from.type() == type::string) {
        if (const auto named = types_named(from.as_string()))
            return *named;
        return refuse(server_code::bad_value,
                      "Unknown type name alias: " + std::string{from.as_string()});
    }
    if (!is_number(from.type()))
        return refuse(server_code::type_mismatch,
                      "type must be represented as a number or a string");
    const auto number = whole_number(from);
    type_set made;
    for (const named_type& one : named_types) {
        const bool is_min_key = one.is == type::min_key && number == -1;
        if (is_min_key || (number == static_cast<int>(one.is) && one.is != type::min_key))
            made.insert(one.is);
    }
    if (made.empty())
        return refuse(server_code::bad_value,
                      "Invalid numerical type code: " +
                          (number ? std::to_string(*number) : std::string{"not a whole number"}));
    return made;
}

}  // namespace

std::optional<type_set> types_named(std::string_view name) noexcept
{
    type_set made;
    for (const named_type& one : named_types) {
        if (one.name == name || (name == "number" && is_number(one.is)))
            made.insert(one.is);
    }
    return made.empty() ? std::nullopt : std::optional{made};
}

std::string_view name_of_type(type t) noexcept
{
    for (const named_type& one : named_types) {
        if (one.is == t)
            return one.name;
    }
    return "missing";
}

result<type_set> read_types(const bson::element& from)
{
    if (from.type() != type::array)
        return one_type(from);
    type_set all;
    for (const bson::element& e : from.as_array()) {
        const auto one = one_type(e);
        if (!one)
            return one.error();
        all.insert(*one);
    }
    if (all.empty())
        return refuse(server_code::failed_to_parse, "$type must match at least one type");
    return all;
}

}  // namespace holdfast::lab::filter
