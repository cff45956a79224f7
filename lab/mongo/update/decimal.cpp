#include "lab/mongo/update/decimal.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

namespace holdfast::lab::updating {
namespace {

constexpr std::size_t max_digits = 34;
constexpr int least_exponent = -6176;

/// A finite decimal in the way people write it; this is no hot path.
struct digits {
    bool negative = false;
    std::string text;  // most significant first, at least one
    int exponent = 0;

    bool zero() const { return text.find_first_not_of('0') == text.npos; }
};

digits take_apart(const bson::decimal128& from)
{
    digits out;
    const std::string text = from.to_string();
    std::size_t at = 0;
    out.negative = from.is_negative();
    at += out.negative ? 1 : 0;
    bool after_point = false;
    for (; at < text.size() && text[at] != 'E'; ++at) {
        if (text[at] == '.') {
            after_point = true;
            continue;
        }
        out.text += text[at];
        out.exponent -= after_point ? 1 : 0;
    }
    if (at < text.size()) {
        int exponent = 0;
        const char* from_char = text.data() + at + 1;
        from_char += *from_char == '+' ? 1 : 0;
        std::from_chars(from_char, text.data() + text.size(), exponent);
        out.exponent += exponent;
    }
    out.text.erase(0, std::min(out.text.find_first_not_of('0'), out.text.size() - 1));
    return out;
}

/// One more in the last place.
void count_up(std::string& text)
{
    auto at = text.rbegin();
    for (; at != text.rend() && *at == '9'; ++at)
        *at = '0';
    if (at == text.rend())
        text.insert(text.begin(), '1');
    else
        ++*at;
}

/// Drops the last `count` digits.
void round_off(digits& d, std::size_t count)
{
    if (count > d.text.size())
        d.text.insert(0, count - d.text.size(), '0');
    const std::size_t kept = d.text.size() - count;
    const char next = d.text[kept];
    const bool beyond = d.text.find_first_not_of('0', kept + 1) != d.text.npos;
    d.text.resize(kept);
    if (d.text.empty())
        d.text = "0";
    const bool odd = (d.text.back() - '0') % 2 == 1;
    if (next > '5' || (next == '5' && (beyond || odd)))
        count_up(d.text);
    d.exponent += static_cast<int>(count);
}

bson::decimal128 put_together(digits d)
{
    d.text.erase(0, std::min(d.text.find_first_not_of('0'), d.text.size() - 1));
    // Too many digits and too small an exponent are rounded off at once: twice would be wrong.
    const std::size_t beyond = d.text.size() - std::min(d.text.size(), max_digits);
    const auto below = static_cast<std::size_t>(std::max(0, least_exponent - d.exponent));
    if (const std::size_t off = std::min(std::max(beyond, below), d.text.size() + 1))
        round_off(d, off);
    if (d.text.size() > max_digits)
        round_off(d, 1);  // it was all nines
    if (d.zero())
        d.exponent = std::max(d.exponent, least_exponent);
    const auto parsed = bson::decimal128::parse((d.negative ? "-" : "") + d.text + "E" +
                                                std::to_string(d.exponent));
    if (parsed)
        return *parsed;
    return d.negative ? bson::decimal128::negative_infinity() : bson::decimal128::infinity();
}

std::string add_texts(const std::string& a, const std::string& b)
{
    std::string sum(std::max(a.size(), b.size()) + 1, '0');
    int carry = 0;
    for (std::size_t i = 0; i < sum.size(); ++i) {
        carry += i < a.size() ? a[a.size() - 1 - i] - '0' : 0;
        carry += i < b.size() ? b[b.size() - 1 - i] - '0' : 0;
        sum[sum.size() - 1 - i] = static_cast<char>('0' + carry % 10);
        carry /= 10;
    }
    return sum;
}

/// a - b, of equal lengths, where a is not the smaller one.
std::string subtract_texts(const std::string& a, const std::string& b)
{
    std::string rest(a.size(), '0');
    int borrow = 0;
    for (std::size_t i = a.size(); i-- > 0;) {
        int digit = a[i] - b[i] - borrow;
        borrow = digit < 0 ? 1 : 0;
        digit += 10 * borrow;
        rest[i] = static_cast<char>('0' + digit);
    }
    return rest;
}

/// Gives both the exponent of the smaller one. A number far below the other's last digit that can
/// matter is replaced by the least that still tips the rounding.
void align(digits& high, digits& low)
{
    constexpr int far = 80;
    if (high.exponent - low.exponent > far) {
        if (high.zero()) {
            high.exponent = low.exponent;
            return;
        }
        high.text.append(far, '0');
        high.exponent -= far;
        const int top = low.exponent + static_cast<int>(low.text.size());
        if (top <= high.exponent)
            low = {low.negative, low.zero() ? "0" : "1", high.exponent};
        else
            return align(high, low);
        return;
    }
    high.text.append(static_cast<std::size_t>(high.exponent - low.exponent), '0');
    high.exponent = low.exponent;
}

bson::decimal128 signed_infinity(bool negative)
{
    return negative ? bson::decimal128::negative_infinity() : bson::decimal128::infinity();
}

}  // namespace

bson::decimal128 add(const bson::decimal128& a, const bson::decimal128& b)
{
    if (a.is_nan() || b.is_nan() ||
        (a.is_infinite() && b.is_infinite() && a.is_negative() != b.is_negative()))
        return bson::decimal128::nan();
    if (a.is_infinite())
        return a;
    if (b.is_infinite())
        return b;
    digits x = take_apart(a);
    digits y = take_apart(b);
    if (x.exponent < y.exponent)
        std::swap(x, y);
    align(x, y);
    digits sum{x.negative, {}, y.exponent};
    if (x.negative == y.negative) {
        sum.text = add_texts(x.text, y.text);
    } else {
        const std::size_t length = std::max(x.text.size(), y.text.size());
        x.text.insert(0, length - x.text.size(), '0');
        y.text.insert(0, length - y.text.size(), '0');
        if (x.text < y.text)
            std::swap(x, y);
        sum.negative = x.negative && x.text != y.text;
        sum.text = subtract_texts(x.text, y.text);
    }
    return put_together(std::move(sum));
}

bson::decimal128 multiply(const bson::decimal128& a, const bson::decimal128& b)
{
    const bool negative = a.is_negative() != b.is_negative();
    if (a.is_nan() || b.is_nan())
        return bson::decimal128::nan();
    if (a.is_infinite() || b.is_infinite()) {
        const bson::decimal128& other = a.is_infinite() ? b : a;
        if (!other.is_infinite() && take_apart(other).zero())
            return bson::decimal128::nan();
        return signed_infinity(negative);
    }
    const digits x = take_apart(a);
    const digits y = take_apart(b);
    digits product{negative, std::string(x.text.size() + y.text.size(), '0'),
                   x.exponent + y.exponent};
    for (std::size_t i = x.text.size(); i-- > 0;) {
        int carry = 0;
        for (std::size_t j = y.text.size(); j-- > 0;) {
            char& to = product.text[i + j + 1];
            carry += (to - '0') + (x.text[i] - '0') * (y.text[j] - '0');
            to = static_cast<char>('0' + carry % 10);
            carry /= 10;
        }
        product.text[i] = static_cast<char>('0' + carry);
    }
    return put_together(std::move(product));
}

bson::decimal128 to_decimal(std::int64_t value)
{
    return bson::decimal128::parse(std::to_string(value)).value_or(bson::decimal128::nan());
}

bson::decimal128 to_decimal(double value)
{
    if (std::isnan(value))
        return bson::decimal128::nan();
    if (std::isinf(value))
        return signed_infinity(value < 0);
    if (value == 0)
        return to_decimal(std::int64_t{0});
    char text[40];
    const auto end =
        std::to_chars(text, text + sizeof text, value, std::chars_format::scientific, 14).ptr;
    return bson::decimal128::parse({text, static_cast<std::size_t>(end - text)})
        .value_or(bson::decimal128::nan());
}

}  // namespace holdfast::lab::updating
