#include "lab/couchbase/views/view_query.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace holdfast::lab::couchbase {

namespace json = boost::json;

namespace {

/// Of the kinds of values among each other.
int rank_of(const json::value& of)
{
    if (of.is_null())
        return 0;
    if (of.is_bool())
        return of.get_bool() ? 2 : 1;
    if (of.is_number())
        return 3;
    if (of.is_string())
        return 4;
    return of.is_array() ? 5 : 6;
}

std::weak_ordering compare_numbers(const json::value& a, const json::value& b)
{
    const double x = a.to_number<double>();
    const double y = b.to_number<double>();
    return x < y   ? std::weak_ordering::less
           : x > y ? std::weak_ordering::greater
                   : std::weak_ordering::equivalent;
}

std::weak_ordering compare_lists(const json::array& a, const json::array& b)
{
    for (std::size_t n = 0; n != std::min(a.size(), b.size()); ++n) {
        if (const auto order = compare_keys(a[n], b[n]); order != 0)
            return order;
    }
    return a.size() <=> b.size();
}

std::weak_ordering compare_objects(const json::object& a, const json::object& b)
{
    auto one = a.begin();
    auto other = b.begin();
    for (; one != a.end() && other != b.end(); ++one, ++other) {
        if (const int names = one->key().compare(other->key()); names != 0)
            return names <=> 0;
        if (const auto order = compare_keys(one->value(), other->value()); order != 0)
            return order;
    }
    return a.size() <=> b.size();
}

}  // namespace

std::weak_ordering compare_keys(const json::value& a, const json::value& b)
{
    if (rank_of(a) != rank_of(b))
        return rank_of(a) <=> rank_of(b);
    if (a.is_number())
        return compare_numbers(a, b);
    if (a.is_string())
        return a.get_string().compare(b.get_string()) <=> 0;
    if (a.is_array())
        return compare_lists(a.get_array(), b.get_array());
    if (a.is_object())
        return compare_objects(a.get_object(), b.get_object());
    return std::weak_ordering::equivalent;
}

}  // namespace holdfast::lab::couchbase
