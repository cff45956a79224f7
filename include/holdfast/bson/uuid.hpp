#pragma once
#include "holdfast/bson/types.hpp"
#include "holdfast/error.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::bson {

/// The byte order of a UUID in a binary value. Only `standard` (subtype 4) is written today; the
/// others are subtype 3, each in the byte order of the driver that once wrote it.
enum class uuid_representation : std::uint8_t {
    standard,
    csharp_legacy,
    java_legacy,
    python_legacy,
};

struct uuid {
    std::array<std::uint8_t, 16> bytes{};

    /// From the usual 36 characters, hexadecimal digits of either case.
    static result<uuid> parse(std::string_view text);

    /// From a binary value: subtype 4 for `standard`, subtype 3 for the legacy ones; any other
    /// combination is an error, for the bytes would be taken in the wrong order.
    static result<uuid> from_binary(const binary& value,
                                    uuid_representation as = uuid_representation::standard);

    /// The bytes to put into a binary value of subtype_of(as).
    std::array<std::uint8_t, 16> to_bytes(uuid_representation as) const noexcept;

    std::string to_string() const;

    friend constexpr auto operator<=>(const uuid&, const uuid&) = default;
    friend constexpr bool operator==(const uuid&, const uuid&) = default;
};

constexpr binary_subtype subtype_of(uuid_representation as) noexcept
{
    return as == uuid_representation::standard ? binary_subtype::uuid : binary_subtype::uuid_old;
}

}  // namespace holdfast::bson
