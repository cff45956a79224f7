#include "core/mongo/wire/message_header.hpp"

#include "support/raw_message.hpp"

#include <gtest/gtest.h>

namespace holdfast::core::mongo::message_header_test {
namespace {

std::vector<std::uint8_t> header_of(std::int32_t length, std::int32_t code)
{
    auto bytes = proof::raw_message{}.header(code, 258, -3).done();
    std::memcpy(bytes.data(), &length, sizeof length);
    return bytes;
}

TEST(message_header, fields_are_read_little_endian)
{
    const auto read = parse_header(header_of(0x010203, 2013)).value();
    EXPECT_EQ(read, (message_header{66051, request_id{258}, request_id{-3}, op_code::msg}));
}

TEST(message_header, four_op_codes_are_known)
{
    for (const auto& [number, name] : {std::pair{1, "OP_REPLY"}, std::pair{2004, "OP_QUERY"},
                                       std::pair{2012, "OP_COMPRESSED"}, std::pair{2013, "OP_MSG"}})
        EXPECT_EQ(name_of(parse_header(header_of(16, number)).value().code), name);
}

TEST(message_header, malformed_header_error_names_the_offset)
{
    struct row {
        std::int32_t length;
        std::int32_t code;
        errc expected;
        const char* offset;
    };
    const row table[] = {
        {15, 2013, errc::malformed_message, "0"},
        {0, 2013, errc::malformed_message, "0"},
        {-1, 2013, errc::malformed_message, "0"},
        {INT32_MIN, 2013, errc::malformed_message, "0"},
        {48'016'385, 2013, errc::message_too_large, "0"},
        {INT32_MAX, 2013, errc::message_too_large, "0"},
        {16, 0, errc::unsupported_message, "12"},
        {16, 2010, errc::unsupported_message, "12"},
        {16, -2013, errc::unsupported_message, "12"},
    };
    for (const row& r : table) {
        const auto read = parse_header(header_of(r.length, r.code));
        ASSERT_FALSE(read) << r.length << " " << r.code;
        EXPECT_EQ(read.error().code(), r.expected) << r.length << " " << r.code;
        EXPECT_EQ(read.error().context("offset"), r.offset) << r.length << " " << r.code;
    }
    EXPECT_TRUE(parse_header(header_of(48'016'384, 2013)));
    EXPECT_TRUE(parse_header(header_of(16, 2013)));
}

TEST(message_header, fewer_than_16_bytes_are_refused)
{
    const auto whole = header_of(16, 2013);
    for (std::size_t size = 0; size < 16; ++size)
        EXPECT_EQ(parse_header(std::span{whole}.first(size)).error().code(),
                  errc::malformed_message);
}

TEST(message_header, length_above_the_limit_is_too_large)
{
    EXPECT_TRUE(parse_header(header_of(100, 2013), 100));
    EXPECT_EQ(parse_header(header_of(101, 2013), 100).error().code(), errc::message_too_large);
}

TEST(message_header, length_must_equal_the_message_size)
{
    EXPECT_TRUE(parse_whole(header_of(16, 2013)));
    EXPECT_EQ(parse_whole(header_of(17, 2013)).error().code(), errc::malformed_message);
    auto longer = header_of(16, 2013);
    longer.push_back(0);
    EXPECT_EQ(parse_whole(longer).error().code(), errc::malformed_message);
}

}  // namespace
}  // namespace holdfast::core::mongo::message_header_test
