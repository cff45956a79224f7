#include "lab/mongo/query/field_path.hpp"

#include "lab/mongo/document/server_code.hpp"

#include <algorithm>

namespace holdfast::lab::filter {

result<void> check_path(std::string_view path)
{
    constexpr std::ptrdiff_t most_parts = 200;
    if (path.empty())
        return refuse(40352, "FieldPath cannot be constructed with empty string");
    if (path.ends_with('.'))
        return refuse(40353, "FieldPath must not end with a '.'.");
    if (std::ranges::count(path, '.') >= most_parts)
        return refuse(server_code::overflow, "FieldPath is too long");
    for (;;) {
        if (path.starts_with('$'))
            return refuse(16410,
                          "FieldPath field names may not start with '$'. Consider using $getField "
                          "or $setField.");
        if (path.starts_with('.'))
            return refuse(15998, "FieldPath field names may not be empty strings.");
        const std::size_t dot = path.find('.');
        if (dot == path.npos)
            return {};
        path.remove_prefix(dot + 1);
    }
}

}  // namespace holdfast::lab::filter
