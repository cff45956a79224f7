#include "lab/mongo/document/number.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/query/parse.hpp"
#include "lab/mongo/query/schema.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace holdfast::lab::filter {

namespace {

using bson::type;

error wrong_type(const bson::element& e, std::string_view expected)
{
    return refuse(server_code::type_mismatch, "$jsonSchema keyword '" + std::string{e.key()} +
                                                  "' must be " + std::string{expected});
}

result<void> read_part(const bson::element& e, int depth, std::unique_ptr<schema>& out)
{
    auto part = compile_schema(e, depth + 1);
    if (!part)
        return std::move(part).error();
    out = std::move(*part);
    return {};
}

result<void> read_parts(const bson::element& e, int depth, schema::list& out)
{
    if (e.type() != type::array)
        return wrong_type(e, "an array");
    if (e.as_array().empty())
        return refuse(server_code::bad_value, "$jsonSchema keyword '" + std::string{e.key()} +
                                                  "' must be a non-empty array");
    for (const bson::element& one : e.as_array()) {
        if (auto read = read_part(one, depth, out.emplace_back()); !read)
            return read;
    }
    return {};
}

result<void> read_count(const bson::element& e, std::optional<std::int64_t>& out)
{
    if (!is_number(e.type()))
        return wrong_type(e, "a number");
    out = whole_number(e);
    if (!out || *out < 0)
        return refuse(server_code::failed_to_parse, "$jsonSchema keyword '" + std::string{e.key()} +
                                                        "' must be a non-negative integer");
    return {};
}

result<void> read_limit(const bson::element& e, bson::element& out)
{
    if (!is_number(e.type()))
        return wrong_type(e, "a number");
    out = e;
    return {};
}

result<void> read_flag(const bson::element& e, bool& out)
{
    if (e.type() != type::boolean)
        return wrong_type(e, "a boolean");
    out = e.as_bool();
    return {};
}

/// `type` has JSON's names, which are not quite BSON's.
std::optional<type_set> json_types(std::string_view name)
{
    if (name == "boolean")
        return types_named("bool");
    constexpr std::array<std::string_view, 5> same = {"object", "array", "number", "string",
                                                      "null"};
    return std::ranges::find(same, name) == same.end() ? std::nullopt : types_named(name);
}

result<void> read_type_names(const bson::element& e, schema& out)
{
    const auto add = [&](const bson::element& one) -> result<void> {
        if (one.type() != type::string)
            return wrong_type(e, "a string or an array of strings");
        const auto named = e.key() == "type" ? json_types(one.as_string())
                                             : types_named(one.as_string());
        if (!named && one.as_string() == "integer")
            return refuse(server_code::failed_to_parse,
                          "$jsonSchema type 'integer' is not currently supported.");
        if (!named)
            return refuse(server_code::bad_value,
                          "Unknown type name alias: " + std::string{one.as_string()});
        out.types->insert(*named);
        return {};
    };
    out.types.emplace();
    if (e.type() != type::array)
        return add(e);
    for (const bson::element& one : e.as_array()) {
        if (auto added = add(one); !added)
            return added;
    }
    return {};
}

result<void> read_required(const bson::element& e, schema& out)
{
    if (e.type() != type::array)
        return wrong_type(e, "an array");
    if (e.as_array().empty())
        return refuse(server_code::failed_to_parse,
                      "$jsonSchema keyword 'required' cannot be an empty array");
    for (const bson::element& one : e.as_array()) {
        if (one.type() != type::string)
            return wrong_type(e, "an array of strings");
        out.required.push_back(one.as_string());
    }
    return {};
}

result<void> read_properties(const bson::element& e, int depth, schema& out)
{
    if (e.type() != type::document)
        return wrong_type(e, "an object");
    for (const bson::element& one : e.as_document()) {
        auto form = compile_schema(one, depth + 1);
        if (!form)
            return std::move(form).error();
        out.properties.push_back({one.key(), std::move(*form)});
    }
    return {};
}

result<void> read_additional(const bson::element& e, int depth, schema& out)
{
    if (e.type() == type::boolean)
        return read_flag(e, out.additional_properties);
    return read_part(e, depth, out.additional_property);
}

result<void> read_pattern(const bson::element& e, schema& out)
{
    if (e.type() != type::string)
        return wrong_type(e, "a string");
    auto pattern = regex::compile(e.as_string(), "");
    if (!pattern)
        return std::move(pattern).error();
    out.pattern = std::move(*pattern);
    return {};
}

result<void> read_enum(const bson::element& e, schema& out)
{
    if (e.type() != type::array)
        return wrong_type(e, "an array");
    if (e.as_array().empty())
        return refuse(server_code::failed_to_parse,
                      "$jsonSchema keyword 'enum' cannot be an empty array");
    out.allowed = e;
    return {};
}

result<void> read_item_keyword(const bson::element& e, int depth, schema& out)
{
    const std::string_view key = e.key();
    if (key == "items")
        return e.type() == type::array ? read_parts(e, depth, out.first_items)
                                       : read_part(e, depth, out.items);
    if (key == "additionalItems")
        return e.type() == type::boolean ? read_flag(e, out.additional_items)
                                         : read_part(e, depth, out.items);
    if (key == "minItems")
        return read_count(e, out.least_items);
    if (key == "maxItems")
        return read_count(e, out.most_items);
    if (key == "uniqueItems")
        return read_flag(e, out.unique_items);
    return refuse(server_code::failed_to_parse, "Unknown $jsonSchema keyword: " + std::string{key});
}

result<void> read_keyword(const bson::element& e, int depth, schema& out)
{
    const std::string_view key = e.key();
    if (key == "bsonType" || key == "type")
        return read_type_names(e, out);
    if (key == "required")
        return read_required(e, out);
    if (key == "properties")
        return read_properties(e, depth, out);
    if (key == "additionalProperties")
        return read_additional(e, depth, out);
    if (key == "minimum")
        return read_limit(e, out.minimum);
    if (key == "maximum")
        return read_limit(e, out.maximum);
    if (key == "exclusiveMinimum")
        return read_flag(e, out.exclusive_minimum);
    if (key == "exclusiveMaximum")
        return read_flag(e, out.exclusive_maximum);
    if (key == "enum")
        return read_enum(e, out);
    if (key == "pattern")
        return read_pattern(e, out);
    if (key == "minLength")
        return read_count(e, out.least_length);
    if (key == "maxLength")
        return read_count(e, out.greatest_length);
    if (key == "minProperties")
        return read_count(e, out.least_properties);
    if (key == "maxProperties")
        return read_count(e, out.most_properties);
    if (key == "allOf")
        return read_parts(e, depth, out.all_of);
    if (key == "anyOf")
        return read_parts(e, depth, out.any_of);
    if (key == "oneOf")
        return read_parts(e, depth, out.one_of);
    if (key == "not")
        return read_part(e, depth, out.none_of);
    if (key == "title" || key == "description")
        return e.type() == type::string ? result<void>{} : wrong_type(e, "a string");
    return read_item_keyword(e, depth, out);
}

}  // namespace

result<std::unique_ptr<schema>> compile_schema(const bson::element& from, int depth)
{
    if (depth > deepest_filter)
        return too_deep();
    if (from.type() != type::document)
        return from.key() == "$jsonSchema"
                   ? refuse(server_code::type_mismatch, "$jsonSchema must be an object")
                   : wrong_type(from, "an object");
    auto made = std::make_unique<schema>();
    for (const bson::element& e : from.as_document()) {
        if (e.malformed())
            return malformed_filter();
        if (auto read = read_keyword(e, depth, *made); !read)
            return std::move(read).error();
    }
    return made;
}

}  // namespace holdfast::lab::filter
