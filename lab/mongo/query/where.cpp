#include "lab/mongo/query/where.hpp"

#include <algorithm>
#include <charconv>

namespace holdfast::lab::filter {

namespace {

bool take(std::string_view& from, std::string_view token) noexcept
{
    from.remove_prefix(std::min(from.find_first_not_of(" \t\r\n"), from.size()));
    if (!from.starts_with(token))
        return false;
    from.remove_prefix(token.size());
    return true;
}

}  // namespace

std::optional<std::size_t> sleep_of(std::string_view source) noexcept
{
    constexpr std::size_t an_hour = 3'600'000;
    std::string_view rest = source;
    const bool is_function = take(rest, "function");
    if (is_function && !(take(rest, "(") && take(rest, ")") && take(rest, "{")))
        return std::nullopt;
    take(rest, "return");
    if (!take(rest, "sleep") || !take(rest, "(") || !take(rest, ""))
        return std::nullopt;
    std::size_t milliseconds = 0;
    const auto [end, bad] = std::from_chars(rest.data(), rest.data() + rest.size(), milliseconds);
    if (bad != std::errc{} || milliseconds > an_hour)
        return std::nullopt;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (!take(rest, ")") || !take(rest, "||") || !take(rest, "true"))
        return std::nullopt;
    take(rest, ";");
    if (is_function && !take(rest, "}"))
        return std::nullopt;
    take(rest, "");
    return rest.empty() ? std::optional{milliseconds} : std::nullopt;
}

}  // namespace holdfast::lab::filter
