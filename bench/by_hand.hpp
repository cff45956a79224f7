#pragma once
#include "holdfast/bson/builder.hpp"
#include "holdfast/error.hpp"
#include "records.hpp"

#include <cstdint>
#include <vector>

namespace holdfast::bench {

/// What a user without the mapping would write: one pass, every field checked, none missing.
result<small_record> read_small(bson::view document);
result<order> read_order(bson::view document);
void write(bson::builder& out, const small_record& r);
void write(bson::builder& out, const order& o);

/// The same for the row's bookkeeping: the bytes of a record that some side has read.
template <class Record>
std::vector<std::uint8_t> to_bytes(const Record& r)
{
    bson::byte_buffer buffer;
    bson::builder out{buffer};
    write(out, r);
    const bson::view made = out.finish().value();
    return {made.bytes().begin(), made.bytes().end()};
}

}  // namespace holdfast::bench
