#include "core/bson/quote.hpp"

#include "core/bson/hex.hpp"

namespace holdfast::bson {

std::string quote(std::string_view text)
{
    constexpr std::size_t shown = 48;  // a Decimal128, a UUID or an ObjectId in full

    std::string quoted = "\"";
    for (const char c : text.substr(0, shown)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= ' ' && byte <= '~')
            quoted += c;
        else
            quoted.append("\\x") += {hex_digits[byte >> 4], hex_digits[byte & 0x0F]};
    }
    quoted += '"';
    if (text.size() > shown)
        quoted.append("... (").append(std::to_string(text.size())).append(" bytes)");
    return quoted;
}

}  // namespace holdfast::bson
