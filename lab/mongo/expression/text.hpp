#pragma once
#include "holdfast/bson/types.hpp"
#include "lab/mongo/expression/node.hpp"

#include <string>
#include <string_view>

namespace holdfast::lab::computing {

/// What $toUpper, $substr and the like take for text: strings, numbers, dates; null is empty.
result<std::string> coerce_to_text(const bson::element& from);

std::string date_text(bson::datetime when);  // "2018-03-27T16:58:51.538Z"

/// The byte where the code point with this number starts, or npos beyond the end; counting goes on
/// over bytes that are no UTF-8.
std::size_t code_point_at(std::string_view text, std::size_t number) noexcept;
std::size_t code_points(std::string_view text) noexcept;

inline bool continues(char c) noexcept
{
    return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

}  // namespace holdfast::lab::computing
