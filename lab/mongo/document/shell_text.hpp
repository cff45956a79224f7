#pragma once
#include "holdfast/bson/view.hpp"

#include <string>

namespace holdfast::lab {

/// A document as MongoDB prints it in its messages: { a: 1, b: "x", c: ObjectId('...') }.
std::string shell_text(bson::view document);

/// The same, cut where it gets long.
std::string shell_text_of(bson::view document);

/// A field in the same manner: `a: "x"`, `a: { b: 1 }`.
std::string shell_text_of(const bson::element& field);

}  // namespace holdfast::lab
