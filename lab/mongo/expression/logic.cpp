#include "lab/mongo/document/compare.hpp"
#include "lab/mongo/expression/expression.hpp"
#include "lab/mongo/expression/operators.hpp"

#include <compare>

namespace holdfast::lab::computing {

namespace {

/// A missing value stands before null here, unlike in a query.
std::weak_ordering order_of(const arguments& of, const scope& in)
{
    const bson::element a = of[0];
    const bson::element b = of[1];
    const bool a_null = a && rank_of(a.type()) == rank_of(bson::type::null);
    const bool b_null = b && rank_of(b.type()) == rank_of(bson::type::null);
    if (!a && (!b || b_null))
        return b ? std::weak_ordering::less : std::weak_ordering::equivalent;
    if (!b && a_null)
        return std::weak_ordering::greater;
    return compare(a, b, in.by);
}

result<value> is_equal(const arguments& of, scope& in)
{
    return value::of(order_of(of, in) == 0);
}
result<value> is_unequal(const arguments& of, scope& in)
{
    return value::of(order_of(of, in) != 0);
}
result<value> is_greater(const arguments& of, scope& in)
{
    return value::of(order_of(of, in) > 0);
}
result<value> is_not_less(const arguments& of, scope& in)
{
    return value::of(order_of(of, in) >= 0);
}
result<value> is_less(const arguments& of, scope& in)
{
    return value::of(order_of(of, in) < 0);
}
result<value> is_not_greater(const arguments& of, scope& in)
{
    return value::of(order_of(of, in) <= 0);
}
result<value> compared(const arguments& of, scope& in)
{
    const auto order = order_of(of, in);
    return value::of(order < 0 ? -1 : order > 0 ? 1 : 0);
}
result<value> negated(const arguments& of, scope&)
{
    return value::of(!is_true(of[0]));
}

constexpr list_operator logic_table[] = {
    {"$eq", 2, 2, is_equal},     {"$ne", 2, 2, is_unequal}, {"$gt", 2, 2, is_greater},
    {"$gte", 2, 2, is_not_less}, {"$lt", 2, 2, is_less},    {"$lte", 2, 2, is_not_greater},
    {"$cmp", 2, 2, compared},    {"$not", 1, 1, negated},
};

}  // namespace

std::span<const list_operator> logic_operators()
{
    return logic_table;
}

}  // namespace holdfast::lab::computing
