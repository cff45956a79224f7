#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/error.hpp"
#include "lab/mongo/document/collation.hpp"
#include "lab/mongo/document/value.hpp"
#include "lab/mongo/expression/context.hpp"

#include <memory>
#include <optional>

namespace holdfast::lab {

/// An aggregation expression: "$a.b", "$$name", {$op: ...}, literals, objects and arrays of them.
class expression {
public:
    /// Unknown operators are 168 InvalidPipelineOperator, undefined variables 17276, and so on.
    /// Copies what it keeps; `context` must outlive it.
    static result<expression> compile(const bson::element& from,
                                      const std::optional<collation>& by = {},
                                      const expression_context& context = {});
    expression(expression&&) noexcept;
    expression& operator=(expression&&) noexcept;
    ~expression();

    result<value> evaluate(bson::view root) const;

private:
    struct compiled;
    explicit expression(std::unique_ptr<compiled> made);
    std::unique_ptr<compiled> compiled_;
};

/// A value of a projection: 31325 for {$name: ...} where no operator has this name.
result<void> check_projected(bson::view value);

/// False for false, null, undefined, missing and zero; true for all else.
bool is_true(const bson::element& what) noexcept;

/// `let: {a: 1, b: {$add: [1, 2]}}` of a command, evaluated once.
result<bson::document> evaluate_let(bson::view let, const expression_context& context);

}  // namespace holdfast::lab
