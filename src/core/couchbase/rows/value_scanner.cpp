#include "core/couchbase/rows/value_scanner.hpp"

#include "core/couchbase/rows/text_marks.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

namespace holdfast::core::couchbase {

namespace {

/// Where a number stands: behind "-", "0", "12", "1.", "1.5", "1e", "1e+", "1e+5".
enum class digits : std::uint8_t {
    minus,
    zero,
    whole,
    point,
    fraction,
    exponent,
    exponent_sign,
    exponent_digits,
    none,  // the character is not part of it
};

constexpr bool may_end(digits at) noexcept
{
    return at == digits::zero || at == digits::whole || at == digits::fraction ||
           at == digits::exponent_digits;
}

constexpr digits after_digit(digits at, char c) noexcept
{
    switch (at) {
    case digits::minus: return c == '0' ? digits::zero : digits::whole;
    case digits::whole: return digits::whole;
    case digits::point:
    case digits::fraction: return digits::fraction;
    case digits::exponent:
    case digits::exponent_sign:
    case digits::exponent_digits: return digits::exponent_digits;
    case digits::zero:
    case digits::none: break;
    }
    return digits::none;
}

constexpr digits after(digits at, char c) noexcept
{
    if (c >= '0' && c <= '9')
        return after_digit(at, c);
    if (c == '.' && (at == digits::zero || at == digits::whole))
        return digits::point;
    if ((c == 'e' || c == 'E') && may_end(at) && at != digits::exponent_digits)
        return digits::exponent;
    if ((c == '+' || c == '-') && at == digits::exponent)
        return digits::exponent_sign;
    return digits::none;
}

/// Each bit says whether an odd number of bits is set up to it.
constexpr std::uint64_t parities(std::uint64_t bits) noexcept
{
    bits ^= bits << 1;
    bits ^= bits << 2;
    bits ^= bits << 4;
    bits ^= bits << 8;
    bits ^= bits << 16;
    return bits ^ bits << 32;
}

}  // namespace

value_scanner::value_scanner(std::size_t max_depth) noexcept
    : max_depth_{std::min(max_depth, deepest)}
{
}

auto value_scanner::take(const char*& at, const char* end) noexcept -> outcome
{
    if (at == end)
        return outcome::more;
    if (inside_ == kind::nothing && !begin_with(at))
        return fail("a value");
    switch (inside_) {
    case kind::nested: return take_nested(at, end);
    case kind::string: return take_string(at, end);
    case kind::number: return take_number(at, end);
    case kind::literal: return take_literal(at, end);
    case kind::nothing: break;
    }
    return outcome::failed;
}

bool value_scanner::begin_with(const char*& at) noexcept
{
    escaped_ = false;
    in_string_ = 0;
    depth_ = 0;
    number_ = static_cast<std::uint8_t>(digits::minus);
    const char first = *at;
    inside_ = kind::literal;
    switch (first) {
    case '{':
    case '[': inside_ = kind::nested; return true;
    case 't': literal_ = "true"; return true;
    case 'f': literal_ = "false"; return true;
    case 'n': literal_ = "null"; return true;
    case '"': inside_ = kind::string; break;
    case '-': inside_ = kind::number; break;
    default: inside_ = kind::number; return first >= '0' && first <= '9';
    }
    ++at;
    return true;
}

auto value_scanner::take_nested(const char*& at, const char* end) noexcept -> outcome
{
    while (at != end) {
        const std::size_t size = std::min(static_cast<std::size_t>(end - at), marks_block);
        const text_marks marks = size == marks_block ? marks_of(at) : marks_of_part(at, size);
        std::uint64_t quotes = marks.quotes;
        if ((marks.backslashes != 0) | escaped_) [[unlikely]]
            quotes &= ~escaped_bytes(marks.backslashes, size);
        const std::uint64_t strings = parities(quotes) ^ in_string_;
        for (std::uint64_t left = marks.brackets & ~strings; left != 0; left &= left - 1) {
            const char* const bracket = at + std::countr_zero(left);
            if (!take_bracket(*bracket)) [[unlikely]] {
                at = bracket;
                return outcome::failed;
            }
            if (depth_ == 0) {
                at = bracket + 1;
                return outcome::done;
            }
        }
        in_string_ = std::uint64_t{0} - (strings >> 63);
        at += size;
    }
    return outcome::more;
}

/// The bytes that follow an effective backslash.
std::uint64_t value_scanner::escaped_bytes(std::uint64_t backslashes, std::size_t size) noexcept
{
    std::uint64_t escaped = escaped_ ? 1 : 0;
    escaped_ = false;
    for (backslashes &= ~escaped; backslashes != 0;) {
        const auto next = static_cast<std::size_t>(std::countr_zero(backslashes)) + 1;
        backslashes &= backslashes - 1;
        if (next == size) {
            escaped_ = true;
            break;
        }
        escaped |= std::uint64_t{1} << next;
        backslashes &= ~escaped;
    }
    return escaped;
}

bool value_scanner::take_bracket(char c) noexcept
{
    if (c == '}' || c == ']') {
        if (close_[depth_ - 1] == c)
            return --depth_, true;
        fail(c == '}' ? "the end of the array" : "the end of the object");
        return false;
    }
    if (depth_ == max_depth_) {
        fail("a value that is not nested so deeply");
        return false;
    }
    close_[depth_++] = c == '{' ? '}' : ']';
    return true;
}

auto value_scanner::take_string(const char*& at, const char* end) noexcept -> outcome
{
    for (; at != end; ++at) {
        if (escaped_)
            escaped_ = false;
        else if (*at == '\\')
            escaped_ = true;
        else if (*at == '"')
            return ++at, outcome::done;
    }
    return outcome::more;
}

auto value_scanner::take_number(const char*& at, const char* end) noexcept -> outcome
{
    auto so_far = static_cast<digits>(number_);
    for (; at != end; ++at) {
        const digits next = after(so_far, *at);
        if (next == digits::none)
            return may_end(so_far) ? outcome::done : fail("a digit");
        so_far = next;
    }
    number_ = static_cast<std::uint8_t>(so_far);
    return outcome::more;
}

auto value_scanner::take_literal(const char*& at, const char* end) noexcept -> outcome
{
    for (; at != end && !literal_.empty(); ++at) {
        if (*at != literal_.front())
            return fail("true, false or null");
        literal_.remove_prefix(1);
    }
    return literal_.empty() ? outcome::done : outcome::more;
}

auto value_scanner::fail(std::string_view wanted) noexcept -> outcome
{
    wanted_ = wanted;
    return outcome::failed;
}

}  // namespace holdfast::core::couchbase
