#include "lab/mongo/node/field_error.hpp"

#include "lab/mongo/document/server_code.hpp"

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
