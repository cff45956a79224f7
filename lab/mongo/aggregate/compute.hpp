#pragma once
#include "holdfast/bson/document.hpp"
#include "lab/mongo/expression/expression.hpp"

#include <span>
#include <string>

namespace holdfast::lab::staging {

/// What a stage has made must be a document that can be kept: 16 MB (10334), not nested too deeply.
result<void> check_document(bson::view made);

/// `document` with the value at a path replaced, or removed if there is none. Documents on the way
/// are made where something else, or nothing, stands.
bson::document with_path(bson::view document, std::span<const std::string> path,
                         const bson::element& set_to);

/// The element at a path through documents only.
bson::element plain_path(bson::view document, std::span<const std::string> path);

}  // namespace holdfast::lab::staging
