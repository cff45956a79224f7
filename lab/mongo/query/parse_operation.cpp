#include "lab/mongo/document/compare.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/document/shell_text.hpp"
#include "lab/mongo/query/parse.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace holdfast::lab::filter {

using bson::type;

namespace {

struct named_comparison {
    std::string_view name;
    op what;
};
constexpr std::array comparisons = {
    named_comparison{"$eq", op::equal},          named_comparison{"$gt", op::greater},
    named_comparison{"$gte", op::greater_equal}, named_comparison{"$lt", op::less},
    named_comparison{"$lte", op::less_equal},
};
constexpr std::array<std::string_view, 10> not_here = {
    "$near",   "$nearSphere", "$geoNear", "$geoWithin",     "$within",
    "$center", "$box",        "$polygon", "$geoIntersects", "$maxDistance"};

result<node> negated(result<node> of)
{
    if (of)
        of->negated = !of->negated;
    return of;
}

}  // namespace

result<node> parser::operation(std::string_view path, const bson::element& e, bson::view all_of,
                               int depth)
{
    const std::string_view name = e.key();
    for (const named_comparison& one : comparisons) {
        if (one.name == name)
            return comparison(one.what, path, e);
    }
    if (name == "$ne") {
        if (e.type() == type::regex)
            return refuse(server_code::bad_value, "Can't have regex as arg to $ne.");
        return negated(comparison(op::equal, path, e));
    }
    if (name == "$in")
        return in(path, e);
    if (name == "$nin")
        return negated(in(path, e));
    if (name == "$exists") {
        node made{.what = op::exists, .path = path};
        made.negated = !is_true(e);
        return made;
    }
    if (name == "$type")
        return parse_type(path, e);
    if (name == "$regex")
        return parse_regex(path, e, all_of.find("$options"));
    if (name == "$options") {
        if (!all_of.find("$regex"))
            return refuse(server_code::bad_value, "$options needs a $regex");
        return node{};
    }
    if (name == "$mod")
        return parse_modulo(path, e);
    if (name == "$size")
        return parse_size(path, e);
    if (name == "$all")
        return all(path, e, depth);
    if (name == "$elemMatch")
        return element_match(path, e, depth);
    if (name == "$not")
        return negation(path, e, depth);
    if (name.starts_with("$bits")) {
        const std::string_view rest = name.substr(5);
        if (rest == "AllSet" || rest == "AnySet" || rest == "AllClear" || rest == "AnyClear")
            return parse_bits(path, e, rest.ends_with("Set"), rest.starts_with("All"));
    }
    if (name == "$comment")
        return node{};
    if (std::ranges::find(not_here, name) != not_here.end())
        return refuse(238, "geographic queries are not supported here: " + std::string{name});
    return refuse(server_code::bad_value, "unknown operator: " + std::string{name});
}

result<node> parser::comparison(op what, std::string_view path, const bson::element& e) const
{
    if (e.malformed())
        return malformed_filter();
    if (e.type() == type::undefined)
        return refuse(server_code::bad_value, "cannot compare to undefined");
    if (e.type() == type::regex && what != op::equal)
        return refuse(server_code::bad_value, "Can't have RegEx as arg to predicate over field '" +
                                                  std::string{path} + "'.");
    return node{.what = what, .path = path, .operand = e};
}

result<node> parser::in(std::string_view path, const bson::element& e) const
{
    if (e.type() != type::array)
        return refuse(server_code::bad_value, std::string{e.key()} + " needs an array");
    node made{.what = op::one_of, .path = path};
    made.more = std::make_unique<details>();
    for (const bson::element& value : e.as_array()) {
        if (value.malformed())
            return malformed_filter();
        if (value.type() == type::undefined)
            return refuse(server_code::bad_value, "InMatchExpression equality cannot be undefined");
        if (is_operations(value))
            return refuse(server_code::bad_value, "cannot nest $ under " + std::string{e.key()});
        if (value.type() != type::regex) {
            made.more->values.push_back(value);
            continue;
        }
        auto pattern = regex::compile(value.as_regex().pattern, value.as_regex().options);
        if (!pattern)
            return std::move(pattern).error();
        made.more->patterns.push_back(std::move(*pattern));
    }
    const collation* const by = by_ ? &*by_ : nullptr;
    std::ranges::sort(made.more->values, [&](const bson::element& a, const bson::element& b) {
        return compare(a, b, by) < 0;
    });
    return made;
}

result<node> parser::all(std::string_view path, const bson::element& e, int depth)
{
    if (e.type() != type::array)
        return refuse(server_code::bad_value, "$all needs an array");
    node made{.what = e.as_array().empty() ? op::never : op::all_of, .path = path};
    const auto is_element_match = [](const bson::element& one) {
        return is_operations(one) && one.as_document().begin()->key() == "$elemMatch";
    };
    const bool of_elements = is_element_match(e.as_array()[0]);
    for (const bson::element& value : e.as_array()) {
        if (value.malformed())
            return malformed_filter();
        if (of_elements != is_element_match(value))
            return refuse(server_code::bad_value, of_elements
                                                      ? "$all/$elemMatch has to be consistent"
                                                      : "no $ expressions in $all");
        if (!of_elements && is_operations(value))
            return refuse(server_code::bad_value, "no $ expressions in $all");
        auto one = of_elements ? element_match(path, *value.as_document().begin(), depth + 1)
                   : value.type() == type::regex ? parse_regex(path, value.as_regex())
                                                 : comparison(op::equal, path, value);
        if (!one)
            return one;
        made.children.push_back(std::move(*one));
    }
    return made;
}

}  // namespace holdfast::lab::filter
