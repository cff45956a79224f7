#pragma once
#include "holdfast/bson/builder.hpp"
#include "holdfast/bson/document.hpp"
#include "lab/mongo/data/optime.hpp"

#include <cstdint>
#include <string_view>

namespace holdfast::lab::mongo {

/// {ts: Timestamp, t: Long}, and back. What cannot be read is an optime before all others.
void write_optime(bson::builder& into, std::string_view key, const optime& what);
optime read_optime(const bson::element& from);

/// A number of a message between members; `otherwise` if it is missing or none.
std::int64_t number_or(const bson::element& from, std::int64_t otherwise);
bool flag_or(const bson::element& from, bool otherwise);
std::string_view text_or(const bson::element& from, std::string_view otherwise);

/// A document as `write(bson::builder&)` makes it.
template <class Write>
bson::document document_of(Write&& write)
{
    bson::byte_buffer bytes;
    bson::builder out{bytes};
    write(out);
    auto done = out.finish();
    if (!done)
        return {};
    return bson::document::adopt(std::move(bytes));
}

}  // namespace holdfast::lab::mongo
