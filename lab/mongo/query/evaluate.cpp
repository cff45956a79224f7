#include "lab/mongo/query/evaluate.hpp"

#include "lab/mongo/document/compare.hpp"
#include "lab/mongo/document/number.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/query/bits.hpp"
#include "lab/mongo/query/schema.hpp"
#include "lab/mongo/query/walk.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace holdfast::lab::filter {

using bson::type;

std::optional<std::size_t> array_position(std::string_view name) noexcept
{
    if (name.empty() || name.size() > 9 || (name[0] == '0' && name.size() > 1))
        return std::nullopt;
    std::size_t position = 0;
    for (const char c : name) {
        if (c < '0' || c > '9')
            return std::nullopt;
        position = position * 10 + static_cast<std::size_t>(c - '0');
    }
    return position;
}

bool evaluation::fail(error why)
{
    if (!fault_)
        fault_ = std::move(why);
    return false;
}

bool evaluation::matches(const node& condition, bson::view document, match_details* found)
{
    // What is negated says nothing about places in arrays.
    const bool yes = document_matches(condition, document, condition.negated ? nullptr : found);
    return yes != condition.negated && !fault_;
}

bool evaluation::document_matches(const node& condition, bson::view document, match_details* found)
{
    switch (condition.what) {
    case op::always:
        return true;
    case op::never:
        return false;
    case op::all_of:
        return all_match(condition, document, found);
    case op::any_of:
        return any_matches(condition, document, found);
    case op::computed:
    case op::valid:
        return whole_matches(condition, document);
    case op::equal:
    case op::less:
    case op::less_equal:
    case op::greater:
    case op::greater_equal:
    case op::one_of:
    case op::exists:
    case op::of_type:
    case op::found_by:
    case op::modulo:
    case op::bits:
    case op::has_size:
    case op::has_object:
    case op::has_value:
        return path_matches(condition, document, found);
    }
    return false;
}

bool evaluation::all_match(const node& condition, bson::view document, match_details* found)
{
    for (const node& child : condition.children) {
        if (!matches(child, document, found))
            return false;
    }
    return true;
}

bool evaluation::any_matches(const node& condition, bson::view document, match_details* found)
{
    for (const node& child : condition.children) {
        if (matches(child, document, found))
            return true;
        if (fault_)
            return false;
    }
    return false;
}

bool evaluation::whole_matches(const node& condition, bson::view document)
{
    if (condition.what == op::valid) {
        auto valid = is_valid(*condition.more->form, document);
        return valid ? *valid : fail(std::move(valid).error());
    }
    auto computed = condition.more->computed->evaluate(document);
    return computed ? is_true(computed->get()) : fail(std::move(computed).error());
}

bool evaluation::path_matches(const node& condition, bson::view document, match_details* found)
{
    const auto visit = [&](const bson::element& value, array_place place) {
        if (!value_test(condition, value, found))
            return fault_.has_value();
        if (found != nullptr && place)
            found->array_index = std::to_string(*place);
        return true;
    };
    const bool whole_arrays = condition.what >= op::has_size;
    walk each{document, whole_arrays, visit};
    const bool stopped = each.document(document, condition.path);
    if (!stopped && each.exhausted())
        return fail(refuse(server_code::bad_value, "the path '" + std::string{condition.path} +
                                                       "' leads to too many places"));
    return stopped && !fault_;
}

bool evaluation::value_matches(const node& condition, const bson::element& value)
{
    bool yes = false;
    if (condition.what == op::all_of)
        yes = std::ranges::all_of(condition.children,
                                  [&](const node& child) { return value_matches(child, value); });
    else if (condition.what == op::any_of)
        yes = std::ranges::any_of(condition.children,
                                  [&](const node& child) { return value_matches(child, value); });
    else
        yes = value_test(condition, value, nullptr);
    return yes != condition.negated && !fault_;
}

bool evaluation::value_test(const node& condition, const bson::element& value, match_details* found)
{
    switch (condition.what) {
    case op::always:
        return true;
    case op::equal:
        return compare(value, condition.operand, by_) == 0;
    case op::less:
    case op::less_equal:
    case op::greater:
    case op::greater_equal:
        return ordered(condition, value);
    case op::one_of:
        return among(condition, value);
    case op::exists:
        return static_cast<bool>(value);
    case op::of_type:
        return condition.more->types.holds(value.type());
    case op::found_by:
        return found_by(condition.more->patterns.front(), value);
    case op::modulo: {
        const auto number = truncated_number(value);
        return number && condition.more->divisor != -1
                   ? *number % condition.more->divisor == condition.more->remainder
                   : number && condition.more->remainder == 0;
    }
    case op::bits:
        return bits_match(*condition.more, value);
    case op::has_size:
        return value.type() == type::array &&
               static_cast<std::int64_t>(value.as_array().count()) == condition.more->size;
    case op::has_object:
    case op::has_value:
        return element_matches(condition, value, found);
    case op::never:
    case op::all_of:
    case op::any_of:
    case op::computed:
    case op::valid:
        break;
    }
    return false;
}

bool evaluation::ordered(const node& condition, const bson::element& value) const
{
    const bson::element& operand = condition.operand;
    const bool wants_less = condition.what == op::less || condition.what == op::less_equal;
    const bool or_equal = condition.what == op::less_equal || condition.what == op::greater_equal;
    if (rank_of(value.type()) != rank_of(operand.type())) {
        // Types are not compared with each other, but for these two, which are beyond all.
        return (operand.type() == type::max_key && wants_less) ||
               (operand.type() == type::min_key && !wants_less);
    }
    if (is_nan(value) || is_nan(operand))
        return or_equal && is_nan(value) && is_nan(operand);
    const auto order = compare(value, operand, by_);
    return order == 0 ? or_equal : (order < 0) == wants_less;
}

bool evaluation::among(const node& condition, const bson::element& value)
{
    const auto& values = condition.more->values;
    const auto less = [&](const bson::element& a, const bson::element& b) {
        return compare(a, b, by_) < 0;
    };
    if (std::binary_search(values.begin(), values.end(), value, less))
        return true;
    return std::ranges::any_of(condition.more->patterns,
                               [&](const regex& one) { return found_by(one, value); });
}

bool evaluation::found_by(const regex& pattern, const bson::element& value)
{
    if (value.type() == type::regex)
        return value.as_regex() == pattern.source();
    if (value.type() != type::string && value.type() != type::symbol)
        return false;
    auto found = pattern.search(value.as_string());
    return found ? *found : fail(std::move(found).error());
}

bool evaluation::element_matches(const node& condition, const bson::element& array,
                                 match_details* found)
{
    if (array.type() != type::array)
        return false;
    std::size_t at = 0;
    for (const bson::element& e : array.as_array()) {
        const bool nested = e.type() == type::document || e.type() == type::array;
        const node& inner = condition.children.front();
        const bool yes = condition.what == op::has_value
                             ? e && value_matches(inner, e)
                             : nested && matches(inner, e.as_document(), nullptr);
        if (fault_)
            return false;
        if (yes) {
            if (found != nullptr)
                found->array_index = std::to_string(at);
            return true;
        }
        ++at;
    }
    return false;
}

}  // namespace holdfast::lab::filter
