#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/error.hpp"
#include "lab/mongo/expression/context.hpp"
#include "lab/mongo/query/matcher.hpp"

#include <memory>

namespace holdfast::lab {

/// The projection of find and findAndModify: inclusion or exclusion of (dotted) paths, _id, $slice,
/// $elemMatch, the positional a.$, {$meta: ...} refused, and computed fields by aggregation
/// expressions. Mixtures are refused with MongoDB's codes (31253, 31254 and so on).
class projection {
public:
    /// `filter` decides what a.$ means; null if there is none.
    static result<projection> compile(bson::view spec, const matcher* filter = nullptr,
                                      const expression_context& context = {});
    projection(projection&&) noexcept;
    projection& operator=(projection&&) noexcept;
    ~projection();

    bool keeps_everything() const noexcept;  // an empty projection
    result<bson::document> apply(bson::view document) const;

private:
    struct compiled;
    explicit projection(std::unique_ptr<compiled> made);
    std::unique_ptr<compiled> compiled_;
};

}  // namespace holdfast::lab
