#pragma once
#include "holdfast/bson/view.hpp"

#include <string>

namespace holdfast::lab {

/// A document as MongoDB prints it in its messages: { a: 1, b: "x", c: ObjectId('...') }.
std::string shell_text(bson::view document);

}  // namespace holdfast::lab
