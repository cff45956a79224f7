#pragma once
#include "holdfast/error.hpp"
#include "matching.hpp"
#include "run.hpp"

namespace holdfast::spec::unified {

/// Compares what came of an operation with its "expectError", "expectResult" or
/// "ignoreResultAndError"; throws case_failure if it is not as expected.
void check_outcome(const operation& expected, const outcome_of_operation& came,
                   const matcher& rules);

/// Only the first of these. `partial`: what is known of the writes that were done, or missing.
void check_error(bson::view expected, const error& why, const bson::element& partial,
                 const matcher& rules);

}  // namespace holdfast::spec::unified
