#pragma once
#include "lab/mongo/document/shell_text.hpp"
#include "lab/mongo/document/type_name.hpp"

#include <string>

namespace holdfast::lab::updating {

/// The document's _id as messages show it, `_id: 1`, or "no _id".
inline std::string id_text(bson::view document)
{
    const bson::element id = document.find("_id");
    return id ? shell_text_of(id) : "no _id";
}

}  // namespace holdfast::lab::updating
