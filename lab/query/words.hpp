#pragma once
#include "holdfast/bson/view.hpp"

#include <string>

namespace holdfast::lab::filter {

/// A field as people write it, for the text of errors: "$size: -1", "a: { $gt: 1 }".
std::string in_words(const bson::element& e);

}  // namespace holdfast::lab::filter
