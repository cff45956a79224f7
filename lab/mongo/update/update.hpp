#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"
#include "lab/mongo/document/collation.hpp"
#include "lab/mongo/expression/context.hpp"
#include "lab/mongo/query/matcher.hpp"

#include <memory>
#include <optional>

namespace holdfast::lab {

/// What an update is, before it meets a document.
struct update_spec {
    bson::element change;  // a document of operators, a replacement, or an array: a pipeline
    bson::array_view array_filters = {};
    bool upsert = false;
    bool multi = false;
};

struct updated {
    bson::document document;
    bool changed = false;  // false: the document is as before, byte for byte
};

/// An update, checked and prepared once. Operators: $set $unset $inc $mul $min $max $rename
/// $currentDate $setOnInsert $push (with $each, $slice, $sort, $position) $pull $pullAll $addToSet
/// $pop $bit; paths with numbers, a.$, a.$[], a.$[name]; replacements; pipelines of
/// $set/$addFields, $unset/$project, $replaceWith/$replaceRoot. All errors carry MongoDB's codes
/// and words: conflicts (40), immutable _id (66), unknown operators (9), paths that cannot be (28),
/// unused array filters (9), types (14), and so on.
class update {
public:
    /// Copies what it keeps. `context` (let, now) must outlive it.
    static result<update> compile(const update_spec& spec, const std::optional<collation>& by = {},
                                  const expression_context& context = {});
    update(update&&) noexcept;
    update& operator=(update&&) noexcept;
    ~update();

    bool is_replacement() const noexcept;

    /// The document after the update; _id stays first, and stays.
    result<updated> apply(bson::view document, const match_details& where) const;

    /// The document that an upsert inserts: the filter's equalities, then the update with its
    /// $setOnInsert. Has an _id only if filter or update say one; the caller adds what is missing.
    result<bson::document> upserted(const matcher& filter) const;

private:
    struct compiled;
    explicit update(std::unique_ptr<compiled> made);
    std::unique_ptr<compiled> compiled_;
};

}  // namespace holdfast::lab
