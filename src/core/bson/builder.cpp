#include "holdfast/bson/builder.hpp"

#include "core/bson/hex.hpp"
#include "core/bson/quote.hpp"
#include "core/bson/utf8_sequence.hpp"

#include <cstdint>
#include <string>

namespace holdfast::bson {

error build_error(errc what, std::string_view key)
{
    std::string shown;
    for (const char c : key)
        shown += c == '\0' ? std::string{"\\0"} : std::string{c};
    std::string why;
    switch (what) {
    case errc::invalid_key:
        why = "a key must not contain a zero byte";
        break;
    case errc::too_large:
        return error{what, "the document grew beyond " + std::to_string(max_document_size) +
                               " bytes, the most that its length field can name"};
    case errc::malformed:
        why = "the element to be copied is malformed";
        break;
    case errc::missing_field:
        why = "the element to be copied does not exist";
        break;
    case errc::out_of_range:
        why = "the number does not fit into a 64-bit integer";
        break;
    default:
        why = "the value cannot be written as BSON";
    }
    return error{what, shown + ": " + why}.with_context("path", shown);
}

std::string_view last_key(std::string_view elements) noexcept
{
    constexpr auto is_type = [](char c) {
        return c == static_cast<char>(type::document) || c == static_cast<char>(type::array) ||
               c == static_cast<char>(type::code_with_scope);
    };
    const std::size_t end = elements.size() - 1;  // its zero byte
    std::size_t begin = end;
    while (begin > 0 && !is_type(elements[begin - 1]))
        --begin;
    return elements.substr(begin, end - begin);
}

error text_error(const std::string& path, std::string_view text, bool is_key)
{
    const char* const end = text.data() + text.size();
    const char* at = text.data();
    while (at != end) {
        const bool ascii = static_cast<std::uint8_t>(*at) < 0x80;
        const std::size_t length = ascii ? 1 : utf8_sequence(at, end);
        if (length == 0)
            break;
        at += length;
    }
    const auto offset = std::to_string(at - text.data());
    const std::uint8_t byte = at != end ? static_cast<std::uint8_t>(*at) : std::uint8_t{0};
    const std::string shown = is_utf8(path) ? path : quote(path);
    std::string why = shown + (is_key ? ": the key" : ": the text") + " is not UTF-8, byte " +
                      offset + " is 0x" + hex_digits[byte >> 4] + hex_digits[byte & 15] +
                      "; convert it to UTF-8";
    if (!is_key)
        why += ", or store it as bson::binary";
    return error{errc::invalid_utf8, std::move(why)}
        .with_context("path", shown)
        .with_context("offset", offset);
}

}  // namespace holdfast::bson
