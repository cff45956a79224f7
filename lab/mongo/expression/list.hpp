#pragma once
#include "holdfast/bson/view.hpp"
#include "lab/mongo/document/value.hpp"

#include <span>
#include <vector>

namespace holdfast::lab::computing {

/// The elements of an array, still lying where they lie.
using list = std::vector<bson::element>;

list elements_of(const bson::element& array);
value make_array(std::span<const bson::element> elements);  // a missing one is null

}  // namespace holdfast::lab::computing
