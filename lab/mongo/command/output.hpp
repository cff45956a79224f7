#pragma once
#include "lab/mongo/aggregate/pipeline.hpp"
#include "lab/mongo/command/fields.hpp"
#include "lab/mongo/expression/context.hpp"

#include <string_view>

namespace holdfast::lab::mongo {

/// $out: the results become the collection, all at once; its options and indexes stay.
result<void> write_out(node& on, request& what, const out_stage& where, const documents& results,
                       bool bypass_validation);

/// $merge: the results go into the collection one by one.
result<void> write_merge(node& on, request& what, const merge_stage& merge,
                         const documents& results, const expression_context& context,
                         bool bypass_validation);

}  // namespace holdfast::lab::mongo
