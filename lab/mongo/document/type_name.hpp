#pragma once
#include "holdfast/bson/types.hpp"

#include <string_view>

namespace holdfast::lab {

/// MongoDB's name of a type, in messages and for $type: "int", "binData"; "missing" for none.
std::string_view type_name(bson::type t) noexcept;

}  // namespace holdfast::lab
