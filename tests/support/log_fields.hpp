#pragma once
#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/document.hpp"
#include "holdfast/log.hpp"

namespace holdfast::proof {

/// The fields of a log message as a document, to be searched and matched.
inline bson::document as_document(std::span<const log_field> fields)
{
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    for (const log_field& one : fields)
        std::visit([&](auto value) { out.add(one.name, value); }, one.value);
    out.finish().value();
    return bson::document::adopt(std::move(bytes));
}

}  // namespace holdfast::proof
