#include "holdfast/json/reader.hpp"

#include "holdfast/bson/validate.hpp"

#include <charconv>
#include <cmath>

namespace holdfast::json {

namespace {

constexpr bool is_digit(char c) noexcept
{
    return c >= '0' && c <= '9';
}

const char* skip_digits(const char* p, const char* end) noexcept
{
    while (p != end && is_digit(*p))
        ++p;
    return p;
}

void append_utf8(std::string& to, unsigned code)
{
    const auto put = [&](unsigned byte) { to += static_cast<char>(byte); };
    if (code < 0x80)
        return put(code);
    if (code < 0x800) {
        put(0xc0 | code >> 6);
    } else if (code < 0x10000) {
        put(0xe0 | code >> 12);
        put(0x80 | (code >> 6 & 0x3f));
    } else {
        put(0xf0 | code >> 18);
        put(0x80 | (code >> 12 & 0x3f));
        put(0x80 | (code >> 6 & 0x3f));
    }
    put(0x80 | (code & 0x3f));
}

constexpr bool is_high_surrogate(unsigned code) noexcept
{
    return code >= 0xd800 && code < 0xdc00;
}
constexpr bool is_low_surrogate(unsigned code) noexcept
{
    return code >= 0xdc00 && code < 0xe000;
}

}  // namespace

std::string_view name_of(kind which) noexcept
{
    switch (which) {
    case kind::nothing: return "nothing";
    case kind::null: return "null";
    case kind::boolean: return "boolean";
    case kind::number: return "number";
    case kind::string: return "string";
    case kind::array: return "array";
    case kind::object: return "object";
    }
    return "nothing";
}

bool reader::read_null()
{
    if (next() != kind::null)
        return fail_kind("null");
    return take_literal("null");
}

bool reader::read(bool& to)
{
    if (next() != kind::boolean)
        return fail_kind("boolean");
    to = *at_ == 't';
    return take_literal(to ? "true" : "false");
}

bool reader::take_literal(std::string_view literal)
{
    if (!std::string_view{at_, end_}.starts_with(literal))
        return fail_syntax(literal);
    at_ += literal.size();
    return true;
}

/// A string in which something must be decoded or checked.
bool reader::read_escaped(std::string& to)
{
    ++at_;
    to.clear();
    for (;;) {
        const text_run run = scan_text({at_, end_});
        const std::string_view plain{at_, run.size};
        if (run.has_high_bits && !bson::is_utf8(plain))
            return fail(errc::invalid_utf8, "the text is not UTF-8");
        to.append(plain);
        at_ += run.size;
        if (at_ == end_)
            return fail_syntax("the end of the string");
        if (*at_ == '"')
            return ++at_, true;
        if (*at_ != '\\')
            return fail_syntax("an escape, in place of a control character,");
        ++at_;
        if (!read_escape(to))
            return false;
    }
}

bool reader::read_hex4(unsigned& to)
{
    if (end_ - at_ < 4)
        return fail_syntax("four hexadecimal digits");
    const auto [stop, problem] = std::from_chars(at_, at_ + 4, to, 16);
    if (problem != std::errc{} || stop != at_ + 4 || *at_ == '-')
        return fail_syntax("four hexadecimal digits");
    at_ += 4;
    return true;
}

/// What follows a backslash.
bool reader::read_escape(std::string& to)
{
    if (at_ == end_)
        return fail_syntax("an escape");
    switch (const char c = *at_++) {
    case '"':
    case '\\':
    case '/': return to += c, true;
    case 'b': return to += '\b', true;
    case 'f': return to += '\f', true;
    case 'n': return to += '\n', true;
    case 'r': return to += '\r', true;
    case 't': return to += '\t', true;
    case 'u': break;
    default: return --at_, fail_syntax("an escape");
    }
    unsigned code = 0;
    if (!read_hex4(code))
        return false;
    if (is_low_surrogate(code))
        return fail(errc::invalid_utf8, "the second half of a surrogate pair without the first");
    if (is_high_surrogate(code)) {
        unsigned low = 0;
        if (!std::string_view{at_, end_}.starts_with("\\u"))
            return fail(errc::invalid_utf8, "half of a surrogate pair");
        at_ += 2;
        if (!read_hex4(low))
            return false;
        if (!is_low_surrogate(low))
            return fail(errc::invalid_utf8, "half of a surrogate pair");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    append_utf8(to, code);
    return true;
}

/// A number by the grammar; it is not converted.
bool reader::take_number(std::string_view& text, bool& is_integer)
{
    if (next() != kind::number)
        return fail_kind("number");
    const char* p = at_ + (*at_ == '-');
    const char* const digits = p;
    p = skip_digits(p, end_);
    bool good = p != digits && (*digits != '0' || p == digits + 1);
    is_integer = true;
    if (good && p != end_ && *p == '.') {
        is_integer = false;
        const char* const fraction = ++p;
        p = skip_digits(p, end_);
        good = p != fraction;
    }
    if (good && p != end_ && (*p == 'e' || *p == 'E')) {
        is_integer = false;
        ++p;
        if (p != end_ && (*p == '+' || *p == '-'))
            ++p;
        const char* const exponent = p;
        p = skip_digits(p, end_);
        good = p != exponent;
    }
    if (!good)
        return fail_syntax("a number");
    text = {at_, p};
    at_ = p;
    return true;
}

bool reader::read(double& to)
{
    std::string_view text;
    bool is_integer = false;
    if (!take_number(text, is_integer))
        return false;
    const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), to);
    if (problem == std::errc::result_out_of_range) {
        // Also said of what is too small: that is the nearest double, zero.
        const auto exponent = text.find_first_of("eE");
        if (exponent != text.npos && text[exponent + 1] == '-')
            return to = text.front() == '-' ? -0.0 : 0.0, true;
    }
    if (problem != std::errc{} || !std::isfinite(to))
        return fail(errc::out_of_range, "the number does not fit into a double");
    return true;
}

