#pragma once
#include "lab/mongo/expression/node.hpp"

namespace holdfast::lab::computing {

/// One value as another type, by the rules of $convert. 241 ConversionFailure if it cannot be.
result<value> convert_to(const bson::element& from, bson::type to);

}  // namespace holdfast::lab::computing
