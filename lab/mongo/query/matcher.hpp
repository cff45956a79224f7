#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"
#include "lab/mongo/document/collation.hpp"
#include "lab/mongo/expression/context.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::lab {

/// What a match reports beyond yes and no: for each array that a condition looked into, which of
/// its elements was the one. Positional updates (a.$) and projections need it.
struct match_details {
    /// "2", of the outermost array on the path of the last condition that looked into one.
    std::optional<std::string> array_index = {};
};

/// A filter, checked and prepared once, then asked for each document.
class matcher {
public:
    /// An error has the code and the words of MongoDB: unknown operators, wrong operands. The
    /// filter is copied. `context` is for $expr, and must outlive the matcher.
    static result<matcher> compile(bson::view filter, const std::optional<collation>& by = {},
                                   const expression_context& context = {});

    matcher(matcher&&) noexcept;
    matcher& operator=(matcher&&) noexcept;
    ~matcher();

    /// An error only where evaluating can fail: $expr, or a regular expression beyond its limits.
    result<bool> matches(bson::view document, match_details* details = nullptr) const;

    /// The filter's equality conditions at the top level, as {path: value}: what an upsert begins
    /// with. Also from $and and from a $or or $in with a single alternative.
    const bson::document& equalities() const;

    /// The value that a field must equal for any match, or a missing element: lets a collection
    /// use its index. Not for regular expressions, null, arrays, or under a collation with text.
    bson::element equality(std::string_view path) const;

    /// {$where: "sleep(n) || true"} is known by its pattern: the milliseconds each document costs.
    std::size_t sleeps_ms() const;

private:
    struct compiled;
    explicit matcher(std::unique_ptr<compiled> made);
    std::unique_ptr<compiled> compiled_;
};

}  // namespace holdfast::lab
