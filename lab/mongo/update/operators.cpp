#include "lab/mongo/update/operators.hpp"

#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/update/id_text.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace holdfast::lab::updating {
namespace {

using status = result<void>;

std::string quoted(std::string_view text)
{
    return "'" + std::string{text} + "'";
}

std::size_t parts_of(std::string_view path)
{
    return static_cast<std::size_t>(std::ranges::count(path, '.')) + 1;
}

bool is_dynamic(std::string_view path)
{
    return std::ranges::any_of(split(path),
                               [](auto part) { return part == "$" || identifier_of(part); });
}

/// Whether one of two paths leads through the other.
bool on_same_path(std::string_view a, std::string_view b)
{
    if (a.size() > b.size())
        std::swap(a, b);
    return b.starts_with(a) && b.size() > a.size() && b[a.size()] == '.';
}

error in_array_filter(server_code code, const std::string& why)
{
    return refuse(code, "Error parsing array filter :: caused by :: " + why);
}

bool is_logical(std::string_view key)
{
    return key == "$and" || key == "$or" || key == "$nor";
}

/// The first part of all paths in a filter, which must be one and the same.
status find_name(bson::view filter, std::string_view& name, std::size_t depth)
{
    if (depth > max_path_parts)
        return in_array_filter(server_code::overflow, "the filter is nested too deeply");
    for (const bson::element& e : filter) {
        if (is_logical(e.key()) && e.type() == bson::type::array) {
            for (const bson::element& inner : e.as_array()) {
                if (inner.type() != bson::type::document)
                    continue;
                if (auto found = find_name(inner.as_document(), name, depth + 1); !found)
                    return found;
            }
            continue;
        }
        if (e.key().starts_with('$'))
            continue;
        const std::string_view here = e.key().substr(0, e.key().find('.'));
        if (!name.empty() && name != here)
            return in_array_filter(server_code::failed_to_parse,
                                   "Expected a single top-level field name, found " + quoted(name) +
                                       " and " + quoted(here));
        name = here;
    }
    return {};
}

status check_name(std::string_view name)
{
    if (name.empty())
        return refuse(server_code::failed_to_parse,
                      "Cannot use an expression without a top-level field name in arrayFilters");
    const bool plain = std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    });
    if (!plain || name[0] < 'a' || name[0] > 'z')
        return in_array_filter(server_code::bad_value,
                               "The top-level field name must be an alphanumeric string beginning "
                               "with a lowercase letter, found " +
                                   quoted(name));
    return {};
}

/// How deep the value is that the operation leaves behind.
std::size_t depth_left(const operation& made)
{
    switch (made.what) {
    case op::set:
    case op::set_on_insert:
    case op::min:
    case op::max:
        return depth_of(made.operand);
    case op::push:
    case op::add_to_set: {
        std::size_t deepest = 0;
        for (const bson::element& e : made.push ? made.push->values : made.values)
            deepest = std::max(deepest, depth_of(e));
        return deepest + 1;
    }
    case op::unset:
    case op::increment:
    case op::multiply:
    case op::rename:
    case op::renamed:
    case op::current_date:
    case op::pull:
    case op::pull_all:
    case op::pop:
    case op::bit:
        return 0;
    }
    return 0;
}

}  // namespace

status operators::read_filters(bson::array_view from, const parse_context& with)
{
    for (const bson::element& e : from) {
        if (e.type() != bson::type::document)
            return refuse(server_code::type_mismatch,
                          "BSON field 'update.updates.arrayFilters." + std::string{e.key()} +
                              "' is the wrong type '" + std::string{type_name(e.type())} +
                              "', expected type 'object'");
        std::string_view name;
        if (auto found = find_name(e.as_document(), name, 0); !found)
            return found;
        auto filter = matcher::compile(e.as_document(), with.by, with.context);
        if (!filter)
            return in_array_filter(static_cast<server_code>(filter.error().code().value()),
                                   filter.error().message());
        if (auto good = check_name(name); !good)
            return good;
        if (!filters.emplace(name, array_filter{*std::move(filter)}).second)
            return refuse(server_code::failed_to_parse,
                          "Found multiple array filters with the same top-level field name " +
                              std::string{name});
    }
    return {};
}

