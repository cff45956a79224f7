#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/error.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::lab {

/// What MongoDB calls a type in its messages: "int", "object", "binData".
std::string_view type_alias(bson::type t) noexcept;

/// "BSON field 'create.size' is the wrong type 'string', expected type 'long'", code 14.
error wrong_type(std::string_view field, const bson::element& found, std::string_view expected);

/// A number of any type without its fraction; nothing for NaN, for what is no number, and beyond 64
/// bits its end.
std::optional<std::int64_t> clamped_number(const bson::element& from);

/// true and false, and numbers by being zero or not. Missing is false, anything else is nothing.
std::optional<bool> truth(const bson::element& from);

/// A collation with all its fields, as listIndexes and listCollections show it.
bson::document full_collation(bson::view given);

}  // namespace holdfast::lab
