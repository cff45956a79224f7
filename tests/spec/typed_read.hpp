#pragma once
#include "holdfast/bson/view.hpp"

namespace holdfast::spec {

/// Reads every value of a document, nested ones too, by its typed accessor; also asks each for a
/// type that it has not. Throws case_failure if a read fails that should not, or the other way.
void read_all(bson::view document);

}  // namespace holdfast::spec
