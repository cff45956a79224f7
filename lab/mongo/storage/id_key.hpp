#pragma once
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/bson/view.hpp"

namespace holdfast::lab {

/// Appends bytes that are the same for two values exactly if MongoDB calls them equal: 1, 1.0 and
/// NumberDecimal("1.00") give one key. The bytes have no order.
void append_id_key(bson::byte_buffer& out, const bson::element& value);

}  // namespace holdfast::lab
