#include "lab/mongo/document/type_name.hpp"

namespace holdfast::lab {

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

}  // namespace holdfast::lab
