#include "holdfast/bson/binary_vector.hpp"

#include "holdfast/bson/errc.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <string>

namespace holdfast::bson::binary_vector_test {
namespace {

using bytes = std::vector<std::uint8_t>;

result<binary_vector> parse(const bytes& payload)
{
    return binary_vector::parse({payload, binary_subtype::vector});
}

struct refusal {
    bytes payload;
    std::string_view message;
};

TEST(binary_vector, wrong_header_dtype_or_length_is_refused)
{
    const refusal refusals[] = {
        {{}, "a binary vector has a header of 2 bytes, found 0"},
        {{0x03}, "a binary vector has a header of 2 bytes, found 1"},
        {{0x04, 0x00},
         "the dtype of a vector is 3 (int8), 16 (packed_bit) or 39 (float32), found 4"},
        {{0x03, 0x01, 0x05}, "the padding of a vector of int8 is 0, found 1"},
        {{0x27, 0x03, 0x00, 0x00, 0xFE, 0x42}, "the padding of a vector of float32 is 0, found 3"},
        {{0x27, 0x00, 0x2A, 0x2A, 0x2A},
         "the data of a float32 vector is a multiple of 4 bytes, found 3"},
        {{0x27, 0x00, 0x2A, 0x2A, 0x2A, 0x2A, 0x2A},
         "the data of a float32 vector is a multiple of 4 bytes, found 5"},
        {{0x10, 0x08, 0x01}, "the padding of a packed_bit vector is 0 to 7, found 8"},
        {{0x10, 0x01}, "the padding of an empty packed_bit vector is 0, found 1"},
        {{0x10, 0x03, 0x00, 0x04},
         "the last 3 bits of a packed_bit vector with that padding must be zero, found the last "
         "byte 4"},
    };
    for (const refusal& r : refusals) {
        const auto parsed = parse(r.payload);
        ASSERT_FALSE(parsed) << r.message;
        EXPECT_EQ(parsed.error().code(), errc::invalid_value);
        EXPECT_EQ(parsed.error().message(), r.message);
    }
}

TEST(binary_vector, only_subtype_9_is_parsed)
{
    const bytes payload = {0x03, 0x00, 0x01};
    for (int subtype = 0; subtype <= 0xFF; ++subtype) {
        const auto parsed = binary_vector::parse({payload, static_cast<binary_subtype>(subtype)});
        EXPECT_EQ(parsed.has_value(), subtype == 9) << subtype;
    }
    const error why = binary_vector::parse({payload, binary_subtype::uuid}).error();
    EXPECT_EQ(why.code(), errc::wrong_type);
    EXPECT_EQ(why.message(), "expected a binary vector (subtype 9), found subtype 4");
}

TEST(binary_vector, int8_values_round_trip)
{
    const std::vector<std::int8_t> values = {-128, -1, 0, 1, 127};
    const bytes payload = encode_vector(values);
    EXPECT_EQ(payload, (bytes{0x03, 0x00, 0x80, 0xFF, 0x00, 0x01, 0x7F}));
    const auto parsed = parse(payload);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->dtype(), vector_dtype::int8);
    EXPECT_EQ(parsed->padding(), 0);
    EXPECT_EQ(parsed->size(), 5u);
    EXPECT_TRUE(std::ranges::equal(parsed->int8_values().value(), values));
    EXPECT_EQ(parsed->data().data(), payload.data() + 2);  // in place
}

TEST(binary_vector, float32_values_round_trip)
{
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const std::vector<float> values = {127.0f, -7.7f, -infinity, 0.0f, infinity};
    const bytes payload = encode_vector(values);
    EXPECT_EQ(payload, (bytes{0x27, 0x00, 0x00, 0x00, 0xFE, 0x42, 0x66, 0x66, 0xF6, 0xC0, 0x00,
                              0x00, 0x80, 0xFF, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x7F}));
    const auto parsed = parse(payload);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->dtype(), vector_dtype::float32);
    EXPECT_EQ(parsed->size(), 5u);
    EXPECT_EQ(parsed->float32_values().value(), values);
}

TEST(binary_vector, nan_payload_round_trips)
{
    const bytes payload = {0x27, 0x00, 0x34, 0x12, 0x80, 0x7F};
    const std::vector<float> values = parse(payload)->float32_values().value();
    ASSERT_EQ(values.size(), 1u);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(values[0]), 0x7F801234u);
    EXPECT_EQ(encode_vector(values), payload);
}

