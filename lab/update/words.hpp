#pragma once
#include "holdfast/bson/element.hpp"
#include "holdfast/bson/types.hpp"
#include "holdfast/bson/view.hpp"
#include "lab/document/type_name.hpp"

#include <string>
#include <string_view>

namespace holdfast::lab::updating {

/// An element as messages show it, `a: "x"` or `a: { b: 1 }`, cut where it gets long.
std::string words_of(const bson::element& e);

/// The same for a document: { a: 1 }.
std::string words_of(bson::view document);

/// The document's _id in the same manner, or "no _id".
std::string id_words(bson::view document);

}  // namespace holdfast::lab::updating
