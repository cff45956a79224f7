#pragma once
#include "holdfast/error.hpp"
#include "holdfast/secret.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::core::uri {

/// One name=value as it was written, the value not yet decoded.
struct raw_option {
    std::string name;
    secret value;  // some options are passwords
};

/// The part of a connection string after the question mark: "a=1&b=2". `malformed` is the code of
/// the error, which does not quote the text.
result<std::vector<raw_option>> split_options(std::string_view text, error_code malformed);

/// "a,b": two pieces, "": an empty one.
std::vector<std::string_view> split_list(std::string_view text);

struct name_and_value {
    std::string name;
    std::string value;
};

/// "name:value"; further colons belong to the value. Nothing without a name or a colon.
std::optional<name_and_value> split_pair(std::string_view text);

/// The whole text as a number, without sign for zero and above.
std::optional<std::int64_t> parse_number(std::string_view text) noexcept;

/// Numbers with units from ns to h, "2.5s", "1m30s", "837.425µs".
std::optional<std::chrono::nanoseconds> parse_exact_duration(std::string_view text) noexcept;

/// Milliseconds as a whole number, "2500", or numbers with units from ns to h, "2.5s", "1m30s".
/// Parts of a millisecond are rounded up, so that a short time does not become none at all.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) noexcept;

/// Names of options are compared without regard to ASCII case.
bool same_name(std::string_view a, std::string_view b) noexcept;

}  // namespace holdfast::core::uri