bool reader::read_signed(std::int64_t& to)
{
    std::string_view text;
    bool is_integer = false;
    if (!take_number(text, is_integer))
        return false;
    const char* const end = text.data() + text.size();
    if (is_integer && std::from_chars(text.data(), end, to).ec == std::errc{})
        return true;
    double value = 0;
    constexpr double two_to_63 = 9223372036854775808.0;
    if (is_integer || std::from_chars(text.data(), end, value).ec != std::errc{} ||
        !(value >= -two_to_63 && value < two_to_63) || std::trunc(value) != value)
        return fail_range(64);
    to = static_cast<std::int64_t>(value);
    return true;
}

bool reader::read_unsigned(std::uint64_t& to)
{
    std::string_view text;
    bool is_integer = false;
    if (!take_number(text, is_integer))
        return false;
    const char* const end = text.data() + text.size();
    if (is_integer && std::from_chars(text.data(), end, to).ec == std::errc{})
        return true;
    double value = 0;
    constexpr double two_to_64 = 18446744073709551616.0;
    if (is_integer || std::from_chars(text.data(), end, value).ec != std::errc{} ||
        !(value >= 0 && value < two_to_64) || std::trunc(value) != value)
        return fail_range(64);
    to = static_cast<std::uint64_t>(value);
    return true;
}

bool reader::read_key(std::string_view& key)
{
    skip_space();
    if (at_ == end_ || *at_ != '"')
        return fail_syntax("a key");
    const text_run run = scan_text({at_ + 1, end_});
    const char* const stop = at_ + 1 + run.size;
    if (stop != end_ && *stop == '"' && !run.has_high_bits) {
        key = {at_ + 1, run.size};
        at_ = stop + 1;
    } else if (read_escaped(key_)) {
        key = key_;
    } else {
        return false;
    }
    return take_colon();
}

bool reader::skip_text()
{
    const text_run run = scan_text({at_ + 1, end_});
    const char* const stop = at_ + 1 + run.size;
    if (stop != end_ && *stop == '"' && !run.has_high_bits)
        return at_ = stop + 1, true;
    std::string text;
    return read_escaped(text);
}

bool reader::skip_members(char close)
{
    std::string_view key;
    while (more(close)) {
        if (close == '}' && !read_key(key))
            return false;
        if (!skip())
            return false;
    }
    return !failed();
}

bool reader::skip()
{
    std::string_view number;
    bool ignored = false;
    switch (next()) {
    case kind::null: return take_literal("null");
    case kind::boolean: return read(ignored);
    case kind::number: return take_number(number, ignored);
    case kind::string: return skip_text();
    case kind::array: return enter('[') && skip_members(']');
    case kind::object: return enter('{') && skip_members('}');
    case kind::nothing: break;
    }
    return fail_kind("a value");
}

bool reader::skip(std::string_view& text)
{
    skip_space();
    const char* const from = at_;
    if (!skip())
        return false;
    text = {from, at_};
    return true;
}

bool reader::finish()
{
    skip_space();
    return at_ == end_ || fail_syntax("the end of the text");
}

bool reader::go_back(place to)
{
    constexpr std::size_t in_vain_per_byte = 64;
    constexpr std::size_t price_of_failure = 64;
    read_in_vain_ += static_cast<std::size_t>(at_ - to.at) + price_of_failure;
    if (read_in_vain_ > in_vain_per_byte * (static_cast<std::size_t>(end_ - begin_) + 1024))
        return fail(errc::too_deep, "too many alternatives were tried");
    at_ = to.at;
    depth_ = to.depth;
    first_ = false;
    fault_.reset();
    return true;
}

bool reader::fail(errc code, std::string message)
{
    return fail(error{code, std::move(message)}.with_context("offset", std::to_string(offset())));
}

bool reader::fail_kind(std::string_view expected)
{
    const kind found = next();
    if (found == kind::nothing)
        return fail_syntax(expected);
    return fail(
        error{errc::wrong_type,
              std::string{"expected "}.append(expected).append(", found ").append(name_of(found))}
            .with_context("offset", std::to_string(offset()))
            .with_context("expected", std::string{expected})
            .with_context("found", std::string{name_of(found)}));
}

bool reader::fail_syntax(std::string_view expected)
{
    std::string message = "invalid JSON at byte " + std::to_string(offset()) + ": expected ";
    return fail(errc::invalid_json, std::move(message.append(expected)));
}

bool reader::fail_range(int bits)
{
    return fail(errc::out_of_range,
                "the number does not fit into " + std::to_string(bits) + " bits");
}

bool reader::fail_depth()
{
    return fail(errc::too_deep, "nested more than " + std::to_string(max_depth) + " levels deep");
}

}  // namespace holdfast::json
