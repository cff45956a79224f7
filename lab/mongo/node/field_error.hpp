#pragma once
#include "holdfast/bson/element.hpp"
#include "holdfast/error.hpp"
#include "lab/mongo/document/type_name.hpp"

#include <string_view>

namespace holdfast::lab::mongo {

/// The errors about one field of a command, in MongoDB's words; `where` is "insert" or, for a
/// statement inside, "update.updates".
error wrong_type(std::string_view where, std::string_view field, bson::type found,
                 std::string_view expected);  // 14; expected: "array", or "[int, long]"
error missing_field(std::string_view where, std::string_view field);    // 40414
error unknown_field(std::string_view where, std::string_view field);    // 40415
error duplicate_field(std::string_view where, std::string_view field);  // 40413
error malformed_field(const bson::element& found);                      // 22 InvalidBSON

}  // namespace holdfast::lab::mongo
