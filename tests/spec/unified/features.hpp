#pragma once
#include "test_file.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace holdfast::spec::unified {

/// What a case needs that the library does not have yet, in words: "transactions". Known by the
/// entities, operations and options that it uses. Nothing if the library has all of it.
std::optional<std::string> missing_feature(const unified_file& file, const unified_case& one);

/// Whether the library can log in that way.
bool knows_mechanism(std::string_view name) noexcept;

}  // namespace holdfast::spec::unified