status operators::check_path(std::string_view path)
{
    if (path.empty())
        return refuse(server_code::empty_field_name, "An empty update path is not valid.");
    if (parts_of(path) > max_path_parts)
        return refuse(server_code::overflow, "Update path exceeds the maximum nesting depth of " +
                                                 std::to_string(max_path_parts));
    std::size_t positions = 0;
    for (std::size_t begin = 0, end = 0; begin <= path.size(); begin = end + 1) {
        end = std::min(path.find('.', begin), path.size());
        const std::string_view part = path.substr(begin, end - begin);
        if (part.empty())
            return refuse(server_code::empty_field_name,
                          "The update path " + quoted(path) +
                              " contains an empty field name, which is not allowed.");
        const auto identifier = identifier_of(part);
        if (begin == 0 && (identifier || part == "$"))
            return refuse(server_code::bad_value,
                          std::string{"Cannot have "} +
                              (identifier ? "array filter identifier (i.e. '$[<id>]')"
                                          : "positional (i.e. '$')") +
                              " element in the first position in path " + quoted(path));
        if (part == "$" && ++positions > 1)
            return refuse(server_code::bad_value,
                          "Too many positional (i.e. '$') elements found in path " + quoted(path));
        if (!identifier || identifier->empty())
            continue;
        const auto filter = filters.find(*identifier);
        if (filter == filters.end())
            return refuse(server_code::bad_value, "No array filter found for identifier " +
                                                      quoted(*identifier) + " in path " +
                                                      quoted(path));
        filter->second.used = true;
    }
    return {};
}

status operators::add(operation&& made)
{
    if (auto good = check_path(made.path); !good)
        return good;
    if (parts_of(made.path) + depth_left(made) > max_path_parts)
        return refuse(server_code::overflow, "Document exceeds the maximum nesting depth of " +
                                                 std::to_string(max_path_parts));
    const operation& kept = all.emplace_back(std::move(made));
    if (const auto clash = paths.add(kept))
        return refuse(server_code::conflicting_update_operators,
                      "Updating the path " + quoted(kept.path) + " would create a conflict at " +
                          quoted(clash->at));
    return {};
}

status operators::add_rename(const bson::element& field, operation&& made)
{
    const auto bad = [](std::string why) { return refuse(server_code::bad_value, std::move(why)); };
    if (field.type() != bson::type::string)
        return bad("The 'to' field for $rename must be a string: " + shell_text_of(field));
    const std::string_view from = field.key();
    const std::string_view to = field.as_string();
    if (to.find('\0') != to.npos)
        return bad("The 'to' field for $rename cannot contain an embedded null byte");
    if (from == to)
        return bad("The source and target field for $rename must differ: " + shell_text_of(field));
    if (on_same_path(from, to))
        return bad("The source and target field for $rename must not be on the same path: " +
                   shell_text_of(field));
    if (is_dynamic(from))
        return bad("The source field for $rename may not be dynamic: " + std::string{from});
    if (is_dynamic(to))
        return bad("The destination field for $rename may not be dynamic: " + std::string{to});
    operation taken;
    taken.what = op::renamed;
    taken.path = from;
    taken.rename = made.rename = renames.size();
    if (auto added = add(std::move(taken)); !added)
        return added;
    made.path = to;
    if (auto added = add(std::move(made)); !added)
        return added;
    renames.push_back(&all.back());
    return {};
}

status operators::read_operator(op what, bson::view fields, const parse_context& with)
{
    for (const bson::element& field : fields) {
        auto made = parse_operation(what, field, with);
        if (!made)
            return std::move(made).error();
        auto added = what == op::rename ? add_rename(field, *std::move(made))
                                        : add(*std::move(made));
        if (!added)
            return added;
    }
    return {};
}

status operators::parse(bson::array_view array_filters, const parse_context& with)
{
    if (auto read = read_filters(array_filters, with); !read)
        return read;
    for (const bson::element& e : source) {
        const auto what = operator_named(e.key());
        if (!what)
            return refuse(server_code::failed_to_parse,
                          "Unknown modifier: " + std::string{e.key()} +
                              ". Expected a valid update modifier or pipeline-style update "
                              "specified as an array");
        if (e.type() != bson::type::document)
            return refuse(server_code::failed_to_parse,
                          "Modifiers operate on fields but we found type " +
                              std::string{type_name(e.type())} +
                              " instead. For example: {$mod: {<field>: ...}} not {" +
                              shell_text_of(e) + "}");
        if (auto read = read_operator(*what, e.as_document(), with); !read)
            return read;
    }
    for (const auto& [name, filter] : filters) {
        if (!filter.used)
            return refuse(server_code::failed_to_parse,
                          "The array filter for identifier " + quoted(name) +
                              " was not used in the update " + shell_text_of(source.view()));
    }
    paths.finish();
    return {};
}

}  // namespace holdfast::lab::updating
