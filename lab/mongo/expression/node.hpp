#pragma once
#include "holdfast/bson/types.hpp"
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"
#include "lab/mongo/document/collation.hpp"
#include "lab/mongo/document/type_name.hpp"
#include "lab/mongo/document/value.hpp"
#include "lab/mongo/expression/context.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace holdfast::lab::computing {

/// No value that an expression makes is larger: 16 MB, and room for what a server adds.
inline constexpr std::size_t max_value_size = 16 * 1024 * 1024 + 16 * 1024;
/// Neither what comes in nor what is computed is nested deeper.
inline constexpr int max_expression_depth = 100;
inline constexpr int max_result_depth = 180;

/// What one evaluation knows, and what it may still spend: hostile input nests loops in loops.
struct scope {
    bson::view root;
    const expression_context& context;
    const collation* by = nullptr;
    std::vector<value> slots = {};  // of $let, $map and the like, innermost last
    std::size_t work_left = 5'000'000;

    /// Takes a step and the copying of `bytes` off the budget.
    result<void> spend(std::size_t bytes);
};

/// One part of a compiled expression.
class node {
public:
    virtual ~node() = default;
    virtual result<value> evaluate(scope& in) const = 0;
    /// The value of a node that is the same for all documents, else null.
    virtual const value* constant() const noexcept { return nullptr; }
};
using node_ptr = std::unique_ptr<node>;

/// The evaluated arguments of an operator. Named ones come in the order of its table; one
/// that the user left out is missing and not `given`.
struct arguments {
    std::span<const value> values;
    std::span<const node_ptr> nodes;
    std::string_view name;  // of the operator, "$add"

    std::size_t size() const noexcept { return values.size(); }
    bson::element operator[](std::size_t at) const noexcept { return values[at].get(); }
    bool given(std::size_t at) const noexcept { return nodes[at] != nullptr; }
};

using operation = result<value> (*)(const arguments& of, scope& in);

using lab::type_name;
inline std::string_view type_name(const bson::element& e) noexcept
{
    return type_name(e.type());
}

inline std::string type_text(const bson::element& e)
{
    return std::string{type_name(e)};
}

/// Null, undefined and missing: what most operators answer with null.
inline bool is_nullish(const bson::element& e) noexcept
{
    return !e || e.type() == bson::type::null || e.type() == bson::type::undefined;
}

inline value null_value()
{
    return value::of(bson::null{});
}

/// A value as it stands in an error message.
std::string to_text(const bson::element& what);

/// Whether documents and arrays lie at most `limit` deep in each other.
bool is_shallow(bson::view document, int limit) noexcept;

}  // namespace holdfast::lab::computing
