#pragma once
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"
#include "holdfast/mongo/arguments.hpp"

namespace holdfast::core::mongo {

/// The rules of update documents: the first key of operators begins with '$', that of a
/// replacement does not; neither is empty, except that a replacement may be.
result<void> check_update(holdfast::mongo::update_view change);
result<void> check_replacement(bson::view by);

}  // namespace holdfast::core::mongo
