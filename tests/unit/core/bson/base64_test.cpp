#include "core/bson/base64.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast::bson::base64_test {
namespace {

std::string encode(std::string_view bytes)
{
    std::string text(base64_size(bytes.size()) + 1, '!');
    const char* const end = encode_base64(
        {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, text.data());
    EXPECT_EQ(end, text.data() + text.size() - 1);
    EXPECT_EQ(text.back(), '!') << "wrote more than it may";
    text.pop_back();
    return text;
}

std::optional<std::string> decode(std::string_view text)
{
    std::vector<std::uint8_t> room(max_decoded_base64(text.size()));
    const auto size = decode_base64(text, room.data());
    if (!size)
        return std::nullopt;
    return std::string{room.begin(), room.begin() + static_cast<std::ptrdiff_t>(*size)};
}

struct pair {
    std::string_view bytes;
    std::string_view text;
};

// RFC 4648, section 10, and the two digits that are not alphanumeric.
constexpr pair pairs[] = {
    {"", ""},
    {"f", "Zg=="},
    {"fo", "Zm8="},
    {"foo", "Zm9v"},
    {"foob", "Zm9vYg=="},
    {"fooba", "Zm9vYmE="},
    {"foobar", "Zm9vYmFy"},
    {"\xFF\xFF", "//8="},
    {"\xFB\xEF\xBE", "++++"},
    {{"\0\0\0", 3}, "AAAA"},
};

TEST(base64, encode_matches_the_known_pairs)
{
    for (const pair& p : pairs)
        EXPECT_EQ(encode(p.bytes), p.text);
}

TEST(base64, decode_matches_the_known_pairs)
{
    for (const pair& p : pairs)
        EXPECT_EQ(decode(p.text), p.bytes) << p.text;
}

TEST(base64, every_byte_round_trips_at_every_offset)
{
    for (int c = 0; c < 256; ++c) {
        for (std::size_t at = 0; at < 5; ++at) {
            std::string bytes = "abcde";
            bytes[at] = static_cast<char>(c);
            EXPECT_EQ(decode(encode(bytes)), bytes) << c << " at " << at;
        }
    }
}

TEST(base64, bad_length_padding_or_digit_is_refused)
{
    const std::string_view texts[] = {
        "A",        // no whole group
        "AAA",      "AAAAA", "=",    "====",
        "A===",     // six bits are no byte
        "AA=A",     // padding inside
        "AA==AAAA", "=AAA",
        "AAA*",     // no digit, in a whole group and in the last one
        "A*==",     "*A==",  "AA*=", "AAA\n", "AA A",
        "-_-_",     // the other alphabet
        "//9=",     // bits that would be dropped
        "Zh==",
    };
    for (const std::string_view text : texts)
        EXPECT_EQ(decode(text), std::nullopt) << text;
}

TEST(base64, invalid_character_is_refused_at_every_offset)
{
    for (std::size_t at = 0; at < 8; ++at) {
        for (const char wrong : {'.', '\0', '\x80', '\xFF', '['}) {
            std::string text = "AbCdEfGh";
            text[at] = wrong;
            EXPECT_EQ(decode(text), std::nullopt) << text;
        }
    }
}

}  // namespace
}  // namespace holdfast::bson::base64_test
