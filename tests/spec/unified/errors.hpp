#pragma once
#include "holdfast/error.hpp"
#include "matching.hpp"
#include "run.hpp"

#include <string>
#include <vector>

namespace holdfast::spec::unified {

/// Compares what came of an operation with its "expectError", "expectResult" or
/// "ignoreResultAndError"; throws case_failure if it is not as expected.
void check_outcome(const operation& expected, const outcome_of_operation& came,
                   const matcher& rules);

/// Only the first of these. `partial`: what is known of the writes that were done, or missing.
void check_error(bson::view expected, const error& why, const bson::element& partial,
                 const matcher& rules);

/// What an error says: its own message, the server's, and those of the writes that have failed.
std::vector<std::string> sentences_of(const error& why);

}  // namespace holdfast::spec::unified
