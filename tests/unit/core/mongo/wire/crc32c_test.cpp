#include "core/mongo/wire/crc32c.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <string_view>
#include <vector>

namespace holdfast::core::mongo::crc32c_test {
namespace {

using bytes = std::vector<std::uint8_t>;

/// The definition, one bit at a time.
std::uint32_t by_definition(std::span<const std::uint8_t> data)
{
    std::uint32_t crc = ~0U;
    for (const std::uint8_t byte : data) {
        crc ^= byte;
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc & 1) != 0 ? (crc >> 1) ^ 0x82F63B78U : crc >> 1;
    }
    return ~crc;
}

TEST(crc32c, values_match_rfc_3720)
{
    bytes up(32);
    std::iota(up.begin(), up.end(), std::uint8_t{0});
    const bytes down{up.rbegin(), up.rend()};
    EXPECT_EQ(crc32c(bytes(32, 0x00)), 0x8A9136AAU);
    EXPECT_EQ(crc32c(bytes(32, 0xFF)), 0x62A8AB43U);
    EXPECT_EQ(crc32c(up), 0x46DD794EU);
    EXPECT_EQ(crc32c(down), 0x113FDB5CU);
}

TEST(crc32c, check_value_matches_the_catalogue)
{
    constexpr std::string_view digits = "123456789";
    EXPECT_EQ(crc32c(bytes(digits.begin(), digits.end())), 0xE3069283U);
    EXPECT_EQ(crc32c({}), 0U);
}

TEST(crc32c, every_length_and_alignment_matches_the_definition)
{
    bytes data(100);
    for (std::size_t i = 0; i < data.size(); ++i)
        data[i] = static_cast<std::uint8_t>(i * 37 + 11);
    for (std::size_t from = 0; from < 9; ++from) {
        for (std::size_t size = 0; size + from <= data.size(); ++size) {
            const auto part = std::span{data}.subspan(from, size);
            ASSERT_EQ(crc32c(part), by_definition(part)) << from << " " << size;
        }
    }
}

}  // namespace
}  // namespace holdfast::core::mongo::crc32c_test
