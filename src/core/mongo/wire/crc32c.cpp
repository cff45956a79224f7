#include "core/mongo/wire/crc32c.hpp"

#include "holdfast/bson/element.hpp"

#include <array>
#include <cstddef>

namespace holdfast::core::mongo {

namespace {

constexpr std::uint32_t polynomial = 0x82F63B78;  // Castagnoli's, lowest power first
constexpr std::size_t step = 8;

using table = std::array<std::uint32_t, 256>;

/// Table n is what a byte contributes once n more bytes have followed it. With eight of them, eight
/// bytes are taken at a time, and no look-up waits for the one before.
consteval std::array<table, step> make_tables()
{
    std::array<table, step> tables{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? polynomial : 0);
        tables[0][byte] = crc;
    }
    for (std::size_t n = 1; n < step; ++n) {
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const std::uint32_t before = tables[n - 1][byte];
            tables[n][byte] = (before >> 8) ^ tables[0][before & 0xFF];
        }
    }
    return tables;
}

constexpr std::array<table, step> tables = make_tables();

}  // namespace

std::uint32_t crc32c(std::span<const std::uint8_t> bytes) noexcept
{
    std::uint32_t crc = 0xFFFFFFFF;
    for (; bytes.size() >= step; bytes = bytes.subspan(step)) {
        const std::uint64_t eight = bson::load<std::uint64_t>(bytes.data()) ^ crc;
        crc = 0;
        for (std::size_t n = 0; n < step; ++n)
            crc ^= tables[step - 1 - n][(eight >> (8 * n)) & 0xFF];
    }
    for (const std::uint8_t byte : bytes)
        crc = (crc >> 8) ^ tables[0][(crc ^ byte) & 0xFF];
    return ~crc;
}

}  // namespace holdfast::core::mongo
