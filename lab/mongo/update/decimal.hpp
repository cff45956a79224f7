#pragma once
#include "holdfast/bson/decimal128.hpp"

#include <cstdint>

namespace holdfast::lab::updating {

/// Arithmetic on decimals as IEEE 754 wants it: exact, then rounded to 34 digits, half to even.
bson::decimal128 add(const bson::decimal128& a, const bson::decimal128& b);
bson::decimal128 multiply(const bson::decimal128& a, const bson::decimal128& b);

bson::decimal128 to_decimal(std::int64_t value);
/// With 15 digits, as MongoDB does it: what a double surely knows.
bson::decimal128 to_decimal(double value);

}  // namespace holdfast::lab::updating
