#pragma once
#include <algorithm>
#include <string_view>

namespace holdfast::bson {

constexpr bool is_digit(char c) noexcept
{
    return c >= '0' && c <= '9';
}

/// Writes `text` where there is room for it, and gives its end.
inline char* append(char* out, std::string_view text) noexcept
{
    return std::ranges::copy(text, out).out;
}

}  // namespace holdfast::bson
