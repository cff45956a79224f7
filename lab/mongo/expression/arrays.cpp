#include "lab/mongo/document/compare.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/expression/list.hpp"
#include "lab/mongo/expression/number.hpp"
#include "lab/mongo/expression/operators.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace holdfast::lab::computing {

list elements_of(const bson::element& array)
{
    list all;
    for (const bson::element& e : array.as_array()) {
        if (!e.malformed())
            all.push_back(e);
    }
    return all;
}

value make_array(std::span<const bson::element> elements)
{
    bson::byte_buffer bytes;
    bson::array_builder out{bytes};
    for (const bson::element& e : elements) {
        if (e)
            out.copy(e);
        else
            out.add(bson::null{});
    }
    const auto done = out.finish();
    return done ? value{*done} : value{};
}

namespace {

bool is_array(const bson::element& e)
{
    return e.type() == bson::type::array;
}

result<value> size_of(const arguments& of, scope&)
{
    if (!is_array(of[0]))
        return refuse(17124, "The argument to $size must be an array, but was of type: " +
                                 type_text(of[0]));
    return value::of(static_cast<std::int32_t>(of[0].as_array().count()));
}

result<value> pick(const bson::element& array, std::int64_t index)
{
    const list all = elements_of(array);
    const auto count = static_cast<std::int64_t>(all.size());
    if (index < 0)
        index += count;
    if (index < 0 || index >= count)
        return value{};
    return value{all[static_cast<std::size_t>(index)]};
}

result<value> element_at(const arguments& of, scope&)
{
    if (is_nullish(of[0]) || is_nullish(of[1]))
        return null_value();
    if (!is_array(of[0]))
        return refuse(28689,
                      "$arrayElemAt's first argument must be an array, but is " + type_text(of[0]));
    if (!read_number(of[1]))
        return refuse(28690, "$arrayElemAt's second argument must be a numeric value, but is " +
                                 type_text(of[1]));
    const auto index = as_int32(of[1]);
    if (!index)
        return refuse(28691,
                      "$arrayElemAt's second argument must be representable as a 32-bit integer: " +
                          to_text(of[1]));
    return pick(of[0], *index);
}

result<value> first_or_last(const arguments& of, scope&)
{
    if (is_nullish(of[0]))
        return null_value();
    if (!is_array(of[0]))
        return refuse(28689, std::string{of.name} + "'s argument must be an array, but is " +
                                 type_text(of[0]));
    return pick(of[0], of.name == "$first" ? 0 : -1);
}

result<value> contains(const arguments& of, scope& in)
{
    if (!is_array(of[1]))
        return refuse(40081,
                      "$in requires an array as a second argument, found: " + type_text(of[1]));
    for (const bson::element& e : of[1].as_array()) {
        if (of[0] && equal(of[0], e, in.by))
            return value::of(true);
    }
    return value::of(false);
}

result<value> concatenated_arrays(const arguments& of, scope&)
{
    list all;
    for (std::size_t i = 0; i < of.size(); ++i) {
        if (is_nullish(of[i]))
            return null_value();
        if (!is_array(of[i]))
            return refuse(28664, "$concatArrays only supports arrays, not " + type_text(of[i]));
        std::ranges::copy(elements_of(of[i]), std::back_inserter(all));
    }
    return make_array(all);
}

result<std::int32_t> slice_number(const bson::element& e, std::string_view which, int wrong_type,
                                  int wrong_size)
{
    const std::string start = std::string{which} + " argument to $slice ";
    if (!read_number(e))
        return refuse(wrong_type,
                      start + "must be a numeric value, but is of type: " + type_text(e));
    const auto n = as_int32(e);
    if (!n)
        return refuse(wrong_size,
                      start + "can't be represented as a 32-bit integer: " + to_text(e));
    return *n;
}

result<value> sliced(const arguments& of, scope&)
{
    if (is_nullish(of[0]) || is_nullish(of[1]) || (of.size() == 3 && is_nullish(of[2])))
        return null_value();
    if (!is_array(of[0]))
        return refuse(28724, "First argument to $slice must be an array, but is of type: " +
                                 type_text(of[0]));
    const auto second = slice_number(of[1], "Second", 28725, 28726);
    if (!second)
        return second.error();
    const list all = elements_of(of[0]);
    const auto count = static_cast<std::int64_t>(all.size());
    std::int64_t first = 0;
    std::int64_t length = *second;
    if (of.size() == 3) {
        const auto third = slice_number(of[2], "Third", 28727, 28728);
        if (!third)
            return third.error();
        if (*third <= 0)
            return refuse(28729, "Third argument to $slice must be positive: " + to_text(of[2]));
        first = *second;
        length = *third;
        first = std::clamp<std::int64_t>(first < 0 ? count + first : first, 0, count);
    } else if (length < 0) {
        first = std::max<std::int64_t>(0, count + length);
        length = count - first;
    }
    length = std::min(length, count - first);
    return make_array(
        std::span{all}.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(length)));
}

