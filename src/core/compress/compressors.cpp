#include "core/compress/compressors.hpp"

#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

namespace holdfast::core {

namespace {

const char* chars(std::span<const std::uint8_t> bytes) noexcept
{
    return reinterpret_cast<const char*>(bytes.data());
}

bool inflate_zlib(std::span<const std::uint8_t> from, std::span<std::uint8_t> to) noexcept
{
    uLongf written = to.size();
    uLong read = from.size();
    const int status = uncompress2(to.data(), &written, from.data(), &read);
    return status == Z_OK && written == to.size() && read == from.size();
}

bool inflate_snappy(std::span<const std::uint8_t> from, std::span<std::uint8_t> to) noexcept
{
    return snappy_size(from) == to.size() &&
           snappy::RawUncompress(chars(from), from.size(), reinterpret_cast<char*>(to.data()));
}

}  // namespace

std::size_t compressed_bound(compressor with, std::size_t size) noexcept
{
    switch (with) {
    case compressor::snappy:
        return snappy::MaxCompressedLength(size);
    case compressor::zlib:
        return compressBound(size);
    case compressor::zstd:
        return ZSTD_compressBound(size);
    }
    return size;
}

std::optional<std::size_t> compress_into(compressor with, std::span<const std::uint8_t> from,
                                         std::span<std::uint8_t> to, int zlib_level) noexcept
{
    switch (with) {
    case compressor::snappy: {
        std::size_t size = 0;
        snappy::RawCompress(chars(from), from.size(), reinterpret_cast<char*>(to.data()), &size);
        return size;
    }
    case compressor::zlib: {
        uLongf size = to.size();
        if (compress2(to.data(), &size, from.data(), from.size(), zlib_level) != Z_OK)
            return std::nullopt;
        return size;
    }
    case compressor::zstd: {
        const std::size_t size = ZSTD_compress(to.data(), to.size(), from.data(), from.size(),
                                               ZSTD_CLEVEL_DEFAULT);
        if (ZSTD_isError(size) != 0)
            return std::nullopt;
        return size;
    }
    }
    return std::nullopt;
}

std::optional<std::size_t> snappy_size(std::span<const std::uint8_t> from) noexcept
{
    std::size_t size = 0;
    if (!snappy::GetUncompressedLength(chars(from), from.size(), &size))
        return std::nullopt;
    return size;
}

bool decompress_into(compressor with, std::span<const std::uint8_t> from,
                     std::span<std::uint8_t> to) noexcept
{
    switch (with) {
    case compressor::snappy:
        return inflate_snappy(from, to);
    case compressor::zlib:
        return inflate_zlib(from, to);
    case compressor::zstd:
        // An error is a number far beyond any size.
        return ZSTD_decompress(to.data(), to.size(), from.data(), from.size()) == to.size();
    }
    return false;
}

}  // namespace holdfast::core
