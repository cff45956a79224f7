#pragma once
#include "lab/mongo/command/views.hpp"
#include "lab/mongo/expression/context.hpp"
#include "lab/mongo/node/command.hpp"

namespace holdfast::lab::mongo {

/// The reply to an aggregate with `explain: true`.
result<progress> explain_pipeline(node& on, const pipeline_run& run,
                                  const expression_context& context, bson::builder& reply);

}  // namespace holdfast::lab::mongo
