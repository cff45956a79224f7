#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::lab::couchbase {

/// Levels of arrays and objects that a subdocument operation follows.
inline constexpr std::size_t max_subdoc_depth = 32;

enum class json_state : std::uint8_t { valid, too_deep, invalid };

/// Whether the text is one JSON value of at most so many levels. Nothing is built.
json_state check_json(std::string_view text, std::size_t max_depth);

/// What a document's datatype asks: JSON of any reasonable depth.
bool is_json(std::string_view text);

/// The text of a JSON string, quotes included, that has this content; and the way back.
std::string quoted(std::string_view content);
std::string unquoted(std::string_view json_string);

}  // namespace holdfast::lab::couchbase
