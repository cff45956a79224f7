#include "holdfast/bson/object_id.hpp"

#include "holdfast/bson/errc.hpp"

#include <gtest/gtest.h>

namespace holdfast::bson::object_id_test {
namespace {

using std::chrono::seconds;
using std::chrono::sys_seconds;

constexpr object_id_source::process_bytes process = {0x5A, 0x6B, 0x7C, 0x8D, 0x9E};

TEST(object_id, parse_accepts_digits_of_either_case)
{
    const auto id = object_id::parse("56E1fc72E0c917E9C4714161");
    ASSERT_TRUE(id);
    EXPECT_EQ(id->bytes, (std::array<std::uint8_t, 12>{0x56, 0xE1, 0xFC, 0x72, 0xE0, 0xC9, 0x17,
                                                       0xE9, 0xC4, 0x71, 0x41, 0x61}));
    EXPECT_EQ(id->to_string(), "56e1fc72e0c917e9c4714161");
}

TEST(object_id, parse_refuses_anything_but_24_hex_digits)
{
    using namespace std::string_view_literals;
    for (const std::string_view text :
         {""sv, "56e1fc72e0c917e9c471416"sv, "56e1fc72e0c917e9c47141610"sv,
          "56e1fc72e0c917e9c471416g"sv, "g6e1fc72e0c917e9c4714161"sv, "56e1fc72e0c9 7e9c4714161"sv,
          "56e1fc72e0c917e9c471416/"sv, "56e1fc72e0c917e9c471416:"sv, "56e1fc72e0c917e9c471416@"sv,
          "56e1fc72e0c917e9c471416`"sv, "56e1fc72e0c917e9c47141\0\0"sv,
          "56e1fc72e0c917e9c471416\xFF"sv}) {
        const auto id = object_id::parse(text);
        ASSERT_FALSE(id) << text;
        EXPECT_EQ(id.error().code(), errc::invalid_value);
    }
}

TEST(object_id, parse_error_quotes_the_text_it_found)
{
    EXPECT_EQ(object_id::parse("xyz").error().message(),
              "an ObjectId is 24 hexadecimal digits, found \"xyz\"");
    EXPECT_EQ(object_id::parse("\n\xC3").error().message(),
              "an ObjectId is 24 hexadecimal digits, found \"\\x0a\\xc3\"");
    EXPECT_EQ(object_id::parse(std::string(1000, 'a')).error().message(),
              "an ObjectId is 24 hexadecimal digits, found \"" + std::string(48, 'a') +
                  "\"... (1000 bytes)");
}

TEST(object_id, created_is_the_leading_timestamp)
{
    EXPECT_EQ(object_id{}.created(), sys_seconds{});
    EXPECT_EQ(object_id::parse("00000001aaaaaaaaaaaaaaaa")->created(), sys_seconds{seconds{1}});
    EXPECT_EQ(object_id::parse("7fffffffaaaaaaaaaaaaaaaa")->created(),
              sys_seconds{seconds{2'147'483'647}});
    EXPECT_EQ(object_id::parse("ffffffffaaaaaaaaaaaaaaaa")->created(),
              sys_seconds{seconds{4'294'967'295}});  // unsigned: the year 2106
}

TEST(object_id, later_ids_compare_greater)
{
    object_id_source source{process, 0xFFFFF0};
    const object_id first = source.next(sys_seconds{seconds{1000}});
    const object_id second = source.next(sys_seconds{seconds{1000}});
    const object_id third = source.next(sys_seconds{seconds{1001}});
    EXPECT_LT(first, second);
    EXPECT_LT(second, third);
    EXPECT_EQ(first, first);
    EXPECT_NE(first, second);
}

TEST(object_id_source, next_lays_out_time_process_and_counter)
{
    object_id_source source{process, 0x123456};
    EXPECT_EQ(source.next(sys_seconds{seconds{0x56E1FC72}}).to_string(),
              "56e1fc725a6b7c8d9e123456");
    EXPECT_EQ(source.next(sys_seconds{seconds{0x56E1FC73}}).to_string(),
              "56e1fc735a6b7c8d9e123457");
}

TEST(object_id_source, next_wraps_counter_and_time)
{
    object_id_source source{process, 0xAB'FF'FF'FF};  // only 24 bits count
    EXPECT_EQ(source.next(sys_seconds{}).to_string(), "000000005a6b7c8d9effffff");
    EXPECT_EQ(source.next(sys_seconds{seconds{0x1'0000'0002}}).to_string(),
              "000000025a6b7c8d9e000000");
    EXPECT_EQ(source.next(sys_seconds{seconds{-1}}).to_string(), "ffffffff5a6b7c8d9e000001");
}

}  // namespace
}  // namespace holdfast::bson::object_id_test
