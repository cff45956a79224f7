#include "lab/mongo/document/number.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/document/shell_text.hpp"
#include "lab/mongo/query/bits.hpp"
#include "lab/mongo/query/parse.hpp"

#include <limits>
#include <string>
#include <utility>

namespace holdfast::lab::filter {

using bson::type;

namespace {

node with_details(op what, std::string_view path)
{
    node made{.what = what, .path = path};
    made.more = std::make_unique<details>();
    return made;
}

}  // namespace

result<node> parse_modulo(std::string_view path, const bson::element& e)
{
    if (e.type() != type::array)
        return refuse(server_code::bad_value, "malformed mod, needs to be an array");
    const std::size_t count = e.as_array().count();
    if (count < 2)
        return refuse(server_code::bad_value, "malformed mod, not enough elements");
    if (count > 2)
        return refuse(server_code::bad_value, "malformed mod, too many elements");
    const bson::element divisor = e.as_array()[0];
    const bson::element remainder = e.as_array()[1];
    if (!is_number(divisor.type()))
        return refuse(server_code::bad_value, "malformed mod, divisor not a number");
    if (!is_number(remainder.type()))
        return refuse(server_code::bad_value, "malformed mod, remainder not a number");
    const auto by = truncated_number(divisor);
    const auto rest = truncated_number(remainder);
    if (!by || !rest)
        return refuse(server_code::bad_value,
                      std::string{"malformed mod, "} + (by ? "remainder" : "divisor") +
                          " value is invalid :: caused by :: Unable to coerce NaN/Inf or a number "
                          "of this size to integral type");
    if (*by == 0)
        return refuse(server_code::bad_value, "divisor cannot be 0");
    node made = with_details(op::modulo, path);
    made.more->divisor = *by;
    made.more->remainder = *rest;
    return made;
}

result<node> parse_size(std::string_view path, const bson::element& e)
{
    std::string problem;
    const auto size = whole_number(e);
    if (!is_number(e.type()))
        problem = "Expected a number in: ";
    else if (is_nan(e))
        problem = "Expected an integer, but found NaN in: ";
    else if (!size && truncated_number(e))
        problem = "Expected an integer: ";
    else if (!size || *size > std::numeric_limits<std::int32_t>::max())
        problem = "Cannot represent as a 64-bit integer: ";
    else if (*size < 0)
        problem = "Expected a non-negative number in: ";
    if (!problem.empty())
        return refuse(server_code::bad_value,
                      "Failed to parse $size. " + problem + shell_text_of(e));
    node made = with_details(op::has_size, path);
    made.more->size = *size;
    return made;
}

result<node> parse_type(std::string_view path, const bson::element& e)
{
    auto types = read_types(e);
    if (!types)
        return std::move(types).error();
    node made = with_details(op::of_type, path);
    made.more->types = *types;
    return made;
}

result<node> parse_bits(std::string_view path, const bson::element& e, bool set, bool all)
{
    auto positions = read_positions(e, e.key());
    if (!positions)
        return std::move(positions).error();
    node made = with_details(op::bits, path);
    made.more->positions = std::move(*positions);
    made.more->bits_set = set;
    made.more->bits_all = all;
    return made;
}

result<node> parse_regex(std::string_view path, const bson::regex& from)
{
    auto pattern = regex::compile(from.pattern, from.options);
    if (!pattern)
        return std::move(pattern).error();
    node made = with_details(op::found_by, path);
    made.more->patterns.push_back(std::move(*pattern));
    return made;
}

result<node> parse_regex(std::string_view path, const bson::element& pattern,
                         const bson::element& options)
{
    if (options && options.type() != type::string)
        return refuse(server_code::bad_value, "$options has to be a string");
    bson::regex asked;
    if (pattern.type() == type::regex)
        asked = pattern.as_regex();
    else if (pattern.type() == type::string)
        asked.pattern = pattern.as_string();
    else
        return refuse(server_code::bad_value, "$regex has to be a string");
    if (options) {
        if (!asked.options.empty())
            return refuse(51075, "options set in both $regex and $options");
        asked.options = options.as_string();
    }
    return parse_regex(path, asked);
}

}  // namespace holdfast::lab::filter
