#include "core/uri/apply_options.hpp"

#include <algorithm>

namespace holdfast::core::uri::details {

namespace {

constexpr std::size_t longest_quoted_name = 64;

}  // namespace

std::string quoted_name(std::string_view name)
{
    std::string text{name.substr(0, longest_quoted_name)};
    std::ranges::replace_if(text, [](char c) { return c < ' ' || c > '~' || c == '"'; }, '?');
    return '"' + text + (name.size() > longest_quoted_name ? "...\"" : "\"");
}

}  // namespace holdfast::core::uri::details
