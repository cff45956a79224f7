#include "core/uri/percent.hpp"

#include "holdfast/bson/validate.hpp"

#include <algorithm>
#include <charconv>

namespace holdfast::core::uri {

namespace {

constexpr bool is_unreserved(char c) noexcept
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

/// The characters that RFC 3986 lets stand for themselves here, and those beyond ASCII, which
/// people do write.
bool may_stand_in_userinfo(char c) noexcept
{
    return is_unreserved(c) || static_cast<unsigned char>(c) >= 0x80 ||
           std::string_view{"!$&'()*+,;=%"}.find(c) != std::string_view::npos;
}

}  // namespace

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

std::string percent_encode(std::string_view text)
{
    constexpr char digits[] = "0123456789ABCDEF";
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (is_unreserved(c))
            out += c;
        else
            out.append({'%', digits[byte >> 4], digits[byte & 0xf]});
    }
    return out;
}

std::optional<std::string> decode_userinfo(std::string_view text)
{
    return std::ranges::all_of(text, may_stand_in_userinfo) ? percent_decode(text) : std::nullopt;
}

}  // namespace holdfast::core::uri
