#include "core/couchbase/route/vbucket.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::core::couchbase::vbucket_test {
namespace {

/// Bit by bit, as the polynomial is defined.
std::uint32_t slow_crc32(std::string_view bytes)
{
    std::uint32_t sum = ~std::uint32_t{0};
    for (const char c : bytes) {
        sum ^= static_cast<unsigned char>(c);
        for (int bit = 0; bit < 8; ++bit)
            sum = (sum >> 1) ^ ((sum & 1) != 0 ? 0xEDB88320U : 0);
    }
    return ~sum;
}

TEST(crc32, check_value_of_the_definition_is_computed)
{
    EXPECT_EQ(crc32("123456789"), 0xCBF43926U);
    EXPECT_EQ(crc32(""), 0U);
}

TEST(crc32, keys_of_every_length_have_the_sum_of_the_plain_algorithm)
{
    std::string key;
    for (int length = 0; length <= 260; ++length) {
        EXPECT_EQ(crc32(key), slow_crc32(key)) << length;
        key += static_cast<char>(length * 37 + 11);
    }
}

/// Computed with zlib's crc32 by the rule of the protocol.
TEST(vbucket_of, keys_have_the_vbuckets_that_servers_compute)
{
    struct row {
        std::string_view key;
        std::uint16_t of_1024;
        std::uint16_t of_64;
    };
    const row table[] = {
        {"", 0, 0},
        {"a", 183, 55},
        {"hello", 528, 16},
        {"airline_10", 361, 41},
        {"travel::0001", 1022, 62},
        {"é", 516, 4},
        {"key-1", 748, 44},
        {"user:123456789", 218, 26},
        {"0123456789abcdef0", 867, 35},
    };
    for (const row& r : table) {
        EXPECT_EQ(vbucket_of(r.key, 1024), r.of_1024) << r.key;
        EXPECT_EQ(vbucket_of(r.key, 64), r.of_64) << r.key;
        EXPECT_EQ(vbucket_of(r.key, 1), 0) << r.key;
    }
}

TEST(vbucket_of, only_fifteen_bits_of_the_hash_count)
{
    for (int i = 0; i < 10'000; ++i)
        EXPECT_LT(vbucket_of("key-" + std::to_string(i), 65'536), 32'768);
}

}  // namespace
}  // namespace holdfast::core::couchbase::vbucket_test
