#include "core/compress/compressors.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast::core::compressors_test {
namespace {

constexpr compressor all[] = {compressor::snappy, compressor::zlib, compressor::zstd};

std::vector<std::uint8_t> sample(std::size_t size)
{
    std::vector<std::uint8_t> bytes(size);
    for (std::size_t i = 0; i < size; ++i)
        bytes[i] = static_cast<std::uint8_t>(i * i % 7);
    return bytes;
}

std::vector<std::uint8_t> compressed(compressor with, const std::vector<std::uint8_t>& bytes)
{
    std::vector<std::uint8_t> out(compressed_bound(with, bytes.size()));
    out.resize(compress_into(with, bytes, out).value());
    return out;
}

TEST(compressors, decompressing_what_was_compressed_gives_the_same_bytes)
{
    for (const compressor with : all) {
        for (const std::size_t size : {1, 2, 100, 70'000}) {
            const auto bytes = sample(size);
            std::vector<std::uint8_t> again(size);
            EXPECT_TRUE(decompress_into(with, compressed(with, bytes), again));
            EXPECT_EQ(again, bytes);
        }
    }
}

TEST(compressors, payload_of_another_uncompressed_size_is_refused)
{
    for (const compressor with : all) {
        const auto payload = compressed(with, sample(1000));
        for (const std::size_t size : {1, 999, 1001, 5000}) {
            std::vector<std::uint8_t> to(size);
            EXPECT_FALSE(decompress_into(with, payload, to)) << static_cast<int>(with) << size;
        }
    }
}

TEST(compressors, truncated_or_extended_payload_is_refused)
{
    for (const compressor with : all) {
        auto payload = compressed(with, sample(1000));
        std::vector<std::uint8_t> to(1000);
        payload.push_back(0);
        EXPECT_FALSE(decompress_into(with, payload, to)) << static_cast<int>(with);
        payload.resize(payload.size() / 2);
        EXPECT_FALSE(decompress_into(with, payload, to)) << static_cast<int>(with);
    }
}

TEST(compressors, zlib_level_outside_0_to_9_fails)
{
    const auto bytes = sample(100);
    std::vector<std::uint8_t> out(compressed_bound(compressor::zlib, bytes.size()));
    EXPECT_TRUE(compress_into(compressor::zlib, bytes, out, 9));
    EXPECT_FALSE(compress_into(compressor::zlib, bytes, out, 10));
}

}  // namespace
}  // namespace holdfast::core::compressors_test
