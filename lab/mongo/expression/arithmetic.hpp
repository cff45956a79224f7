#pragma once
#include "lab/mongo/expression/number.hpp"
#include "lab/mongo/expression/operators.hpp"

namespace holdfast::lab::computing {

result<value> absolute(const arguments& of, scope& in);
result<value> round_up(const arguments& of, scope& in);
result<value> round_down(const arguments& of, scope& in);
result<value> round_to(const arguments& of, scope& in);  // $round and $trunc
result<value> square_root(const arguments& of, scope& in);
result<value> exponential(const arguments& of, scope& in);
result<value> natural_logarithm(const arguments& of, scope& in);
result<value> decimal_logarithm(const arguments& of, scope& in);
result<value> logarithm(const arguments& of, scope& in);
result<value> power(const arguments& of, scope& in);

}  // namespace holdfast::lab::computing
