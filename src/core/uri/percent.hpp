#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::core::mongo {

/// Text with its %XX turned into bytes. Nothing if a percent sign is not followed by two
/// hexadecimal digits, or if the bytes are no UTF-8. A plus sign stays one.
std::optional<std::string> percent_decode(std::string_view text);

}  // namespace holdfast::core::mongo
