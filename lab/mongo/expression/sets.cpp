#include "lab/mongo/document/compare.hpp"
#include "lab/mongo/document/server_code.hpp"
#include "lab/mongo/document/stable_sort.hpp"
#include "lab/mongo/expression/expression.hpp"
#include "lab/mongo/expression/list.hpp"
#include "lab/mongo/expression/operators.hpp"

#include <algorithm>
#include <string>

namespace holdfast::lab::computing {

namespace {

/// In order, and each value once.
list sorted_set(const bson::element& array, const scope& in)
{
    list all = elements_of(array);
    const auto less = [&](const auto& a, const auto& b) { return compare(a, b, in.by) < 0; };
    const auto same = [&](const auto& a, const auto& b) { return equal(a, b, in.by); };
    sort_stably(all, less);
    const auto rest = std::ranges::unique(all, same);
    all.erase(rest.begin(), rest.end());
    return all;
}

bool holds(const list& sorted, const bson::element& e, const scope& in)
{
    const auto less = [&](const auto& a, const auto& b) { return compare(a, b, in.by) < 0; };
    return std::binary_search(sorted.begin(), sorted.end(), e, less);
}

error not_arrays(const arguments& of, std::size_t at, int code)
{
    return refuse(
        code, "All operands of " + std::string{of.name} +
                  " must be arrays. One argument is of type: " + std::string{type_name(of[at])});
}

error not_both_arrays(const arguments& of, std::size_t at, int code)
{
    return refuse(code, "both operands of " + std::string{of.name} + " must be arrays. " +
                            (at == 0 ? "First" : "Second") +
                            " argument is of type: " + std::string{type_name(of[at])});
}

result<value> set_union(const arguments& of, scope& in)
{
    list all;
    for (std::size_t i = 0; i < of.size(); ++i) {
        if (is_nullish(of[i]))
            return null_value();
        if (of[i].type() != bson::type::array)
            return not_arrays(of, i, 17043);
        std::ranges::copy(elements_of(of[i]), std::back_inserter(all));
    }
    const value whole = make_array(all);
    return make_array(sorted_set(whole.get(), in));
}

result<value> set_intersection(const arguments& of, scope& in)
{
    list kept;
    for (std::size_t i = 0; i < of.size(); ++i) {
        if (is_nullish(of[i]))
            return null_value();
        if (of[i].type() != bson::type::array)
            return not_arrays(of, i, 17047);
        const list here = sorted_set(of[i], in);
        if (i == 0)
            kept = here;
        else
            std::erase_if(kept, [&](const auto& e) { return !holds(here, e, in); });
    }
    return make_array(kept);
}

result<value> set_difference(const arguments& of, scope& in)
{
    if (is_nullish(of[0]) || is_nullish(of[1]))
        return null_value();
    if (of[0].type() != bson::type::array)
        return not_both_arrays(of, 0, 17048);
    if (of[1].type() != bson::type::array)
        return not_both_arrays(of, 1, 17049);
    const list without = sorted_set(of[1], in);
    // What stays keeps its order; only the first of equal values counts.
    list sorted = sorted_set(of[0], in);
    std::vector<bool> seen(sorted.size());
    const auto less = [&](const auto& a, const auto& b) { return compare(a, b, in.by) < 0; };
    list kept;
    for (const bson::element& e : elements_of(of[0])) {
        const auto at = std::lower_bound(sorted.begin(), sorted.end(), e, less) - sorted.begin();
        const auto index = static_cast<std::size_t>(at);
        if (seen[index] || holds(without, e, in))
            continue;
        seen[index] = true;
        kept.push_back(e);
    }
    return make_array(kept);
}

result<value> set_equals(const arguments& of, scope& in)
{
    list first;
    bool all_equal = true;
    for (std::size_t i = 0; i < of.size(); ++i) {
        if (of[i].type() != bson::type::array)
            return not_arrays(of, i, 17044);
        const list here = sorted_set(of[i], in);
        if (i == 0)
            first = here;
        else
            all_equal = all_equal &&
                        std::ranges::equal(first, here, [&](const auto& a, const auto& b) {
                            return equal(a, b, in.by);
                        });
    }
    return value::of(all_equal);
}

result<value> set_is_subset(const arguments& of, scope& in)
{
    if (of[0].type() != bson::type::array)
        return not_both_arrays(of, 0, 17046);
    if (of[1].type() != bson::type::array)
        return not_both_arrays(of, 1, 17042);
    const list whole = sorted_set(of[1], in);
    return value::of(std::ranges::all_of(elements_of(of[0]),
                                         [&](const auto& e) { return holds(whole, e, in); }));
}

result<value> any_element_true(const arguments& of, scope&)
{
    if (of[0].type() != bson::type::array)
        return refuse(17041, "$anyElementTrue's argument must be an array, but is " +
                                 std::string{type_name(of[0])});
    return value::of(std::ranges::any_of(elements_of(of[0]), is_true));
}

result<value> all_elements_true(const arguments& of, scope&)
{
    if (of[0].type() != bson::type::array)
        return refuse(17040, "$allElementsTrue's argument must be an array, but is " +
                                 std::string{type_name(of[0])});
    return value::of(std::ranges::all_of(elements_of(of[0]), is_true));
}

constexpr list_operator sets_table[] = {
    {"$setUnion", 0, list_operator::any, set_union},
    {"$setIntersection", 0, list_operator::any, set_intersection},
    {"$setDifference", 2, 2, set_difference},
    {"$setEquals", 2, list_operator::any, set_equals},
    {"$setIsSubset", 2, 2, set_is_subset},
    {"$anyElementTrue", 1, 1, any_element_true},
    {"$allElementsTrue", 1, 1, all_elements_true},
};

}  // namespace

std::span<const list_operator> set_operators()
{
    return sets_table;
}

}  // namespace holdfast::lab::computing
