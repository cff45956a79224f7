#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/element.hpp"
#include "holdfast/error.hpp"
#include "lab/mongo/document/collation.hpp"
#include "lab/mongo/expression/context.hpp"
#include "lab/mongo/query/matcher.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace holdfast::lab::updating {

enum class op : std::uint8_t {
    set,
    set_on_insert,
    unset,
    increment,
    multiply,
    min,
    max,
    rename,       // stands at the new name
    renamed,      // stands at the old name, and takes the value away
    current_date,
    push,
    pull,
    pull_all,
    add_to_set,
    pop,
    bit,
};

std::optional<op> operator_named(std::string_view name) noexcept;
std::string_view name_of(op what) noexcept;

/// The modifiers of $push.
struct push_plan {
    struct sort_part {
        std::string_view path;  // empty: the whole element
        bool descending = false;
    };
    std::vector<bson::element> values;
    std::optional<std::int64_t> slice = {};
    std::optional<std::int64_t> position = {};
    std::vector<sort_part> sort = {};
};

/// The condition of $pull, where it is more than "equals this value".
struct pull_condition {
    matcher filter;
    bool on_fields = false;  // the filter speaks of the element's fields, not of the element
};

/// One operator at one path, checked. Elements and text lie in the update's own copy.
struct operation {
    op what = op::set;
    std::string_view path = {};
    bson::element operand = {};
    bool as_timestamp = false;               // $currentDate
    bool from_front = false;                 // $pop: -1
    std::vector<bson::element> values = {};  // $addToSet, $pullAll
    std::unique_ptr<push_plan> push = {};
    std::unique_ptr<pull_condition> pull = {};
    std::size_t rename = 0;  // which of the update's renames this is
};

/// What operations are checked with.
struct parse_context {
    const std::optional<collation>& by;
    const expression_context& context;
};

/// `operand` is the field in the operator's document; its key is the path.
result<operation> parse_operation(op what, const bson::element& operand, const parse_context& with);

/// How many documents and arrays lie in each other here; 0 for a scalar. Looks no deeper than
/// `limit`.
std::size_t depth_of(const bson::element& e, std::size_t limit = 200) noexcept;

}  // namespace holdfast::lab::updating
