#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::core::uri {

/// Text with its %XX turned into bytes. Nothing if a percent sign is not followed by two
/// hexadecimal digits, or if the bytes are not valid UTF-8. A plus sign is not a blank.
std::optional<std::string> percent_decode(std::string_view text);

/// Text that may stand anywhere in a URI, or in a form: all but letters, digits and "-._~" becomes
/// %XX.
std::string percent_encode(std::string_view text);

/// A user name or a password. Nothing, too, if a character is in it that must be escaped there.
std::optional<std::string> decode_userinfo(std::string_view text);

}  // namespace holdfast::core::uri
