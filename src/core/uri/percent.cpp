#include "core/uri/percent.hpp"

#include "holdfast/bson/validate.hpp"

#include <charconv>

namespace holdfast::core::mongo {

std::optional<std::string> percent_decode(std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '%') {
            out += text[at];
            continue;
        }
        if (text.size() - at < 3)
            return std::nullopt;
        unsigned char byte = 0;
        const char* const digits = text.data() + at + 1;
        const auto [end, failed] = std::from_chars(digits, digits + 2, byte, 16);
        if (failed != std::errc{} || end != digits + 2)
            return std::nullopt;
        out += static_cast<char>(byte);
        at += 2;
    }
    if (!bson::is_utf8(out))
        return std::nullopt;
    return out;
}

}  // namespace holdfast::core::mongo
