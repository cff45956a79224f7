#pragma once
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace holdfast::lab::updating {

/// Deeper documents are not kept, so longer paths lead nowhere.
inline constexpr std::size_t max_path_parts = 100;

/// "a.b.0" -> a, b, 0. Parts may be empty; callers decide what that means.
std::vector<std::string_view> split(std::string_view path);

/// Whether a part can pick from an array: 0, or digits that do not begin with 0.
bool is_index(std::string_view part) noexcept;

/// The number of such a part; what is too large for any array becomes SIZE_MAX.
std::size_t index_of(std::string_view part) noexcept;

/// The identifier in $[name], empty for $[], nothing for any other part.
std::optional<std::string_view> identifier_of(std::string_view part) noexcept;

/// The order in which fields of one document are changed, and so created: numbers by value, then
/// the others as text.
struct field_order {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const noexcept;
};

}  // namespace holdfast::lab::updating
