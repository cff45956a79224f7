#include "holdfast/bson/validate.hpp"

#include "holdfast/bson/document.hpp"
#include "holdfast/bson/errc.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast::bson::validate_test {
namespace {

document nested(int levels)
{
    document d;
    for (int i = 1; i < levels; ++i)
        d = i % 2 == 0 ? doc("d", d) : doc("a", list(d));
    return d;
}

TEST(validate, depth_limit_is_accepted_and_one_more_is_not)
{
    document d;
    for (int i = 1; i < max_depth; ++i)
        d = doc("d", d);
    EXPECT_TRUE(validate(d.bytes()));
    const auto deeper = validate(doc("d", d).bytes());
    ASSERT_FALSE(deeper);
    EXPECT_EQ(deeper.error().code(), errc::too_deep);
    EXPECT_FALSE(validate(doc("d", doc()).bytes(), {.depth = 1}));
    EXPECT_TRUE(validate(doc("d", 1).bytes(), {.depth = 1}));
}

TEST(validate, depth_option_cannot_exceed_max_depth)
{
    EXPECT_FALSE(validate(nested(5000).bytes(), {.depth = 100000}));
}

TEST(validate, document_above_the_size_limit_is_too_large)
{
    const document d = doc("a", "text");
    EXPECT_TRUE(validate(d.bytes(), {.size = d.size()}));
    const auto larger = validate(d.bytes(), {.size = d.size() - 1});
    ASSERT_FALSE(larger);
    EXPECT_EQ(larger.error().code(), errc::too_large);
}

/// As doc() makes it, but without a look at its texts.
template <class T>
document unchecked(std::string_view key, const T& value)
{
    byte_buffer bytes;
    builder out{bytes};
    (void)out.add(key, value).finish();
    return document::adopt(std::move(bytes));
}

TEST(validate, utf8_is_checked_everywhere_unless_disabled)
{
    const std::string bad = "\xFF";
    const document table[] = {
        unchecked("a", bad),
        unchecked(bad, 1),
        unchecked("a", code{bad}),
        unchecked("a", symbol{bad}),
        unchecked("a", regex{bad}),
        unchecked("a", regex{"x", bad}),
        unchecked("a", db_pointer{bad, {}}),
        unchecked("a", code_with_scope{bad, view{}}),
        unchecked("a", code_with_scope{"x", unchecked(bad, 1)}),
        unchecked("a", list(1, object("b", bad))),
    };
    for (const document& d : table) {
        const auto checked = validate(d.bytes());
        ASSERT_FALSE(checked);
        EXPECT_EQ(checked.error().code(), errc::invalid_utf8);
        EXPECT_TRUE(validate(d.bytes(), {.utf8 = false}));
    }
}

TEST(validate, error_names_offset_and_key)
{
    document d = doc("first", 1, "flag", true);
    byte_buffer bytes;
    std::memcpy(bytes.grow(d.size()), d.bytes().data(), d.size());
    bytes.data()[d.size() - 2] = 2;  // the boolean
    const auto checked = validate(bytes.bytes());
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().code(), errc::malformed);
    EXPECT_EQ(checked.error().context("offset"), "15");  // 4 + (1 + 6 + 4)
    EXPECT_EQ(checked.error().message(),
              "invalid BSON at offset 15: \"flag\": a boolean is 0 or 1, found 2");
}

TEST(validate, binary_subtype_2_lengths_must_agree)
{
    byte_buffer out;
    builder b{out};
    const std::uint8_t wrong[] = {5, 0, 0, 0, 2, 2, 0, 0, 0, 7};
    b.put_raw(type::binary, "b", wrong);
    const auto checked = validate(b.finish()->bytes());
    ASSERT_FALSE(checked);
    EXPECT_NE(checked.error().message().find("two lengths disagree"), std::string::npos);
}

TEST(is_utf8, unicode_well_formed_byte_sequences_are_accepted)
{
    struct row {
        const char* why;
        std::string text;
        bool good;
    };
    const row table[] = {
        {"empty", "", true},
        {"ascii, 7 bytes", "abcdefg", true},
        {"ascii, 8 bytes", "abcdefgh", true},
        {"ascii, 17 bytes", "abcdefghabcdefghi", true},
        {"two bytes, lowest", "\xC2\x80", true},
        {"two bytes, overlong", "\xC1\xBF", false},
        {"three bytes, lowest", "\xE0\xA0\x80", true},
        {"three bytes, overlong", "\xE0\x9F\xBF", false},
        {"before the surrogates", "\xED\x9F\xBF", true},
        {"surrogate", "\xED\xA0\x80", false},
        {"after the surrogates", "\xEE\x80\x80", true},
        {"four bytes, lowest", "\xF0\x90\x80\x80", true},
        {"four bytes, overlong", "\xF0\x8F\xBF\xBF", false},
        {"the last code point", "\xF4\x8F\xBF\xBF", true},
        {"past the last code point", "\xF4\x90\x80\x80", false},
        {"no lead byte", "\x80", false},
        {"lead byte F5", "\xF5\x80\x80\x80", false},
        {"truncated after one", "\xC3", false},
        {"truncated after two", "\xE2\x82", false},
        {"truncated after three", "\xF0\x9F\x98", false},
        {"bad third byte", "\xE2\x82\x28", false},
        {"bad fourth byte", "\xF0\x9F\x98\x28", false},
        {"zero bytes are text", std::string("a\0b", 3), true},
        {"late in a long ascii text", std::string(100, 'x') + "\xC3(", false},
        {"at byte 15", std::string(15, 'x') + "\xC3\xA9" + std::string(15, 'y'), true},
    };
    for (const row& r : table) {
        SCOPED_TRACE(r.why);
        EXPECT_EQ(is_utf8(r.text), r.good);
    }
}

}  // namespace
}  // namespace holdfast::bson::validate_test
