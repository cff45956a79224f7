#pragma once
#include "lab/couchbase/n1ql/expression.hpp"
#include "lab/couchbase/n1ql/value.hpp"

#include <optional>
#include <string_view>

/// What operators make of values. What they cannot take gives NULL, and MISSING gives MISSING.
namespace holdfast::lab::couchbase::n1ql {

value null_result();

/// MISSING if one of them is, else NULL if one of them is; else nothing, and they can be used.
std::optional<value> absence(const value& left, const value& right);

/// + - * / and %.
value arithmetic_result(char op, const value& left, const value& right);
/// || in place: adds one text to the other.
void join(value& to, const value& more);
value relation_result(relation op, const value& left, const value& right);
value negated_if(bool negated, value of);
value is_element(const value& of, const value& list);

/// % stands for any text and _ for one character; a backslash takes their meaning away.
bool is_like(std::string_view text, std::string_view pattern);

}  // namespace holdfast::lab::couchbase::n1ql
