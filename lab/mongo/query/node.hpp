#pragma once
#include "holdfast/bson/view.hpp"
#include "lab/mongo/document/collation.hpp"
#include "lab/mongo/expression/expression.hpp"
#include "lab/mongo/query/regex.hpp"
#include "lab/mongo/query/schema.hpp"
#include "lab/mongo/query/type_set.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace holdfast::lab::filter {

enum class op : std::uint8_t {
    always,
    never,
    // Of other conditions:
    all_of,
    any_of,
    // Of the whole document:
    computed,
    valid,
    // Of each value at a path:
    equal,
    less,
    less_equal,
    greater,
    greater_equal,
    one_of,
    exists,
    of_type,
    found_by,
    modulo,
    bits,
    // Of an array at a path:
    has_size,
    has_object,
    has_value,
};

/// What only some conditions need.
struct details {
    std::vector<bson::element> values = {};  // of one_of: in BSON order
    std::vector<regex> patterns = {};
    type_set types = {};
    std::int64_t divisor = 1;
    std::int64_t remainder = 0;
    std::int64_t size = 0;
    std::vector<std::uint32_t> positions = {};  // of bits
    bool bits_set = true;                       // or clear
    bool bits_all = true;                       // or any
    std::unique_ptr<lab::expression> computed = {};
    std::unique_ptr<schema> form = {};
};

/// One condition of a filter. Paths and operands lie in the filter's own bytes, so that a plain
/// comparison allocates nothing.
struct node {
    op what = op::always;
    bool negated = false;
    std::string_view path = {};
    bson::element operand = {};
    std::vector<node> children = {};
    std::unique_ptr<details> more = {};
};

}  // namespace holdfast::lab::filter
