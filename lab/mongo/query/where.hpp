#pragma once
#include <cstddef>
#include <optional>
#include <string_view>

namespace holdfast::lab::filter {

/// The n of "sleep(n) || true", the one piece of JavaScript that the lab understands. At most an
/// hour.
std::optional<std::size_t> sleep_of(std::string_view source) noexcept;

}  // namespace holdfast::lab::filter