TEST(binary_vector, float32_is_read_at_any_alignment)
{
    const bytes payload = encode_vector(std::vector<float>{1.5f, -2.0f});
    for (std::size_t shift = 0; shift < 4; ++shift) {
        bytes memory(shift, 0xEE);
        memory.insert(memory.end(), payload.begin(), payload.end());
        const auto parsed = binary_vector::parse(
            {std::span{memory}.subspan(shift), binary_subtype::vector});
        ASSERT_TRUE(parsed) << shift;
        EXPECT_EQ(parsed->float32_values().value(), (std::vector<float>{1.5f, -2.0f})) << shift;
    }
}

TEST(binary_vector, packed_bits_are_read_from_the_most_significant)
{
    const bytes payload = {0x10, 0x04, 0xEE, 0xE0};
    const auto parsed = parse(payload);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->dtype(), vector_dtype::packed_bit);
    EXPECT_EQ(parsed->padding(), 4);
    EXPECT_EQ(parsed->size(), 12u);
    EXPECT_EQ(parsed->bits().value(), (std::vector<bool>{1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0}));
    EXPECT_TRUE(std::ranges::equal(parsed->data(), bytes{0xEE, 0xE0}));
}

TEST(binary_vector, packed_bits_with_padding_0_to_7_round_trip)
{
    for (int padding = 0; padding <= 7; ++padding) {
        const bytes data = {0xFF, static_cast<std::uint8_t>(0xFF << padding)};
        const auto payload = encode_packed_bits(data, padding);
        ASSERT_TRUE(payload) << padding;
        const auto parsed = parse(*payload);
        ASSERT_TRUE(parsed) << padding;
        EXPECT_EQ(parsed->padding(), padding);
        const auto size = static_cast<std::size_t>(16 - padding);
        EXPECT_EQ(parsed->size(), size);
        EXPECT_EQ(parsed->bits().value(), std::vector<bool>(size, true));
    }
}

TEST(binary_vector, empty_vector_of_each_dtype_round_trips)
{
    EXPECT_EQ(encode_vector(std::span<const std::int8_t>{}), (bytes{0x03, 0x00}));
    EXPECT_EQ(encode_vector(std::span<const float>{}), (bytes{0x27, 0x00}));
    EXPECT_EQ(encode_packed_bits({}).value(), (bytes{0x10, 0x00}));

    const bytes no_bits = {0x10, 0x00};
    const bytes no_floats = {0x27, 0x00};
    const bytes no_bytes = {0x03, 0x00};
    EXPECT_EQ(parse(no_bits)->size(), 0u);
    EXPECT_TRUE(parse(no_bits)->bits().value().empty());
    EXPECT_TRUE(parse(no_floats)->float32_values().value().empty());
    EXPECT_TRUE(parse(no_bytes)->int8_values().value().empty());
}

TEST(binary_vector, values_of_another_dtype_are_not_returned)
{
    const bytes int8 = {0x03, 0x00, 0x01};
    const bytes bits = {0x10, 0x00, 0x01};
    const bytes floats = {0x27, 0x00};
    EXPECT_FALSE(parse(int8)->float32_values());
    EXPECT_FALSE(parse(int8)->bits());
    EXPECT_FALSE(parse(bits)->int8_values());
    EXPECT_FALSE(parse(bits)->float32_values());
    EXPECT_FALSE(parse(floats)->int8_values());
    EXPECT_FALSE(parse(floats)->bits());

    const error why = parse(int8)->float32_values().error();
    EXPECT_EQ(why.code(), errc::wrong_type);
    EXPECT_EQ(why.message(), "expected a binary vector of float32, found int8");
}

TEST(encode_packed_bits, invalid_padding_is_refused)
{
    const bytes data = {0xFF};
    for (const int padding : {-1, 1, 8, 256, std::numeric_limits<int>::min()}) {
        const auto payload = encode_packed_bits(data, padding);
        ASSERT_FALSE(payload) << padding;
        EXPECT_EQ(payload.error().code(), errc::invalid_value);
    }
    EXPECT_FALSE(encode_packed_bits({}, 1));
}

}  // namespace
}  // namespace holdfast::bson::binary_vector_test
