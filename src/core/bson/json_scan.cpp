#include "core/bson/json_scan.hpp"

#include "core/bson/characters.hpp"
#include "core/bson/hex.hpp"
#include "core/bson/json_number.hpp"
#include "core/bson/utf8_sequence.hpp"

#include <algorithm>
#include <cstring>

namespace holdfast::bson {

namespace {

std::string hexadecimal(char c)
{
    const auto byte = static_cast<unsigned char>(c);
    return {'0', 'x', hex_digits[byte >> 4], hex_digits[byte & 0x0F]};
}

std::string describe(const char* at, const char* end)
{
    if (at == end)
        return "the end of the text";
    if (*at > ' ' && *at <= '~')
        return {'\'', *at, '\''};
    return "byte " + hexadecimal(*at);
}

char low_six_bits(std::uint32_t code) noexcept
{
    return static_cast<char>(0x80 | (code & 0x3F));
}

void append_utf8(std::string& out, std::uint32_t code)
{
    if (code < 0x80) {
        out += static_cast<char>(code);
    } else if (code < 0x800) {
        out += static_cast<char>(0xC0 | code >> 6);
        out += low_six_bits(code);
    } else if (code < 0x10000) {
        out += static_cast<char>(0xE0 | code >> 12);
        out += low_six_bits(code >> 6);
        out += low_six_bits(code);
    } else {
        out += static_cast<char>(0xF0 | code >> 18);
        out += low_six_bits(code >> 12);
        out += low_six_bits(code >> 6);
        out += low_six_bits(code);
    }
}

/// The character that a backslash and this one stand for, or zero.
char escaped_character(char c) noexcept
{
    switch (c) {
    case '"':
    case '\\':
    case '/':
        return c;
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return '\0';
    }
}

}  // namespace

char json_scanner::skip_blanks() noexcept
{
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r'))
        ++at_;
    return at_ == end_ ? '\0' : *at_;
}

/// The rest of a string from `at` on, where the first character stands that is not plain.
bool json_scanner::unusual_string(const char* at, std::string_view& text, std::string& scratch)
{
    const char* copied = at_ + 1;  // everything before it is in the scratch, if there were escapes
    bool escaped = false;
    scratch.clear();
    for (;; at = skip_plain(at, end_)) {
        if (at == end_)
            return unexpected("'\"' at the end of a string", at);
        if (*at == '"')
            break;
        if (*at == '\\') {
            scratch.append(copied, at);
            if (!escape(at, scratch))
                return false;
            copied = at;
            escaped = true;
        } else if (static_cast<unsigned char>(*at) >= 0x80) {
            const std::size_t length = utf8_sequence(at, end_);
            if (length == 0)
                return fail("invalid UTF-8, " + describe(at, end_), at);
            at += length;
        } else {
            return fail(
                "control characters in a string must be escaped, found " + describe(at, end_), at);
        }
    }
    if (escaped)
        text = scratch.append(copied, at);
    else
        text = {at_ + 1, static_cast<std::size_t>(at - at_ - 1)};
    at_ = at + 1;
    return true;
}

/// `at` is on a backslash, and moves behind the escape.
bool json_scanner::escape(const char*& at, std::string& out)
{
    if (at + 1 == end_)
        return unexpected("an escaped character", at + 1);
    if (at[1] == 'u')
        return unicode_escape(at, out);
    const char meant = escaped_character(at[1]);
    if (meant == '\0')
        return unexpected("one of \"\\/bfnrtu after a backslash", at + 1);
    out += meant;
    at += 2;
    return true;
}

bool json_scanner::unicode_escape(const char*& at, std::string& out)
{
    constexpr std::uint32_t high = 0xD800;
    constexpr std::uint32_t low = 0xDC00;
    constexpr std::uint32_t after = 0xE000;
    const auto first = four_digits(at + 2);
    if (!first)
        return fail("expected four hexadecimal digits after \\u", at);
    if (*first < high || *first >= after) {
        append_utf8(out, *first);
        at += 6;
        return true;
    }
    const bool pair = end_ - at >= 12 && at[6] == '\\' && at[7] == 'u';
    const auto second = pair ? four_digits(at + 8) : std::nullopt;
    if (*first >= low || !second || *second < low || *second >= after)
        return fail("a surrogate without its other half", at);
    append_utf8(out, 0x10000 + ((*first - high) << 10) + (*second - low));
    at += 12;
    return true;
}

std::optional<std::uint32_t> json_scanner::four_digits(const char* at) const noexcept
{
    if (end_ - at < 4)
        return std::nullopt;
    std::uint32_t code = 0;
    for (int i = 0; i < 4; ++i) {
        const int digit = hex_value(at[i]);
        if (digit < 0)
            return std::nullopt;
        code = code << 4 | static_cast<std::uint32_t>(digit);
    }
    return code;
}

const char* json_scanner::skip_digits(const char* at) const noexcept
{
    while (at != end_ && is_digit(*at))
        ++at;
    return at;
}

bool json_scanner::number(json_number& read)
{
    const bool negative = *at_ == '-';
    const char* const first = at_ + (negative ? 1 : 0);
    const char* at = first;
    std::uint64_t value = 0;
    for (; at != end_ && is_digit(*at); ++at)
        value = value * 10 + static_cast<std::uint64_t>(*at - '0');
    const auto digits = at - first;
    if (digits == 0)
        return unexpected("a digit", at);
    if (digits > 1 && *first == '0')
        return fail("a number with a leading zero", first);
    constexpr auto surely_fit = 18;
    if (digits > surely_fit || (at != end_ && (*at == '.' || *at == 'e' || *at == 'E')))
        return long_number(at, read);
    const auto magnitude = static_cast<std::int64_t>(value);
    read.integer = true;
    read.whole = negative ? -magnitude : magnitude;
    at_ = at;
    return true;
}

/// A number with fraction, exponent or very many digits; `at` is behind its leading digits.
bool json_scanner::long_number(const char* at, json_number& read)
{
    const char* const whole_end = at;
    if (at != end_ && *at == '.') {
        const char* const fraction = at + 1;
        at = skip_digits(fraction);
        if (at == fraction)
            return unexpected("a digit after the decimal point", at);
    }
    if (at != end_ && (*at == 'e' || *at == 'E')) {
        ++at;
        if (at != end_ && (*at == '+' || *at == '-'))
            ++at;
        const char* const exponent = at;
        at = skip_digits(exponent);
        if (at == exponent)
            return unexpected("a digit in the exponent", at);
    }
    const std::string_view text{at_, static_cast<std::size_t>(at - at_)};
    const auto whole = at == whole_end ? parse_integer(text) : std::nullopt;
    const auto real = whole ? std::nullopt : parse_double(text);
    if (!whole && !real)
        return fail("a number too large for a double", at_);
    read = {.integer = whole.has_value(), .whole = whole.value_or(0), .real = real.value_or(0)};
    at_ = at;
    return true;
}

bool json_scanner::chunk(std::string_view expected)
{
    const auto left = static_cast<std::size_t>(end_ - at_);
    if (left < expected.size() || std::memcmp(at_, expected.data(), expected.size()) != 0)
        return unexpected("a value");
    at_ += expected.size();
    return true;
}

bool json_scanner::unexpected(std::string_view expected, const char* at)
{
    return fail("expected " + std::string{expected} + ", found " + describe(at, end_), at);
}

bool json_scanner::fail(std::string message, const char* at, errc what)
{
    const std::string_view before{begin_, static_cast<std::size_t>(at - begin_)};
    const std::size_t last_break = before.rfind('\n');
    const std::string line = std::to_string(std::ranges::count(before, '\n') + 1);
    const std::string column = std::to_string(
        last_break == before.npos ? before.size() + 1 : before.size() - last_break);
    fault_ = error{what, "line " + line + ", column " + column + ": " + std::move(message)}
                 .with_context("line", line)
                 .with_context("column", column);
    return false;
}

}  // namespace holdfast::bson
