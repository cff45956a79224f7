#include "holdfast/bson/types.hpp"

namespace holdfast::bson {

std::string_view name_of(type t) noexcept
{
    switch (t) {
    case type::invalid: return "invalid";
    case type::double_: return "double";
    case type::string: return "string";
    case type::document: return "document";
    case type::array: return "array";
    case type::binary: return "binary";
    case type::undefined: return "undefined";
    case type::object_id: return "ObjectId";
    case type::boolean: return "boolean";
    case type::datetime: return "datetime";
    case type::null: return "null";
    case type::regex: return "regex";
    case type::db_pointer: return "DBPointer";
    case type::code: return "code";
    case type::symbol: return "symbol";
    case type::code_with_scope: return "code with scope";
    case type::int32: return "int32";
    case type::timestamp: return "timestamp";
    case type::int64: return "int64";
    case type::decimal128: return "Decimal128";
    case type::max_key: return "MaxKey";
    case type::min_key: return "MinKey";
    }
    return "invalid";  // a byte off the wire that no type has
}

}  // namespace holdfast::bson
