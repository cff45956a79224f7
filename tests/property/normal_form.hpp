#pragma once
#include "holdfast/bson/view.hpp"

#include <vector>

namespace holdfast::property {

/// The bytes of a valid document without what Extended JSON cannot keep: the payload and sign of a
/// NaN, and the bits of a Decimal128 that its text does not show. Other doubles stay as they are.
std::vector<std::uint8_t> normal_form(bson::view document);

}  // namespace holdfast::property
