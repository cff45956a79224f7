#pragma once
#include "holdfast/bson/types.hpp"

#include <cstddef>
#include <optional>
#include <string_view>

namespace holdfast::bson {

/// Relaxed Extended JSON writes dates as text only within the years 1970 to 9999.
bool has_iso_text(datetime when) noexcept;

/// The longest text, "2012-12-24T12:15:30.501Z".
inline constexpr std::size_t max_iso_date = 24;

/// Writes a date for which has_iso_text() is true, in UTC, with milliseconds only if there are any;
/// gives the end of what was written.
char* print_iso_date(datetime when, char* out) noexcept;

/// Reads a date of RFC 3339: years 0000 to 9999, an offset "Z", "+01:00", "+0100" or "+01", and up
/// to nine digits of a second, of which all after the milliseconds are dropped. As in libbson the
/// seconds may be missing, and a leap second is the first second of the next minute.
std::optional<datetime> parse_iso_date(std::string_view text) noexcept;

}  // namespace holdfast::bson
