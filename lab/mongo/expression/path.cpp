#include "lab/mongo/expression/path.hpp"

#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/expression/compiler.hpp"

#include <algorithm>

namespace holdfast::lab::computing {

value value_at(bson::view document, std::span<const std::string> path)
{
    const bson::element found = document.find(path.front());
    return value_at(found, path.subspan(1));
}

value value_at(const bson::element& from, std::span<const std::string> path)
{
    if (path.empty())
        return value{from};
    if (from.type() == bson::type::document)
        return value_at(from.as_document(), path);
    if (from.type() != bson::type::array)
        return {};
    bson::byte_buffer bytes;
    bson::array_builder out{bytes};
    for (const bson::element& e : from.as_array()) {
        if (e.type() != bson::type::document)
            continue;
        const value inner = value_at(e.as_document(), path);
        if (!inner.missing())
            out.copy(inner.get());
    }
    const auto done = out.finish();
    return done ? value{*done} : value{};
}

result<std::vector<std::string>> split_path(std::string_view path)
{
    if (path.find('\0') != std::string_view::npos)
        return refuse(16411, "FieldPath field names may not contain '\\0'.");
    if (path.ends_with('.'))
        return refuse(40353, "FieldPath must not end with a '.'.");
    if (std::ranges::count(path, '.') >= 200)
        return refuse(server_code::overflow, "FieldPath is too long");
    std::vector<std::string> names;
    for (;;) {
        const std::size_t dot = path.find('.');
        const std::string_view name = path.substr(0, dot);
        if (name.empty())
            return refuse(15998, "FieldPath field names may not be empty strings.");
        if (name.starts_with('$'))
            return refuse(16410,
                          "FieldPath field names may not start with '$'. Consider using $getField "
                          "or $setField.");
        names.emplace_back(name);
        if (dot == std::string_view::npos)
            return names;
        path.remove_prefix(dot + 1);
    }
}

result<void> check_variable_name(std::string_view name, bool may_be_current)
{
    if (name.empty())
        return refuse(server_code::failed_to_parse, "empty variable names are not allowed");
    if (may_be_current && name == "CURRENT")
        return {};
    const auto is_tail = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || static_cast<unsigned char>(c) >= 0x80;
    };
    const bool good_start = (name[0] >= 'a' && name[0] <= 'z') ||
                            static_cast<unsigned char>(name[0]) >= 0x80;
    if (!good_start)
        return refuse(server_code::failed_to_parse,
                      "'" + std::string{name} +
                          "' starts with an invalid character for a user variable name");
    const auto bad = std::ranges::find_if_not(name, is_tail);
    if (bad != name.end())
        return refuse(server_code::failed_to_parse,
                      "'" + std::string{name} +
                          "' contains an invalid character for a variable name: '" +
                          std::string(1, *bad) + "'");
    return {};
}

}  // namespace holdfast::lab::computing
