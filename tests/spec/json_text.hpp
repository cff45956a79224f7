#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::spec {

/// JSON in one spelling, so that two texts can be compared: no white space, one way to escape,
/// numbers by value and kind (1 and 1.0 differ). The order of keys and repeated keys are kept, for
/// BSON keeps them. Read by Boost.JSON, whose mistakes are not ours; nothing if it finds no JSON.
std::optional<std::string> normalise_json(std::string_view text);

}  // namespace holdfast::spec
