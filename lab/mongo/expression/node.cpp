#include "lab/mongo/expression/node.hpp"

#include "core/bson/json_number.hpp"
#include "lab/mongo/document/server_code.hpp"

#include <string>

namespace holdfast::lab::computing {

result<void> scope::spend(std::size_t bytes)
{
    if (bytes > max_value_size)
        return refuse(server_code::bson_object_too_large,
                      "an expression made a value of " + std::to_string(bytes) +
                          " bytes, larger than a document can be");
    const std::size_t price = 1 + bytes / 32;
    if (price > work_left)
        return refuse(server_code::exceeded_time_limit,
                      "an expression took more steps than this lab allows");
    work_left -= price;
    return {};
}

std::string to_text(const bson::element& what)
{
    constexpr std::size_t longest = 120;
    switch (what.type()) {
    case bson::type::int32:
        return std::to_string(what.as_int32());
    case bson::type::int64:
        return std::to_string(what.as_int64());
    case bson::type::boolean:
        return what.as_bool() ? "true" : "false";
    case bson::type::null:
        return "null";
    case bson::type::decimal128:
        return what.as_decimal128().to_string();
    case bson::type::string:
        return '"' + std::string{what.as_string().substr(0, longest)} + '"';
    case bson::type::double_: {
        char text[bson::max_double_text];
        return {text, bson::print_double(what.as_double(), text)};
    }
    default:
        return std::string{type_name(what)};
    }
}

bool is_shallow(bson::view document, int limit) noexcept
{
    if (limit == 0)
        return false;
    for (const bson::element& e : document) {
        const bool nested = e.type() == bson::type::document || e.type() == bson::type::array;
        if (nested && !is_shallow(e.as_document(), limit - 1))
            return false;
    }
    return true;
}

}  // namespace holdfast::lab::computing
