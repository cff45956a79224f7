#pragma once
#include "lab/couchbase/n1ql/value.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

/// What a statement computes, as the parser has read it.
namespace holdfast::lab::couchbase::n1ql {

struct expression;
struct function;
using expression_ptr = std::unique_ptr<const expression>;

struct literal {
    value is;
};

/// $name, or by its place, counted from 1.
struct parameter {
    std::string name;
    std::size_t place = 0;  // 0: by name
};

/// One step into a value: a field, or an element if there is an index.
struct path_step {
    std::string field;
    expression_ptr index;
};

/// Begins with a name, that of a source or of a field of the only one; or with a value.
struct path {
    std::string root;
    expression_ptr from;  // null: with the name
    std::vector<path_step> steps;
};

enum class unary_operator : std::uint8_t {
    negate,
    logical_not,
    is_null,
    is_not_null,
    is_missing,
    is_not_missing,
    is_valued,
    is_not_valued,
};

struct unary {
    unary_operator op;
    expression_ptr of;
};

/// AND or OR of all of them.
struct logic {
    bool all;
    std::vector<expression_ptr> of;
};

enum class relation : std::uint8_t { equal, not_equal, less, less_equal, greater, greater_equal };

struct comparison {
    relation op;
    expression_ptr left;
    expression_ptr right;
};

/// A chain of operators of one rank, from left to right.
struct arithmetic {
    expression_ptr first;
    std::vector<std::pair<char, expression_ptr>> rest;  // + - * / % and | for ||
};

struct between {
    bool negated;
    expression_ptr of;
    expression_ptr low;
    expression_ptr high;
};

struct membership {
    bool negated;
    expression_ptr of;
    expression_ptr in;
};

struct likeness {
    bool negated;
    expression_ptr of;
    expression_ptr pattern;
};

struct call {
    const function* what;
    std::vector<expression_ptr> arguments;
};

/// META() or META(source).
struct metadata {};

enum class aggregate_kind : std::uint8_t { count, sum, min, max, avg, array_agg };

/// Over all rows. Its outcome has a place of its own among those of the statement.
struct aggregate {
    aggregate_kind what;
    bool distinct;
    expression_ptr of;  // null: COUNT(*)
    std::size_t place;
};

struct object_maker {
    std::vector<std::pair<expression_ptr, expression_ptr>> members;
};

struct array_maker {
    std::vector<expression_ptr> elements;
};

struct expression {
    std::variant<literal, parameter, path, unary, logic, comparison, arithmetic, between,
                 membership, likeness, call, metadata, aggregate, object_maker, array_maker>
        is;
};

}  // namespace holdfast::lab::couchbase::n1ql
