#include "lab/couchbase/n1ql/functions.hpp"

#include "lab/couchbase/n1ql/query_error.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

namespace holdfast::lab::couchbase::n1ql {

namespace {

const value null_value{json::value(nullptr)};

/// Letters of ASCII alone.
template <class Change>
value changed_letters(std::span<value> arguments, Change change)
{
    json::string* const of = arguments[0]->if_string();
    if (!of)
        return null_value;
    std::ranges::transform(*of, of->begin(), change);
    return std::move(arguments[0]);
}

value lower(std::span<value> arguments, environment&)
{
    return changed_letters(arguments, [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
}

value upper(std::span<value> arguments, environment&)
{
    return changed_letters(arguments, [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
}

/// In bytes, as a server counts.
value length(std::span<value> arguments, environment&)
{
    const json::string* const of = string_in(arguments[0]);
    return of ? value{static_cast<std::int64_t>(of->size())} : null_value;
}

value to_string(std::span<value> arguments, environment&)
{
    switch (kind_of(arguments[0])) {
    case kind::string: return std::move(arguments[0]);
    case kind::boolean:
    case kind::number: return text(json_text(*arguments[0]));
    case kind::missing:
    case kind::null:
    case kind::array:
    case kind::object: break;
    }
    return null_value;
}

value to_number(std::span<value> arguments, environment&)
{
    if (kind_of(arguments[0]) == kind::number)
        return std::move(arguments[0]);
    if (kind_of(arguments[0]) == kind::boolean)
        return std::int64_t{arguments[0]->get_bool()};
    const json::string* const of = string_in(arguments[0]);
    if (!of)
        return null_value;
    double read = 0;
    const auto [end, wrong] = std::from_chars(of->begin(), of->end(), read);
    return wrong == std::errc{} && end == of->end() ? value{number(read)} : null_value;
}

value now_millis(std::span<value>, environment& in)
{
    return in.now_millis;
}

value type_name(std::span<value> arguments, environment&)
{
    constexpr std::string_view names[] = {"missing", "null",  "boolean", "number",
                                          "string",  "array", "object"};
    return text(names[static_cast<std::size_t>(kind_of(arguments[0]))]);
}

value contains(std::span<value> arguments, environment&)
{
    const json::string* const of = string_in(arguments[0]);
    const json::string* const part = string_in(arguments[1]);
    return of && part ? value{view(*of).find(view(*part)) != std::string_view::npos} : null_value;
}

value trim(std::span<value> arguments, environment&)
{
    const json::string* const of = string_in(arguments[0]);
    if (!of)
        return null_value;
    std::string_view rest = view(*of);
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n"), rest.size()));
    return text(rest.substr(0, rest.find_last_not_of(" \t\r\n") + 1));
}

bool splits_character(std::string_view of, std::size_t at) noexcept
{
    return at < of.size() && (static_cast<unsigned char>(of[at]) & 0xc0) == 0x80;
}

/// SUBSTR(text, begin[, length]) in bytes; a negative begin counts from the end. Half a character
/// would be no text.
value substring(std::span<value> arguments, environment&)
{
    const json::string* const of = string_in(arguments[0]);
    auto begin = integer_in(arguments[1]);
    if (!of || !begin)
        return null_value;
    const auto size = static_cast<std::int64_t>(of->size());
    if (*begin < 0)
        *begin += size;
    if (*begin < 0 || *begin >= size)
        return null_value;
    std::int64_t count = size - *begin;
    if (arguments.size() == 3) {
        const auto wanted = integer_in(arguments[2]);
        if (!wanted || *wanted < 0)
            return null_value;
        count = std::min(count, *wanted);
    }
    const auto first = static_cast<std::size_t>(*begin);
    const auto taken = static_cast<std::size_t>(count);
    if (splits_character(view(*of), first) || splits_character(view(*of), first + taken))
        return null_value;
    return text(view(*of).substr(first, taken));
}

value repeat(std::span<value> arguments, environment& in)
{
    const json::string* const of = string_in(arguments[0]);
    const auto times = integer_in(arguments[1]);
    if (!of || !times || *times < 0)
        return null_value;
    const auto count = static_cast<std::size_t>(*times);
    if (!of->empty() && !take_memory(in, count > most_made_bytes ? count : count * of->size()))
        return null_value;
    json::string made;
    made.reserve(of->size() * count);
    for (std::size_t n = 0; n != count && !of->empty(); ++n)
        made.append(view(*of));
    return made;
}

value array_length(std::span<value> arguments, environment&)
{
    const json::array* const of = arguments[0]->if_array();
    return of ? value{static_cast<std::int64_t>(of->size())} : null_value;
}

value array_contains(std::span<value> arguments, environment&)
{
    const json::array* const of = arguments[0]->if_array();
    if (!of)
        return null_value;
    return std::ranges::any_of(
        *of, [&](const json::value& one) { return compare(one, *arguments[1]) == 0; });
}

value array_append(std::span<value> arguments, environment&)
{
    json::array* const of = arguments[0]->if_array();
    if (!of)
        return null_value;
    for (value& one : arguments.subspan(1))
        of->push_back(*std::move(one));
    return std::move(arguments[0]);
}

value array_range(std::span<value> arguments, environment& in)
{
    auto range = range_of(arguments);
    if (!range)
        return null_value;
    if (range->count() > static_cast<double>(longest_made_array)) {
        in.failed = refuse(query_code::evaluation,
                           "Error evaluating projection - cause: Out of "
                           "range evaluating ARRAY_RANGE()");
        return null_value;
    }
    if (!take_memory(in, static_cast<std::size_t>(range->count()) * sizeof(json::value)))
        return null_value;
    json::array made;
    while (const auto next = range->take())
        made.push_back(number(*next));
    return made;
}

value object_names(std::span<value> arguments, environment&)
{
    const json::object* const of = arguments[0]->if_object();
    if (!of)
        return null_value;
    json::array names;
    for (const auto& [name, member] : *of)
        names.emplace_back(name);
    std::ranges::sort(names, [](const auto& a, const auto& b) { return compare(a, b) < 0; });
    return names;
}

template <double (*Compute)(double)>
value computed(std::span<value> arguments, environment&)
{
    const auto of = number_in(arguments[0]);
    return of ? value{number(Compute(*of))} : null_value;
}

/// The first argument that is neither of what the name says.
template <bool SkipsMissing, bool SkipsNull>
value first_of(std::span<value> arguments, environment&)
{
    for (value& one : arguments) {
        const kind found = kind_of(one);
        if (!(SkipsMissing && found == kind::missing) && !(SkipsNull && found == kind::null))
            return std::move(one);
    }
    return null_value;
}

constexpr function all_functions[] = {
    {"LOWER", 1, 1, lower},
    {"UPPER", 1, 1, upper},
    {"LENGTH", 1, 1, length},
    {"TO_STRING", 1, 1, to_string},
    {"TOSTRING", 1, 1, to_string},
    {"TO_NUMBER", 1, 1, to_number},
    {"TONUMBER", 1, 1, to_number},
    {"NOW_MILLIS", 0, 0, now_millis},
    {"CLOCK_MILLIS", 0, 0, now_millis},
    {"TYPE", 1, 1, type_name, true},
    {"CONTAINS", 2, 2, contains},
    {"TRIM", 1, 1, trim},
    {"SUBSTR", 2, 3, substring},
    {"REPEAT", 2, 2, repeat},
    {"ARRAY_LENGTH", 1, 1, array_length},
    {"ARRAY_CONTAINS", 2, 2, array_contains},
    {"ARRAY_APPEND", 2, most_arguments, array_append},
    {"ARRAY_RANGE", 2, 3, array_range},
    {"OBJECT_NAMES", 1, 1, object_names},
    {"ABS", 1, 1, computed<std::fabs>},
    {"FLOOR", 1, 1, computed<std::floor>},
    {"CEIL", 1, 1, computed<std::ceil>},
    {"ROUND", 1, 1, computed<std::round>},
    {"IFMISSING", 2, most_arguments, first_of<true, false>, true},
    {"IFNULL", 2, most_arguments, first_of<false, true>, true},
    {"IFMISSINGORNULL", 2, most_arguments, first_of<true, true>, true},
    {"COALESCE", 1, most_arguments, first_of<true, true>, true},
};

}  // namespace

bool take_memory(environment& in, std::size_t bytes)
{
    if (bytes <= most_made_bytes - in.made_bytes) {
        in.made_bytes += bytes;
        return true;
    }
    if (!in.failed)
        in.failed = refuse(query_code::memory_quota,
                           "Request has exceeded memory quota: one row is larger than 64 MB");
    return false;
}

const function* find_function(std::string_view name)
{
    const auto found = std::ranges::find(all_functions, name, &function::name);
    return found == std::ranges::end(all_functions) ? nullptr : found;
}

std::optional<double> number_range::take() noexcept
{
    if (step > 0 ? next >= end : next <= end)
        return std::nullopt;
    const double given = next;
    next += step;
    if (next == given)  // the step is lost beside so large a number
        end = next;
    return given;
}

double number_range::count() const noexcept
{
    return std::max(0.0, std::ceil((end - next) / step));
}

std::optional<number_range> range_of(std::span<const value> arguments)
{
    const auto from = number_in(arguments[0]);
    const auto to = number_in(arguments[1]);
    const auto step = arguments.size() == 3 ? number_in(arguments[2]) : std::optional{1.0};
    if (!from || !to || !step || *step == 0)
        return std::nullopt;
    return number_range{*from, *to, *step};
}

}  // namespace holdfast::lab::couchbase::n1ql
