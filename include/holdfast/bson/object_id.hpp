#pragma once
#include "holdfast/error.hpp"

#include <array>
#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::bson {

/// Twelve bytes: seconds since the epoch, five bytes of the process, a counter; all big endian, so
/// that ids sort by age.
struct object_id {
    std::array<std::uint8_t, 12> bytes{};

    /// From 24 hexadecimal digits of either case.
    static result<object_id> parse(std::string_view hex);

    std::string to_string() const;
    std::chrono::sys_seconds created() const noexcept;

    friend constexpr auto operator<=>(const object_id&, const object_id&) = default;
    friend constexpr bool operator==(const object_id&, const object_id&) = default;
};

/// Makes new ids. A value without clock and chance of its own: the owner draws the process bytes
/// and the first counter once, and hands in the time.
class object_id_source {
public:
    using process_bytes = std::array<std::uint8_t, 5>;

    constexpr object_id_source(process_bytes process, std::uint32_t counter) noexcept
        : process_{process}, counter_{counter & counter_mask}
    {
    }

    /// Counts up by one and wraps after 2^24 ids. Times outside 32 bits wrap as well.
    object_id next(std::chrono::sys_seconds now) noexcept;

private:
    static constexpr std::uint32_t counter_mask = 0xFF'FF'FF;

    process_bytes process_;
    std::uint32_t counter_;
};

}  // namespace holdfast::bson
