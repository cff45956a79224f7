#pragma once
#include "holdfast/bson/byte_buffer.hpp"
#include "holdfast/bson/document.hpp"
#include "holdfast/bson/view.hpp"
#include "holdfast/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::bson {

/// MongoDB Extended JSON v2. Canonical keeps every type: `{"$numberInt": "1"}`. Relaxed is what
/// people read: plain numbers, ISO dates. Both parse back.
enum class json_mode : std::uint8_t { canonical, relaxed };

/// Fails only if the document is malformed, holds text that is no UTF-8, or is nested too deeply;
/// context "offset" says where, "path" in which field. No blanks; doubles are as short as they can
/// be, with an exponent from 1E+16 on and below 0.0001.
result<std::string> to_json(view document, json_mode mode = json_mode::relaxed);
result<std::string> to_json(array_view array, json_mode mode = json_mode::relaxed);

/// The same, appended to `out`. After an error `out` is as it was.
result<void> append_json(std::string& out, view document, json_mode mode = json_mode::relaxed);

/// Reads one document of Extended JSON, canonical, relaxed or mixed. An error says what was found
/// at which line and column (counted from 1, columns in bytes). Where the specification leaves a
/// choice:
///  - The outermost object is always a document, whatever its keys.
///  - {"$regex": "a", "$options": "i"} and {"$binary": "", "$type": "00"} are read as the values
///    they once were; with other fields or values $regex, $options and $type are query operators,
///    and the object a document.
///  - An integer that fits no int64 becomes a double. A number too large for a double is an error,
///    one too small is zero.
///  - Keys that come twice are kept twice.
result<document> from_json(std::string_view text);

/// The same, appended to `out` as bytes. After an error `out` is as it was.
result<void> append_from_json(byte_buffer& out, std::string_view text);

/// A top-level JSON array.
result<array> array_from_json(std::string_view text);

}  // namespace holdfast::bson
