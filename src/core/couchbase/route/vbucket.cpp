#include "core/couchbase/route/vbucket.hpp"

#include <array>
#include <bit>
#include <cassert>
#include <cstddef>

namespace holdfast::core::couchbase {

namespace {

using crc_table = std::array<std::uint32_t, 256>;

/// Table k says what a byte contributes when k more bytes follow, so that eight are taken at once.
constexpr std::array<crc_table, 8> crc_tables = [] {
    constexpr std::uint32_t polynomial = 0xEDB8'8320;
    std::array<crc_table, 8> tables{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t sum = byte;
        for (int bit = 0; bit < 8; ++bit)
            sum = (sum >> 1) ^ ((sum & 1) != 0 ? polynomial : 0);
        tables[0][byte] = sum;
    }
    for (std::size_t k = 1; k < tables.size(); ++k)
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const std::uint32_t before = tables[k - 1][byte];
            tables[k][byte] = (before >> 8) ^ tables[0][before & 0xff];
        }
    return tables;
}();

std::uint32_t byte_at(std::string_view bytes, std::size_t at) noexcept
{
    return static_cast<unsigned char>(bytes[at]);
}

std::uint32_t four_at(std::string_view bytes, std::size_t at) noexcept
{
    return byte_at(bytes, at) | byte_at(bytes, at + 1) << 8 | byte_at(bytes, at + 2) << 16 |
           byte_at(bytes, at + 3) << 24;
}

}  // namespace

std::uint32_t crc32(std::string_view bytes) noexcept
{
    std::uint32_t sum = 0xffff'ffff;
    for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
        sum ^= four_at(bytes, 0);
        const std::uint32_t next = four_at(bytes, 4);
        sum = crc_tables[7][sum & 0xff] ^ crc_tables[6][sum >> 8 & 0xff] ^
              crc_tables[5][sum >> 16 & 0xff] ^ crc_tables[4][sum >> 24] ^
              crc_tables[3][next & 0xff] ^ crc_tables[2][next >> 8 & 0xff] ^
              crc_tables[1][next >> 16 & 0xff] ^ crc_tables[0][next >> 24];
    }
    for (std::size_t i = 0; i < bytes.size(); ++i)
        sum = (sum >> 8) ^ crc_tables[0][(sum ^ byte_at(bytes, i)) & 0xff];
    return ~sum;
}

std::uint16_t vbucket_of(std::string_view key, std::uint32_t count) noexcept
{
    assert(std::has_single_bit(count));
    return static_cast<std::uint16_t>((crc32(key) >> 16) & 0x7fff & (count - 1));
}

}  // namespace holdfast::core::couchbase