result<std::int32_t> range_number(const bson::element& e, std::string_view what, int wrong_type,
                                  int wrong_size)
{
    const std::string start = "$range requires a " + std::string{what};
    if (!read_number(e))
        return refuse(wrong_type, start + " that is numeric, found value of type: " + type_text(e));
    const auto n = as_int32(e);
    if (!n)
        return refuse(
            wrong_size,
            start + " that can be represented as a 32-bit integer, found value: " + to_text(e));
    return *n;
}

result<value> range(const arguments& of, scope&)
{
    const auto first = range_number(of[0], "starting value", 34443, 34444);
    if (!first)
        return first.error();
    const auto last = range_number(of[1], "ending value", 34445, 34446);
    if (!last)
        return last.error();
    std::int64_t step = 1;
    if (of.size() == 3) {
        const auto given = range_number(of[2], "step value", 34447, 34448);
        if (!given)
            return given.error();
        step = *given;
    }
    if (step == 0)
        return refuse(34449, "$range requires a non-zero step value");
    bson::byte_buffer bytes;
    bson::array_builder out{bytes};
    for (std::int64_t i = *first; step > 0 ? i < *last : i > *last; i += step) {
        out.add(static_cast<std::int32_t>(i));
        if (bytes.size() > max_value_size)
            return refuse(server_code::bson_object_too_large,
                          "$range would make an array larger than a document can be");
    }
    auto done = out.finish();
    if (!done)
        return std::move(done).error();
    return value{*done};
}

result<value> reversed(const arguments& of, scope&)
{
    if (is_nullish(of[0]))
        return null_value();
    if (!is_array(of[0]))
        return refuse(34435, "The argument to $reverseArray must be an array, but was of type: " +
                                 type_text(of[0]));
    list all = elements_of(of[0]);
    std::ranges::reverse(all);
    return make_array(all);
}

result<value> asks_for_array(const arguments& of, scope&)
{
    return value::of(is_array(of[0]));
}

result<value> index_in(const arguments& of, scope& in)
{
    if (is_nullish(of[0]))
        return null_value();
    if (!is_array(of[0]))
        return refuse(40090, "$indexOfArray requires an array as a first argument, found: " +
                                 type_text(of[0]));
    std::int32_t bounds[] = {0, std::numeric_limits<std::int32_t>::max()};
    for (std::size_t i = 2; i < of.size(); ++i) {
        const std::string which = i == 2 ? "starting" : "ending";
        const auto n = as_int32(of[i]);
        if (!n)
            return refuse(40096, "$indexOfArray requires an integral " + which +
                                     " index, found a value of type: " + type_text(of[i]));
        if (*n < 0)
            return refuse(40097, "$indexOfArray requires a nonnegative " + which +
                                     " index, found: " + to_text(of[i]));
        bounds[i - 2] = *n;
    }
    std::int32_t at = 0;
    for (const bson::element& e : of[0].as_array()) {
        if (at >= bounds[0] && at < bounds[1] && of[1] && equal(e, of[1], in.by))
            return value::of(at);
        ++at;
    }
    return value::of(-1);
}

constexpr list_operator arrays_table[] = {
    {"$size", 1, 1, size_of},          {"$arrayElemAt", 2, 2, element_at},
    {"$first", 1, 1, first_or_last},   {"$last", 1, 1, first_or_last},
    {"$in", 2, 2, contains},
    {"$concatArrays", 0, list_operator::any, concatenated_arrays},
    {"$slice", 2, 3, sliced},          {"$range", 2, 3, range},
    {"$reverseArray", 1, 1, reversed}, {"$isArray", 1, 1, asks_for_array},
    {"$indexOfArray", 2, 4, index_in},
};

}  // namespace

std::span<const list_operator> array_operators()
{
    return arrays_table;
}

}  // namespace holdfast::lab::computing
