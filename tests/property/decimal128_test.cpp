#include "holdfast/bson/decimal128.hpp"

#include "check.hpp"
#include "choices.hpp"
#include "differences.hpp"

#include <bson/bson.h>

#include <algorithm>

namespace holdfast::property::decimal128_test {
namespace {

/// Numbers as people and programs write them, sometimes not quite.
std::string make_text(choices& c)
{
    static constexpr std::string_view special[] = {
        "inf", "Infinity", "NaN", "nan", "INF",  "-infinity", "",    ".",  "e",
        "E5",  "1e",       "+",   "--1", "1..2", "infin",     "0x1", " 1", "1 "};
    if (c.one_in(16))
        return std::string{c.pick(special)};
    static constexpr std::string_view signs[] = {"", "-", "+"};
    std::string text{c.pick(signs)};
    const auto digits = [&](std::size_t count, char always) {
        for (; count != 0; --count)
            text += always != 0 ? always : static_cast<char>('0' + c.below(10));
    };
    digits(c.below(4), '0');
    digits(c.below(37), 0);
    digits(c.one_in(4) ? c.below(40) : 0, '0');
    if (c.one_in(2)) {
        text += '.';
        digits(c.one_in(4) ? c.below(40) : 0, '0');
        digits(c.below(37), 0);
    }
    if (c.one_in(2)) {
        static constexpr int edges[] = {0, 1, 34, 6111, 6112, 6144, 6145, 6176, 6177, 6200, 99999};
        text += c.one_in(2) ? 'e' : 'E';
        text += c.pick(signs);
        text += std::to_string(c.one_in(2) ? c.pick(edges) : static_cast<int>(c.below(7000)));
    }
    return text;
}

/// Above 10^34 - 1, which is the greatest that 34 digits can show, a significand counts as zero.
bool too_great(const bson::decimal128& d)
{
    constexpr std::uint64_t high = 0x1ED09BEAD87C0;
    constexpr std::uint64_t low = 0x378D8E63FFFFFFFF;
    const std::uint64_t found = d.high & 0x1FFFFFFFFFFFF;
    return found > high || (found == high && d.low > low);
}

struct disagreement {
    std::string text;
    const result<bson::decimal128>& ours;
};

/// The same number without a point and without zeros in front: 012.50E3 becomes 1250E1.
std::string plain(const std::string& text)
{
    const std::size_t e = std::min(text.find_first_of("eE"), text.size());
    std::string digits = text.substr(0, e);
    int exponent = e < text.size() ? std::stoi(text.substr(e + 1)) : 0;
    if (const std::size_t point = digits.find('.'); point != digits.npos) {
        exponent -= static_cast<int>(digits.size() - point - 1);
        digits.erase(point, 1);
    }
    const std::string sign = digits.starts_with('-') ? "-" : "";
    digits.erase(0, digits.find_first_not_of("+-"));
    digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
    return sign + digits + "E" + std::to_string(exponent);
}

/// libbson agrees with us as soon as the same number is written plainly.
bool plain_form_agrees(const disagreement& d)
{
    if (d.text.find_first_of("0.") == d.text.npos ||
        d.text.find_first_not_of("+-.0123456789eE") != d.text.npos)
        return false;
    bson_decimal128_t theirs;
    const bool accepted = bson_decimal128_from_string(plain(d.text).c_str(), &theirs);
    return accepted == d.ours.has_value() &&
           (!accepted || (theirs.low == d.ours->low && theirs.high == d.ours->high));
}

TEST(decimal128_property, random_bits_print_like_libbson)
{
    static difference_table<bson::decimal128> known{
        "how a Decimal128 is printed",
        {{"libbson prints a significand above 10^34 - 1 as if it were one",
          "Decimal128 specification: it is read as zero", too_great}}};
    check([] {
        const choice_bytes bytes = *few_choices();
        choices c{bytes};
        const bson::decimal128 ours{c.scattered(), c.scattered()};
        const bson_decimal128_t theirs{ours.low, ours.high};
        char text[BSON_DECIMAL128_STRING];
        bson_decimal128_to_string(&theirs, text);
        if (ours.to_string() != text) {
            if (!known.explains(ours))
                RC_FAIL("ours " + ours.to_string() + ", libbson's " + text);
            return;
        }
        const auto back = bson::decimal128::parse(text);
        bson_decimal128_t their_back;
        RC_ASSERT(back.has_value());
        RC_ASSERT(bson_decimal128_from_string(text, &their_back));
        RC_ASSERT(back->low == their_back.low && back->high == their_back.high);
    });
}

TEST(decimal128_property, random_text_parses_like_libbson)
{
    static difference_table<disagreement> known{
        "which texts are a Decimal128",
        {{"libbson accepts or rejects a number with a point or with zeros in front, and does "
          "otherwise with the same number written plainly",
          "Decimal128 specification: only a loss of digits is an error", plain_form_agrees}}};
    check([] {
        const choice_bytes bytes = *any_choices();
        choices c{bytes};
        const std::string text = make_text(c);
        const auto ours = bson::decimal128::parse(text);
        bson_decimal128_t theirs;
        const bool accepted = bson_decimal128_from_string(text.c_str(), &theirs);
        if (ours.has_value() != accepted && !known.explains({text, ours}))
            RC_FAIL(text + (accepted ? ": only libbson accepts" : ": only we accept"));
        if (accepted && ours && (ours->low != theirs.low || ours->high != theirs.high))
            RC_FAIL(text + ": another value, " + ours->to_string());
    });
}

}  // namespace
}  // namespace holdfast::property::decimal128_test
