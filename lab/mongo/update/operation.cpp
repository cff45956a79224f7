#include "lab/mongo/update/operation.hpp"

#include "holdfast/bson/builder.hpp"
#include "lab/mongo/document/number.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/update/id_text.hpp"
#include "lab/mongo/update/path.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace holdfast::lab::updating {
namespace {

using status = result<void>;

constexpr std::array<std::pair<std::string_view, op>, 15> operator_names = {{
    {"$set", op::set},
    {"$setOnInsert", op::set_on_insert},
    {"$unset", op::unset},
    {"$inc", op::increment},
    {"$mul", op::multiply},
    {"$min", op::min},
    {"$max", op::max},
    {"$rename", op::rename},
    {"$currentDate", op::current_date},
    {"$push", op::push},
    {"$pull", op::pull},
    {"$pullAll", op::pull_all},
    {"$addToSet", op::add_to_set},
    {"$pop", op::pop},
    {"$bit", op::bit},
}};

std::string token(bson::type t)
{
    return std::string{type_name(t)};
}

status check_number(op what, const bson::element& operand)
{
    if (is_number(operand.type()))
        return {};
    const char* const verb = what == op::increment ? "increment" : "multiply";
    return refuse(server_code::type_mismatch, std::string{"Cannot "} + verb +
                                                  " with non-numeric argument: {" +
                                                  shell_text_of(operand) + "}");
}

status read_date_type(operation& to, const bson::element& operand)
{
    if (operand.type() == bson::type::boolean)
        return {};
    if (operand.type() != bson::type::document)
        return refuse(server_code::bad_value,
                      token(operand.type()) +
                          " is not valid type for $currentDate. Please use a boolean ('true') or "
                          "a $type expression ({$type: 'timestamp/date'}).");
    bool found = false;
    for (const bson::element& e : operand.as_document()) {
        if (e.key() != "$type")
            return refuse(server_code::bad_value,
                          "Unrecognized $currentDate option: " + std::string{e.key()});
        const std::string_view type = e.type() == bson::type::string ? e.as_string()
                                                                     : std::string_view{};
        found = type == "date" || type == "timestamp";
        to.as_timestamp = type == "timestamp";
        if (!found)
            break;
    }
    if (!found)
        return refuse(server_code::bad_value,
                      "The '$type' string field is required to be 'date' or 'timestamp': "
                      "{$currentDate: {field : {$type: 'date'}}}");
    return {};
}

status check_bits(const bson::element& operand)
{
    if (operand.type() != bson::type::document)
        return refuse(server_code::failed_to_parse,
                      "The $bit modifier is not compatible with a " + token(operand.type()) +
                          ". You must pass in an embedded document: {$bit: {field: {and/or/xor: "
                          "#}}");
    if (operand.as_document().empty())
        return refuse(server_code::failed_to_parse,
                      "You must pass in at least one bitwise operation. The format is: {$bit: "
                      "{field: {and/or/xor: #}}");
    for (const bson::element& e : operand.as_document()) {
        const std::string key{e.key()};
        if (key != "and" && key != "or" && key != "xor")
            return refuse(server_code::failed_to_parse,
                          "The $bit modifier only supports 'and', 'or', and 'xor', not '" + key +
                              "' which is an unknown operator: {" + shell_text_of(e) + "}");
        if (e.type() != bson::type::int32 && e.type() != bson::type::int64)
            return refuse(server_code::failed_to_parse,
                          "The $bit modifier field must be an Integer(32/64 bit); a '" +
                              token(e.type()) + "' is not supported here: {" + shell_text_of(e) +
                              "}");
    }
    return {};
}

status read_pop(operation& to, const bson::element& operand)
{
    if (!is_number(operand.type()))
        return refuse(server_code::failed_to_parse,
                      "Expected a number in: " + shell_text_of(operand));
    const auto value = whole_number(operand);
    if (value != 1 && value != -1) {
        const std::string shown = shell_text_of(operand).substr(operand.key().size() + 2);
        return refuse(server_code::failed_to_parse, "$pop expects 1 or -1, found: " + shown);
    }
    to.from_front = *value < 0;
    return {};
}

void take_values(std::vector<bson::element>& to, bson::array_view from)
{
    for (const bson::element& e : from)
        to.push_back(e);
}

status read_set_values(operation& to, const bson::element& operand)
{
    const auto document = operand.type() == bson::type::document ? operand.as_document()
                                                                 : bson::view{};
    const bson::element each = document.empty() ? bson::element{} : *document.begin();
    if (!each || each.key() != "$each") {
        to.values.push_back(operand);
        return {};
    }
    if (each.type() != bson::type::array)
        return refuse(server_code::type_mismatch,
                      "The argument to $each in $addToSet must be an array but it was of type " +
                          token(each.type()));
    if (++document.begin() != document.end())
        return refuse(server_code::bad_value, "Found unexpected fields after $each in $addToSet: " +
                                                  shell_text_of(document));
    take_values(to.values, each.as_array());
    return {};
}

/// 1 or -1, as any type of number.
std::optional<bool> is_descending(const bson::element& e)
{
    const auto direction = whole_number(e);
    if (!direction || (*direction != 1 && *direction != -1))
        return std::nullopt;
    return *direction == -1;
}

status read_push_sort(push_plan& plan, const bson::element& e)
{
    constexpr const char* one_or_minus_one = "The $sort element value must be either 1 or -1";
    if (is_number(e.type())) {
        const auto descending = is_descending(e);
        if (!descending)
            return refuse(server_code::bad_value, one_or_minus_one);
        plan.sort.push_back({{}, *descending});
        return {};
    }
    if (e.type() != bson::type::document)
        return refuse(server_code::bad_value,
                      "The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} "
                      "to sort embedded fields");
    if (e.as_document().empty())
        return refuse(server_code::bad_value,
                      "The $sort pattern is empty when it should be a set of fields.");
    for (const bson::element& part : e.as_document()) {
        const auto descending = is_descending(part);
        if (!descending)
            return refuse(server_code::bad_value, one_or_minus_one);
        if (part.key().empty())
            return refuse(server_code::bad_value, "The $sort field cannot be empty");
        if (std::ranges::any_of(split(part.key()), &std::string_view::empty))
            return refuse(server_code::bad_value,
                          "The $sort field is a dotted field but has an empty part: " +
                              std::string{part.key()});
        plan.sort.push_back({part.key(), *descending});
    }
    return {};
}

status read_push_clause(push_plan& plan, const bson::element& e)
{
    if (e.key() == "$each") {
        if (e.type() != bson::type::array)
            return refuse(server_code::bad_value,
                          "The argument to $each in $push must be an array but it was of type: " +
                              token(e.type()));
        take_values(plan.values, e.as_array());
        return {};
    }
    if (e.key() == "$slice") {
        plan.slice = whole_number(e);
        if (plan.slice)
            return {};
        return refuse(server_code::bad_value,
                      "The value for $slice must be an integer value but was given type: " +
                          token(e.type()));
    }
    if (e.key() == "$position") {
        plan.position = whole_number(e);
        if (plan.position)
            return {};
        return refuse(server_code::bad_value,
                      "The value for $position must be an integer value, not of type: " +
                          token(e.type()));
    }
    if (e.key() == "$sort")
        return read_push_sort(plan, e);
    return refuse(server_code::bad_value, "Unrecognized clause in $push: " + std::string{e.key()});
}

status read_push(operation& to, const bson::element& operand)
{
    to.push = std::make_unique<push_plan>();
    if (operand.type() != bson::type::document || !operand.as_document().find("$each")) {
        to.push->values.push_back(operand);
        return {};
    }
    std::vector<std::string_view> seen;
    for (const bson::element& e : operand.as_document()) {
        if (std::ranges::find(seen, e.key()) != seen.end())
            return refuse(server_code::bad_value,
                          "Only one " + std::string{e.key()} + " is permitted.");
        if (auto read = read_push_clause(*to.push, e); !read)
            return read;
        seen.push_back(e.key());
    }
    return {};
}

/// Whether {$pull: {a: {...}}} speaks of the elements themselves ({$gte: 5}) and not of their
/// fields. The logical operators do the latter.
bool is_about_value(bson::view condition)
{
    if (condition.empty())
        return false;
    const std::string_view first = condition.begin()->key();
    constexpr std::array<std::string_view, 6> of_documents = {"$and",  "$or",      "$nor",
                                                              "$expr", "$comment", "$where"};
    return first.starts_with('$') && first != "$ref" && first != "$id" && first != "$db" &&
           std::ranges::find(of_documents, first) == of_documents.end();
}

status read_pull(operation& to, const bson::element& operand, const parse_context& with)
{
    const bool is_document = operand.type() == bson::type::document;
    if (!is_document && operand.type() != bson::type::regex)
        return {};
    const bool on_fields = is_document && !is_about_value(operand.as_document());
    bson::byte_buffer wrapped;
    bson::builder build{wrapped};
    build.copy("value", operand);
    auto condition = build.finish();
    if (!condition)
        return refuse(server_code::bad_value, condition.error().message());
    auto filter = matcher::compile(on_fields ? operand.as_document() : *condition, with.by,
                                   with.context);
    if (!filter)
        return std::move(filter).error();
    to.pull = std::make_unique<pull_condition>(pull_condition{*std::move(filter), on_fields});
    return {};
}

status read_pull_all(operation& to, const bson::element& operand)
{
    if (operand.type() != bson::type::array)
        return refuse(server_code::bad_value,
                      "$pullAll requires an array argument but was given a " +
                          token(operand.type()));
    take_values(to.values, operand.as_array());
    return {};
}

status read_operand(operation& to, const bson::element& operand, const parse_context& with)
{
    switch (to.what) {
    case op::set:
    case op::set_on_insert:
    case op::unset:
    case op::min:
    case op::max:
    case op::rename:
    case op::renamed:
        return {};
    case op::increment:
    case op::multiply:
        return check_number(to.what, operand);
    case op::current_date:
        return read_date_type(to, operand);
    case op::push:
        return read_push(to, operand);
    case op::pull:
        return read_pull(to, operand, with);
    case op::pull_all:
        return read_pull_all(to, operand);
    case op::add_to_set:
        return read_set_values(to, operand);
    case op::pop:
        return read_pop(to, operand);
    case op::bit:
        return check_bits(operand);
    }
    return {};
}

}  // namespace

std::optional<op> operator_named(std::string_view name) noexcept
{
    const auto found = std::ranges::find(operator_names, name,
                                         &std::pair<std::string_view, op>::first);
    return found == operator_names.end() ? std::nullopt : std::optional{found->second};
}

std::string_view name_of(op what) noexcept
{
    const auto found = std::ranges::find(operator_names, what,
                                         &std::pair<std::string_view, op>::second);
    return found == operator_names.end() ? "$rename" : found->first;
}

result<operation> parse_operation(op what, const bson::element& operand, const parse_context& with)
{
    operation made;
    made.what = what;
    made.path = operand.key();
    made.operand = operand;
    if (auto read = read_operand(made, operand, with); !read)
        return std::move(read).error();
    return made;
}

std::size_t depth_of(const bson::element& e, std::size_t limit) noexcept
{
    if ((e.type() != bson::type::document && e.type() != bson::type::array) || limit == 0)
        return 0;
    std::size_t deepest = 0;
    for (const bson::element& inner : e.as_document())
        deepest = std::max(deepest, depth_of(inner, limit - 1));
    return deepest + 1;
}

}  // namespace holdfast::lab::updating
