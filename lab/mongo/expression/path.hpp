#pragma once
#include "holdfast/bson/view.hpp"
#include "lab/mongo/document/value.hpp"

#include <span>
#include <string>

namespace holdfast::lab::computing {

/// The value at a path as expressions see it: an array on the way gives an array of what its
/// documents hold there, and numbers do not pick from arrays.
value value_at(bson::view document, std::span<const std::string> path);
value value_at(const bson::element& from, std::span<const std::string> path);

}  // namespace holdfast::lab::computing
