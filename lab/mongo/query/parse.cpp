#include "lab/mongo/query/parse.hpp"

#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/document/stable_sort.hpp"
#include "lab/mongo/query/where.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace holdfast::lab::filter {

using bson::type;

namespace {

/// What is computed comes last: it can fail, and does not if another condition is not met.
void move_computed_last(std::vector<node>& conditions)
{
    const auto is_computed = [](const node& one) { return one.what == op::computed; };
    if (std::ranges::none_of(conditions, is_computed))
        return;
    sort_stably(conditions,
                [&](const node& a, const node& b) { return !is_computed(a) && is_computed(b); });
}

/// One condition stands for itself; several are all to be met.
node together(std::vector<node> conditions)
{
    move_computed_last(conditions);
    if (conditions.size() == 1)
        return std::move(conditions.front());
    node all;
    all.what = conditions.empty() ? op::always : op::all_of;
    all.children = std::move(conditions);
    return all;
}

}  // namespace

error too_deep()
{
    return refuse(server_code::overflow,
                  "the filter is nested deeper than " + std::to_string(deepest_filter) + " levels");
}

error malformed_filter()
{
    return refuse(22, "the filter is no valid BSON");
}

bool is_operations(const bson::element& e) noexcept
{
    if (e.type() != type::document)
        return false;
    const auto first = e.as_document().begin();
    if (first == e.as_document().end() || first->malformed())
        return false;
    const std::string_view key = first->key();
    return key.starts_with('$') && key != "$ref" && key != "$id" && key != "$db";
}

result<node> parser::filter(bson::view from, int depth)
{
    if (depth > deepest_filter)
        return too_deep();
    std::vector<node> conditions;
    for (const bson::element& e : from) {
        if (e.malformed())
            return malformed_filter();
        auto one = e.key().starts_with('$') ? top_level(e, depth + 1) : field(e, depth + 1);
        if (!one)
            return one;
        if (one->what != op::always || one->negated)
            conditions.push_back(std::move(*one));
    }
    return together(std::move(conditions));
}

result<node> parser::top_level(const bson::element& e, int depth)
{
    const std::string_view key = e.key();
    if (inside_element_ && (key == "$expr" || key == "$where" || key == "$text"))
        return refuse(server_code::bad_value,
                      std::string{key} + " can only be applied to the top-level document");
    if (key == "$and" || key == "$or" || key == "$nor")
        return list_of_filters(e, depth);
    if (key == "$expr")
        return expression(e, depth);
    if (key == "$comment" || key == "$alwaysTrue")
        return node{};
    if (key == "$alwaysFalse")
        return node{.what = op::never};
    if (key == "$where")
        return where(e);
    if (key == "$jsonSchema") {
        auto form = compile_schema(e, depth);
        if (!form)
            return std::move(form).error();
        node made{.what = op::valid};
        made.more = std::make_unique<details>();
        made.more->form = std::move(*form);
        return made;
    }
    if (key == "$text")
        return refuse(server_code::index_not_found, "text index required for $text query");
    if (key == "$ref" || key == "$id" || key == "$db")
        return field(e, depth);
    return refuse(server_code::bad_value,
                  "unknown top level operator: " + std::string{key} +
                      ". If you have a field name that starts with a '$' symbol, consider using "
                      "$getField or $setField.");
}

result<node> parser::list_of_filters(const bson::element& e, int depth)
{
    if (e.type() != type::array)
        return refuse(server_code::bad_value, std::string{e.key()} + " must be an array");
    if (e.as_array().empty())
        return refuse(server_code::bad_value, "$and/$or/$nor must be a nonempty array");
    node made{.what = e.key() == "$and" ? op::all_of : op::any_of};
    made.negated = e.key() == "$nor";
    for (const bson::element& entry : e.as_array()) {
        if (entry.type() != type::document)
            return refuse(server_code::bad_value, "$or/$and/$nor entries need to be full objects");
        auto one = filter(entry.as_document(), depth + 1);
        if (!one)
            return one;
        made.children.push_back(std::move(*one));
    }
    if (made.what == op::all_of)
        move_computed_last(made.children);
    return made;
}

result<node> parser::expression(const bson::element& e, int depth) const
{
    if (depth > deepest_filter)
        return too_deep();
    auto compiled = lab::expression::compile(e, by_, context_);
    if (!compiled)
        return std::move(compiled).error();
    node made{.what = op::computed};
    made.more = std::make_unique<details>();
    made.more->computed = std::make_unique<lab::expression>(std::move(*compiled));
    return made;
}

result<node> parser::where(const bson::element& e)
{
    if (e.type() != type::string && e.type() != type::code)
        return refuse(server_code::bad_value, "$where got bad type");
    const auto milliseconds = sleep_of(e.as_string());
    if (!milliseconds)
        return refuse(server_code::bad_value,
                      "$where runs no JavaScript here; only \"sleep(n) || true\" is known");
    sleeps_ms_ += *milliseconds;
    return node{};
}

result<node> parser::field(const bson::element& e, int depth)
{
    if (e.type() == type::regex)
        return parse_regex(e.key(), e.as_regex());
    if (is_operations(e))
        return operations(e.key(), e.as_document(), depth);
    return comparison(op::equal, e.key(), e);
}

result<node> parser::operations(std::string_view path, bson::view from, int depth)
{
    if (depth > deepest_filter)
        return too_deep();
    std::vector<node> conditions;
    for (const bson::element& e : from) {
        if (e.malformed())
            return malformed_filter();
        auto one = operation(path, e, from, depth);
        if (!one)
            return one;
        if (one->what != op::always || one->negated)
            conditions.push_back(std::move(*one));
    }
    return together(std::move(conditions));
}

result<node> parser::negation(std::string_view path, const bson::element& e, int depth)
{
    node made{.what = op::all_of};
    made.negated = true;
    if (e.type() == type::regex) {
        auto pattern = parse_regex(path, e.as_regex());
        if (!pattern)
            return pattern;
        made.children.push_back(std::move(*pattern));
        return made;
    }
    if (e.type() != type::document)
        return refuse(server_code::bad_value, "$not needs a regex or a document");
    if (e.as_document().empty())
        return refuse(server_code::bad_value, "$not cannot be empty");
    auto inner = operations(path, e.as_document(), depth + 1);
    if (!inner)
        return inner;
    made.children.push_back(std::move(*inner));
    return made;
}

result<node> parser::element_match(std::string_view path, const bson::element& e, int depth)
{
    if (e.type() != type::document)
        return refuse(server_code::bad_value, "$elemMatch needs an Object");
    const auto first = e.as_document().begin();
    const std::string_view key = first == e.as_document().end() ? "" : first->key();
    const bool of_values = is_operations(e) && key != "$and" && key != "$or" && key != "$nor" &&
                           key != "$where" && key != "$expr" && key != "$jsonSchema";
    const bool outside = !std::exchange(inside_element_, true);
    auto inner = of_values ? operations("", e.as_document(), depth + 1)
                           : filter(e.as_document(), depth + 1);
    inside_element_ = !outside;
    if (!inner)
        return inner;
    node made{.what = of_values ? op::has_value : op::has_object, .path = path};
    made.children.push_back(std::move(*inner));
    return made;
}

}  // namespace holdfast::lab::filter
