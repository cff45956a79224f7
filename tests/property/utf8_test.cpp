#include "check.hpp"
#include "choices.hpp"
#include "differences.hpp"
#include "holdfast/bson/validate.hpp"

#include <bson/bson.h>

namespace holdfast::property::utf8_test {
namespace {

/// Bytes at the borders of the UTF-8 ranges, long runs of ASCII between them, and whole characters.
std::string make_bytes(choices& c)
{
    static constexpr std::string_view whole[] = {"\xC2\x80", "\u07FF", "\u0800",     "\uD7FF",
                                                 "\uE000",   "\uFFFF", "\U00010000", "\U0010FFFF"};
    static constexpr unsigned char borders[] = {0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF,
                                                0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED,
                                                0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF};
    std::string text;
    while (!c.used_up()) {
        switch (c.below(4)) {
        case 0:
            text.append(c.below(40), 'a');
            break;
        case 1:
            text += static_cast<char>(c.pick(borders));
            break;
        default:
            text += c.pick(whole);
        }
    }
    return text;
}

bool has_zero_in_two_bytes(const std::string& text)
{
    return text.find("\xC0\x80") != text.npos && !bson::is_utf8(text);
}

TEST(utf8_property, random_bytes_validate_like_libbson)
{
    static difference_table<std::string> known{
        "which bytes are UTF-8",
        {{"libbson takes the overlong form C0 80 for a zero byte", "RFC 3629, section 3",
          has_zero_in_two_bytes}}};
    check([] {
        const choice_bytes bytes = *few_choices();
        choices c{bytes};
        const std::string text = make_bytes(c);
        const bool theirs = bson_utf8_validate(text.data(), text.size(), true);
        if (bson::is_utf8(text) != theirs && !known.explains(text))
            RC_FAIL("libbson says " + std::string{theirs ? "yes" : "no"});
    });
}

}  // namespace
}  // namespace holdfast::property::utf8_test
