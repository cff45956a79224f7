#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"
#include "lab/mongo/aggregate/pipeline.hpp"
#include "lab/mongo/query/matcher.hpp"

#include <optional>

namespace holdfast::lab::updating {

/// Checks every byte of what a client sent as an update.
result<void> check_bytes(bson::view sent, int depth);

/// Names that a replacement must not have at its top.
result<void> check_replacement(bson::view replacement);

/// `next` in the place of `before`: the _id stays, and comes first. Timestamps of zero at the top
/// become `now`, unless that is zero itself.
result<bson::document> replace(bson::view before, bson::view next, bson::timestamp now = {});

/// Checks and prepares a pipeline, whose stages are few in an update.
result<pipeline> compile_stages(bson::array_view stages, const std::optional<collation>& by,
                                const expression_context& context);
result<bson::document> run_stages(const pipeline& stages, bson::view document);

/// The document that a filter's equalities describe: {"a.b": 1} is {a: {b: 1}}. With `only_id` all
/// but the _id is left out.
result<bson::document> from_equalities(bson::view equalities, bool only_id);

/// Puts _id first, and checks what may be inserted.
result<bson::document> ready_to_insert(bson::document made);

}  // namespace holdfast::lab::updating
