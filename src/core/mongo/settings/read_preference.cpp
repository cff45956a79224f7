#include "core/mongo/settings/read_preference.hpp"

#include "core/mongo/settings/address.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace holdfast::core::mongo {

namespace {

constexpr std::array<std::pair<read_mode, std::string_view>, 5> modes{{
    {read_mode::primary, "primary"},
    {read_mode::primary_preferred, "primaryPreferred"},
    {read_mode::secondary, "secondary"},
    {read_mode::secondary_preferred, "secondaryPreferred"},
    {read_mode::nearest, "nearest"},
}};

}  // namespace

std::string_view name_of(read_mode mode) noexcept
{
    for (const auto& [known, name] : modes)
        if (known == mode)
            return name;
    return "unknown";
}

std::optional<read_mode> parse_read_mode(std::string_view name) noexcept
{
    for (const auto& [mode, known] : modes)
        if (std::ranges::equal(name, known, {}, ascii_lower, ascii_lower))
            return mode;
    return std::nullopt;
}

}  // namespace holdfast::core::mongo
