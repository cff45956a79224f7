#pragma once
#include <string>
#include <string_view>

namespace holdfast::bson {

/// A text from outside, made fit for an error message: in double quotes, everything but printable
/// ASCII as \xNN, and cut short, since the text comes from outside.
std::string quote(std::string_view text);

}  // namespace holdfast::bson
