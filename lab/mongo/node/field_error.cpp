#include "lab/mongo/node/field_error.hpp"

#include "lab/document/server_code.hpp"

#include <string>

namespace holdfast::lab::mongo {

namespace {

std::string called(std::string_view where, std::string_view field)
{
    std::string name = "BSON field '";
    name.append(where);
    if (!where.empty())
        name += '.';
    name.append(field) += '\'';
    return name;
}

}  // namespace

std::string_view type_name(bson::type t) noexcept
{
    switch (t) {
    case bson::type::invalid:
        return "missing";
    case bson::type::double_:
        return "double";
    case bson::type::string:
        return "string";
    case bson::type::document:
        return "object";
    case bson::type::array:
        return "array";
    case bson::type::binary:
        return "binData";
    case bson::type::undefined:
        return "undefined";
    case bson::type::object_id:
        return "objectId";
    case bson::type::boolean:
        return "bool";
    case bson::type::datetime:
        return "date";
    case bson::type::null:
        return "null";
    case bson::type::regex:
        return "regex";
    case bson::type::db_pointer:
        return "dbPointer";
    case bson::type::code:
        return "javascript";
    case bson::type::symbol:
        return "symbol";
    case bson::type::code_with_scope:
        return "javascriptWithScope";
    case bson::type::int32:
        return "int";
    case bson::type::timestamp:
        return "timestamp";
    case bson::type::int64:
        return "long";
    case bson::type::decimal128:
        return "decimal";
    case bson::type::max_key:
        return "maxKey";
    case bson::type::min_key:
        return "minKey";
    }
    return "missing";
}

error wrong_type(std::string_view where, std::string_view field, bson::type found,
                 std::string_view expected)
{
    std::string text = called(where, field) + " is the wrong type '";
    text.append(type_name(found)) += expected.starts_with('[') ? "', expected types '"
                                                               : "', expected type '";
    text.append(expected) += '\'';
    return refuse(server_code::type_mismatch, std::move(text));
}

error missing_field(std::string_view where, std::string_view field)
{
    return refuse(server_code::missing_field,
                  called(where, field) + " is missing but a required field");
}

error unknown_field(std::string_view where, std::string_view field)
{
    return refuse(server_code::unknown_field, called(where, field) + " is an unknown field.");
}

error duplicate_field(std::string_view where, std::string_view field)
{
    return refuse(40413, called(where, field) + " is a duplicate field");
}

error malformed_field(const bson::element& found)
{
    return refuse(22, "Invalid BSON: " + found.fault());
}

}  // namespace holdfast::lab::mongo
