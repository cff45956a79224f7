#include "lab/mongo/update/path.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace holdfast::lab::updating {

std::vector<std::string_view> split(std::string_view path)
{
    std::vector<std::string_view> parts;
    parts.reserve(static_cast<std::size_t>(std::ranges::count(path, '.')) + 1);
    for (std::size_t at = 0;;) {
        const std::size_t dot = path.find('.', at);
        parts.push_back(path.substr(at, dot - at));
        if (dot == path.npos)
            return parts;
        at = dot + 1;
    }
}

bool is_index(std::string_view part) noexcept
{
    if (part.empty() || (part.front() == '0' && part.size() > 1))
        return false;
    return std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
}

std::size_t index_of(std::string_view part) noexcept
{
    std::uint32_t index = 0;
    const auto read = std::from_chars(part.data(), part.data() + part.size(), index);
    return read.ec == std::errc{} ? index : SIZE_MAX;
}

std::optional<std::string_view> identifier_of(std::string_view part) noexcept
{
    if (part.size() < 3 || !part.starts_with("$[") || part.back() != ']')
        return std::nullopt;
    return part.substr(2, part.size() - 3);
}

bool field_order::operator()(std::string_view a, std::string_view b) const noexcept
{
    const bool a_counts = is_index(a);
    const bool b_counts = is_index(b);
    if (a_counts != b_counts)
        return a_counts;
    if (a_counts && a.size() != b.size())
        return a.size() < b.size();
    return a < b;
}

}  // namespace holdfast::lab::updating
