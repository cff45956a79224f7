#pragma once
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"

namespace holdfast::bson {

/// The same values written anew as every writer should: array keys counted from "0", regex options
/// in alphabetical order. A document that Holdfast wrote comes out as it was.
result<document> canonical(view source);

}  // namespace holdfast::bson
