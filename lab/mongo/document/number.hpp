#pragma once
#include "holdfast/bson/view.hpp"

#include <compare>
#include <cstdint>
#include <optional>

namespace holdfast::lab {

/// Whether values of this type are numbers to MongoDB: double, int32, int64, decimal128.
bool is_number(bson::type t) noexcept;

/// Two numbers of any types by their exact values, without rounding. NaN is the smallest and equals
/// itself; the zeros are equal.
std::weak_ordering compare_numbers(const bson::element& a, const bson::element& b) noexcept;

bool is_nan(const bson::element& e) noexcept;

/// A number without a fraction that an int64 holds, or nothing.
std::optional<std::int64_t> whole_number(const bson::element& e) noexcept;

/// The same, but a fraction is cut off.
std::optional<std::int64_t> truncated_number(const bson::element& e) noexcept;

}  // namespace holdfast::lab
