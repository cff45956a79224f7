#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/expression/number.hpp"
#include "lab/mongo/expression/operators.hpp"
#include "lab/mongo/expression/text.hpp"

#include <limits>
#include <string>
#include <utility>

namespace holdfast::lab::computing {

namespace {

/// $substrBytes; both ends must be ends of code points.
result<value> substring_of_bytes(const arguments& of, scope&)
{
    auto text = coerce_to_text(of[0]);
    if (!text)
        return std::move(text).error();
    const auto first = read_number(of[1]);
    const auto count = read_number(of[2]);
    const std::string name{of.name};
    if (!first)
        return refuse(16034, name + ":  starting index must be a numeric type (is BSON type " +
                                 type_text(of[1]) + ")");
    if (!count)
        return refuse(16035, name + ":  length must be a numeric type (is BSON type " +
                                 type_text(of[2]) + ")");
    if (first->real < 0)
        return refuse(
            50752, name + ":  starting index must be non-negative (got: " + to_text(of[1]) + ")");
    const auto size = static_cast<double>(text->size());
    if (!(first->real < size))
        return value::of("");
    const auto begin = static_cast<std::size_t>(first->real);
    std::size_t end = text->size();  // a negative length means the rest
    if (count->real >= 0 && static_cast<double>(begin) + count->real < size)
        end = begin + static_cast<std::size_t>(count->real);
    if (continues((*text)[begin]))
        return refuse(28656,
                      name + ":  Invalid range, starting index is a UTF-8 continuation byte.");
    if (end < text->size() && continues((*text)[end]))
        return refuse(28657, name +
                                 ":  Invalid range, ending index is in the middle of a UTF-8 "
                                 "character.");
    return value::of(std::string_view{*text}.substr(begin, end - begin));
}

result<value> substring_of_code_points(const arguments& of, scope&)
{
    auto text = coerce_to_text(of[0]);
    if (!text)
        return std::move(text).error();
    if (!read_number(of[1]))
        return refuse(34450, "$substrCP: starting index must be a numeric type (is BSON type " +
                                 type_text(of[1]) + ")");
    const auto first = as_int32(of[1]);
    if (!first)
        return refuse(34451,
                      "$substrCP: starting index cannot be represented as a 32-bit integral "
                      "value: " +
                          to_text(of[1]));
    if (!read_number(of[2]))
        return refuse(34452, "$substrCP: length must be a numeric type (is BSON type " +
                                 type_text(of[2]) + ")");
    const auto count = as_int32(of[2]);
    if (!count)
        return refuse(34453,
                      "$substrCP: length cannot be represented as a 32-bit integral value: " +
                          to_text(of[2]));
    if (*first < 0)
        return refuse(34455, "$substrCP: the starting index must be nonnegative integer.");
    if (*count < 0)
        return refuse(34454, "$substrCP: length must be a nonnegative integer.");
    const std::size_t begin = code_point_at(*text, static_cast<std::size_t>(*first));
    if (begin == std::string::npos)
        return value::of("");
    const std::string_view rest = std::string_view{*text}.substr(begin);
    return value::of(rest.substr(0, code_point_at(rest, static_cast<std::size_t>(*count))));
}

result<value> length_in_bytes(const arguments& of, scope&)
{
    if (of[0].type() != bson::type::string)
        return refuse(34473, "$strLenBytes requires a string argument, found: " + type_text(of[0]));
    return value::of(static_cast<std::int32_t>(of[0].as_string().size()));
}

result<value> length_in_code_points(const arguments& of, scope&)
{
    if (of[0].type() != bson::type::string)
        return refuse(34471, "$strLenCP requires a string argument, found: " + type_text(of[0]));
    return value::of(static_cast<std::int32_t>(code_points(of[0].as_string())));
}

/// $indexOfBytes and $indexOfCP.
result<value> index_in_text(const arguments& of, scope&)
{
    const std::string name{of.name};
    const bool bytes = name == "$indexOfBytes";
    if (is_nullish(of[0]))
        return null_value();
    for (std::size_t i = 0; i < 2; ++i) {
        if (of[i].type() != bson::type::string)
            return refuse((bytes ? 40091 : 40093) + static_cast<int>(i),
                          name + " requires a string as the " + (i == 0 ? "first" : "second") +
                              " argument, found: " + type_text(of[i]));
    }
    const std::string_view text = of[0].as_string();
    std::size_t bounds[] = {0, text.size()};
    for (std::size_t i = 2; i < of.size(); ++i) {
        const std::string which = i == 2 ? "starting" : "ending";
        const auto n = as_int32(of[i]);
        if (!n)
            return refuse(40096, name + " requires an integral " + which +
                                     " index, found a value of type: " + type_text(of[i]));
        if (*n < 0)
            return refuse(40097, name + " requires a nonnegative " + which +
                                     " index, found: " + to_text(of[i]));
        const auto at = static_cast<std::size_t>(*n);
        const std::size_t count = bytes ? text.size() : code_points(text);
        if (i == 2 && at > count)
            return value::of(-1);
        bounds[i - 2] = at >= count ? text.size() : bytes ? at : code_point_at(text, at);
    }
    if (bounds[0] > bounds[1])
        return value::of(-1);
    const std::size_t found = text.substr(0, bounds[1]).find(of[1].as_string(), bounds[0]);
    if (found == std::string_view::npos)
        return value::of(-1);
    return value::of(static_cast<std::int32_t>(bytes ? found : code_points(text.substr(0, found))));
}

constexpr list_operator substrings_table[] = {
    {"$substr", 3, 3, substring_of_bytes},         {"$substrBytes", 3, 3, substring_of_bytes},
    {"$substrCP", 3, 3, substring_of_code_points}, {"$strLenBytes", 1, 1, length_in_bytes},
    {"$strLenCP", 1, 1, length_in_code_points},    {"$indexOfBytes", 2, 4, index_in_text},
    {"$indexOfCP", 2, 4, index_in_text},
};

}  // namespace

std::span<const list_operator> substring_operators()
{
    return substrings_table;
}

}  // namespace holdfast::lab::computing
