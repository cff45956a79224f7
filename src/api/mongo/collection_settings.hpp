#pragma once
#include "core/mongo/operation/space.hpp"

namespace holdfast::mongo {

/// What a collection, or a database if the collection has no name, is and holds for its operations.
/// Shared by all copies of a handle; `with` makes a new one.
struct collection_settings : core::mongo::operation_space {};

}  // namespace holdfast::mongo
