#include "holdfast/bson/uuid.hpp"

#include "holdfast/bson/errc.hpp"

#include <gtest/gtest.h>

namespace holdfast::bson::uuid_test {
namespace {

using enum uuid_representation;

constexpr std::string_view text = "00112233-4455-6677-8899-aabbccddeeff";
constexpr uuid sample{{0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,  //
                       0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF}};

TEST(uuid, text_round_trips)
{
    const auto parsed = uuid::parse(text);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(*parsed, sample);
    EXPECT_EQ(parsed->to_string(), text);
    EXPECT_EQ(uuid::parse("00112233-4455-6677-8899-AABBCCDDEEFF").value(), sample);
    EXPECT_LT(uuid{}, sample);
}

TEST(uuid, parse_refuses_malformed_text)
{
    for (const std::string_view bad : {
             "",
             "00112233445566778899aabbccddeeff",
             "{00112233-4455-6677-8899-aabbccddeeff}",
             "00112233-4455-6677-8899-aabbccddeef",
             "00112233-4455-6677-8899-aabbccddeeff0",
             "00112233-4455-6677-8899-aabbccddeefg",
             "001122334-455-6677-8899-aabbccddeeff",
             "00112233-4455-6677-889-9aabbccddeeff",
             "00112233_4455-6677-8899-aabbccddeeff",
             "00112233-4455-6677-8899_aabbccddeeff",
             "------------------------------------",
         }) {
        const auto parsed = uuid::parse(bad);
        ASSERT_FALSE(parsed) << bad;
        EXPECT_EQ(parsed.error().code(), errc::invalid_value);
    }
    EXPECT_EQ(uuid::parse("nonsense").error().message(),
              "a UUID is 32 hexadecimal digits in groups of 8-4-4-4-12, found \"nonsense\"");
}

struct order {
    uuid_representation as;
    binary_subtype subtype;
    std::array<std::uint8_t, 16> bytes;
};

// The bytes are those of the examples in the UUID specification.
const order orders[] = {
    {standard, binary_subtype::uuid, sample.bytes},
    {csharp_legacy,
     binary_subtype::uuid_old,
     {0x33, 0x22, 0x11, 0x00, 0x55, 0x44, 0x77, 0x66,  //
      0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF}},
    {java_legacy,
     binary_subtype::uuid_old,
     {0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0x00,  //
      0xFF, 0xEE, 0xDD, 0xCC, 0xBB, 0xAA, 0x99, 0x88}},
    {python_legacy, binary_subtype::uuid_old, sample.bytes},
};

TEST(uuid, to_bytes_follows_each_representation)
{
    for (const order& o : orders) {
        EXPECT_EQ(subtype_of(o.as), o.subtype);
        EXPECT_EQ(sample.to_bytes(o.as), o.bytes) << static_cast<int>(o.as);
    }
}

TEST(uuid, from_binary_follows_each_representation)
{
    for (const order& o : orders) {
        const auto read = uuid::from_binary({o.bytes, o.subtype}, o.as);
        ASSERT_TRUE(read) << static_cast<int>(o.as);
        EXPECT_EQ(*read, sample) << static_cast<int>(o.as);
    }
    EXPECT_EQ(uuid::from_binary({sample.bytes, binary_subtype::uuid}).value(), sample);
}

TEST(uuid, from_binary_refuses_another_subtype)
{
    for (const uuid_representation as : {standard, csharp_legacy, java_legacy, python_legacy}) {
        for (int subtype = 0; subtype <= 0xFF; ++subtype) {
            const binary value{sample.bytes, static_cast<binary_subtype>(subtype)};
            const auto read = uuid::from_binary(value, as);
            EXPECT_EQ(read.has_value(), value.subtype == subtype_of(as)) << subtype;
        }
    }
    const error why = uuid::from_binary({sample.bytes, binary_subtype::uuid_old}).error();
    EXPECT_EQ(why.code(), errc::wrong_type);
    EXPECT_EQ(why.message(), "a UUID in this representation is binary subtype 4, found subtype 3");
    EXPECT_EQ(why.context("expected"), "binary subtype 4");
    EXPECT_EQ(why.context("found"), "subtype 3");
}

TEST(uuid, from_binary_refuses_any_size_but_16)
{
    const std::array<std::uint8_t, 17> bytes{};
    for (const std::size_t size : {0u, 15u, 17u}) {
        const auto read = uuid::from_binary({std::span{bytes}.first(size), binary_subtype::uuid});
        ASSERT_FALSE(read) << size;
        EXPECT_EQ(read.error().code(), errc::invalid_value);
        EXPECT_EQ(read.error().message(), "a UUID has 16 bytes, found " + std::to_string(size));
    }
}

}  // namespace
}  // namespace holdfast::bson::uuid_test
