#include "lab/couchbase/n1ql/value.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

namespace holdfast::lab::couchbase::n1ql {

namespace {

/// Up to there every whole number is exact in a double.
constexpr double exact_limit = 9007199254740992.0;

int sign(bool below, bool above) noexcept
{
    return below ? -1 : above ? 1 : 0;
}

/// Of a whole number that is not negative.
std::optional<std::uint64_t> natural_in(const json::value& of)
{
    if (of.is_uint64())
        return of.get_uint64();
    if (of.is_int64() && of.get_int64() >= 0)
        return static_cast<std::uint64_t>(of.get_int64());
    return std::nullopt;
}

int compare_numbers(const json::value& left, const json::value& right)
{
    if (left.is_int64() && right.is_int64())
        return sign(left.get_int64() < right.get_int64(), left.get_int64() > right.get_int64());
    const auto natural_left = natural_in(left);
    const auto natural_right = natural_in(right);
    if (natural_left && natural_right)
        return sign(*natural_left<*natural_right, *natural_left> * natural_right);
    const double a = left.to_number<double>();
    const double b = right.to_number<double>();
    return sign(a<b, a> b);
}

int compare_arrays(const json::array& left, const json::array& right)
{
    const std::size_t common = std::min(left.size(), right.size());
    for (std::size_t n = 0; n != common; ++n) {
        if (const int found = compare(left[n], right[n]); found != 0)
            return found;
    }
    return sign(left.size() < right.size(), left.size() > right.size());
}

std::vector<std::string_view> sorted_names(const json::object& of)
{
    std::vector<std::string_view> names;
    for (const auto& [name, member] : of)
        names.emplace_back(name.data(), name.size());
    std::ranges::sort(names);
    return names;
}

/// The one with more members is the greater one; then names decide, then values.
int compare_objects(const json::object& left, const json::object& right)
{
    if (left.size() != right.size())
        return left.size() < right.size() ? -1 : 1;
    const auto names = sorted_names(left);
    const auto others = sorted_names(right);
    for (std::size_t n = 0; n != names.size(); ++n) {
        if (names[n] != others[n])
            return names[n] < others[n] ? -1 : 1;
    }
    for (const std::string_view name : names) {
        const json::string_view key{name.data(), name.size()};
        if (const int found = compare(left.at(key), right.at(key)); found != 0)
            return found;
    }
    return 0;
}

void append_double(std::string& to, double of)
{
    if (!std::isfinite(of)) {
        to += "null";
        return;
    }
    char digits[40];
    const auto [end, failed] = std::to_chars(digits, digits + sizeof digits, of);
    (void)failed;  // 40 bytes are enough for the shortest form of any double
    to.append(digits, end);
}

}  // namespace

kind kind_of(const json::value& of) noexcept
{
    switch (of.kind()) {
    case json::kind::null: return kind::null;
    case json::kind::bool_: return kind::boolean;
    case json::kind::int64:
    case json::kind::uint64:
    case json::kind::double_: return kind::number;
    case json::kind::string: return kind::string;
    case json::kind::array: return kind::array;
    case json::kind::object: return kind::object;
    }
    return kind::null;
}

kind kind_of(const value& of) noexcept
{
    return of ? kind_of(*of) : kind::missing;
}

bool is_null_or_missing(const value& of) noexcept
{
    return kind_of(of) <= kind::null;
}

bool is_true(const value& of)
{
    switch (kind_of(of)) {
    case kind::missing:
    case kind::null: return false;
    case kind::boolean: return of->get_bool();
    case kind::number: return of->to_number<double>() != 0;
    case kind::string: return !of->get_string().empty();
    case kind::array: return !of->get_array().empty();
    case kind::object: return !of->get_object().empty();
    }
    return false;
}

int compare(const json::value& left, const json::value& right)
{
    const kind a = kind_of(left);
    const kind b = kind_of(right);
    if (a != b)
        return a < b ? -1 : 1;
    switch (a) {
    case kind::missing:
    case kind::null: return 0;
    case kind::boolean:
        return sign(!left.get_bool() && right.get_bool(), left.get_bool() && !right.get_bool());
    case kind::number: return compare_numbers(left, right);
    case kind::string: return left.get_string().compare(right.get_string());
    case kind::array: return compare_arrays(left.get_array(), right.get_array());
    case kind::object: return compare_objects(left.get_object(), right.get_object());
    }
    return 0;
}

int compare(const value& left, const value& right)
{
    if (!left || !right)
        return sign(!left && right, left && !right);
    return compare(*left, *right);
}

std::optional<double> number_in(const value& of)
{
    if (kind_of(of) != kind::number)
        return std::nullopt;
    return of->to_number<double>();
}

std::optional<std::int64_t> integer_in(const value& of)
{
    if (kind_of(of) != kind::number)
        return std::nullopt;
    if (of->is_int64())
        return of->get_int64();
    const double found = of->to_number<double>();
    if (found != std::floor(found) || std::abs(found) > exact_limit)
        return std::nullopt;
    return static_cast<std::int64_t>(found);
}

const json::string* string_in(const value& of) noexcept
{
    return of ? of->if_string() : nullptr;
}

json::value number(double of)
{
    if (of == std::floor(of) && std::abs(of) < exact_limit)
        return static_cast<std::int64_t>(of);
    return of;
}

json::string text(std::string_view of)
{
    return json::string{of.data(), of.size()};
}

std::string_view view(const json::string& of) noexcept
{
    return {of.data(), of.size()};
}

void append_json(std::string& to, const json::value& of)
{
    if (of.is_double()) {
        append_double(to, of.get_double());
        return;
    }
    if (const json::array* const list = of.if_array()) {
        char before = '[';
        for (const json::value& one : *list) {
            to += before;
            append_json(to, one);
            before = ',';
        }
        to += list->empty() ? "[]" : "]";
        return;
    }
    if (const json::object* const object = of.if_object()) {
        char before = '{';
        for (const auto& [name, member] : *object) {
            to += before;
            to += json::serialize(json::string_view{name.data(), name.size()});
            to += ':';
            append_json(to, member);
            before = ',';
        }
        to += object->empty() ? "{}" : "}";
        return;
    }
    to += json::serialize(of);
}

std::string json_text(const json::value& of)
{
    std::string made;
    append_json(made, of);
    return made;
}

value read_json(std::string_view from)
{
    json::parse_options limits;
    limits.max_depth = deepest_json;
    json::error_code problem;
    json::value read = json::parse({from.data(), from.size()}, problem, {}, limits);
    if (problem)
        return std::nullopt;
    return read;
}

}  // namespace holdfast::lab::couchbase::n1ql
